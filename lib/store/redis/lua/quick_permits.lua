-- quick_permits.lua: what quick_line.lua is for those who wait for a rule, for those who share permits: no rules, a line
-- of one priority or none, waiters that want one permit each at any time.  So it answers whoever releases a permit and
-- asks for the next, was woken and takes it, joins the line or leaves it, or only tells that it is still there.
-- It reads of the line its totals, the worker's place and the front, and looks at everything before it writes.  Whatever
-- is different, or only comes now and then (somebody is late, silent or set aside, a lease is over, the ledger begins or
-- ends), is left to the other pieces, which say what each step is for.
-- needs: clock bounds patience lease publish

if #KEYS == 5 and stored then
    local claim
    local held -- all that is held; `was`: what the worker held
    local line -- the others in it; `was`, `own`: the worker's place before the claim and after it, nil: none

    -- Lookahead, permits, lease; worker, seq, waiting, holding; count and priority, if something is wanted.
    local function read_claim()
        local lookahead, permits, lease, worker, seq, waiting, holding, wants =
            ARGV[1]:match('^ %d+ 0 (%d+) 0,(%d+),(%d+) [^ ]* (%x+) (%d+) (%d+) (%d+)(.*)$')
        local count, priority = (wants or ''):match('^ (%d+) %-1 1 (%d)$')
        if not worker or not count and wants ~= '' then
            return false
        end
        claim = {
            lookahead = lookahead + 0,
            permits = permits + 0,
            lease = lease + 0,
            worker = worker,
            seq = seq + 0,
            waiting = waiting + 0,
            holding = holding + 0,
            count = count and count + 0 or 0,
            priority = priority,
        }
        return not count or claim.count > 0 and claim.count <= claim.waiting
    end

    -- The last fencing number, until when something is held, and the last turn.
    local function write_text()
        return string.format(held.leased > 0 and 'n%.0f,%.0f' or 'n%.0f', held.fence, held.leased)
            .. (line.listed and string.format(';t%.0f', line.turn) or '')
    end

    local function read_text()
        local fence, leased, turn = stored:match('^n(%d+),?(%d*);?t?(%d*)$')
        if not fence then
            return false
        end
        held = { fence = fence + 0, leased = tonumber(leased) or 0, total = 0, count = 0, was = 0 }
        line = { listed = turn ~= '', turn = tonumber(turn) or 0, places = 0, waiting = 0, wanting = 0, lacking = 0 }
        return held.fence > 0 and held.fence <= EXACT and held.leased <= now + LEASE_MAX and line.turn < EXACT
            and write_text() == stored
    end

    -- What is held, as the worker states it: no more than is known.
    local function read_held()
        if held.leased > 0 then
            local found = redis.call('HMGET', KEYS[5], 'all', claim.worker)
            local total, count, least, kept = (found[1] or ''):match('^(%d+),(%d+),(%d+),(%d+)$')
            local seq, was = (found[2] or '-1,0,0'):match('^(%-?%d+),(%d+),%d+$')
            if not total or not seq or seq + 0 >= claim.seq or now > least + 0 then
                return false
            end
            held.there, held.was, held.least, held.kept = true, was + 0, least + 0, kept + 0
            held.total, held.count = total - was + claim.holding, count - (held.was > 0 and 1 or 0)
        end
        return claim.holding <= held.was
    end

    local function free()
        return held.total < claim.permits and claim.permits - held.total or 0
    end

    local function read_place(text)
        local seq, turn, wanting, waiting, again, lacks =
            text:match('^(%d+);' .. line.priority .. ',(%d+),(%d+),1,(%d+),(%d+),f(p?)$')
        return seq and {
            seq = seq + 0,
            turn = turn + 0,
            wanting = wanting + 0,
            waiting = waiting + 0,
            again = again + 0,
            lacks = lacks ~= '' and 1 or 0,
        }
    end

    -- The i-th in line, as it was, or `true` for the worker.
    local function place_at(i)
        local name = line.front[i] and line.front[i]:match('^%x+')
        local found = name and (name == claim.worker or redis.call('HGET', KEYS[3], name))
        return found == true or found and read_place(found)
    end

    -- The totals, the worker's place, and who is at the front, as many as may have to be woken.
    local function read_line()
        local found = redis.call('HMGET', KEYS[3], 'all', claim.worker)
        local waiting, workers, latest, least, kept, priority, places, standing, wanting, lacking =
            (found[1] or ''):match('^(%d+),(%d+),(%d+),(%d+),(%d+);(%d),(%d+),(%d+),(%d+),?(%d*)$')
        if not waiting or workers ~= places or standing ~= places or (claim.priority or priority) ~= priority then
            return false
        end
        line.priority, line.latest, line.least, line.kept = priority, latest + 0, least + 0, kept + 0
        line.places, line.waiting, line.wanting, line.lacking = places + 0, waiting + 0, wanting + 0, tonumber(lacking) or 0
        -- members for workers stand before those for their places
        line.front = redis.call('ZRANGE', KEYS[2], line.places, line.places + math.min(free() + 1, WAKES_MAX))
        line.first = line.places
        local was = found[2] and read_place(found[2])
        if was then
            line.was, line.places, line.waiting = was, line.places - 1, line.waiting - was.waiting
            line.wanting, line.lacking = line.wanting - was.wanting, line.lacking - was.lacks
        end
        local head = place_at(1)
        head = head == true and was or head
        return head and (was and was.seq < claim.seq or not found[2]) and head.again + claim.lookahead >= now
            and now <= line.least and line.latest <= now + SILENT
    end

    -- How many of the others stand before the worker.
    local function count_before()
        local member = claim.worker .. ':' .. line.priority
        for i, one in ipairs(line.front) do
            if one == member then
                return i - 1
            end
        end
        return (redis.call('ZRANK', KEYS[2], member) or line.first) - line.first
    end

    -- Permits that the worker may take in its turn.
    local function turn_of(before)
        local share = math.max(math.floor(claim.permits / (line.places + 1)), 1)
        return math.min(free() - math.min(before * share, line.wanting), share)
    end

    -- Gives the worker its turn, and a place if it still waits.
    local function serve()
        local before = line.was and count_before() or line.places
        line.turn = line.turn + (line.was and 0 or 1)
        line.given = math.max(math.min(claim.count, turn_of(before)), 0)
        held.total = held.total + line.given
        if claim.waiting == line.given then
            return
        end
        local own = { turn = line.was and line.was.turn or line.turn }
        line.own, own.waiting, own.wanting = own, claim.waiting - line.given, claim.count - line.given
        if line.given > 0 then
            line.turn, before = line.turn + 1, line.places
            own.turn = line.turn
        end
        own.lacks = turn_of(before) <= 0 and 1 or 0
        local fraction = before > 0 and line.wanting > 0 and LOOKAHEAD_FRACTION or LOOKAHEAD_FRACTION_FIRST
        own.again = own.lacks > 0 and now + KEEPALIVE or now + math.floor(claim.lookahead / fraction)
    end

    -- The names of those who lack a permit and would be given one now; nil: it takes more to find out.
    local function find_woken()
        local left, lacking, own, names = free(), line.lacking, line.own, {}
        local wanting, before, i = line.wanting + (own and own.wanting or 0), 0, 0
        local share = math.max(math.floor(claim.permits / math.max(line.places + (own and 1 or 0), 1)), 1)
        while left > 0 and lacking > 0 and #names < WAKES_MAX do
            i = i + 1
            local place = place_at(i)
            if not place then
                return nil
            elseif place ~= true then
                if own and own.turn < place.turn then
                    if left <= math.min(before * share, wanting - own.wanting) then
                        break
                    end
                    own, before = nil, before + 1
                end
                if left <= math.min(before * share, wanting - place.wanting) then
                    break
                end
                before, lacking = before + 1, lacking - place.lacks
                names[#names + 1] = place.lacks > 0 and line.front[i]:match('^%x+') or nil
            end
        end
        return table.concat(names, ' ')
    end

    -- What the worker holds from now on, and its numbers.
    local function hold()
        local own, expires = claim.holding + line.given, now + claim.lease
        held.own, held.fence_told, held.reuses = own, 0, 0
        if own > 0 then
            local alone = held.count == 0
            held.leased = (alone and claim.holding == 0 or held.leased < expires) and expires or held.leased
            held.least = (alone or expires < held.least) and expires or held.least
            held.count = held.count + 1
            local fence = held.fence < now and now or held.fence + 1
            local reuses = line.places > 0 and 0 or math.min(REUSES, now + REUSES_AHEAD - fence - line.given)
            held.fence_told, held.reuses = fence, math.max(reuses, 0)
            held.fence = fence + line.given + held.reuses - 1
        elseif held.count == 0 then
            held.leased = 0
        end
    end

    -- How the line is without the worker's old place, and with its new one.
    local function stand()
        local own = line.own
        if own then
            line.latest = now + SILENT
            line.least = line.listed and line.least or line.latest
        elseif line.was and line.places > 0 then
            local found = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES')
            line.latest = -found[found[1] == claim.worker and 4 or 2]
        end
        line.listed = own ~= nil or line.places > 0
    end

    local function save_held()
        if held.own == 0 and held.was == 0 then
            return
        elseif held.count == 0 or not held.there then
            redis.call('UNLINK', KEYS[5])
            held.kept = 0
        end
        if held.count == 0 then
            return
        end
        local prolong = held.leased > held.kept or held.kept > held.leased + 2 * HOLDERS_SLACK
        held.kept = prolong and held.leased + HOLDERS_SLACK or held.kept
        local all = string.format('%.0f,%.0f,%.0f,%.0f', held.total, held.count, held.least, held.kept)
        if held.own > 0 then
            redis.call('HSET', KEYS[5], 'all', all, claim.worker,
                string.format('%.0f,%.0f,%.0f', claim.seq, held.own, now + claim.lease))
        else
            redis.call('HSET', KEYS[5], 'all', all)
            redis.call('HDEL', KEYS[5], claim.worker)
        end
        if prolong then
            redis.call('PEXPIREAT', KEYS[5], string.format('%.0f', math.ceil(held.kept / 1000)))
        end
    end

    local function save_line()
        local own, was, worker, priority = line.own, line.was, claim.worker, line.priority
        if not (own or was) then
            return
        elseif not line.listed or not line.kept then
            redis.call('UNLINK', KEYS[2], KEYS[3])
        end
        if not line.listed then
            return
        end
        local prolong = line.latest > (line.kept or 0) or line.kept > line.latest + 2 * SLACK
        line.kept = prolong and line.latest + SLACK or line.kept
        local places, lacking = line.places + (own and 1 or 0), line.lacking + (own and own.lacks or 0)
        local all = string.format(lacking > 0 and '%.0f,%.0f,%.0f,%.0f,%.0f;%s,%.0f,%.0f,%.0f,%.0f'
            or '%.0f,%.0f,%.0f,%.0f,%.0f;%s,%.0f,%.0f,%.0f', line.waiting + (own and own.waiting or 0), places, line.latest,
            line.least, line.kept, priority, places, places, line.wanting + (own and own.wanting or 0), lacking)
        if own then
            redis.call('HSET', KEYS[3], 'all', all, worker, string.format('%.0f;%s,%.0f,%.0f,1,%.0f,%.0f,%s', claim.seq,
                priority, own.turn, own.wanting, own.waiting, own.again, own.lacks > 0 and 'fp' or 'f'))
            redis.call('ZADD', KEYS[2], string.format('%.0f', -line.latest), worker,
                string.format('%.0f', priority * TURNS + own.turn), worker .. ':' .. priority)
        else
            redis.call('HSET', KEYS[3], 'all', all)
            redis.call('HDEL', KEYS[3], worker)
            redis.call('ZREM', KEYS[2], worker, worker .. ':' .. priority)
        end
        if prolong then
            local kept_ms = string.format('%.0f', math.ceil(line.kept / 1000))
            redis.call('PEXPIREAT', KEYS[2], kept_ms)
            redis.call('PEXPIREAT', KEYS[3], kept_ms)
        end
    end

    local function hand_over()
        if not (read_claim() and read_text() and read_held()) then
            return nil
        end
        line.priority, line.given = claim.priority, 0
        if line.listed and not read_line() or (claim.count + line.wanting) * (line.places + 1) > ROOM_MAX then
            return nil -- if there were so many, their tokens would have to be shared as well
        end
        if claim.count > 0 then
            serve()
        end
        local woken, own = find_woken(), line.own
        hold()
        stand()
        local expires = math.max(held.fence, held.leased, line.listed and line.latest or 0)
        if not woken or expires <= now then
            return nil
        end
        redis.call('SET', KEYS[1], write_text(), 'PXAT', string.format('%.0f', math.ceil(expires / 1000)))
        save_held()
        save_line()
        publish(woken)
        local reply = { 32, now, (own and own.lacks == 0) and own.again or -1, now, 0,
            line.waiting + (own and own.waiting or 0), line.places + (own and 1 or 0), 0, own and 2 ^ line.priority or 0,
            line.places > 0 and line.priority + 0 or -1, '', held.own, held.fence_told, held.reuses }
        if line.given > 0 then
            reply[15], reply[16], reply[17], reply[18], reply[19], reply[20], reply[21] = now, 0, 0, 0, 1, line.given, 1
        end
        return reply
    end

    local reply = hand_over()
    if reply then
        return reply
    end
end
