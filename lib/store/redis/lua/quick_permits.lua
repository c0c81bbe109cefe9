-- quick_permits.lua: the fast path of a claim on a limit that has `concurrency` and no rules.
--
-- The fast path needs a line of at most one priority and weights of 1, and waiters of cost 1 without deadlines. It
-- serves a worker that releases a permit and wants the next one, takes a permit after a wake-up, joins or leaves the
-- line, or renews its lease. It reads the totals of the line, the worker's place and the front places, and checks
-- everything before it writes. All other claims, and rare events, are left to the other pieces, which also explain each
-- step. Rare events are: a worker is late, silent or set aside; a lease has expired or expires soon; the ledger is new
-- or ends.
--
-- The conversion of numbers to text takes most of the time here. Values that do not change therefore stay text.
--
-- KEYS, ARGV and reply are those of claim.lua.
-- needs: clock records share publish

-- ---- read: each function returns false if the call or the ledger needs the other pieces ----

-- Reads the record of a worker whose only place waits for permits. Returns nil if there is no place, or another kind.
-- inline
local function read_waiter(record, priority)
    local seq, its_priority, turn, wanting, need, waiting, again, aside, foremost, lacks = read_only_place(record or '')
    if its_priority ~= priority or need ~= '1' or aside ~= '' or foremost == '' then
        return nil
    end
    return seq, turn, wanting, waiting, again, lacks
end

-- Reads the places at the front of the line. line.front has NAME:PRIORITY before and only the names after.
-- inline
local function read_front(line)
    local front = line.front
    for i = 1, #front do
        front[i] = front[i]:match('^%x*')
    end
    line.places = front[1] and redis.call('HMGET', KEYS[3], unpack(front)) or front
end

-- inline
local function read_call(call, state, held, line)
    local holding, waiting, wants, leased, turn
    call.lookahead, call.permits, call.lease, call.worker, call.seq, waiting, holding, wants =
        ARGV[1]:match('^ %d+ 0 (%d+) 0,(%d+),(%d+) [^ ]* (%x+) (%d+) (%d+) (%d+)(.*)$')
    state.fence, leased, turn = stored:match('^n(%d+)(,?%d*)(;?t?%d*)$')
    if not call.worker or not state.fence then
        return false
    end
    call.count = 0
    if wants ~= '' then
        call.count, call.priority = wants:match('^ (%d+) %-1 1 (%d)$')
        call.count = (call.count or 0) + 0
    end
    held.there, line.there = leased ~= '', turn ~= ''
    state.leased = held.there and tonumber(leased:sub(2)) or 0
    state.turn = line.there and tonumber(turn:match('^;t(%d+)$')) or 0
    call.permits, call.holding, state.fence = call.permits + 0, holding + 0, state.fence + 0
    call.waiting = call.count > 0 and waiting + 0 or 0
    return (wants ~= '') == (call.count > 0) and call.count <= call.waiting and held.there == (state.leased > 0)
        and line.there == (state.turn > 0) and state.fence >= 1 and state.fence <= TAKT_EXACT_MAX
        and state.leased <= now + TAKT_LEASE_MAX_US and state.turn <= TAKT_EXACT_MAX
end

-- Reads the permits that the other workers hold, and the permits that the worker held before this claim.
-- inline
local function read_held(call, held)
    held.total, held.count, held.ends, held.kept, held.was = 0, 0, nil, '0', 0
    if held.there then
        local found, last_seq = redis.call('HMGET', KEYS[4], 'all', call.worker), -1
        held.total, held.count, held.ends, held.kept = read_holders(found[1] or '')
        if found[2] then
            last_seq, held.was = read_holder(found[2])
        end
        if not held.total or not last_seq or last_seq + 0 >= call.seq + 0 or now > held.ends + 0 then
            return false
        end
        held.was = held.was + 0
        held.total, held.count = held.total - held.was, held.count - (held.was > 0 and 1 or 0)
    end
    call.free = math.max(call.permits - held.total - call.holding, 0)
    return call.holding <= held.was
end

-- Reads the line. Of the other workers: their number, the permits they want, and how many of them lack a permit. Of the
-- worker: its turn, and the number of places before it.
-- inline
local function read_waiting(call, line)
    line.waiting, line.others, line.wanted, line.lacking, line.latest, line.kept = 0, 0, 0, 0, 0, '0'
    if not line.there then
        return true
    end
    local found = redis.call('HMGET', KEYS[3], 'all', call.worker)
    local workers, late, priority, active
    line.waiting, workers, line.latest, line.silent_at, line.kept, late, priority, line.others, active, line.wanted,
        line.lacking = read_only_totals(found[1] or '')
    if late ~= '' or workers ~= line.others or active ~= line.others or (call.priority or priority) ~= priority
        or now > line.silent_at + 0 or line.latest + 0 > now + TAKT_SILENT_US then
        return false
    end
    call.priority, line.others, line.latest, line.wanted = priority, line.others + 0, line.latest + 0, line.wanted + 0
    line.lacking = line.lacking == '' and 0 or line.lacking + 0
    -- The set has each worker twice: first by name, to find the silent ones, then as NAME:PRIORITY in order of turns.
    line.front = redis.call('ZRANGE', KEYS[2], line.others, line.others + math.min(call.free + 1, TAKT_WAKES_MAX))
    local head_again
    if found[2] then
        local last_seq, turn, wanting, waiting, again, lacks = read_waiter(found[2], priority)
        if not last_seq or last_seq + 0 >= call.seq + 0 then
            return false
        end
        -- A worker that lacks a permit claims again after a keepalive, or earlier when a lease ends. So its last claim
        -- was one keepalive before that time, or earlier.
        line.own_turn = turn + 0
        line.own_heard = lacks:find('^pu?$') and again - TAKT_KEEPALIVE_US or now
        line.others, line.lacking = line.others - 1, line.lacking - (lacks == '' and 0 or 1)
        line.unheard = lacks:find('u', 1, true) and 'u' or ''
        line.waiting, line.wanted = line.waiting - waiting, line.wanted - wanting
        if line.front[1] == call.worker .. ':' .. priority then
            line.before, head_again = 0, again
        end
    end
    if not line.before then
        read_front(line)
        local _, _, _, _, again = read_waiter(line.places[1], priority)
        head_again, line.head_again = again, again
    end
    return head_again and head_again + call.lookahead >= now
end

-- The time when the second in line claims because the head is late. -1: the worker is not the second, or its keepalive
-- is earlier. False: the head's place cannot be read.
-- inline
local function head_late_at(call, line)
    local late = -1
    if call.lacks and line.before == 1 then
        if not line.head_again then -- the worker was the head until it got a permit
            if not line.places then
                read_front(line)
            end
            local _, _, _, _, again = read_waiter(line.places[2], call.priority)
            line.head_again = again
        end
        late = line.head_again and math.max(line.head_again + call.lookahead + 1,
            now + math.floor(call.lookahead / TAKT_LOOKAHEAD_FRACTION))
        late = late and late >= now + TAKT_KEEPALIVE_US and -1 or late
    end
    return late
end

-- ---- decide: each function returns false if the claim needs the other pieces ----

-- The worker's turn. The worker gets at most its share, and at most the permits that the places before it leave.
-- inline
local function take_permits(call, state, line)
    if (call.count + line.wanted) * (line.others + 1) > TAKT_ROOM_MAX
        or call.waiting + line.waiting > TAKT_ROOM_MAX then
        return false -- above that, the room in tokens would be a bound, too
    end
    line.was_listed, line.member = line.own_turn, call.worker .. ':' .. (call.priority or '')
    if line.own_turn and call.count > 0 and not line.before then
        local first = call.priority * TURNS
        local own = first + line.own_turn
        line.before = redis.call('ZCOUNT', KEYS[2], digits(first), '(' .. digits(own))
    end
    call.given, call.lacks, call.again = 0, false, now
    if call.count > 0 then
        local share = permit_share(call.permits, line.others + 1)
        state.turn = state.turn + (line.own_turn and 0 or 1)
        line.own_turn, line.before = line.own_turn or state.turn, line.before or line.others
        local left = permits_beside(call.free, line.before, share, line.wanted)
        local given = math.max(math.min(call.count, share, left), 0)
        call.given, call.free = given, call.free - given
        call.count, call.waiting = call.count - given, call.waiting - given
        if call.waiting > 0 and given > 0 then
            state.turn, line.before = state.turn + 1, line.others
            line.own_turn = state.turn
        end
        call.lacks = call.waiting > 0 and permits_beside(call.free, line.before, share, line.wanted) <= 0
        local others_wait = line.before > 0 and line.wanted > 0
        call.again = now + math.floor(call.lookahead
            / (others_wait and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST))
    end
    line.own_turn = call.waiting > 0 and line.own_turn or nil
    line.active = line.others + (line.own_turn and 1 or 0)
    return true
end

-- Finds the workers to wake: those at the front that lack a permit and would get one now. If the worker itself waits,
-- no worker behind it is woken.
-- inline
local function find_woken(call, line)
    if call.free <= 0 or line.lacking <= 0 then
        return true
    elseif not line.places then
        read_front(line)
    end
    local names, deaf, before, i, lacking, wanted = {}, {}, 0, 0, line.lacking, line.wanted + call.count
    local share = permit_share(call.permits, line.active)
    while lacking > 0 and #names < TAKT_WAKES_MAX do
        i = i + 1
        local _, turn, wanting, _, _, lacks = read_waiter(line.places[i], call.priority)
        if not turn then
            names = nil
            break
        elseif line.front[i] ~= call.worker then
            if line.own_turn and line.own_turn < turn + 0
                or permits_beside(call.free, before, share, wanted - wanting) <= 0 then
                break
            end
            before = before + 1
            if lacks ~= '' then
                names[#names + 1], lacking = line.front[i], lacking - 1
                deaf[#names] = lacks:find('u', 1, true)
            end
        end
    end
    call.woken, call.deaf = names, deaf
    return names
end

-- Updates the worker's permits and its lease, and assigns the fencing numbers.
-- inline
local function number_permits(call, state, held, line)
    local expires = now + call.lease
    call.told, call.reuses = 0, 0
    if call.holding + call.given > 0 then
        local others_hold = held.count > 0
        state.leased = (others_hold or call.holding > 0) and state.leased > expires and state.leased or expires
        held.expires = digits(expires)
        state.leased_text = state.leased == expires and held.expires or nil
        held.ends = (others_hold and expires >= held.ends + 0) and held.ends or held.expires
        call.holding = call.holding + call.given
        held.total, held.count = held.total + call.holding, held.count + 1
        call.told = state.fence < now and now or state.fence + 1
        local reuses = math.min(TAKT_REUSES, now + TAKT_REUSES_AHEAD_US - call.told - call.given)
        call.reuses = line.others > 0 and 0 or math.max(reuses, 0)
        state.fence = call.told + call.given + call.reuses - 1
    elseif held.count == 0 then
        state.leased = 0
    end
    -- False if the next lease ends before the keepalive: the first in line must then claim at the end of the lease.
    return not (call.lacks and (line.before == 0 or line.wanted == 0) and held.ends + 1 < now + TAKT_KEEPALIVE_US)
end

-- Wakes the workers found. Returns false if a worker has no subscription and the ledger does not know that yet.
-- inline
local function wake(call)
    local reached = true
    for i = 1, call.woken and #call.woken or 0 do
        local heard = publish(call.woken[i])
        reached = reached and (heard or call.deaf[i])
    end
    return reached
end

-- Computes when the last worker in line counts as silent, and how long the ledger is kept.
-- inline
local function plan_end(call, state, line)
    if line.own_turn then
        line.latest = now + TAKT_SILENT_US
    elseif line.was_listed and line.others > 0 and line.own_heard + TAKT_SILENT_US >= line.latest then
        local found = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES') -- the worker may have been the latest
        line.latest = -found[found[1] == call.worker and 4 or 2]
    end
    state.ends = math.max(state.fence, state.leased, line.active > 0 and line.latest or 0)
    return state.ends > now
end

-- ---- write ----

-- inline
local function write_state(state, line)
    local fence, leased, turn, ends_ms = state.fence, state.leased, state.turn, math.ceil(state.ends / 1000)
    local text = 'n' .. digits(fence)
    if leased > 0 then
        text = text .. ',' .. (state.leased_text or digits(leased))
    end
    if line.active > 0 then
        text = text .. ';t' .. digits(turn)
    end
    redis.call('SET', KEYS[1], text, 'PXAT', digits(ends_ms))
end

-- inline
local function write_held(call, state, held)
    if held.count > 0 and (call.holding > 0 or held.was > 0) then
        local kept, leased, total, count = held.kept + 0, state.leased, held.total, held.count
        local holding = call.holding
        local prolong = leased > kept or kept > leased + 2 * SLACK
        if prolong then
            kept = leased + SLACK
            held.kept = digits(kept)
        end
        local all = write_holders(digits(total), digits(count), held.ends, held.kept)
        if not held.there then
            redis.call('UNLINK', KEYS[4])
        end
        if holding > 0 then
            local record = write_holder(call.seq, digits(holding), held.expires)
            redis.call('HSET', KEYS[4], 'all', all, call.worker, record)
        else
            redis.call('HSET', KEYS[4], 'all', all)
            redis.call('HDEL', KEYS[4], call.worker)
        end
        if prolong then
            local kept_ms = math.ceil(kept / 1000)
            redis.call('PEXPIREAT', KEYS[4], digits(kept_ms))
        end
    elseif held.was > 0 then
        redis.call('UNLINK', KEYS[4])
    end
end

-- Writes the totals of the line and the worker's place, if it has one.
-- inline
local function write_line(call, line)
    local latest, kept, active = line.latest, line.kept + 0, line.active
    local waiting, wanted, lacking = line.waiting + call.waiting, line.wanted + call.count, line.lacking
    local prolong, latest_text, active_text = latest > kept or kept > latest + 2 * SLACK, digits(latest), digits(active)
    if prolong then
        kept = latest + SLACK
        line.kept = digits(kept)
    end
    lacking = call.lacks and lacking + 1 or lacking
    local all = write_totals(digits(waiting), active_text, latest_text, line.silent_at or latest_text, line.kept, '')
    all = all .. write_totals_of(call.priority, active_text, active_text, digits(wanted),
        lacking > 0 and ',' .. digits(lacking) or '', '')
    if not line.there then
        redis.call('UNLINK', KEYS[2], KEYS[3])
    end
    if line.own_turn then
        local turn, wanting, own_waiting = line.own_turn, call.count, call.waiting
        local again, score = call.lacks and now + TAKT_KEEPALIVE_US or call.again, call.priority * TURNS + turn
        local place = write_place(call.priority, digits(turn), digits(wanting), 1, digits(own_waiting), digits(again),
            call.lacks and ',fp' .. (line.unheard or '') or ',f')
        redis.call('HSET', KEYS[3], 'all', all, call.worker, call.seq .. place)
        redis.call('ZADD', KEYS[2], '-' .. latest_text, call.worker, digits(score), line.member)
    else
        redis.call('HSET', KEYS[3], 'all', all)
        redis.call('HDEL', KEYS[3], call.worker)
        redis.call('ZREM', KEYS[2], call.worker, line.member)
    end
    if prolong then
        local kept_ms = math.ceil(kept / 1000)
        local kept_text = digits(kept_ms)
        redis.call('PEXPIREAT', KEYS[2], kept_text)
        redis.call('PEXPIREAT', KEYS[3], kept_text)
    end
end

-- inline
local function tell_award(call, line)
    local listed = line.own_turn
    local reply = { TAKT_FLAG_PERMITS, now, listed and (call.lacks and call.late_at or call.again) or -1, now, 0,
        line.waiting + call.waiting, line.active, 0, listed and 2 ^ call.priority or 0,
        line.others > 0 and call.priority + 0 or -1, '', call.holding, call.told, call.reuses }
    if call.given > 0 then
        reply[15], reply[16], reply[17], reply[18], reply[19], reply[20], reply[21] = now, 0, 0, 0, 1, call.given, 1
    end
    return reply
end

-- `call`: the claim and its result; `state`: the ledger's text; `held`: the permits held by all workers; `line`: the
-- waiting workers.
-- flat: call state held line
local function share_permits()
    local call = {}
    local state = {}
    local held = {}
    local line = {}
    local fits = read_call(call, state, held, line)
    if not fits then
        return nil
    end
    fits = read_held(call, held)
    if not fits then
        return nil
    end
    fits = read_waiting(call, line)
    if not fits then
        return nil
    end
    fits = take_permits(call, state, line)
    if not fits then
        return nil
    end
    fits = find_woken(call, line)
    if not fits then
        return nil
    end
    call.late_at = head_late_at(call, line)
    if not call.late_at then
        return nil
    end
    fits = number_permits(call, state, held, line)
    if not fits then
        return nil
    end
    fits = plan_end(call, state, line)
    if not fits then
        return nil
    end
    fits = wake(call)
    if not fits then
        return nil
    end
    write_state(state, line)
    write_held(call, state, held)
    if line.active > 0 and (line.own_turn or line.was_listed) then
        write_line(call, line)
    elseif line.was_listed then
        redis.call('UNLINK', KEYS[2], KEYS[3])
    end
    local reply = tell_award(call, line)
    return reply
end

if held_named and line_named and stored and ARGV[1] and not ARGV[2] then
    local reply = share_permits()
    if reply then
        return reply
    end
end
