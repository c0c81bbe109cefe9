-- tenants.lua: the tenants of a ledger and their places (core/tenants.c), and their turns (core/tenant_turns.c,
-- tenant_inside.c, pass_over.c). The ledger's text has both at its end, as in every store, so the keys of the line are
-- not used. The table is made only if the ledger has tenants, or the claim names one. `line` is then tenants.line,
-- which has what the other pieces use of it; it counts as lost, so these do not read the keys.
--
-- A place refers to its tenant. The claimer's places are among `places` except from line.count to line.put_back.
-- needs: line wakes

if inner_keys or (ARGV[9] or ''):find('@', 1, true) or stored and stored:find(';p', 1, true) then
    local ends = stored and stored:find(';p', 1, true) or #(stored or '') + 1

    tenants = {
        head = stored and stored:sub(1, ends - 1), -- the text without tenants and places
        tail = stored and stored:sub(ends) or '',
        name = nil, -- the claim's, as in the text; nil: it names none
        weight = 1,
        waited_from = 0, -- takt_claim.waited_from
        process = '0', -- the worker to wake
        worker = nil, -- the claimer
        list = {},
        places = {}, -- by priority and turn
        emptied = false, -- the keys of the line are to be deleted
        lends = false, -- some places cannot use all that they want: open()
        counted = nil, -- a set: count() counts only these tenants again; nil: all
        is_inner = false, -- of the ledger of an inner limit

        -- Reads what the claim says behind its waiters: @WEIGHT[+WAITED_FROM],PROCESS,NAME. Returns what is before it.
        split = function(told)
            local before, weight, from, process, name = told:match('^([^@]*)@(%d+)%+?(%d*),(%x+),(.*)$')
            if before then
                tenants.name, tenants.process, tenants.waited_from = name, process, tonumber(from) or 0
                tenants.weight = math.min(math.max(tonumber(weight), 1), TAKT_TENANT_WEIGHT_MAX)
            end
            return before or told
        end,

        -- False: the text is malformed. What an earlier claim of the same call has written need not be read.
        read = function()
            local written = not tenants.is_inner and KEYS.written
            if written and written.tail == tenants.tail then
                tenants.list, tenants.places, written.tail = written.list, written.places, nil
                if tenants.stays(written) then
                    tenants.counted, tenants.line.all = written.counted, written.all
                end
                return true
            end
            local tail, at, list, places = tenants.tail, 1, tenants.list, tenants.places
            local priority, weight, tag, since, name, stop = tail:match('^;p(%d),(%d+),(%d+),(%d+),([^;]*)()')
            while priority do
                local one = tenants.add(tonumber(priority), name, tonumber(since))
                one.weight, one.tag, at = tonumber(weight), tonumber(tag), stop
                if one.weight < 1 or one.weight > TAKT_TENANT_WEIGHT_MAX or one.tag > TAKT_EXACT_MAX / 2
                    or one.since > TAKT_EXACT_MAX or #name > TAKT_TENANT_TEXT_MAX or #list > TAKT_TENANTS_MAX then
                    return false
                end
                priority, weight, tag, since, name, stop = tail:match('^;p(%d),(%d+),(%d+),(%d+),([^;]*)()', at)
            end
            while at <= #tail do
                local place = tenants.read_place(at)
                if not place then
                    return false
                end
                places[#places + 1], at = place, place.stop
            end
            return true
        end,

        -- Most places are written as they were read: `written` is the text of such a place, if the index of its tenant
        -- and due_in are still the same.
        read_place = function(at)
            local worker, seq, priority, turn, wanting, need, waiting, again, expires, weight, left, former, aside,
                foremost, lacks, index, process, holds, held_back, dues, due_in, stop =
                tenants.tail:match('^;w(%x+),(%d+),(%d),(%d+),(%d+),(%d+),(%d+),(%d+),(%d+)' .. WEIGHTS .. FORMER
                    .. ',?(a?)(f?)(p?)@(%d+),(%x+)(,?)(%d*)(%+?)(%d*)()', at)
            local tenant = worker and tenants.list[tonumber(index)]
            held_back = holds == ',' and (tonumber(held_back) or 0)
            due_in = dues == '+' and (tonumber(due_in) or 0)
            local place = tenant and tenant.priority == tonumber(priority)
                and not (held_back and (held_back < 1 or held_back > tonumber(waiting)))
                and not (due_in and (due_in < 1 or due_in > TAKT_EXACT_MAX)) and {
                worker = worker,
                seq = tonumber(seq),
                priority = tonumber(priority),
                turn = tonumber(turn),
                wanting = tonumber(wanting),
                need = tonumber(need),
                waiting = tonumber(waiting),
                held_back = held_back or 0,
                due_in = due_in or 0,
                again = tonumber(again),
                expires = tonumber(expires),
                weight = tonumber(weight) or 1,
                left = tonumber(left) or 0,
                former = tonumber(former) or 0,
                aside = aside ~= '',
                foremost = foremost ~= '',
                lacking = lacks ~= '',
                tenant = tenant,
                process = process,
                stop = stop,
            }
            if place then
                if tenants.tail:sub(stop, stop) == '/' then
                    place.stop = read_more(place, tenants.tail, stop) or stop
                end
                tenants.note_text(place, tenants.tail:sub(at, place.stop - 1))
            end
            return place
        end,

        -- The text from which a place was read, or as which it was written.
        note_text = function(place, written)
            place.written, place.written_index, place.written_due = written, place.tenant.index, place.due_in or 0
        end,

        write_place = function(place)
            if place.written and place.written_index == place.tenant.index
                and place.written_due == (place.due_in or 0) then
                return place.written
            end
            local digits_of = numbers.digits
            local marks = (place.aside and 'a' or '') .. (place.foremost and 'f' or '') .. (place.lacking and 'p' or '')
            local written = ';w' .. place.worker .. ',' .. digits_of(place.seq) .. ',' .. place.priority .. ','
                .. digits_of(place.turn) .. ',' .. digits_of(place.wanting) .. ',' .. digits_of(place.need) .. ','
                .. digits_of(place.waiting) .. ',' .. digits_of(place.again) .. ',' .. digits_of(place.expires)
                .. (place.weight > 1 and '*' .. digits_of(place.weight) or '')
                .. (place.left > 0 and '+' .. digits_of(place.left) or '')
                .. (place.former > 0 and '-' .. digits_of(place.former) or '')
                .. (marks ~= '' and ',' .. marks or '')
                .. '@' .. place.tenant.index .. ',' .. place.process
                .. (place.held_back > 0 and ',' .. digits_of(place.held_back) or '')
                .. ((place.due_in or 0) > 0 and '+' .. digits_of(place.due_in) or '')
                .. (place.more and write_more(place) or '')
            tenants.note_text(place, written)
            return written
        end,

        encode = function()
            local parts, digits_of = {}, numbers.digits
            for i, one in ipairs(tenants.list) do
                one.index = i
                parts[#parts + 1] = ';p' .. one.priority .. ',' .. digits_of(one.weight) .. ',' .. digits_of(one.tag)
                    .. ',' .. digits_of(one.since) .. ',' .. one.name
            end
            for _, place in ipairs(parts[1] and tenants.places or {}) do
                parts[#parts + 1] = tenants.write_place(place)
            end
            local tail = table.concat(parts)
            if KEYS.written and not tenants.is_inner then
                tenants.note(KEYS.written, tail)
            end
            return tail
        end,

        -- Whether time has changed nothing since an earlier claim of the same call, so that its counts still hold.
        stays = function(written)
            return written.counted and ledger.now >= written.now and ledger.now <= written.till
                and written.lookahead == limit.lookahead and #written.all.more == limit.count_more()
        end,

        -- Notes what read() would get from that text: the claimer's places have more fields.
        note = function(written, tail)
            written.tail, written.list, written.places = tail, tenants.list, tenants.places
            written.now, written.lookahead = ledger.now, limit.lookahead
            written.counted, written.all = tenants.counted, tenants.line.all
            local till, seen = NEVER, {}
            for i, place in ipairs(tenants.places) do
                till = place.expires < till and place.expires or till
                if not place.aside and not seen[place.tenant] then
                    seen[place.tenant] = true
                    till = math.min(till, place.again + limit.lookahead)
                end
                if place.worker == tenants.worker then
                    written.places[i] = { worker = place.worker, seq = place.seq, priority = place.priority,
                        turn = place.turn, wanting = place.wanting, need = place.need, waiting = place.waiting,
                        held_back = place.held_back, due_in = place.due_in or 0, again = place.again,
                        expires = place.expires,
                        weight = place.weight, left = place.left, former = place.former, aside = place.aside,
                        foremost = place.foremost, lacking = place.lacking, tenant = place.tenant,
                        process = place.process, more = place.more, needs = place.needs, written = place.written,
                        written_index = place.written_index, written_due = place.written_due }
                end
            end
            written.till = till
        end,

        reset = function()
            tenants.list, tenants.places, tenants.counted = {}, {}, nil
        end,

        -- The tenant of a priority; nil: it is not there.
        find = function(priority, name)
            for _, one in ipairs(tenants.list) do
                if one.priority == priority and one.name == name then
                    return one
                end
            end
        end,

        add = function(priority, name, since)
            local list = tenants.list
            list[#list + 1] = { name = name, priority = priority, weight = 1, tag = 0, since = since, index = #list + 1,
                wanting = 0, asking = 0, places = 0, in_turn = 0, away = 0, processes = 0, all = 0 }
            list[#list].usable = list[#list]
            return list[#list]
        end,

        -- The places, and those of the claimer if they are not among them.
        each = function(own)
            local all = { unpack(tenants.places) }
            for priority = 0, own and 9 or -1 do
                all[#all + 1] = own[priority]
            end
            return ipairs(all)
        end,

        -- Adds a place to what its tenant has.
        add_up = function(one, place, further)
            one.all = one.all + 1
            if place.aside then
                return
            end
            -- a place that the claim passes over has its share, too
            one.in_turn, one.processes = one.in_turn + 1, one.processes + place.weight
            if place.behind then
                one.away = one.away + (place.away and 1 or 0)
                return
            end
            one.places, one.wanting = one.places + 1, one.wanting + place.wanting
            one.asking = one.asking + place.waiting - place.held_back
            for unit = 1, further do
                one[unit] = one[unit] + wanted_by(place, unit)
            end
            if tenants.lends then
                for asked, amount in pairs(one.usable) do
                    one.usable[asked] = amount + tenants.usable(place, asked)
                end
            end
            one.head = one.head and one.head.turn < place.turn and one.head or place
        end,

        clear = function(one, further)
            one.wanting, one.asking, one.places, one.all, one.head = 0, 0, 0, 0, nil
            one.in_turn, one.away, one.processes = 0, 0, 0
            one.usable = tenants.lends and { wanting = 0, asking = 0 } or one -- of what they want
            for unit = 1, further do
                one[unit], one.usable[unit] = 0, 0
            end
        end,

        -- Another worker's place has changed, or the claimer's goes into the places or out of them.
        touch = function(place)
            if tenants.counted then
                tenants.counted[place.tenant] = true
            end
        end,

        -- takt_tenants_count. `own`: the claimer's places if they are not among the places. Only the tenants of these
        -- and of places that were touched are counted again.
        count = function(own)
            local further, counted, mine = limit.count_more(), tenants.counted, {}
            for priority = 0, own and 9 or -1 do
                local place = own[priority]
                if place and place.tenant then
                    mine[place.tenant] = true
                    if counted then
                        counted[place.tenant] = true
                    end
                end
            end
            for at, one in (counted and pairs or ipairs)(counted or tenants.list) do
                tenants.clear(counted and at or one, further)
            end
            for _, place in ipairs(tenants.places) do
                if not counted or counted[place.tenant] then
                    tenants.add_up(place.tenant, place, further)
                end
            end
            for priority = 0, own and 9 or -1 do
                if own[priority] and own[priority].tenant then
                    tenants.add_up(own[priority].tenant, own[priority], further)
                end
            end
            tenants.counted = not tenants.lends and mine or nil
        end,

        -- The same of the tenants `inside` (look_inside).
        count_inside = function(own, within)
            local further = limit.count_more()
            within.counted = nil
            for _, one in ipairs(within.list) do
                tenants.clear(one, further)
            end
            for _, place in tenants.each(own) do
                if place.inside then
                    tenants.add_up(place.inside, place, further)
                end
            end
        end,

        count_waiters = function()
            for _, one in ipairs(tenants.list) do
                one.waiting = 0
            end
            for _, place in ipairs(tenants.places) do
                place.tenant.waiting = place.tenant.waiting + place.waiting
            end
        end,

        -- The weights of the tenants of a priority that have active places.
        rivals = function(priority, without, list)
            local weights = 0
            for _, one in ipairs(list or tenants.list) do
                if one ~= without and one.priority == priority and one.places > 0 then
                    weights = weights + one.weight
                end
            end
            return weights
        end,

        -- level_of() of core/tenants.c, of each priority; nil instead of INT64_MAX.
        levels = function()
            local lowest, highest = {}, nil
            for _, one in ipairs(tenants.list) do
                local priority, tag = one.priority, one.tag
                if one.places > 0 or one.away > 0 then
                    local least = lowest[priority]
                    if not least or tag < least then
                        lowest[priority] = tag
                    end
                elseif one.all > 0 then
                    highest = highest or {}
                    highest[priority] = math.max(tag, highest[priority] or tag)
                end
            end
            for priority, tag in pairs(highest or lowest) do
                lowest[priority] = lowest[priority] or tag
            end
            return lowest
        end,

        -- behind_at_most() of core/tenants.c.
        behind_at_most = function(weights)
            local through, throughs = limit.throughput(limit.lookahead)
            local unit = limit.units and tenants.priced_unit()
            through = unit and throughs[unit] or through
            return TAKT_TENANT_TURNS * (math.floor(through / math.max(weights, 1)) + 1) * TAKT_TENANT_STEP
        end,

        -- begin() of core/tenants.c.
        begin = function(one, waited_from)
            local level = tenants.levels()[one.priority]
            if level then
                local from = level
                if waited_from > 0 and waited_from < level and #tenants.list < TAKT_TENANTS_MAX then
                    local weights = tenants.rivals(one.priority) + one.weight
                    from = math.max(waited_from, level - tenants.behind_at_most(weights))
                end
                one.tag = math.max(one.tag, from)
            end
        end,

        -- catch_up() of core/tenants.c: those that are still further behind come along.
        catch_up = function(one)
            local weights = tenants.rivals(one.priority, one)
            if weights > 0 then
                local room, rooms = limit.room(math.max(ledger.now, ledger.blocked), ledger.now + limit.lookahead)
                local through, throughs = limit.throughput(limit.lookahead)
                local unit = limit.units and tenants.priced_unit()
                local total = unit and math.max(rooms[unit], throughs[unit]) or math.max(room, through)
                local turn = math.floor(total / (weights + tenants.weight)) + 1
                local from, after = one.tag, NEVER
                for _, other in ipairs(tenants.list) do
                    if other.priority == one.priority and other.places > 0 and other.tag > from then
                        after = math.min(after, other.tag)
                    end
                end
                local more = after - TAKT_TENANT_TURNS * turn * TAKT_TENANT_STEP - from
                for _, other in ipairs(after < NEVER and more > 0 and tenants.list or {}) do
                    if other.priority == one.priority and other.tag <= from then
                        other.tag = other.tag + more
                    end
                end
            end
        end,

        -- Makes space in a full table, as in lib/core/tenants.c. False: all others wait.
        forget_one = function()
            local found
            for i, one in ipairs(tenants.list) do
                if one.all == 0 and one.name ~= (tenants.name or '')
                    and (not found or one.tag < tenants.list[found].tag) then
                    found = i
                end
            end
            if found then
                table.remove(tenants.list, found)
                for i = found, #tenants.list do
                    tenants.list[i].index = i
                end
            end
            return found
        end,

        -- takt_tenants_join. False: the claim cannot stand in line.
        join = function(wants)
            if line ~= tenants.line then -- otherwise tidy() has counted
                tenants.take_over()
                tenants.count()
            end
            for i, want in ipairs(wants) do
                local priority = want.priority
                if i == 1 or priority ~= wants[i - 1].priority then
                    local one = tenants.find(priority, tenants.name or '')
                    if one and one.all == 0 then
                        one.since = ledger.now
                    elseif not one and #tenants.list == TAKT_TENANTS_MAX and not tenants.forget_one() then
                        return false
                    end
                    one = one or tenants.add(priority, tenants.name or '', ledger.now)
                    one.weight = tenants.weight
                    if one.places == 0 then
                        tenants.begin(one, tenants.is_inner and 0 or tenants.waited_from)
                    else
                        tenants.catch_up(one)
                    end
                end
            end
            return true
        end,

        -- The places of a line without tenants are of work that names none.
        take_over = function()
            local found = line and not line.lost and redis.call('HGETALL', KEYS[3]) or {}
            tenants.counted = nil
            local silent = found[1] and redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(0', 'WITHSCORES') or {}
            local expiries, silent_at = {}, ledger.now + TAKT_SILENT_US
            for i = 1, #silent, 2 do
                expiries[silent[i]] = math.min(-tonumber(silent[i + 1]), silent_at)
            end
            for i = 1, #found, 2 do
                local name = found[i]
                local record = name ~= 'all' and not line.gone[name] and line.record_of(name) or {}
                for priority = 0, 9 do
                    local place = record[priority]
                    if place then
                        place.worker, place.seq, place.priority, place.process = name, record.seq, priority, '0'
                        place.expires, place.held_back, place.due_in = expiries[name] or silent_at, 0, 0
                        tenants.places[#tenants.places + 1] = place
                    end
                end
            end
            table.sort(tenants.places, tenants.stands_before)
            for _, place in ipairs(tenants.places) do
                place.tenant = tenants.find(place.priority, '') or tenants.add(place.priority, '', ledger.now)
                ledger.turn = math.max(ledger.turn, place.turn) -- nobody owes turns here
            end
            tenants.emptied, line = line ~= nil or ledger.damaged, tenants.line
            line.sum()
        end,

        -- can_be_told() of core/overflow.c.
        can_be_told = function(place)
            return not place.aside or place.waiting > 0 and place.again + limit.lookahead >= ledger.now
        end,

        -- The waiters whose workers cannot be told that they leave the line.
        count_late = function()
            local late = 0
            for _, place in ipairs(tenants.places) do
                late = late + (tenants.can_be_told(place) and 0 or place.waiting)
            end
            return late
        end,

        stands_before = function(a, b)
            return a.priority < b.priority or a.priority == b.priority and a.turn < b.turn
        end,

        assign = function(own, seq)
            for priority = 0, 9 do
                local place = own[priority]
                if place then
                    place.worker, place.seq, place.priority = tenants.worker, seq, priority
                    place.tenant, place.process = tenants.find(priority, tenants.name or ''), tenants.process
                    place.expires, place.aside = ledger.now + TAKT_SILENT_US, false
                end
            end
        end,

        -- takt_tenants_unit; nil: tokens.
        priced_unit = function()
            local first
            for _, one in ipairs(limit.rules) do
                if not one.unit then
                    return nil
                end
                first = math.min(one.unit, first or one.unit)
            end
            return first or 0
        end,

        -- price_of() of core/tenants.c. `others`: the amounts of units other than tokens, requests in any case.
        price_of = function(tokens, others)
            local unit = tenants.priced_unit()
            local amount = unit and others[unit] or not unit and tokens
            if not limit.units then
                return amount
            end
            local through, throughs = limit.throughput(limit.worth(tokens, others))
            return math.max(unit and throughs[unit] or through, amount)
        end,

        charge = function(place, given, others)
            local one, price = place.tenant, tenants.price_of(given, others)
            one.tag = math.min(one.tag + math.floor(price * TAKT_TENANT_STEP / one.weight), TAKT_EXACT_MAX / 2)
        end,

        -- lower() of core/tenants.c.
        lower = function(one, step)
            local tag, least = one.tag - step, nil
            if one.places == 0 then
                least = math.min(one.tag, tenants.levels()[one.priority] or NEVER)
            end
            for _, other in ipairs(tag < 0 and not least and tenants.list or {}) do
                if other ~= one and other.priority == one.priority then
                    other.tag = math.min(other.tag - tag, TAKT_EXACT_MAX / 2)
                end
            end
            one.tag = math.max(tag, least or 0, 0)
        end,

        -- takt_tenants_correct.
        correct = function(priority, name, weight, more)
            tenants.count()
            local one = tenants.find(priority, name)
            if not one and more > 0 and #tenants.list < TAKT_TENANTS_MAX then
                one = tenants.add(priority, name, ledger.now)
                one.weight = math.min(math.max(weight, 1), TAKT_TENANT_WEIGHT_MAX)
            end
            if not one or more == 0 then
                return
            end
            local step = math.floor(math.min(math.abs(more), TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / one.weight)
            if more > 0 then
                if one.places == 0 then
                    tenants.begin(one, 0)
                end
                one.tag = math.min(one.tag + step, TAKT_EXACT_MAX / 2)
            else
                tenants.lower(one, step)
            end
            tenants.settle()
        end,

        -- takt_tenants_settle.
        settle = function(own)
            local kept, count, past = {}, 0, nil
            tenants.count(own)
            local levels = tenants.levels()
            for _, one in ipairs(tenants.list) do
                local level, priority = levels[one.priority], one.priority
                if one.all > 0 then
                    one.tag = one.tag > level and one.tag or level
                elseif level then
                    past = past or {}
                    past[priority] = past[priority] or level - tenants.behind_at_most(tenants.rivals(priority))
                end
                if one.all > 0 or level and one.tag > past[priority] then
                    count = count + 1
                    kept[count], one.index = one, count
                    if level >= TAKT_TENANT_TAG_HIGH then
                        one.tag = math.max(one.tag - level, 0)
                    end
                end
            end
            tenants.list = kept
        end,

        -- takt_line_tidy and takt_tenants_tidy.
        tidy = function()
            if tenants.counted then
                tenants.settle() -- an earlier claim of the call has done the rest
                return
            end
            local now, kept, count = ledger.now, {}, 0
            for _, place in ipairs(tenants.places) do
                local again, expires = place.again, place.expires
                if again > now + TAKT_PARKED_MAX_US or expires > (again > now and again or now) + TAKT_SILENT_US then
                    again = math.min(again, now + TAKT_PARKED_MAX_US) -- it may be parked
                    expires = math.min(expires, math.max(now, again) + TAKT_SILENT_US)
                    place.again, place.expires, place.written = again, expires, nil
                end
                if expires >= now then
                    count = count + 1
                    kept[count] = place
                end
            end
            tenants.places = kept
            tenants.open()
            for _, one in ipairs(tenants.list) do
                one.places, one.since = 0, one.since < now and one.since or now
            end
            local late = now - limit.lookahead
            for _, place in ipairs(kept) do
                local one = place.tenant
                if not place.aside and one.places == 0 and place.again < late then
                    place.aside, place.written = true, nil
                elseif not place.aside then
                    one.places = one.places + 1
                end
            end
            tenants.settle()
            tenants.line.sum()
        end,

        turn_of = function(one, total, weights)
            return math.max(math.floor(total * one.weight / weights), 1)
        end,

        tag_after = function(one, wanting, total, weights)
            return one.tag
                + math.floor(math.min(tenants.turn_of(one, total, weights), wanting) * TAKT_TENANT_STEP / one.weight)
        end,

        -- What a tenant gets until it has had as much, by its weight, as a tag says.
        until_even = function(one, tag)
            local less = math.max(tag - one.tag, 0)
            return math.floor(less / TAKT_TENANT_STEP) * one.weight
                + math.floor(less % TAKT_TENANT_STEP * one.weight / TAKT_TENANT_STEP)
        end,

        -- What a place wants, and what its first waiter needs. `asked`: the field of a tenant that sums it up, which is
        -- wanting for tokens, asking for requests, and the number of a further unit.
        wanted = function(place, asked)
            return asked == 'wanting' and place.wanting or wanted_by(place, tonumber(asked) or 0)
        end,

        needed = function(place, asked)
            return asked == 'wanting' and place.need or needed_by(place, tonumber(asked) or 0)
        end,

        -- takt_line_usable.
        usable = function(place, asked)
            local wanted = tenants.wanted(place, asked)
            return place.open and math.min(wanted, place.open[asked]) or wanted
        end,

        -- part_of() of core/lend.c. `mine`: the tenant; nil: the whole. Its places are counted since they changed.
        part = function(mine, span, cost, more)
            local tokens, others = limit.throughput(span)
            local weight, weights = 1, 1
            if mine then
                weight, weights = mine.weight, 0
                for _, one in ipairs(tenants.list) do
                    if one.priority == mine.priority and one.all > 0 then
                        weights = weights + one.weight
                    end
                end
            end
            local count = math.floor(numbers.divide(tokens, weight, 0, weights) / cost)
            for _, unit in ipairs(limit.units or {}) do
                local amount = unit > 0 and more[unit] or 1
                count = math.min(count, math.floor(numbers.divide(others[unit], weight, 0, weights) / amount))
            end
            return count
        end,

        -- takt_due_open. `own`: as of count().
        open = function(own)
            local found, left, lent = {}, {}, tenants.lends
            for _, place in tenants.each(own) do
                if place.open or (place.due_in or 0) > 0 then
                    place.open = nil
                    if place.expires - TAKT_SILENT_US + place.due_in > ledger.now then
                        found[#found + 1] = place
                    else
                        place.due_in = 0
                    end
                end
            end
            tenants.lends = found[1] ~= nil
            tenants.counted = not lent and not tenants.lends and tenants.counted or nil
            table.sort(found, tenants.stands_before)
            for _, place in ipairs(found) do
                local due = place.expires - TAKT_SILENT_US + place.due_in
                local of = place.priority .. ',' .. due
                place.open = left[of] or tenants.open_from(due)
                left[of] = {}
                for asked, amount in pairs(place.open) do
                    left[of][asked] = amount - tenants.usable(place, asked)
                end
            end
        end,

        -- What the ledger gives from an instant on until the lookahead ends.
        open_from = function(due)
            local span, open = ledger.now + limit.lookahead - due, { wanting = 0, asking = 0 }
            local tokens, others = limit.throughput(math.max(span, 0))
            local one = span < 0 and 0 or 1
            open.wanting = one * (tokens + 1)
            for _, unit in ipairs(limit.units or {}) do
                open[unit == 0 and 'asking' or unit] = one * (others[unit] + 1)
            end
            return open
        end,

        -- What is left to the tenants that go before one. `asked`: as above. `tag`: when this one has had as much, they
        -- have had it, too.
        left_to_others = function(mine, asked, total, weights, tag, list)
            local left, my_tag = 0, tenants.tag_after(mine, mine[asked], total, weights)
            local max, min, floor = math.max, math.min, math.floor -- this is done for each tenant
            for _, one in ipairs(list or tenants.list) do
                if one ~= mine and one.priority == mine.priority and one.places > 0 then
                    local turn, usable, kept = max(floor(total * one.weight / weights), 1), one.usable[asked], 0
                    local after = one.tag + floor(min(turn, one[asked]) * TAKT_TENANT_STEP / one.weight)
                    if after < my_tag or after == my_tag and one.index < mine.index then
                        local behind = mine.tag > one.tag and tenants.until_even(one, mine.tag) or 0
                        kept = min(max(turn, min(behind, 2 * turn), tenants.needed(one.head, asked)), usable)
                    end
                    if tag > one.tag then
                        kept = max(kept, min(tenants.until_even(one, tag), usable))
                    end
                    left = left + kept
                end
            end
            return left
        end,

        share = function(one, total, weights)
            local processes = one.in_turn > 1 and math.max(one.processes, 1) or 1
            return math.max(math.floor(tenants.turn_of(one, total, weights) / processes), 1)
        end,

        -- takt_tenant_turn_among: share, shares, ahead and first. `list`, `field`: as of count().
        among = function(place, own, asked, total, plan, list, field)
            local mine, tag = place[field], 0
            local weights = tenants.rivals(mine.priority, nil, list)
            local share, before, shares, head = tenants.share(mine, total, weights), 0, 0, nil
            for _, other in tenants.each(own) do
                if other[field] == mine and not other.aside and not other.behind and other.turn < place.turn then
                    head = head and head.turn < other.turn and head or other
                    before, shares = before + 1, shares + shares_of(other)
                end
            end
            local need = head and tenants.needed(head, asked) or 0
            local ahead = shares * share + (head and shares_of(head) * math.max(need - share, 0) or 0)
            ahead = math.min(ahead, plan and mine[asked] - tenants.wanted(place, asked)
                or mine.usable[asked] - tenants.usable(place, asked))
            if plan and head then
                tag = mine.tag + math.floor(math.min(ahead, TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / mine.weight)
            end
            return share, mine.in_turn > 1 and shares_of(place) or 1,
                tenants.left_to_others(mine, asked, total, weights, tag, list) + ahead,
                head and need + before - 1 or 0
        end,

        -- takt_tenants_look_inside: sets `inside` of the places of a place's subject to their tenants in the innermost
        -- line.
        look_inside = function(place, own)
            local level, found = ledger.inner.levels[1], {}
            local within = level.tenants
            for _, other in ipairs(within and within.places or {}) do
                found[other.worker .. ',' .. other.priority] = other
            end
            for priority, other in pairs(level.own or {}) do
                found[other.worker .. ',' .. priority] = other
            end
            for _, other in tenants.each(own) do
                local theirs = other.tenant == place.tenant and found[other.worker .. ',' .. other.priority]
                other.inside = theirs and not theirs.aside and theirs.tenant or nil
                other.turn_inside = other.inside and theirs.turn
            end
            if within then
                tenants.count_inside(own, within)
            end
        end,

        -- takt_tenants_turn. What a place has `inside` is of an earlier claim if this one has no subject.
        turn = function(place, own, asked, total, plan)
            local within = place.inside and ledger.inner and ledger.inner.name and ledger.inner.levels[1].tenants.list
            if not within then
                return tenants.among(place, own, asked, total, plan, tenants.list, 'tenant')
            end
            local subject, tag = place.tenant, 0
            local weights = tenants.rivals(subject.priority)
            local share, shares, ahead, before = tenants.among(place, own, asked,
                tenants.turn_of(subject, total, weights), plan, within, 'inside')
            if plan and ahead > 0 then
                tag = subject.tag
                    + math.floor(math.min(ahead, TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / subject.weight)
            end
            return share, shares, ahead + tenants.left_to_others(subject, asked, total, weights, tag), before
        end,

        -- goes_after() of core/tenant_inside.c.
        goes_after = function(a, b)
            local one, other = a.inside, b.inside
            if not one or not other then
                return not one and other ~= nil
            elseif one == other then
                return a.turn_inside > b.turn_inside
            end
            return one.tag > other.tag or one.tag == other.tag and one.index > other.index
        end,

        -- takt_tenants_arrange.
        arrange = function(own)
            local subjects, turns = {}, {}
            tenants.counted = nil
            for _, place in tenants.each(own) do
                local priority = place.priority
                if place.tenant.name == tenants.name then
                    subjects[priority], turns[priority] = subjects[priority] or {}, turns[priority] or {}
                    table.insert(subjects[priority], place)
                    table.insert(turns[priority], place.turn)
                end
            end
            for priority, places in pairs(subjects) do
                tenants.look_inside(places[1], own)
                table.sort(places, tenants.stands_before)
                table.sort(turns[priority])
                for i = 2, #places do
                    local place, at = places[i], i
                    while at > 1 and tenants.goes_after(places[at - 1], place) do
                        places[at], at = places[at - 1], at - 1
                    end
                    places[at] = place
                end
                for i, place in ipairs(places) do
                    if place.turn ~= turns[priority][i] then
                        place.turn, place.written = turns[priority][i], nil
                    end
                end
            end
            table.sort(tenants.places, tenants.stands_before)
        end,

        goes_before = function(one, other, asked, total, weights)
            local left = tenants.tag_after(one, one[asked], total, weights)
            local right = tenants.tag_after(other, other[asked], total, weights)
            return left < right or left == right and one.index < other.index
        end,

        -- is_behind() of core/pass_over.c. `total`: what a lookahead has of the priced unit, which `asked` sums up.
        is_behind = function(mine, theirs, asked, total)
            local one, other, weights = mine.tenant, theirs.tenant, tenants.rivals(mine.priority)
            if one ~= other then
                return not tenants.goes_before(other, one, asked, total, weights)
            elseif not ledger.inner.name or not mine.inside or not theirs.inside or mine.inside == theirs.inside then
                return theirs.turn > mine.turn
            end
            local within = ledger.inner.levels[1].tenants.list
            return not tenants.goes_before(theirs.inside, mine.inside, asked, tenants.turn_of(one, total, weights),
                tenants.rivals(mine.priority, nil, within))
        end,

        -- Whether others stand in the claim's inner lines, whose places have been taken out.
        has_company = function()
            for _, level in ipairs(ledger.inner.levels) do
                if level.tenants and level.tenants.places[1] then
                    return true
                end
            end
            return false
        end,

        -- is_idle() of core/pass_over.c.
        is_idle = function(place)
            local since, inner, gaps = ledger.now - limit.lookahead, ledger.inner, limit.gaps
            local more, permits = inner.own_more(place.need, place.first), limit.concurrency
            for _, level in ipairs(inner.levels) do
                permits = permits + level.limit.concurrency
            end
            return permits == 0 and gaps.rule() and limit.earliest(since, place.need, more) <= since
                and inner.blocked_until() <= since and inner.due(since, place.need, place.first) <= since
        end,

        -- The claim does not wait for the places of these lines that have that priority.
        pass_over_every = function(lines, priority)
            for _, one in ipairs(lines) do
                one.counted = nil
                for _, place in ipairs(one.places) do
                    if place.priority == priority then
                        place.behind, place.away = true, true
                    end
                end
            end
        end,

        -- The same of the places of inner lines that do not go before the claim's own.
        pass_over_inside = function(own)
            local room, rooms = limit.room(math.max(ledger.now, ledger.blocked), ledger.now + limit.lookahead)
            local through, throughs = limit.throughput(limit.lookahead)
            local unit, found = tenants.priced_unit(), {}
            local total = limit.units and unit and math.max(rooms[unit], throughs[unit]) or math.max(room, through)
            local asked = not unit and 'wanting' or unit == 0 and 'asking' or unit
            for _, place in ipairs(tenants.places) do
                found[place.priority] = found[place.priority] or {}
                found[place.priority][place.worker] = place
            end
            for priority = 0, 9 do
                local mine = own[priority]
                if mine and ledger.inner.name then
                    tenants.look_inside(mine, own)
                end
                for i = mine and (ledger.inner.name and 2 or 1) or NEVER, #ledger.inner.levels do
                    local within = ledger.inner.levels[i].tenants
                    if within then
                        within.counted = nil
                    end
                    for _, place in ipairs(within and within.places or {}) do
                        local theirs = found[priority] and found[priority][place.worker]
                        if place.priority == priority then
                            place.away, place.behind = false, theirs and not theirs.aside
                                and tenants.is_behind(mine, theirs, asked, total)
                        end
                    end
                end
            end
        end,

        -- Returns whether there was one.
        clear_behind = function(one)
            local found = false
            for _, place in ipairs(one.places) do
                found, place.behind = found or place.behind, nil
            end
            if found then
                one.counted = nil
            end
            return found
        end,

        -- takt_pass_over: the places that the claim does not wait for are `behind`.
        pass_over = function(own)
            local lines = { tenants }
            for _, level in ipairs(ledger.inner.levels) do
                lines[#lines + 1] = level.tenants and level.tenants.list[1] and level.tenants or nil
            end
            for _, one in ipairs(lines) do
                tenants.clear_behind(one)
            end
            tenants.count(own)
            if tenants.has_company() then
                tenants.pass_over_inside(own)
            end
            for priority = 0, 9 do
                if own[priority] and tenants.is_idle(own[priority]) then
                    tenants.pass_over_every(lines, priority)
                    tenants.count(own)
                end
            end
        end,

        -- takt_pass_over_none, in an inner line.
        pass_over_none = function()
            if tenants.clear_behind(tenants) then
                tenants.settle()
            end
        end,

        -- Whether a place goes before another one: takt_tenants_precede.
        precede = function(other, place)
            local one, mine = other.tenant, place.tenant
            if other.priority ~= place.priority then
                return other.priority < place.priority
            elseif one == mine then
                return other.turn < place.turn
            end
            return one.tag < mine.tag or one.tag == mine.tag and one.index < mine.index
        end,

        first = function(own)
            local first
            for _, place in tenants.each(own) do
                if not place.aside and (not first or tenants.precede(place, first)) then
                    first = place
                end
            end
            return first
        end,

        -- wake_tenants() of core/wake_next.c.
        wake = function()
            local free, urgent, same, priority, before, ahead = held.free(), 0, 0, -1, {}, {}
            tenants.count()
            for _, place in ipairs(tenants.places) do
                local one = place.tenant
                if free <= urgent then
                    break
                elseif place.priority ~= priority then
                    urgent, same, priority = urgent + same, 0, place.priority
                end
                if not place.aside then
                    local weights = tenants.rivals(priority)
                    local kept = (before[one] or 0) * tenants.share(one, limit.concurrency, weights)
                    same, before[one] = same + place.wanting, (before[one] or 0) + shares_of(place)
                    if place.lacking and place.worker ~= tenants.worker then
                        ahead[one] = ahead[one]
                            or tenants.left_to_others(one, 'wanting', limit.concurrency, weights, 0)
                        if free - urgent - ahead[one] > math.min(kept, one.wanting - place.wanting) then
                            wakes.add(tenants.waker(place))
                        end
                    end
                end
            end
        end,

        waker = function(place)
            return place.process ~= '0' and place.process or place.worker
        end,

        -- A claim begins: it stands in line among tenants. What it decides otherwise there is put into `claim`. False:
        -- there is no space for it.
        lead = function(claim, offers)
            local joined = tenants.join(claim.wants)
            claim.old = line.record_of(claim.worker) or {}
            if not joined then
                claim.again_at, claim.parked = ledger.now + TAKT_KEEPALIVE_US, claim.waiting > 0
                claim.unlisted = true
                for _, place in ipairs(tenants.places) do
                    claim.least_urgent = place.worker == claim.worker and claim.least_urgent or place.priority
                end
            end
            offers.ask = function()
                return false
            end
            claim.is_weighed = offers.ask
            for name, decide in pairs(tenants.decisions(claim)) do
                claim[name] = decide
            end
            return joined
        end,

        decisions = function(claim)
            return {
                look = function(priority, first, plan, seen)
                    local place, own, all = first or claim.own[priority], claim.own, line.all
                    local urgent, permits, permits_of, others = 0, NEVER, 1, nil
                    for higher = 0, priority - 1 do
                        local mine = own[higher]
                        urgent = urgent + all.wanting[higher] + (mine and mine.wanting or 0)
                    end
                    if not plan or tenants.is_inner then -- otherwise settle() has counted
                        tenants.count(own)
                    end
                    if not tenants.is_inner and ledger.inner and ledger.inner.name then
                        tenants.look_inside(place, own)
                    end
                    local room, rooms = claim.room(claim.from, ledger.now + limit.lookahead)
                    local through, throughs = limit.throughput(limit.lookahead)
                    local share, shares, ahead, before =
                        tenants.turn(place, own, 'wanting', math.max(room, through), plan)
                    if limit.concurrency > 0 then
                        local kept, free = nil, held.free()
                        local _
                        permits_of, _, kept = tenants.turn(place, own, 'wanting', limit.concurrency)
                        permits = math.min(free - urgent - kept, shares * permits_of)
                    end
                    others = limit.units and {}
                    for _, unit in ipairs(limit.units or {}) do
                        local asked, before_it, totals = unit == 0 and 'asking' or unit, 0, line.totals(unit)
                        local turn, _, kept, needed =
                            tenants.turn(place, own, asked, math.max(rooms[unit], throughs[unit]), plan)
                        for higher = 0, priority - 1 do
                            local mine = own[higher]
                            before_it = before_it + totals[higher] + (mine and wanted_by(mine, unit) or 0)
                        end
                        others[unit] = { share = turn, ahead = before_it + kept, room = rooms[unit],
                            first = before_it + needed }
                    end
                    seen = seen or claim.seen
                    seen.share, seen.permits, seen.room, seen.urgent = share, permits, room, urgent
                    seen.ahead, seen.first = urgent + ahead, urgent + before
                    seen.shares, seen.permits_of, seen.others = shares, permits_of, others
                    return seen
                end,

                head_late_at = function(priority)
                    local head, lookahead = nil, limit.lookahead
                    for _, place in ipairs(tenants.places) do
                        if not place.aside and tenants.precede(place, claim.own[priority]) then
                            if head then
                                return NEVER
                            end
                            head = place
                        end
                    end
                    if not head then
                        return NEVER
                    end
                    local soonest = ledger.now + math.floor(lookahead / TAKT_LOOKAHEAD_FRACTION)
                    local late_at = math.max(head.again + lookahead + 1, soonest)
                    return late_at < ledger.now + TAKT_KEEPALIVE_US and late_at or NEVER
                end,

                need_of_head = function(places)
                    local first = tenants.first(places)
                    if not first or first ~= places[first.priority] then
                        return 0
                    end
                    return first.need > 1 and first.need or 0, first.needs
                end,

                hurry_first = function()
                    local first = tenants.first(claim.own)
                    if not first or first == claim.own[first.priority] then
                        return
                    end
                    local seen = claim.look(first.priority, first, true)
                    if seen.permits > 0 and first.again > claim.when(first, seen)
                        + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION) then
                        wakes.add(tenants.waker(first))
                    end
                end,
            }
        end,
    }

    local function zeros()
        return { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
    end

    tenants.line = {
        lost = true,
        all = {},
        gone = {},
        records = {},
        dirty = {},
        wake = tenants.wake,
        assign = tenants.assign,
        settle = tenants.settle,
        charge = tenants.charge,

        sum = function()
            local all = { waiting = 0, workers = 0, latest = 0, late = 0, places = zeros(), active = zeros(),
                wanting = zeros(), asking = zeros(), more = {} }
            for unit = 1, limit.count_more() do
                all.more[unit] = zeros()
            end
            tenants.line.all = all
            for _, place in ipairs(tenants.places) do
                tenants.line.add(place, 1)
            end
        end,

        -- Adds a place to the totals (sign 1), or subtracts it (sign -1) from all but the latest expiry.
        add = function(place, sign)
            local all, priority, waiting = tenants.line.all, place.priority, sign * place.waiting
            local places, active, wanting, asking = all.places, all.active, all.wanting, all.asking
            all.waiting, places[priority] = all.waiting + waiting, places[priority] + sign
            if place.foremost then
                all.workers = all.workers + sign
            end
            if place.expires > all.latest then
                all.latest = place.expires
            end
            if place.aside then
                all.late = all.late + waiting
                return
            end
            active[priority], wanting[priority] = active[priority] + sign, wanting[priority] + sign * place.wanting
            asking[priority] = asking[priority] + waiting - sign * place.held_back
            for unit, totals in ipairs(all.more) do
                totals[priority] = totals[priority] + sign * wanted_by(place, unit)
            end
        end,

        is_listed = function()
            return tenants.places[1] ~= nil
        end,

        -- The worker's places by priority.
        record_of = function(name)
            local record
            for _, place in ipairs(tenants.places) do
                if place.worker == name then
                    record = record or { seq = place.seq }
                    record[place.priority] = place
                end
            end
            return record
        end,

        -- Takes the claimer's places out.
        count = function()
            local kept, latest = {}, 0
            for _, place in ipairs(tenants.places) do
                if place.worker ~= tenants.worker then
                    kept[#kept + 1], latest = place, math.max(latest, place.expires)
                else
                    tenants.touch(place)
                    tenants.line.add(place, -1)
                end
            end
            tenants.places, tenants.line.all.latest = kept, latest
        end,

        put_back = function(own)
            local places = tenants.places
            for priority = 0, 9 do
                local place, at = own[priority], #places + 1
                while place and at > 1 and tenants.stands_before(place, places[at - 1]) do
                    at = at - 1
                end
                if place then
                    table.insert(places, at, place)
                    tenants.touch(place)
                    tenants.line.add(place, 1)
                end
            end
        end,

        -- The first and the last place that loses waiters if too many wait.
        first_other = function(priority)
            for _, place in ipairs(tenants.places) do
                if place.priority == priority and tenants.can_be_told(place) then
                    return place, tenants.waker(place)
                end
            end
        end,

        last_other = function(priority)
            for i = #tenants.places, 1, -1 do
                local place = tenants.places[i]
                if place.priority == priority and tenants.can_be_told(place) then
                    return place, tenants.waker(place)
                end
            end
        end,

        totals = function(unit)
            return unit == 0 and tenants.line.all.asking or tenants.line.all.more[unit]
        end,

        weigh = function()
        end,

        add_more = function()
        end,

        set_aside = function(_, _, place)
            place.aside, place.written = true, nil
            tenants.touch(place)
            tenants.line.sum()
        end,

        save = function()
            if tenants.emptied then
                redis.call('UNLINK', KEYS[2], KEYS[3])
            end
        end,
    }
end
