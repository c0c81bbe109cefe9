-- quick.lua: the claim that is made most often, answered before any function is made: one GCRA rule, nobody in line, no
-- block and no revision, waiters that want the same at any time, and room for all of them.  It does what the other
-- pieces would do, at a fraction of their price; whatever is different, or too large to be exact here, is left to them.
-- A claim of one key, the ledger's text, for one waiter, ends here in any case: with an award, or a wish for more keys.
-- What it does is what a worker waits for, so it calls as little as it can: a text becomes a number by "+ 0"; a number
-- becomes a text by "%d", which is quicker than "%.0f" but may have 32 bits only, so in two halves; one slot is told in
-- three numbers, and where all three are the same, in one.
-- needs: clock

local alone = #KEYS == 1
-- With one key: rules, lookahead, cost.  Else: rules, span, revision, lookahead, max_waiting, zones; worker, seq,
-- waiting; count (of all), latest, cost, priority.
local head, tokens, span, burst, lookahead, count, cost = (ARGV[1] or ''):match(alone
    and '^(g(%d+)/(%d+)%*(%d+)) (%d+) (%d+)$'
    or '^(g(%d+)/(%d+)%*(%d+)) %d+ 0 (%d+) %d+ [^ ]* %x+ %d+ (%d+) %6 %-1 (%d+) %d$')
if alone then
    count, cost = 1, count
end
if head and #KEYS ~= 5 then
    local kept, us, more = head, now, ''
    if stored then
        kept, us, more = stored:match('^(%S+) (%d+)(%+?%d*)$')
    end
    local parts = more == '' and 0 or tonumber(more) or 0
    if kept == head and (more == '') == (parts == 0) and parts < tokens + 0 then
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
        if count > 0 and cost <= burst and burst <= TAKT_ROOM_MAX and burst_span < TAKT_EXACT_MAX
            and total_span + tokens < TAKT_EXACT_MAX and till_parts < TAKT_EXACT_MAX and till_parts >= total_span
            and (not at_once or now_parts >= total_span) and tolerance_us <= TAKT_SPAN_MAX_US then
            local was, was_parts, taken_parts = us, parts, parts + total_span
            parts = taken_parts % tokens
            us = us + (taken_parts - parts) / tokens
            local rest_at = us + (parts > 0 and 1 or 0)
            if rest_at > now and us >= 1e8 then -- with less the halves would begin with zeros
                local low, rest_at_ms = us % 1e8, math.ceil(rest_at / 1000)
                redis.call('SET', KEYS[1],
                    string.format(parts > 0 and '%s %d%08d+%d' or '%s %d%08d', head, (us - low) / 1e8, low, parts),
                    'PXAT', string.format('%d%05d', rest_at_ms / 1e5, rest_at_ms % 1e5))
                local next_parts = parts + step_span - tolerance_parts
                local rest = next_parts % tokens
                local next_slot = us - tolerance_us + (next_parts - rest) / tokens + (rest > 0 and 1 or 0)
                if next_slot <= now then
                    next_slot = now
                    if count == 1 then
                        return now -- the slot as well: the next one is not before it
                    end
                end
                local first, first_parts, step, step_parts = now, 0, 0, 0
                if not at_once then
                    step_parts = step_span % tokens
                    step = (step_span - step_parts) / tokens
                    first_parts = was_parts + step_span - tolerance_parts
                    first = was - tolerance_us + (first_parts - first_parts % tokens) / tokens
                    first_parts = first_parts % tokens
                end
                if count == 1 then
                    return { now, next_slot, first + (first_parts > 0 and 1 or 0) }
                end
                return { 0, now, -1, next_slot, 0, 0, 0, 0, 0, -1, '', first, first_parts, step, step_parts,
                    tokens, count, cost }
            end
        end
    end
end
if alone then
    return { TAKT_FLAG_KEYS }
end
