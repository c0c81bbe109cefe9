-- quick.lua: the claim that is made most often, answered before any function is made: one GCRA rule, nobody in line, no
-- block and no revision, waiters that want the same at any time, and room for all of them.  It does what the other
-- pieces would do, at a fraction of their price; whatever is different, or too large to be exact here, is left to them.
-- What it does is what a worker waits for, so it calls as little as it can: a text becomes a number by "+ 0", one slot
-- is told in three numbers, and where all three are the same, in one.
-- needs: clock bounds

-- Rules, span, revision, lookahead, max_waiting, zones; worker, seq, waiting; count (of all), latest, cost, priority.
local head, tokens, span, burst, lookahead, count, cost =
    (ARGV[1] or ''):match('^(g(%d+)/(%d+)%*(%d+)) %d+ 0 (%d+) %d+ [^ ]* %x+ %d+ (%d+) %6 %-1 (%d+) %d$')
if head and #KEYS == 4 then
    local us, more = now, ''
    if stored then
        us, more = stored:match('^ (%d+)(%+?%d*)$', #head + 1)
        us = us and stored:find(head, 1, true) == 1 and us
    end
    local parts = more == '' and 0 or tonumber(more) or 0
    if us and (more == '') == (parts == 0) and parts < tokens + 0 then
        cost, count = cost + 0, count + 0
        tokens, span, burst, us = tokens + 0, span + 0, burst + 0, us + 0
        local burst_span, step_span = burst * span, cost * span
        local total_span = count * step_span
        local tolerance_parts = burst_span % tokens
        local tolerance_us = (burst_span - tolerance_parts) / tokens
        if now > us + (parts > 0 and 1 or 0) then
            us, parts = now, 0
        end
        -- what is left, in parts, between the state and what is due now, or may be taken within the lookahead: nothing
        -- where the state is from another clock and to be pulled back
        local now_parts = (now - us + tolerance_us) * tokens + tolerance_parts - parts
        local till_parts = now_parts + lookahead * tokens
        local at_once = now_parts >= step_span
        if count > 0 and cost <= burst and burst <= ROOM_MAX and burst_span < EXACT
            and total_span + tokens < EXACT and till_parts < EXACT and till_parts >= total_span
            and (not at_once or now_parts >= total_span) and tolerance_us <= SPAN_MAX then
            local first_parts = parts + step_span - tolerance_parts
            local first = us - tolerance_us + (first_parts - first_parts % tokens) / tokens
            first_parts = first_parts % tokens
            parts = parts + total_span
            us = us + (parts - parts % tokens) / tokens
            parts = parts % tokens
            local rest_at = us + (parts > 0 and 1 or 0)
            if rest_at > now then
                local state = parts > 0 and string.format('%s %.0f+%.0f', head, us, parts)
                    or string.format('%s %.0f', head, us)
                redis.call('SET', KEYS[1], state, 'PXAT', math.ceil(rest_at / 1000))
                parts = parts + step_span - tolerance_parts
                local next_slot = us - tolerance_us + (parts - parts % tokens) / tokens
                next_slot = next_slot + (parts % tokens > 0 and 1 or 0)
                next_slot = next_slot > now and next_slot or now
                if count == 1 and at_once and next_slot == now then
                    return now
                elseif count == 1 then
                    return { now, next_slot, at_once and now or first + (first_parts > 0 and 1 or 0) }
                elseif at_once then
                    return { 0, now, -1, next_slot, 0, 0, 0, 0, 0, -1, '', now, 0, 0, 0, tokens, count, cost }
                end
                return { 0, now, -1, next_slot, 0, 0, 0, 0, 0, -1, '', first, first_parts,
                    (step_span - step_span % tokens) / tokens, step_span % tokens, tokens, count, cost }
            end
        end
    end
end
