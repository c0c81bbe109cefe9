-- holders.lua: the holders of permits (core/holders.c). KEYS[4], a hash, has a record for each worker (records.lua).
-- Its field `all` has the permits held, the number of holders, an instant before which no lease ends, and the expiry of
-- the key. The ledger's text has the latest end of a lease. If it has none, the content of the key is not used.
--
-- No key is written before save().
-- needs: line wakes

-- Opens the holders for a call of a worker (nil: no worker), and applies changes that only depend on time.
local function open_holders(worker)
    held = {
        total = 0,
        count = 0,
        least = 0,
        kept = 0,
        own = nil, -- the worker's record: seq, held, expires
        there = false, -- the key is intact
        dirty = false,
        fields = {}, -- changed records of other workers
        removed = {}, -- names of other workers to remove

        read = function(found)
            local seq, n, expires = read_holder(found)
            return seq and { seq = tonumber(seq), held = tonumber(n), expires = tonumber(expires) }
        end,

        write = function(record)
            return write_holder(numbers.digits(record.seq), numbers.digits(record.held), numbers.digits(record.expires))
        end,

        -- Reads all workers. Finds leases that have ended, and leases that end later than any lease can.
        scan = function(latest)
            local found = redis.call('HGETALL', KEYS[4])
            held.total, held.count, held.least, held.own, held.dirty = 0, 0, latest, nil, true
            for i = 1, #found, 2 do
                local name, record = found[i], found[i] ~= 'all' and held.read(found[i + 1])
                if record and record.expires >= ledger.now then
                    if record.expires > latest then
                        record.expires = latest
                        held.fields[#held.fields + 1] = name
                        held.fields[#held.fields + 1] = held.write(record)
                    end
                    held.total, held.count = held.total + record.held, held.count + 1
                    held.least = record.expires < held.least and record.expires or held.least
                    held.own = name == worker and record or held.own
                elseif name ~= 'all' then
                    held.removed[name] = true
                end
            end
        end,

        open = function()
            local latest = ledger.now + TAKT_LEASE_MAX_US
            if ledger.leased == 0 or limit.concurrency == 0 then
                ledger.leased = 0
                return
            end
            local found = redis.call('HMGET', KEYS[4], 'all', worker or 'all')
            local total, count, least, kept = read_holders(found[1] or '')
            if not total then
                ledger.leased = 0
                return
            end
            held.there = true
            held.total, held.count = tonumber(total), tonumber(count)
            held.least, held.kept = tonumber(least), tonumber(kept)
            held.own = worker and found[2] and held.read(found[2]) or nil
            if ledger.now > held.least or ledger.leased > latest then
                held.scan(latest)
            end
            if held.count == 0 then
                ledger.leased = 0
            elseif ledger.leased > latest then
                ledger.leased = latest
            end
        end,

        -- The first instant at which the end of a lease frees a permit; NEVER if it is not before `till`. The function
        -- reads all holders only if `least` is before `till`: renewed leases leave `least` behind.
        over_at = function(till)
            if held.least + 1 < till and held.there and held.count > (held.own and 1 or 0) then
                local found = redis.call('HGETALL', KEYS[4])
                held.least, held.dirty = held.own and held.own.expires or NEVER, true
                for i = 1, #found, 2 do
                    local other = found[i] ~= 'all' and found[i] ~= worker and held.read(found[i + 1])
                    if other and other.expires >= ledger.now and other.expires < held.least then
                        held.least = other.expires
                    end
                end
            end
            return (held.count > 0 and held.least + 1 < till) and held.least + 1 or NEVER
        end,

        free = function()
            return held.total < limit.concurrency and limit.concurrency - held.total or 0
        end,

        -- Records the worker's permits.
        set = function(seq, n)
            local was = held.own
            held.total = held.total + n - (was and was.held or 0)
            held.count = held.count + (n > 0 and 1 or 0) - (was and 1 or 0)
            held.dirty = held.dirty or was ~= nil or n > 0
            if n > 0 then
                local expires = ledger.now + math.max(limit.lease, ledger.lease_min)
                ledger.leased = expires > ledger.leased and expires or ledger.leased
                held.own = { seq = seq, held = n, expires = expires }
                held.least = (held.count == 1 or expires < held.least) and expires or held.least
            else
                held.own = nil
                held.removed[worker] = held.removed[worker] or was and true or nil
                ledger.leased = held.count > 0 and ledger.leased or 0
            end
        end,

        -- How many of that many permits are recorded for the worker.
        accepted = function(holding)
            local known, unheld = held.own and held.own.held or 0, held.free()
            if limit.concurrency > 0 and holding > known and holding - known > unheld then
                return known + unheld
            end
            return holding
        end,

        record = function(seq, holding)
            if limit.concurrency > 0 then
                held.set(seq, holding)
            end
        end,

        -- The worker states its permits. Returns the number recorded, which may be lower.
        state = function(seq, holding)
            holding = held.accepted(holding)
            held.record(seq, holding)
            return holding
        end,

        next_fence = function()
            return ledger.fence < ledger.now and ledger.now or ledger.fence + 1
        end,

        -- Assigns fencing numbers to the permits given. If no `others` wait, also assigns numbers that the worker may
        -- use to hand on permits. Returns the permits held, the first number, and the count of numbers for handing on.
        number = function(holding, given, others)
            holding = holding + given
            if holding == 0 or limit.concurrency == 0 then
                return holding, 0, 0
            end
            local fence = held.next_fence()
            local reuses = math.min(TAKT_REUSES, ledger.now + TAKT_REUSES_AHEAD_US - fence - given)
            reuses = (limit.rules[1] or ledger.inner or others) and 0 or reuses
            reuses = reuses > 0 and reuses or 0
            ledger.fence = fence + given + reuses - 1
            return holding, fence, reuses
        end,

        give = function(seq, n)
            held.set(seq, (held.own and held.own.held or 0) + n)
        end,

        -- The workers of one priority that lack a permit and would get one now. `left`: free permits that are not
        -- wanted more urgently; `own`: the caller's place. The search ends at the last worker that lacks a permit.
        lackers = function(priority, left, own)
            local all, i, before = line.all, line.head_at[priority] or 1, 0
            local wanting, lacking = all.wanting[priority], all.lacking[priority] - ((own and own.lacking) and 1 or 0)
            local share = permit_share(limit.concurrency, math.max(all.weight[priority], 1))
            while lacking > 0 and not wakes.full() do
                local name = line.active_at(priority, i)
                local place = name and line.other_of(name, priority)
                i = i + 1
                if not name then
                    return
                end
                if place and own and own.turn < place.turn then
                    if permits_beside(left, before, share, wanting - own.wanting) <= 0 then
                        return
                    end
                    own, before = nil, before + shares_of(own)
                end
                if place and permits_beside(left, before, share, wanting - place.wanting) <= 0 then
                    return
                elseif place then
                    before = before + shares_of(place)
                    lacking = lacking - (place.lacking and 1 or 0)
                end
                if place and place.lacking then
                    wakes.add(name)
                end
            end
        end,

        -- Wakes the workers that lack a permit and would get one now. `own`: the caller's places; nil: unchanged.
        wake = function(own)
            local left = held.free()
            if line and line.wake then
                return line.wake()
            elseif not line or line.lost then
                return
            end
            own = own or worker and line.record_of(worker) or {}
            for priority = 0, 9 do
                if left <= 0 then
                    break
                end
                local place = own[priority]
                held.lackers(priority, left, place and not place.aside and place or nil)
                left = left - line.all.wanting[priority]
            end
        end,

        -- A wake-up reached no client: the worker is dead or has no subscription. Its places that lack a permit are set
        -- aside, once for each stay in line. A worker that is alive claims at its keepalive, and the others wait for it
        -- after that.
        step_round = function(name)
            local record = line and not line.lost and not line.gone[name] and line.record_of(name)
            local stepped_round = false
            for priority = 0, record and 9 or -1 do
                local place = record[priority]
                if place and place.lacking and not place.aside and not place.unheard then
                    line.set_aside(name, priority, place)
                    place.unheard, stepped_round = true, true
                end
            end
            return stepped_round
        end,

        save = function()
            local fields, own = held.fields, held.own
            if not held.dirty then
                return
            elseif held.count == 0 or not held.there then
                redis.call('UNLINK', KEYS[4])
                if held.count == 0 then
                    return
                end
                held.kept, held.removed = 0, {}
            end
            local prolong = ledger.leased > held.kept or held.kept > ledger.leased + 2 * SLACK
            if prolong then
                held.kept = ledger.leased + SLACK
            end
            if own then
                held.removed[worker] = nil
                fields[#fields + 1], fields[#fields + 2] = worker, held.write(own)
            end
            fields[#fields + 1] = 'all'
            fields[#fields + 1] = write_holders(numbers.digits(held.total), numbers.digits(held.count),
                numbers.digits(held.least), numbers.digits(held.kept))
            write_many('HSET', KEYS[4], fields)
            remove_many('HDEL', KEYS[4], held.removed)
            if prolong then
                redis.call('PEXPIREAT', KEYS[4], numbers.digits(math.ceil(held.kept / 1000)))
            end
        end,
    }
    held.open()
end
