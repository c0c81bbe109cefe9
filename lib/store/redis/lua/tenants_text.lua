-- tenants_text.lua: tenants and their places in the text of a ledger (core/text_rows.c). What an earlier claim
-- of the same call has written need not be read again.
-- needs: tenants

if tenants then
    -- Most places are written as they were read: `written` is the text of such a place, if the index of its tenant
    -- and due_in are still the same.
    tenants.read_place = function(at)
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
    end

    -- The text from which a place was read, or as which it was written.
    tenants.note_text = function(place, written)
        place.written, place.written_index, place.written_due = written, place.tenant.index, place.due_in or 0
    end

    tenants.write_place = function(place)
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
    end

    tenants.encode = function()
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
    end

    -- Whether time has changed nothing since an earlier claim of the same call, so that its counts still hold.
    tenants.stays = function(written)
        return written.counted and ledger.now >= written.now and ledger.now <= written.till
            and written.lookahead == limit.lookahead and #written.all.more == limit.count_more()
    end

    -- Notes what read() would get from that text: the claimer's places have more fields.
    tenants.note = function(written, tail)
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
    end
end
