-- line.lua: who stands in line.  core/ledger.c keeps an array of places; here nothing is looked at that a call does
-- not need:
--
--   KEYS[2], a sorted set, holds WORKER:PRIORITY by priority and turn for each place that others must wait for (none
--   for one that is set aside), and WORKER by the negative of the instant at which the worker is taken for dead;
--   KEYS[3], a hash, holds for each worker "SEQ;PRIORITY,TURN,WANTING,NEED,WAITING,AGAIN[,[a][f]];..." (the places of
--   a worker share their seq and expiry, for a claim restates them all), and in the field `all` the line's totals.
--
-- Nothing is written before save().  Until then a place that is no longer to be waited for is still in the sorted set.
-- A line that is not as it was left (somebody else deleted or wrote a key) is dropped: it tells nothing that its workers
-- do not state again with their next claims.
-- needs: ledger

local SILENT = 6000000 -- without a claim for so long a worker is taken for dead
local SLACK = 10000000 -- the line's keys live longer than what is in them, so that not every claim must prolong them
local TURNS = 2 ^ 49 -- of a priority

local line -- nil: nobody but the caller waits

-- Opens the line for a call of that worker (nil: none); `lost`: what there is of it in the keys is of no use.
local function open_line(worker, lost)
    local records, dirty, gone = {}, {}, {} -- by worker: what was read; changed; silent, as they were
    local order, head_at = {}, {} -- by priority: names in order, as far as read; which of them is the head
    local passed, removed, capped = {}, {}, {} -- turns by priority; members; workers
    local all = { waiting = 0, workers = 0, latest = 0, least = 0, kept = 0, places = {}, standing = {}, wanting = {} }
    for priority = 0, 9 do
        all.places[priority], all.standing[priority], all.wanting[priority] = 0, 0, 0
    end

    local function parse_all(text)
        local waiting, workers, latest, least, kept, at = text:match('^(%d+),(%d+),(%d+),(%d+),(%d+)()')
        all.waiting, all.workers, all.latest = tonumber(waiting), tonumber(workers), tonumber(latest)
        all.least, all.kept = tonumber(least), tonumber(kept)
        while waiting and at <= #text do
            local priority, places, standing, wanting, stop = text:match('^;(%d),(%d+),(%d+),(%d+)()', at)
            if not priority then
                return false
            end
            priority, at = tonumber(priority), stop
            all.places[priority], all.standing[priority] = tonumber(places), tonumber(standing)
            all.wanting[priority] = tonumber(wanting)
        end
        return waiting
    end

    local function write_all()
        local text = format('%.0f,%.0f,%.0f,%.0f,%.0f', all.waiting, all.workers, all.latest, all.least, all.kept)
        for priority = 0, 9 do
            if all.places[priority] > 0 then
                text = text .. format(';%d,%.0f,%.0f,%.0f', priority, all.places[priority], all.standing[priority],
                    all.wanting[priority])
            end
        end
        return text
    end

    -- A worker's places by priority; nil where they cannot be read.
    local function parse(text)
        local seq, at = text:match('^(%d+)()')
        local record = { seq = tonumber(seq) }
        while seq and at <= #text do
            local priority, turn_of, wanting, need, waiting, again, marks, stop =
                text:match('^;(%d),(%d+),(%d+),(%d+),(%d+),(%d+),?([af]*)()', at)
            if not priority then
                return nil
            end
            record[tonumber(priority)] = {
                turn = tonumber(turn_of),
                wanting = tonumber(wanting),
                need = tonumber(need),
                waiting = tonumber(waiting),
                again = tonumber(again),
                aside = marks:find('a', 1, true) ~= nil,
                foremost = marks:find('f', 1, true) ~= nil,
            }
            at = stop
        end
        return seq and record
    end

    local function write(record)
        local text = digits(record.seq)
        for priority = 0, 9 do
            local place = record[priority]
            if place then
                local marks = (place.aside and 'a' or '') .. (place.foremost and 'f' or '')
                text = text .. format(';%d,%.0f,%.0f,%.0f,%.0f,%.0f', priority, place.turn, place.wanting, place.need,
                    place.waiting, place.again) .. (marks ~= '' and ',' .. marks or '')
            end
        end
        return text
    end

    local function record_of(name)
        if records[name] == nil then
            local text = call('HGET', KEYS[3], name)
            records[name] = text and parse(text) or false
        end
        return records[name]
    end

    -- The i-th in the order of a priority, as a worker's name; nil: there are not so many.
    local function standing_at(priority, i)
        local names = order[priority] or {}
        order[priority] = names
        while not names[i] and not names.whole do
            local found = call('ZRANGEBYSCORE', KEYS[2], digits(priority * TURNS), '(' .. digits((priority + 1) * TURNS),
                'LIMIT', #names, i < 2 and 2 or 10)
            names.whole = #found == 0
            for j = 1, #found do
                names[#names + 1] = found[j]:match('^%x+')
            end
        end
        return names[i]
    end

    -- Takes a worker's places out of the totals.
    local function count_out(record)
        for priority = 0, 9 do
            local place = record[priority]
            if place then
                all.places[priority] = all.places[priority] - 1
                all.waiting = all.waiting - place.waiting
                all.workers = all.workers - (place.foremost and 1 or 0)
                if not place.aside then
                    all.standing[priority] = all.standing[priority] - 1
                    all.wanting[priority] = all.wanting[priority] - place.wanting
                end
            end
        end
    end

    -- Puts them back.
    local function count_in(record)
        for priority = 0, 9 do
            local place = record[priority]
            if place then
                all.places[priority] = all.places[priority] + 1
                all.standing[priority] = all.standing[priority] + 1
                all.wanting[priority] = all.wanting[priority] + place.wanting
                all.waiting = all.waiting + place.waiting
                all.workers = all.workers + (place.foremost and 1 or 0)
            end
        end
    end

    -- A place that others need no longer wait for; it is counted no more.
    local function leave(name, priority, place)
        removed[name .. ':' .. priority] = true
        passed[priority] = passed[priority] or {}
        table.insert(passed[priority], place.turn)
    end

    -- Drops the silent.  False: the line is not as it was left.
    local function drop_silent()
        if all.latest > now + SILENT then
            capped = call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. digits(-now - SILENT))
            all.latest = now + SILENT
            all.least = math.min(all.least, all.latest)
        end
        if now <= all.least then
            return true
        end
        if call('ZCOUNT', KEYS[2], '-inf', '(0') ~= call('HLEN', KEYS[3]) - 1 then
            return false
        end
        local names = call('ZRANGEBYSCORE', KEYS[2], '(' .. digits(-now), '(0')
        for i = 1, #names do
            local record = record_of(names[i])
            if not record then
                return false
            end
            gone[names[i]], records[names[i]], removed[names[i]] = record, false, true
            count_out(record)
            for priority = 0, 9 do
                if record[priority] and not record[priority].aside then
                    leave(names[i], priority, record[priority])
                end
            end
        end
        local least = call('ZREVRANGEBYSCORE', KEYS[2], digits(-now), '-inf', 'LIMIT', 0, 1, 'WITHSCORES')
        all.least = least[2] and math.min(-tonumber(least[2]), all.latest) or 0
        return true
    end

    -- Steps round heads that did not come when they were told to.
    local function step_round_late(priority)
        local i, name = 0, nil
        repeat
            i = i + 1
            name = standing_at(priority, i)
            if name and not gone[name] then
                local record = record_of(name)
                local place = record and record[priority]
                if not place or place.aside then
                    return false
                elseif place.again + lookahead >= now then
                    break
                end
                all.standing[priority] = all.standing[priority] - 1
                all.wanting[priority] = all.wanting[priority] - place.wanting
                leave(name, priority, place)
                place.aside, dirty[name] = true, record
            end
        until not name
        head_at[priority] = i
        return name ~= nil or all.standing[priority] == 0
    end

    -- What time alone changes: tidy_line of core/ledger.c.  False: the line is not as it was left.
    local function tidy()
        local found = call('HMGET', KEYS[3], 'all', worker or 'all')
        if worker then
            records[worker] = found[2] and parse(found[2]) or false
        end
        if not (found[1] and parse_all(found[1]) and drop_silent()) then
            return false
        end
        for priority = 0, 9 do
            if all.standing[priority] > 0 and not step_round_late(priority) then
                return false
            end
        end
        return true
    end

    -- How many of the others stand before a place whose turn that is.
    local function before(priority, turn_of)
        local first = priority * TURNS
        local count = call('ZCOUNT', KEYS[2], digits(first), '(' .. digits(first + turn_of))
        for _, passed_turn in ipairs(passed[priority] or {}) do
            count = count - (passed_turn < turn_of and 1 or 0)
        end
        return count
    end

    -- The first place of the others.
    local function first_other(priority)
        local i = head_at[priority] or 1
        local name = standing_at(priority, i)
        while name and (name == worker or gone[name]) do
            i = i + 1
            name = standing_at(priority, i)
        end
        local record = name and record_of(name)
        return record and record[priority]
    end

    -- Puts the worker's places back, as they are now.
    local function settle(own)
        count_in(own)
        if own.seq then
            all.latest = now + SILENT
            all.least = all.least > 0 and all.least or all.latest
        elseif all.latest == now + SILENT or (records[worker] and records[worker].seq) then
            local found = call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES')
            local latest = found[found[1] == worker and 4 or 2]
            all.latest = latest and math.min(-tonumber(latest), now + SILENT) or 0
        end
    end

    local function write_many(command, key, list)
        for i = 1, #list, 4000 do
            call(command, key, unpack(list, i, math.min(i + 3999, #list)))
        end
    end

    -- What becomes of the caller's members of the sorted set: none is removed and added, for a set that is empty in
    -- between would lose its expiry.
    local function settle_own(own, scores)
        local old = records[worker] or {}
        dirty[worker] = own.seq and own or nil
        if own.seq then
            gone[worker], removed[worker] = nil, nil
            scores[#scores + 1], scores[#scores + 2] = digits(-now - SILENT), worker
        elseif old.seq then
            gone[worker], removed[worker] = old, true
        end
        for priority = 0, 9 do
            local member, place, was = worker .. ':' .. priority, own[priority], old[priority]
            if place then
                removed[member] = nil
                if not was or was.aside or was.turn ~= place.turn then
                    scores[#scores + 1], scores[#scores + 2] = digits(priority * TURNS + place.turn), member
                end
            elseif was and not was.aside then
                removed[member] = true
            end
        end
    end

    local function names_in(map)
        local names = {}
        for name in pairs(map) do
            names[#names + 1] = name
        end
        return names
    end

    -- Writes what has changed: of the others, and the caller's places (nil: they are as they were).
    local function save(own)
        local scores = {}
        if lost then
            call('UNLINK', KEYS[2], KEYS[3])
        end
        for i = 1, #capped do
            scores[#scores + 1], scores[#scores + 2] = digits(-now - SILENT), capped[i]
        end
        if own then
            settle_own(own, scores)
        elseif not (next(dirty) or next(gone) or capped[1]) then
            return
        end
        local prolong = all.latest > all.kept or all.kept > all.latest + 2 * SLACK
        if prolong then
            all.kept = all.latest + SLACK
        end
        local fields = { 'all', write_all() }
        for name, record in pairs(dirty) do
            fields[#fields + 1], fields[#fields + 2] = name, write(record)
        end
        write_many('HSET', KEYS[3], fields)
        write_many('ZADD', KEYS[2], scores)
        write_many('ZREM', KEYS[2], names_in(removed))
        write_many('HDEL', KEYS[3], names_in(gone))
        if prolong then
            call('PEXPIREAT', KEYS[2], digits(math.ceil(all.kept / 1000)))
            call('PEXPIREAT', KEYS[3], digits(math.ceil(all.kept / 1000)))
        end
    end

    line = {
        all = all,
        tidy = tidy,
        before = before,
        first_other = first_other,
        record_of = record_of,
        count_out = count_out,
        settle = settle,
        save = save,
    }
end
