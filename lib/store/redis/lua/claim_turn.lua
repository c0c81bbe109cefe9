-- claim_turn.lua: the turns of the worker's places (core/line.c).
-- needs: claim_state

-- takt_line_is_weighed of core/line.h.
function claim.is_weighed(priority)
    local others = line and line.all.active[priority] or 0
    return others > 0 and line.all.weight[priority] + claim.own[priority].weight > others + 1
end

local function stand(priority, place, turn)
    local owed = line and not line.charge and line.all.owed[priority] or 0
    place.turn, place.last, place.before, place.former = turn, owed < turn, nil, 0
end

function claim.to_the_back(priority, place)
    local turn = ledger.turn + 1
    if line and not line.charge and line.owing(priority) then -- as after a share
        local step = math.max(math.floor(TAKT_WORTH_STEP / (line.all.active[priority] + 1)), 1)
        turn = line.free_turn(priority, ledger.turn + step)
    end
    stand(priority, place, turn)
    ledger.turn = turn
end

-- move_on() of core/line.c.
local function move_on(priority, place)
    local all, early, far = line.all, place.turn > ledger.turn, place.moves > place.usual
    local owing = line.owing(priority)
    if not (early or far or owing) then
        claim.to_the_back(priority, place)
        return
    end
    local turn = math.max(ledger.turn + 1, place.turn + place.moves)
    turn = line.free_turn(priority, math.min(turn, ledger.turn + TAKT_OWED_MAX))
    stand(priority, place, turn)
    if early or far then
        all.owed[priority] = math.max(all.owed[priority], turn)
    else
        ledger.turn = turn
    end
end

-- takt_line_end_turn of core/line.h.
function claim.end_turn(priority, place)
    local turn = place.turn
    if turn > ledger.turn and (not line or line.before(priority, turn) == 0) then
        ledger.turn = turn -- the number of one that owed turns is reached
    end
    if claim.is_weighed(priority) then
        place.turn, place.between = line.next_turn(priority, turn)
        place.last, place.former = not place.between, turn
    elseif line and not line.charge then
        move_on(priority, place)
    else
        claim.to_the_back(priority, place)
    end
end
