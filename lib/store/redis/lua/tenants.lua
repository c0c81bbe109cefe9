-- tenants.lua: the tenants of a ledger and their places (core/tenants.c). The ledger's text has both at its end
-- (tenants_text.lua), as in every store, so the keys of the line are not used: `line` is then that of tenants_line.lua.
-- The table is made only if the ledger has tenants, or the claim names one. tenant_turns.lua says whose turn it is.
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

        -- largest_step() of core/tenants.c.
        largest_step = function(priority)
            local most, others, further, max = 0, {}, limit.count_more(), math.max
            for unit = 0, further do
                others[unit] = 0
            end
            for _, one in ipairs(tenants.list) do
                if one.priority == priority and one.places > 0 then
                    most = max(most, math.ceil(one.head.need / one.weight))
                    for unit = 0, further do
                        others[unit] = max(others[unit], math.ceil(needed_by(one.head, unit) / one.weight))
                    end
                end
            end
            return math.min(tenants.price_of(most, others), TAKT_SETTLED_MAX) * TAKT_TENANT_STEP
        end,

        -- behind_at_most() of core/tenants.c.
        behind_at_most = function(priority, tokens, weights)
            local turn = math.floor(tokens / math.max(weights, 1)) + 1
            return TAKT_TENANT_TURNS * turn * TAKT_TENANT_STEP + tenants.largest_step(priority)
        end,

        tokens_of_lookahead = function()
            local through, throughs = limit.throughput(limit.lookahead)
            local unit = limit.units and tenants.priced_unit()
            return unit and throughs[unit] or through
        end,

        -- begin() of core/tenants.c.
        begin = function(one, waited_from)
            local level = tenants.levels()[one.priority]
            if level then
                local from = level
                if waited_from > 0 and waited_from < level and #tenants.list < TAKT_TENANTS_MAX then
                    local weights = tenants.rivals(one.priority) + one.weight
                    from = math.max(waited_from,
                        level - tenants.behind_at_most(one.priority, tenants.tokens_of_lookahead(), weights))
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
                local from, after = one.tag, NEVER
                for _, other in ipairs(tenants.list) do
                    if other.priority == one.priority and other.places > 0 and other.tag > from then
                        after = math.min(after, other.tag)
                    end
                end
                local more = after - from
                    - tenants.behind_at_most(one.priority, total, weights + tenants.weight)
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
                return nil
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
            tenants.trim()
            return more > 0 and step or -step
        end,

        -- takt_tenants_trim.
        trim = function(own)
            local kept, count, past = {}, 0, nil
            tenants.count(own)
            local levels = tenants.levels()
            for _, one in ipairs(tenants.list) do
                local level, priority = levels[one.priority], one.priority
                if one.all > 0 then
                    one.tag = one.tag > level and one.tag or level
                elseif level then
                    past = past or {}
                    past[priority] = past[priority] or level - tenants.behind_at_most(priority,
                        tenants.tokens_of_lookahead(), tenants.rivals(priority))
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
                tenants.trim() -- an earlier claim of the call has done the rest
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
            tenants.trim()
            tenants.line.sum()
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
    }
end
