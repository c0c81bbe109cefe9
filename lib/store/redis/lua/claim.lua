-- claim.lua: takt_ledger_claim of core/ledger.c: who is given which slots now, and when to ask again.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its log
-- ARGV  1 rules, 2 longest period, 3 revision, 4 lookahead, 5 max_waiting, 6 zones,
--       7 worker, 8 seq, 9 waiting, then for each want: count, latest (-1: any time), cost, priority
-- reply flags, now, claim_again_at, next_slot_at, blocked_until, waiting, workers, refused, in_line, least_urgent,
--       the newer ledger's text or '', then for each run first us, parts, step us, parts, whole, count, cost
-- needs: keep take

local HEAD = 11 -- fields of the reply before the runs
local KEEPALIVE = 2000000
local LOOKAHEAD_FRACTION = 16

local wants, largest, from
local old, own -- the worker's places, as they were and as they are
local refused, in_line, least_urgent, again_at
local reply

local function read_wants()
    wants = {}
    for i = 10, #ARGV - 3, 4 do
        local latest = tonumber(ARGV[i + 1])
        wants[#wants + 1] = {
            count = tonumber(ARGV[i]),
            latest = latest < 0 and NEVER or latest,
            cost = tonumber(ARGV[i + 2]),
            priority = tonumber(ARGV[i + 3]),
        }
    end
end

-- How things stand for one of the worker's places, in tokens: the room, its share, and what is left to those before it.
local function look(priority)
    local place = own[priority]
    local urgent, before, workers, head = 0, 0, 1, nil
    for higher = 0, priority - 1 do
        urgent = urgent + (own[higher] and own[higher].wanting or 0)
    end
    if line then
        for higher = 0, priority - 1 do
            urgent = urgent + line.all.wanting[higher]
        end
        local others = line.all.standing[priority]
        workers = 1 + others
        if others > 0 then
            place.before = place.last and others or place.before or line.before(priority, place.turn)
            before = place.before
            head = before > 0 and line.first_other(priority)
        end
    end
    local free = room(from, now + lookahead)
    local share = throughput(lookahead)
    share = floor((free > share and free or share) / workers)
    share = share < 1 and 1 or share
    local ahead = urgent + before * share
    if head and head.need > share then
        ahead = ahead + head.need - share
    end
    return free, share, ahead
end

local function to_the_back(place)
    turn = turn + 1
    place.turn, place.last = turn, true
end

-- Brings the worker's places in line with what it says it wants.
local function restate()
    local unlisted, last = tonumber(ARGV[9]), -1
    for i = 1, #wants do
        unlisted, last = unlisted - wants[i].count, wants[i].priority
    end
    for priority = 0, 9 do
        local wanting, need, count = 0, 0, (priority == last and unlisted > 0) and unlisted or 0
        for i = 1, #wants do
            local want = wants[i]
            if want.priority == priority and want.cost <= largest then
                wanting, count = wanting + want.count * want.cost, count + want.count
                need = need == 0 and want.cost or need
            end
        end
        if wanting > 0 then
            local place = { wanting = wanting, need = need, waiting = count, again = now }
            own[priority] = place
            if old[priority] then
                place.turn = old[priority].turn
            else
                to_the_back(place)
            end
        end
    end
end

-- Gives a place as much of what its worker wants as its turn allows.  Returns the tokens.
local function serve(priority)
    local place, given = own[priority], 0
    local free, share, ahead = look(priority)
    local left = share > place.need and share or place.need
    left = left < free - ahead and left or free - ahead
    for i = 1, #wants do
        local want = wants[i]
        if want.priority == priority and want.cost <= largest then
            local till = now + lookahead
            till = till < want.latest and till or want.latest
            local count = left > 0 and floor(left / want.cost) or 0
            count = count < want.count and count or want.count
            local n = take(from, want.cost, count, till, reply, HEAD)
            given = given + n * want.cost
            left = left - n * want.cost
            place.waiting = place.waiting - n
            if n < want.count and want.latest > till then
                place.need = want.cost
                break
            end
        end
    end
    place.wanting = place.wanting - given
    return given
end

local function serve_all()
    for priority = 0, 9 do
        if own[priority] then
            local given = serve(priority)
            if own[priority].waiting <= 0 then
                own[priority] = nil
            elseif given > 0 then
                to_the_back(own[priority])
            end
        end
    end
end

local function own_waiting()
    local sum = 0
    for priority = 0, 9 do
        sum = sum + (own[priority] and own[priority].waiting or 0)
    end
    return sum
end

-- Of the waiters that were given nothing, the last ones may be more than the fleet's line may hold.
local function refuse()
    local over = (line and line.all.waiting or 0) + own_waiting() - max_waiting
    for priority = 9, 0, -1 do
        local place = own[priority]
        if place and over > 0 then
            local n = over < place.waiting and over or place.waiting
            over, refused = over - n, refused + n
            place.waiting = place.waiting - n
            place.wanting = place.wanting > n * place.need and place.wanting - n * place.need or 0
            if place.waiting == 0 then
                own[priority] = nil
            end
        end
    end
end

-- When there will be room for a place's next turn.
local function plan(priority)
    local place = own[priority]
    local _, share, ahead = look(priority)
    local half = throughput(floor(lookahead / 2))
    local need = place.need > 1 and place.need or 1
    local wanted = place.wanting < share and place.wanting or share
    wanted = wanted < half and wanted or half
    wanted = wanted > need and wanted or need
    local at, first = due(from, ahead + wanted), nil
    if wanted > need then
        first = due(from, ahead + need) + floor(lookahead / 2)
        at = first < at and first or at
    end
    at = at - lookahead
    local soonest = now + floor(lookahead / LOOKAHEAD_FRACTION)
    return at > soonest and at or soonest
end

local function plan_all()
    local foremost = true
    for priority = 0, 9 do
        local place = own[priority]
        if line and line.all.places[priority] > 0 then
            least_urgent = priority
        end
        if place then
            local at = plan(priority)
            place.foremost, foremost = foremost, false
            place.again = at < now + KEEPALIVE and at or now + KEEPALIVE
            in_line = in_line + 2 ^ priority
            again_at = (again_at < 0 or at < again_at) and at or again_at
        end
    end
    own.seq = not foremost and tonumber(ARGV[8]) or nil
end

local function claim(worker)
    if line then
        line.count_out(old)
    end
    restate()
    serve_all()
    if max_waiting > 0 then
        refuse()
    end
    plan_all()
    if own.seq and not line then
        open_line(worker, true)
    end
    if line then
        line.settle(own)
    end
end

return run(function()
    local worker = ARGV[7]
    tidy(worker)
    read_wants()
    largest, from = capacity(), blocked > now and blocked or now
    old, own = line and line.record_of(worker) or {}, {}
    refused, in_line, least_urgent, again_at = 0, 0, -1, -1
    reply = { 0, now, 0, 0, 0, 0, 0, 0, 0, 0, '' }
    local stale = old.seq and old.seq >= tonumber(ARGV[8])
    if not stale then
        claim(worker)
    end
    if revision > tonumber(ARGV[3]) then
        reply[11] = encode():gsub('#%d+,%d+,%d+', '') -- without the pages of logs, which stay here
    end
    local next_slot = earliest(from, 1)
    reply[1] = (damaged and 1 or 0) + (stale and 2 or 0) + (reply[11] ~= '' and 4 or 0)
    reply[3], reply[4], reply[5] = again_at, next_slot == NEVER and -1 or next_slot, blocked
    reply[6], reply[7] = line and line.all.waiting or 0, line and line.all.workers or 0
    reply[8], reply[9], reply[10] = refused, in_line, least_urgent
    keep(not stale and own or nil)
    return reply
end)
