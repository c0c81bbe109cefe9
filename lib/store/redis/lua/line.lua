-- line.lua: the line of waiters. core/ledger.c keeps an array of places; the script reads only the records that a call
-- uses.
--
--   KEYS[2], a sorted set, holds WORKER:PRIORITY by priority and turn for each active place (a place that is set aside
--   has no such member), and WORKER by the negative of the instant from which it counts as silent;
--   KEYS[3], a hash, holds a record for each worker (records.lua; its places share their seq and expiry, since a claim
--   restates them all). Its field `all` holds the line's totals: waiters, workers, the latest expiry, an instant before
--   which no worker counts as silent, the expiry of the two keys, waiters in places that are set aside; and for each
--   priority: its places, its active places, the tokens that these want, the number of them that lack a permit, if
--   rules count more than tokens their number of waiters, if not all weights are 1 their weights and the shares that
--   are left of their turns, the highest number of those that owe turns, and what they want of further units.
--
-- No key is written before save(). Until then a place that was passed is still in the sorted set. If another program
-- has deleted or written a key, the line is dropped: its workers state everything again with their next claims.
-- needs: ledger records share

local ARGUMENTS_MAX = 4000 -- arguments of one command

local line -- nil: no other worker waits

-- What a place wants, and what its first waiter needs, of a unit other than tokens.
local function wanted_by(place, unit)
    return unit == 0 and place.waiting - (place.held_back or 0) or place.more and place.more[unit] or 0
end

local function needed_by(place, unit)
    return unit > 0 and place.needs and math.max(place.needs[unit] or 0, 1) or 1
end

-- Reads what a place wants and needs of further units. Returns the position after it; nil: there is nothing.
local function read_more(place, found, at)
    local wanting, need, ends
    place.more, place.needs = {}, {}
    for unit = 1, TAKT_MORE_MAX do
        wanting, need, ends = read_further(found, at)
        if not wanting then
            break
        end
        place.more[unit], place.needs[unit], at = tonumber(wanting), tonumber(need), ends
    end
    return place.more[1] and at
end

local function write_more(place)
    local count, written = #place.more, ''
    while count > 0 and place.more[count] == 0 and place.needs[count] == 0 do
        count = count - 1
    end
    for unit = 1, count do
        local wanting, need = numbers.digits(place.more[unit]), numbers.digits(place.needs[unit])
        written = written .. write_further(wanting, need)
    end
    return written
end

local function write_many(command, key, list)
    for i = 1, #list, ARGUMENTS_MAX do
        redis.call(command, key, unpack(list, i, math.min(i + ARGUMENTS_MAX - 1, #list)))
    end
end

-- Removes the names in a map from a key.
local function remove_many(command, key, map)
    local names = {}
    for name in pairs(map) do
        names[#names + 1] = name
    end
    write_many(command, key, names)
end

-- takt_line_shares of core/line.h.
local function shares_of(place)
    return math.max(math.min(place.left > 0 and place.left or place.weight, place.waiting), 1)
end

-- Opens the line for a call of a worker (nil: no worker). `lost`: the content of the keys is not used.
local function open_line(worker, lost)
    line = {
        lost = lost,
        all = {
            waiting = 0,
            workers = 0,
            latest = 0,
            least = 0,
            kept = 0,
            late = 0,
            places = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            active = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            wanting = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            lacking = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            asking = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            weight = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            shares = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 },
            owed = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, -- no number above the last turn is higher
            more = {}, -- by further unit
        },
        records = {}, -- by worker: the record read; false: there is none
        dirty = {}, -- by worker: whether the record has changed
        gone = {}, -- by worker: the old record of a silent worker
        order = {}, -- by priority: the workers in order, as far as read
        head_at = {}, -- by priority: the index of the head
        passed = {}, -- by priority: the turns that were passed
        removed = {}, -- members to remove from the sorted set
        capped = {}, -- workers whose expiry is too far in the future

        -- What the active places want of a unit other than tokens, by priority.
        totals = function(unit)
            return unit == 0 and line.all.asking or line.all.more[unit]
        end,

        -- Adds what a place wants of further units to the totals of its priority.
        add_more = function(priority, place, sign)
            for unit, totals in ipairs(line.all.more) do
                totals[priority] = totals[priority] + sign * wanted_by(place, unit)
            end
        end,

        clear_others = function()
            for unit = 0, limit.count_more() do
                local totals = { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
                if unit == 0 then
                    line.all.asking = totals
                else
                    line.all.more[unit] = totals
                end
            end
        end,

        read_all = function(found)
            local all = line.all
            local waiting, workers, latest, least, kept, late, at = read_totals(found)
            local untold, last, told, fewest = false, nil, NEVER, NEVER
            if not waiting then
                return false
            end
            all.waiting, all.workers, all.latest = tonumber(waiting), tonumber(workers), tonumber(latest)
            all.least, all.kept, all.late = tonumber(least), tonumber(kept), tonumber(late) or 0
            while at <= #found do
                local priority, places, active, wanting, lacking, asking, weight, shares, owed, stop =
                    read_totals_of(found, at)
                if priority then
                    priority, at = tonumber(priority), stop
                    all.places[priority], all.active[priority] = tonumber(places), tonumber(active)
                    all.wanting[priority], all.lacking[priority] = tonumber(wanting), tonumber(lacking) or 0
                    all.asking[priority] = tonumber(asking) or 0
                    all.weight[priority] = tonumber(weight) or all.active[priority]
                    all.shares[priority] = tonumber(shares) or all.active[priority]
                    all.owed[priority] = tonumber(owed) or 0
                    untold = untold or asking == ''
                    last, told, fewest = priority, 0, math.min(fewest, told)
                else
                    told, at = line.read_more_totals(found, at, last)
                    if not told then
                        return false
                    end
                end
            end
            if untold and limit.units or math.min(fewest, told) < limit.count_more() then
                line.count_others()
            end
            return true
        end,

        -- Reads what a priority wants of further units. Returns their number, and the position after it.
        read_more_totals = function(found, at, priority)
            local amounts, told, stop = {}, 0, nil
            amounts[1], amounts[2], amounts[3], stop = read_further_totals(found, at)
            if not stop or not priority then
                return nil
            end
            for unit, wanting in ipairs(amounts) do
                told = wanting ~= '' and unit or told
                if line.all.more[unit] then
                    line.all.more[unit][priority] = tonumber(wanting) or 0
                end
            end
            return told, stop
        end,

        -- Counts what active places want of the units other than tokens, if the totals do not tell it: fewer units were
        -- counted before.
        count_others = function()
            local found = redis.call('HGETALL', KEYS[3])
            line.clear_others()
            for i = 1, #found, 2 do
                local record = found[i] ~= 'all' and line.read(found[i + 1]) or {}
                for priority = 0, 9 do
                    local place = record[priority]
                    if place and not place.aside then
                        line.all.asking[priority] = line.all.asking[priority] + place.waiting
                        line.add_more(priority, place, 1)
                    end
                end
            end
        end,

        write_all = function()
            local all, digits_of = line.all, numbers.digits
            local late = all.late > 0 and ',' .. digits_of(all.late) or ''
            local written = write_totals(digits_of(all.waiting), digits_of(all.workers), digits_of(all.latest),
                digits_of(all.least), digits_of(all.kept), late)
            for priority = 0, 9 do
                if all.places[priority] > 0 then
                    local lacking = all.lacking[priority] > 0 and ',' .. digits_of(all.lacking[priority]) or ''
                    local wanting = digits_of(all.wanting[priority])
                    local asking = limit.units and '/' .. digits_of(all.asking[priority]) or ''
                    if all.weight[priority] > all.active[priority] then
                        asking = asking .. '*' .. digits_of(all.weight[priority]) .. '+'
                            .. digits_of(all.shares[priority])
                    end
                    if all.owed[priority] > ledger.turn then
                        asking = asking .. '-' .. digits_of(all.owed[priority])
                    end
                    for _, totals in ipairs(all.more) do
                        asking = asking .. '/' .. digits_of(totals[priority])
                    end
                    written = written .. write_totals_of(priority, digits_of(all.places[priority]),
                        digits_of(all.active[priority]), wanting, lacking, asking)
                end
            end
            return written
        end,

        -- A worker's places by priority. False: the record is malformed.
        read = function(found)
            local seq, at = found:match('^(%d+)()')
            local record, place = { seq = tonumber(seq) }, nil
            while seq and at <= #found do
                local priority, turn, wanting, need, waiting, again, weight, left, former, aside, foremost, lacks,
                    ends = read_place(found, at)
                if not priority then
                    ends = place and read_more(place, found, at)
                    if not ends then
                        return false
                    end
                    at = ends
                else
                    place = {
                        turn = tonumber(turn),
                        wanting = tonumber(wanting),
                        need = tonumber(need),
                        waiting = tonumber(waiting),
                        again = tonumber(again),
                        weight = tonumber(weight) or 1,
                        left = tonumber(left) or 0,
                        former = tonumber(former) or 0,
                        aside = aside ~= '',
                        foremost = foremost ~= '',
                        lacking = lacks ~= '',
                        leased = lacks:find('o', 1, true) ~= nil,
                        unheard = lacks:find('u', 1, true) ~= nil,
                    }
                    record[tonumber(priority)], at = place, ends
                end
            end
            return seq and record or false
        end,

        write = function(record)
            local digits_of = numbers.digits
            local written = digits_of(record.seq)
            for priority = 0, 9 do
                local place = record[priority]
                if place then
                    local marks = (place.aside and 'a' or '') .. (place.foremost and 'f' or '')
                    if place.lacking then
                        marks = marks .. 'p' .. (place.leased and 'o' or '') .. (place.unheard and 'u' or '')
                    end
                    marks = marks ~= '' and ',' .. marks or ''
                    marks = place.more and marks .. write_more(place) or marks
                    marks = (place.former > 0 and '-' .. digits_of(place.former) or '') .. marks
                    marks = (place.left > 0 and '+' .. digits_of(place.left) or '') .. marks
                    marks = (place.weight > 1 and '*' .. digits_of(place.weight) or '') .. marks
                    written = written .. write_place(priority, digits_of(place.turn), digits_of(place.wanting),
                        digits_of(place.need), digits_of(place.waiting), digits_of(place.again), marks)
                end
            end
            return written
        end,

        record_of = function(name)
            local records = line.records
            if records[name] == nil then
                local found = redis.call('HGET', KEYS[3], name)
                records[name] = found and line.read(found) or false
            end
            return records[name]
        end,

        -- The name of the i-th worker of a priority. Nil: there are fewer workers.
        active_at = function(priority, i)
            local names = line.order[priority] or {}
            line.order[priority] = names
            while not names[i] and not names.whole do
                local found = redis.call('ZRANGEBYSCORE', KEYS[2], numbers.digits(priority * TURNS),
                    '(' .. numbers.digits((priority + 1) * TURNS), 'LIMIT', #names, i < 2 and 2 or 10)
                names.whole = #found == 0
                for j = 1, #found do
                    names[#names + 1] = found[j]:match('^%x+')
                end
            end
            return names[i]
        end,

        is_listed = function()
            for priority = 0, 9 do
                if line.all.places[priority] > 0 then
                    return true
                end
            end
            return false
        end,

        -- Subtracts a worker's places from the totals (sign -1) or adds them (sign 1).
        count = function(record, sign)
            local all = line.all
            for priority = 0, 9 do
                local place = record[priority]
                if place then
                    all.places[priority] = all.places[priority] + sign
                    all.waiting = all.waiting + sign * place.waiting
                    all.workers = all.workers + (place.foremost and sign or 0)
                    if place.aside then
                        all.late = all.late + sign * place.waiting
                    else
                        all.active[priority] = all.active[priority] + sign
                        all.wanting[priority] = all.wanting[priority] + sign * place.wanting
                        all.lacking[priority] = all.lacking[priority] + (place.lacking and sign or 0)
                        all.asking[priority] = all.asking[priority] + sign * place.waiting
                        if all.more[1] then
                            line.add_more(priority, place, sign)
                        end
                        line.weigh(priority, place, sign)
                    end
                end
            end
        end,

        -- Subtracts the weight of an active place from the totals or adds it.
        weigh = function(priority, place, sign)
            local all = line.all
            all.weight[priority] = all.weight[priority] + sign * place.weight
            all.shares[priority] = all.shares[priority] + sign * shares_of(place)
        end,

        -- Sets a place aside: updates its totals and its worker's record.
        set_aside = function(name, priority, place)
            local all = line.all
            all.active[priority] = all.active[priority] - 1
            all.wanting[priority] = all.wanting[priority] - place.wanting
            all.lacking[priority] = all.lacking[priority] - (place.lacking and 1 or 0)
            all.asking[priority] = all.asking[priority] - place.waiting
            line.add_more(priority, place, -1)
            line.weigh(priority, place, -1)
            all.late = all.late + place.waiting
            line.leave(name, priority, place)
            ledger.turn = math.max(ledger.turn, place.turn)
            place.aside, line.dirty[name] = true, line.records[name]
        end,

        -- Marks a place that the others no longer wait for.
        leave = function(name, priority, place)
            local passed = line.passed[priority] or {}
            line.removed[name .. ':' .. priority] = true
            line.passed[priority] = passed
            passed[#passed + 1] = place.turn
        end,

        -- Drops silent workers.  False: another program has changed the keys.
        drop_silent = function()
            local all, now = line.all, ledger.now
            if all.latest > now + TAKT_SILENT_US then
                line.capped = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(-' .. numbers.digits(now + TAKT_SILENT_US))
                all.latest = now + TAKT_SILENT_US
                all.least = math.min(all.least, all.latest)
            end
            if now <= all.least then
                return true
            elseif redis.call('ZCOUNT', KEYS[2], '-inf', '(0') ~= redis.call('HLEN', KEYS[3]) - 1 then
                return false
            end
            local silent = redis.call('ZRANGEBYSCORE', KEYS[2], '(-' .. numbers.digits(now), '(0')
            for _, name in ipairs(silent) do
                local record = line.record_of(name)
                if not record then
                    return false
                end
                line.gone[name], line.records[name], line.removed[name] = record, false, true
                line.count(record, -1)
                for priority = 0, 9 do
                    if record[priority] and not record[priority].aside then
                        line.leave(name, priority, record[priority])
                    end
                end
            end
            local least = redis.call('ZREVRANGEBYSCORE', KEYS[2], '-' .. numbers.digits(now), '-inf', 'LIMIT', 0, 1,
                'WITHSCORES')
            all.least = least[2] and math.min(-tonumber(least[2]), all.latest) or 0
            return true
        end,

        -- Sets aside heads that did not claim in time.
        step_round_late = function(priority)
            local all, i, name = line.all, 0, nil
            repeat
                i = i + 1
                name = line.active_at(priority, i)
                if name and not line.gone[name] then
                    local record = line.record_of(name)
                    local place = record and record[priority]
                    if not place or place.aside then
                        return false
                    elseif place.again + limit.lookahead >= ledger.now then
                        break
                    end
                    line.set_aside(name, priority, place)
                end
            until not name
            line.head_at[priority] = i
            return name ~= nil or all.active[priority] == 0
        end,

        -- Applies changes that only depend on time (takt_line_tidy). False: another program has changed the keys.
        tidy = function()
            local found = redis.call('HMGET', KEYS[3], 'all', worker or 'all')
            if worker then
                line.records[worker] = found[2] and line.read(found[2]) or false
            end
            if not (found[1] and line.read_all(found[1]) and line.drop_silent()) then
                return false
            end
            for priority = 0, 9 do
                if line.all.active[priority] > 0 and not line.step_round_late(priority) then
                    return false
                end
            end
            return true
        end,

        -- Whether another worker's place owes turns: its number is not reached yet.
        owing = function(priority)
            local last = line.all.owed[priority] > ledger.turn and line.last_other(priority)
            return last and last.turn > ledger.turn
        end,

        -- The first number from a turn on that no place has.
        free_turn = function(priority, turn)
            while line.has(priority, turn) do
                turn = turn + 1
            end
            return turn
        end,

        has = function(priority, turn)
            local score, count = numbers.digits(priority * TURNS + turn), 0
            for _, passed in ipairs(line.passed[priority] or {}) do
                count = count - (passed == turn and 1 or 0)
            end
            return count + redis.call('ZCOUNT', KEYS[2], score, score) > 0
        end,

        -- The other workers' active places of a priority, read together.
        each_other = function(priority, visit)
            local found = redis.call('HGETALL', KEYS[3])
            for i = 1, #found, 2 do
                local name = found[i]
                if name ~= 'all' and line.records[name] == nil then
                    line.records[name] = line.read(found[i + 1])
                end
                local place = name ~= 'all' and line.other_of(name, priority)
                if place then
                    visit(place)
                end
            end
        end,

        -- The number of other workers' places before a turn.
        before = function(priority, turn)
            local first, passed, old = priority * TURNS, line.passed[priority], line.records[worker]
            local count = redis.call('ZCOUNT', KEYS[2], numbers.digits(first), '(' .. numbers.digits(first + turn))
            old = old and old[priority]
            if old and not old.aside and old.turn < turn then -- the worker's own place, before it moved on
                count = count - 1
            end
            for i = 1, passed and #passed or 0 do
                count = count - (passed[i] < turn and 1 or 0)
            end
            return count
        end,

        -- The shares that are left to other workers' places before a turn, as far as they are below a number. The
        -- function reads many records at once, and of each only what it needs.
        shares_before = function(priority, turn, most)
            local first, seen, page, shares, found = priority * TURNS, 0, 8, 0, nil
            local pattern = ';' .. priority .. PLACE_SHARES
            repeat
                found = redis.call('ZRANGEBYSCORE', KEYS[2], numbers.digits(first), '(' .. numbers.digits(first + turn),
                    'LIMIT', seen, page)
                for i = 1, #found do
                    found[i] = found[i]:match('^%x+')
                end
                local records = found[1] and redis.call('HMGET', KEYS[3], unpack(found)) or {}
                for i, name in ipairs(found) do
                    if line.gone[name] or line.records[name] ~= nil then
                        local place = line.other_of(name, priority)
                        shares = shares + (place and shares_of(place) or 0)
                    else
                        local waiting, weight, left = (records[i] or ''):match(pattern)
                        left = tonumber(left) or tonumber(weight) or 1
                        shares = shares + math.max(math.min(left, tonumber(waiting) or 0), 1)
                    end
                end
                seen, page = seen + #found, math.min(2 * page, 128)
            until not found[1] or shares >= most
            return shares
        end,

        -- The place of another worker with a priority. Nil: there is none, or it is set aside.
        other_of = function(name, priority)
            local record = name ~= worker and not line.gone[name] and line.record_of(name)
            local place = record and record[priority]
            return place and not place.aside and place or nil
        end,

        -- The first place of the other workers, and its worker.
        first_other = function(priority)
            local i, name, place = line.head_at[priority] or 1, nil, nil
            repeat
                name = line.active_at(priority, i)
                place = name and line.other_of(name, priority)
                i = i + 1
            until not name or place
            return place, name
        end,

        -- The places of the other workers and their workers, the last one first, until a function returns true.
        each_from_end = function(priority, ends)
            local seen, found, place = 0, nil, nil
            repeat
                found = redis.call('ZREVRANGEBYSCORE', KEYS[2], '(' .. numbers.digits((priority + 1) * TURNS),
                    numbers.digits(priority * TURNS), 'LIMIT', seen, 2)
                for i = 1, #found do
                    local name = found[i]:match('^%x+')
                    place = line.other_of(name, priority)
                    if place and ends(place, name) then
                        return
                    end
                end
                seen = seen + #found
            until #found == 0
        end,

        -- The last place of the other workers, and its worker.
        last_other = function(priority)
            local last, worker_of
            line.each_from_end(priority, function(place, name)
                last, worker_of = place, name
                return true
            end)
            return last, worker_of
        end,

        -- The number of other workers' places before a turn that is near the end, and the shares left to them.
        before_end = function(priority, turn)
            local count, shares = line.all.active[priority], line.all.shares[priority]
            line.each_from_end(priority, function(place)
                if place.turn < turn then
                    return true
                end
                count, shares = count - 1, shares - shares_of(place)
            end)
            return count, shares
        end,

        -- takt_line_end_turn of core/line.h, in a line with weights. Returns the next turn of a place after this one,
        -- and whether it is not the last.
        next_turn = function(priority, turn)
            local all, after, before, last = line.all, turn, nil, nil
            line.each_from_end(priority, function(place)
                last = last or place.turn
                if place.former <= turn then
                    after = math.max(after, place.turn)
                    return true
                end
                before = place.turn
            end)
            if before and all.places[priority] == all.active[priority] then
                after = math.max(after, before - TAKT_TURN_STEP)
                turn = after + math.max(math.floor((before - after) / 8), 1)
                if turn < before then
                    return turn, true
                end
            end
            ledger.turn = math.max(ledger.turn, last or 0) + TAKT_TURN_STEP
            return ledger.turn, false
        end,

        -- Puts the worker's changed places back.
        put_back = function(own)
            local all, silent_at = line.all, ledger.now + TAKT_SILENT_US
            line.count(own, 1)
            if own.seq then
                all.latest = silent_at
                all.least = all.least > 0 and all.least or silent_at
            elseif all.latest == silent_at or line.records[worker] then
                local found = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES')
                local latest = found[found[1] == worker and 4 or 2]
                all.latest = latest and math.min(-tonumber(latest), silent_at) or 0
            end
        end,

        -- Decides which members of the caller are removed from the sorted set and which are added. No member is removed
        -- and added again: a set that is empty in between would lose its expiry.
        write_own = function(own, scores)
            local old = line.records[worker] or {}
            line.dirty[worker] = own.seq and own or nil
            if own.seq then
                line.gone[worker], line.removed[worker] = nil, nil
                scores[#scores + 1] = '-' .. numbers.digits(ledger.now + TAKT_SILENT_US)
                scores[#scores + 1] = worker
            elseif old.seq then
                line.gone[worker], line.removed[worker] = old, true
            end
            for priority = 0, 9 do
                local place, was = own[priority], old[priority]
                if place or was then
                    local member = worker .. ':' .. priority
                    line.removed[member] = not place and (line.removed[member] or not was.aside) or nil
                    if place and (not was or was.aside or was.turn ~= place.turn) then
                        scores[#scores + 1] = numbers.digits(priority * TURNS + place.turn)
                        scores[#scores + 1] = member
                    end
                end
            end
        end,

        -- Writes the changes of other workers and the caller's places (nil: unchanged).
        save = function(own)
            local all, scores = line.all, {}
            if lost then
                redis.call('UNLINK', KEYS[2], KEYS[3])
            end
            for _, name in ipairs(line.capped) do
                scores[#scores + 1] = '-' .. numbers.digits(ledger.now + TAKT_SILENT_US)
                scores[#scores + 1] = name
            end
            if own then
                line.write_own(own, scores)
            elseif not (next(line.dirty) or next(line.gone) or scores[1]) then
                return
            end
            local prolong = all.latest > all.kept or all.kept > all.latest + 2 * SLACK
            if prolong then
                all.kept = all.latest + SLACK
            end
            local fields = { 'all', line.write_all() }
            for name, record in pairs(line.dirty) do
                fields[#fields + 1] = name
                fields[#fields + 1] = line.write(record)
            end
            write_many('HSET', KEYS[3], fields)
            write_many('ZADD', KEYS[2], scores)
            remove_many('ZREM', KEYS[2], line.removed)
            remove_many('HDEL', KEYS[3], line.gone)
            if prolong then
                local kept_ms = numbers.digits(math.ceil(all.kept / 1000))
                redis.call('PEXPIREAT', KEYS[2], kept_ms)
                redis.call('PEXPIREAT', KEYS[3], kept_ms)
            end
        end,
    }
    if limit.count_more() > 0 then
        line.clear_others()
    end
end
