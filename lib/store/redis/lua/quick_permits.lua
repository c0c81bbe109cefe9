-- quick_permits.lua: what quick_line.lua is for those who wait for a rule, for those who share permits: no rules, a
-- line of one priority or none, waiters that want one permit each at any time.  It answers whoever releases a permit
-- and asks for the next, was woken and takes it, joins the line or leaves it, or only tells that it is still there.
-- It reads of the line its totals, the worker's place and the front, and looks at everything before it writes.
-- Whatever is different, or only comes now and then (somebody is late, silent or set aside, a lease is over or soon will
-- be, the ledger begins or ends), is left to the other pieces, which say what each step is for.  What takes its time
-- here are functions, tables, and above all numbers that become text: so it makes few, and what has not changed stays
-- the text that it was.
-- needs: clock patience lease publish

if #KEYS == 5 and stored and ARGV[1] then
    -- A number as text, a large one in halves: "%d" is quicker than "%.0f", but may have 32 bits only.
    local function digits(n)
        local low = n % 1e8
        return low == n and string.format('%d', n) or string.format('%d%08d', (n - low) / 1e8, low)
    end

    -- Seq, turn, wanting, waiting, again, and 'p' where it lacks a permit; nil: there is more to it, or no place.
    local function split_place(place, priority)
        return (place or ''):match('^(%d+);' .. priority .. ',(%d+),(%d+),1,(%d+),(%d+),f(p?)$')
    end

    -- The places of those whose members of the line stand in `front`, which then has their names.
    local function read_places(front)
        for i = 1, #front do
            front[i] = front[i]:match('^%x*')
        end
        return front[1] and redis.call('HMGET', KEYS[3], unpack(front)) or front
    end

    -- Names those at the front who lack a permit and would be given one, with so many `left`; nil: more of them would
    -- have to be seen.  What was not given to the claiming worker in its `turn` (nil: it does not wait) is not given to
    -- anybody behind it.
    local function find_woken(front, places, priority, left, lacking, share, wanted, worker, turn)
        local names, before, i = {}, 0, 0
        while left > 0 and lacking > 0 and #names < TAKT_WAKES_MAX do
            i = i + 1
            local _, its_turn, its_wanting, _, _, lacks = split_place(places[i], priority)
            if not its_turn then
                return nil
            elseif front[i] ~= worker then
                if turn and turn < its_turn + 0 or left <= math.min(before * share, wanted - its_wanting) then
                    break
                end
                before = before + 1
                if lacks ~= '' then
                    names[#names + 1], lacking = front[i], lacking - 1
                end
            end
        end
        return names
    end

    -- What is held: `all` but for when the key expires, and the worker's `record`, nil: it holds nothing any more.
    local function save_held(there, leased, all, kept, worker, record)
        local prolong = leased > kept or kept > leased + 2 * HOLDERS_SLACK
        kept = prolong and leased + HOLDERS_SLACK or kept
        all = all .. digits(kept)
        if not there then
            redis.call('UNLINK', KEYS[5])
        end
        if record then
            redis.call('HSET', KEYS[5], 'all', all, worker, record)
        else
            redis.call('HSET', KEYS[5], 'all', all)
            redis.call('HDEL', KEYS[5], worker)
        end
        if prolong then
            redis.call('PEXPIREAT', KEYS[5], digits(math.ceil(kept / 1000)))
        end
    end

    -- The line: its totals, of which `all` and `rest` are given, and the worker's `place`; nil: it has none any more.
    local function save_line(there, latest, all, silent_at, kept, rest, worker, place, member, score)
        local prolong, latest_text = latest > kept or kept > latest + 2 * SLACK, digits(latest)
        kept = prolong and latest + SLACK or kept
        all = all .. latest_text .. ',' .. silent_at .. ',' .. digits(kept) .. rest
        if not there then
            redis.call('UNLINK', KEYS[2], KEYS[3])
        end
        if place then
            redis.call('HSET', KEYS[3], 'all', all, worker, place)
            redis.call('ZADD', KEYS[2], '-' .. latest_text, worker, digits(score), member)
        else
            redis.call('HSET', KEYS[3], 'all', all)
            redis.call('HDEL', KEYS[3], worker)
            redis.call('ZREM', KEYS[2], worker, member)
        end
        if prolong then
            local kept_ms = digits(math.ceil(kept / 1000))
            redis.call('PEXPIREAT', KEYS[2], kept_ms)
            redis.call('PEXPIREAT', KEYS[3], kept_ms)
        end
    end

    local function share_permits()
        -- Rules (none), span, revision, lookahead, max_waiting, permits, lease, zones; worker, seq, waiting, holding.
        -- Then count, latest, cost, priority, or nothing.
        local lookahead, permits, lease, worker, seq, waiting, holding, wants =
            ARGV[1]:match('^ %d+ 0 (%d+) 0,(%d+),(%d+) [^ ]* (%x+) (%d+) (%d+) (%d+)(.*)$')
        local fence, leased, turn = stored:match('^n(%d+)(,?%d*)(;?t?%d*)$')
        if not worker or not fence then
            return nil
        end
        local count, priority = 0, nil
        if wants ~= '' then
            count, priority = wants:match('^ (%d+) %-1 1 (%d)$')
            count = (count or 0) + 0
        end
        local there, listed = leased ~= '', turn ~= ''
        leased, turn = there and tonumber(leased:sub(2)) or 0, listed and tonumber(turn:match('^;t(%d+)$')) or 0
        permits, holding, fence, waiting = permits + 0, holding + 0, fence + 0, count > 0 and waiting + 0 or 0
        if (wants ~= '') ~= (count > 0) or count > waiting or there ~= (leased > 0) or listed ~= (turn > 0)
            or fence < 1 or fence > TAKT_EXACT_MAX or leased > now + TAKT_LEASE_MAX_US or turn > TAKT_EXACT_MAX then
            return nil
        end

        -- What the others hold, and what the worker held.
        local held, holders, lease_ends, held_kept, held_was = 0, 0, nil, 0, 0
        if there then
            local found, last_seq = redis.call('HMGET', KEYS[5], 'all', worker), -1
            held, holders, lease_ends, held_kept = (found[1] or ''):match('^(%d+),(%d+),(%d+),(%d+)$')
            if found[2] then
                last_seq, held_was = found[2]:match('^(%d+),(%d+),%d+$')
            end
            if not held or not last_seq or last_seq + 0 >= seq + 0 or now > lease_ends + 0 then
                return nil
            end
            held_was = held_was + 0
            held, holders = held - held_was, holders - (held_was > 0 and 1 or 0)
        end
        local free = permits - held - holding
        free = free > 0 and free or 0
        if holding > held_was then
            return nil
        end

        -- The others in line: how many they are, what they want, how many lack a permit.  The worker: its turn, and how
        -- many of them stand before it.
        local all_waiting, others, wanted, lacking, latest, silent_at, line_kept = 0, 0, 0, 0, 0, nil, 0
        local own_turn, own_heard, before, front, places
        if listed then
            local found = redis.call('HMGET', KEYS[3], 'all', worker)
            local workers, only, standing, head_again
            all_waiting, workers, latest, silent_at, line_kept, only, others, standing, wanted, lacking =
                (found[1] or ''):match('^(%d+),(%d+),(%d+),(%d+),(%d+);(%d),(%d+),(%d+),(%d+),?(%d*)$')
            if not workers or workers ~= others or standing ~= others or (priority or only) ~= only
                or now > silent_at + 0 or latest + 0 > now + TAKT_SILENT_US then
                return nil
            end
            priority, others, latest, lacking = only, others + 0, latest + 0, lacking == '' and 0 or lacking + 0
            -- first all are listed by name, to tell who is silent, then as NAME:PRIORITY, in their order
            front = redis.call('ZRANGE', KEYS[2], others, others + (free < TAKT_WAKES_MAX and free + 1 or TAKT_WAKES_MAX))
            if found[2] then
                local last_seq, its_turn, wanting, its_waiting, again, lacks = split_place(found[2], priority)
                if not last_seq or last_seq + 0 >= seq + 0 then
                    return nil
                end
                -- who lacks a permit is told to come again a keepalive later: it was heard then, or before that
                own_turn, own_heard = its_turn + 0, lacks ~= '' and again - TAKT_KEEPALIVE_US or now
                others, lacking = others - 1, lacking - #lacks
                all_waiting, wanted = all_waiting - its_waiting, wanted - wanting
                if front[1] == worker .. ':' .. priority then
                    before, head_again = 0, again
                end
            end
            if not before then
                places = read_places(front)
                local _, _, _, _, again = split_place(places[1], priority)
                head_again = again
            end
            if not head_again or head_again + lookahead < now then
                return nil
            end
        end
        if (count + wanted) * (others + 1) > TAKT_ROOM_MAX or waiting + all_waiting > TAKT_ROOM_MAX then
            return nil -- where it is more, tokens would have to be shared as well
        end
        local was_listed, member = own_turn, worker .. ':' .. (priority or '')
        if own_turn and count > 0 and not before then
            before = redis.call('ZCOUNT', KEYS[2], digits(priority * TURNS),
                '(' .. digits(priority * TURNS + own_turn))
        end

        -- Its turn: what its share and those before it leave.
        local given, lacks, again = 0, false, now
        if count > 0 then
            local share = math.max(math.floor(permits / (others + 1)), 1)
            turn = turn + (own_turn and 0 or 1)
            own_turn, before = own_turn or turn, before or others
            given = math.max(math.min(count, share, free - math.min(before * share, wanted)), 0)
            free, count, waiting = free - given, count - given, waiting - given
            if waiting > 0 and given > 0 then
                turn, before = turn + 1, others
                own_turn = turn
            end
            lacks = waiting > 0 and free <= math.min(before * share, wanted)
            again = now + math.floor(lookahead
                / (before > 0 and wanted + 0 > 0 and TAKT_LOOKAHEAD_FRACTION or TAKT_LOOKAHEAD_FRACTION_FIRST))
        end
        own_turn = waiting > 0 and own_turn or nil
        local woken, standing = nil, others + (own_turn and 1 or 0)
        if free > 0 and lacking > 0 then
            places = places or read_places(front)
            local share = math.max(math.floor(permits / standing), 1)
            woken = find_woken(front, places, priority, free, lacking, share, wanted + count, worker, own_turn)
            if not woken then
                return nil
            end
        end

        -- What it holds from now on, and its numbers.
        local expires, expires_text, told, reuses = now + lease, nil, 0, 0
        if holding + given > 0 then
            leased = (holders > 0 or holding > 0) and leased > expires and leased or expires
            expires_text = digits(expires)
            lease_ends = (holders > 0 and expires >= lease_ends + 0) and lease_ends or expires_text
            holding = holding + given
            held, holders = held + holding, holders + 1
            told = fence < now and now or fence + 1
            reuses = others > 0 and 0 or math.max(math.min(TAKT_REUSES, now + TAKT_REUSES_AHEAD_US - told - given), 0)
            fence = told + given + reuses - 1
        elseif holders == 0 then
            leased = 0
        end
        if lacks and (before == 0 or wanted + 0 == 0) and lease_ends + 1 < now + TAKT_KEEPALIVE_US then
            return nil -- the first in line comes by itself when a lease ends, and it may be told when
        end

        -- How the line is then, and until when the ledger is kept.
        if own_turn then
            latest = now + TAKT_SILENT_US
            silent_at = silent_at or digits(latest)
        elseif was_listed and others > 0 and own_heard + TAKT_SILENT_US >= latest then -- it may have been the last
            local found = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES')
            latest = -found[found[1] == worker and 4 or 2]
        end
        local kept = math.max(fence, leased, standing > 0 and latest or 0)
        if kept <= now then
            return nil
        end

        local state = 'n' .. digits(fence)
        if leased > 0 then
            state = state .. ',' .. (leased == expires and expires_text or digits(leased))
        end
        if standing > 0 then
            state = state .. ';t' .. digits(turn)
        end
        redis.call('SET', KEYS[1], state, 'PXAT', digits(math.ceil(kept / 1000)))
        if holders > 0 and (holding > 0 or held_was > 0) then
            save_held(there, leased, string.format('%d,%d,%s,', held, holders, lease_ends), held_kept + 0, worker,
                holding > 0 and string.format('%s,%d,%s', seq, holding, expires_text))
        elseif held_was > 0 then
            redis.call('UNLINK', KEYS[5])
        end
        if standing > 0 and (own_turn or was_listed) then
            local place = own_turn and string.format('%s;%s,%s,%d,1,%d,%s,%s', seq, priority, digits(own_turn), count,
                waiting, digits(lacks and now + TAKT_KEEPALIVE_US or again), lacks and 'fp' or 'f')
            local rest = string.format(';%s,%d,%d,%d', priority, standing, standing, wanted + count)
            lacking = lacks and lacking + 1 or lacking
            rest = lacking > 0 and rest .. string.format(',%d', lacking) or rest
            local all = string.format('%d,%d,', all_waiting + waiting, standing)
            save_line(listed, latest, all, silent_at, line_kept + 0, rest, worker, place, member,
                priority * TURNS + (own_turn or 0))
        elseif was_listed then
            redis.call('UNLINK', KEYS[2], KEYS[3])
        end
        for i = 1, woken and #woken or 0 do
            publish(woken[i])
        end

        local reply = { TAKT_FLAG_PERMITS, now, own_turn and not lacks and again or -1, now, 0, all_waiting + waiting, standing, 0,
            own_turn and 2 ^ priority or 0, others > 0 and priority + 0 or -1, '', holding, told, reuses }
        if given > 0 then
            reply[15], reply[16], reply[17], reply[18], reply[19], reply[20], reply[21] = now, 0, 0, 0, 1, given, 1
        end
        return reply
    end

    local reply = share_permits()
    if reply then
        return reply
    end
end
