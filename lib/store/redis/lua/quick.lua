-- quick.lua: the claim that is made most often, answered before any function is made: one GCRA rule, nobody in line, no
-- block and no revision, waiters that want the same at any time, and room for all of them.  It does what the other
-- pieces would do, at a fraction of their price; whatever is different, or too large to be exact here, is left to them.
-- needs: clock numbers

if #ARGV == 13 and #KEYS == 4 and ARGV[3] == '0' and ARGV[9] == ARGV[10] and ARGV[11] == '-1' then
    local now, us, parts, head, more = ledger.now, ledger.now, 0, ARGV[1], nil
    local tokens, span, burst = head:match('^g(%d+)/(%d+)%*(%d+)$')
    if tokens and ledger.stored then
        head, us, more, parts = ledger.stored:match('^(%S+) (%d+)(%+?)(%d*)$')
        us, parts = tonumber(us), more == '+' and tonumber(parts) or 0
    end
    if tokens and head == ARGV[1] and us then
        local cost, count = tonumber(ARGV[12]), tonumber(ARGV[10])
        local till = now + ARGV[4]
        tokens, span, burst = tonumber(tokens), tonumber(span), tonumber(burst)
        local burst_span, step_span, total_span = burst * span, cost * span, cost * count * span
        local tolerance_us = (burst_span - burst_span % tokens) / tokens
        local tolerance_parts = burst_span % tokens
        local foreign = us >= now + 10000000 + tolerance_us -- from another clock: to be pulled back
        if now > us + (parts > 0 and 1 or 0) then
            us, parts = now, 0
        end
        -- what is left, in parts, between the state and what may be taken till then, or is due now
        local till_parts = (till - us + tolerance_us) * tokens + tolerance_parts - parts
        local now_parts = (now - us + tolerance_us) * tokens + tolerance_parts - parts
        local at_once = now_parts >= step_span
        if not foreign and count > 0 and cost <= burst and burst <= ROOM_MAX and burst_span < EXACT
            and total_span < EXACT and till_parts < EXACT and till_parts >= total_span
            and (not at_once or now_parts >= total_span) and tolerance_us <= SPAN_MAX then
            local run
            local first = us - tolerance_us
            local first_parts = parts + step_span % tokens - tolerance_parts
            first = first + (step_span - step_span % tokens) / tokens + (first_parts - first_parts % tokens) / tokens
            first_parts = first_parts % tokens
            if count == 1 then
                run = { at_once and now or first + (first_parts > 0 and 1 or 0), 0, 0, 0, 1 }
            elseif at_once then
                run = { now, 0, 0, 0, tokens }
            else
                run = { first, first_parts, (step_span - step_span % tokens) / tokens, step_span % tokens, tokens }
            end
            parts = parts + total_span % tokens
            us = us + (total_span - total_span % tokens) / tokens + (parts - parts % tokens) / tokens
            parts = parts % tokens
            local state = parts > 0 and string.format('%.0f+%.0f', us, parts) or string.format('%.0f', us)
            local rest_at = us + (parts > 0 and 1 or 0)
            local next_parts = parts + span % tokens - tolerance_parts
            local next_slot = us + (span - span % tokens) / tokens - tolerance_us
                + (next_parts - next_parts % tokens) / tokens + (next_parts % tokens > 0 and 1 or 0)
            if rest_at > now then
                redis.call('SET', KEYS[1], head .. ' ' .. state, 'PXAT', string.format('%.0f', math.ceil(rest_at / 1000)))
                return { 0, now, -1, next_slot > now and next_slot or now, 0, 0, 0, 0, 0, -1, '', run[1], run[2], run[3],
                    run[4], run[5], count, cost }
            end
        end
    end
end
