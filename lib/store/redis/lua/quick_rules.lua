-- quick_rules.lua: what quick.lua is for one GCRA rule, for several: one waiter, nobody in line, no block and no revision,
-- and every rule has room now.
-- needs: clock

-- Rules, span, revision, lookahead, max_waiting, zones; worker, seq, waiting; count, latest, cost, priority.
local heads, cost = (ARGV[1] or ''):match('^(g[^ ]*;g[^ ]*) %d+ 0 %d+ %d+ [^ ]* %x+ %d+ 1 1 %-1 (%d+) %d$')
if heads and #KEYS == 4 then
    cost = cost + 0
    local states, count, at, read, rest_at, next_slot = {}, 0, 1, 1, 0, now
    while at <= #heads do
        local head, tokens, span, burst, stop = heads:match('^(g(%d+)/(%d+)%*(%d+));?()', at)
        local us, parts = now, 0
        if head and stored then
            local more, over
            us, more, over = stored:match('^ (%d+)(%+?%d*);?()', read + #head)
            parts = more == '' and 0 or tonumber(more) or 0
            if not us or stored:find(head, read, true) ~= read or (more == '') ~= (parts == 0) or parts >= tokens + 0 then
                break
            end
            us, read = us + 0, over
        elseif not head then
            break
        end
        tokens, span, burst = tokens + 0, span + 0, burst + 0
        local burst_span, step_span = burst * span, cost * span
        local tolerance_parts = burst_span % tokens
        local tolerance_us = (burst_span - tolerance_parts) / tokens
        if now > us + (parts > 0 and 1 or 0) then
            us, parts = now, 0
        end
        local now_parts = (now - us + tolerance_us) * tokens + tolerance_parts - parts
        if cost > burst or burst > TAKT_ROOM_MAX or burst_span >= TAKT_EXACT_MAX or step_span + tokens >= TAKT_EXACT_MAX or now_parts >= TAKT_EXACT_MAX
            or now_parts < step_span or tolerance_us > TAKT_SPAN_MAX_US then
            break
        end
        parts = parts + step_span
        us = us + (parts - parts % tokens) / tokens
        parts = parts % tokens
        count, at = count + 1, stop
        states[count] = head .. string.format(parts > 0 and ' %.0f+%.0f' or ' %.0f', us, parts)
        local rule_rests_at = us + (parts > 0 and 1 or 0)
        rest_at = rule_rests_at > rest_at and rule_rests_at or rest_at
        parts = parts + step_span - tolerance_parts
        local due = us - tolerance_us + (parts - parts % tokens) / tokens
        due = due + (parts % tokens > 0 and 1 or 0)
        next_slot = due > next_slot and due or next_slot
    end
    if at > #heads and (not stored or read > #stored and not stored:find(';$')) and rest_at > now then
        redis.call('SET', KEYS[1], table.concat(states, ';'), 'PXAT', math.ceil(rest_at / 1000))
        if next_slot == now then
            return now
        end
        return { now, next_slot, now }
    end
end
