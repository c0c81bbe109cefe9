-- quick.lua: the claim that is made most often, answered before any function is made: GCRA rules alone, nobody in
-- line, no block and no revision, waiters that want the same at any time, and room for all of them; with several
-- rules, one waiter, who is given a slot now.  It does what the other pieces would do, at a fraction of their price;
-- whatever is different, or too large to be exact here, is left to them.  A claim of one key ends here in any case:
-- with an award, or a wish for more keys.
--
-- KEYS  1 the ledger's text; or those of claim.lua
-- ARGV  with one key, of one waiter: rules, lookahead, cost; else those of claim.lua
-- reply for one waiter who has a slot: now, next slot, slot; where these are the same, one number
--
-- A worker waits for what this does, so it calls as little as it can: a text becomes a number by "+ 0", a number
-- becomes a text by "%d" (quicker than "%.0f"), in two halves, since that may have 32 bits only.
-- needs: clock

local alone = #KEYS == 1
local asked = ARGV[1] or ''
-- The first rule, the rules behind it; lookahead, waiters, cost.
local behind = ''
local head, tokens, span, burst, lookahead, count, cost = asked:match(alone and '^(g(%d+)/(%d+)%*(%d+)) (%d+) (%d+)$'
    or '^(g(%d+)/(%d+)%*(%d+)) %d+ 0 (%d+) %d+ [^ ]* %x+ %d+ (%d+)%f[^%d]!?,?%d* %6 %-1 (%d+) %d$')
if alone then
    count, cost = 1, count
elseif not head then
    head, tokens, span, burst, behind, lookahead, count, cost =
        asked:match('^(g(%d+)/(%d+)%*(%d+))(;g[^ ]*) %d+ 0 (%d+) %d+ [^ ]* %x+ %d+ (1)%f[^%d]!?,?%d* 1 %-1 (%d+) %d$')
end
if head and #KEYS ~= 5 then
    count, cost = count + 0, cost + 0
    local only, rest_at, next_slot, read, states = behind == '', 0, now, 1, nil
    local done, first, first_parts, step, step_parts, whole -- the slots, where they are not all now
    repeat
        local kept, us, more, part = head, now, '', nil
        if stored then
            local pattern = only and '^(%S+) (%d+)(%+?%d*)$' or '^(%S+) (%d+)(%+?%d*)(;?)()'
            kept, us, more, part, read = stored:match(pattern, read)
        end
        local parts = more == '' and 0 or tonumber(more) or 0
        if kept ~= head or (more == '') ~= (parts == 0) or parts >= tokens + 0
            or not only and stored and (part == '') ~= (behind == '') then
            break
        end
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
        if count < 1 or cost > burst or burst > TAKT_ROOM_MAX or burst_span >= TAKT_EXACT_MAX
            or total_span + tokens >= TAKT_EXACT_MAX or till_parts >= TAKT_EXACT_MAX or till_parts < total_span
            or at_once and now_parts < total_span or tolerance_us > TAKT_SPAN_MAX_US
            or not only and not (at_once and count == 1) then
            break
        end
        if not at_once then
            step_parts = step_span % tokens
            step = (step_span - step_parts) / tokens
            first_parts = parts + step_span - tolerance_parts
            first = us - tolerance_us + (first_parts - first_parts % tokens) / tokens
            first_parts = first_parts % tokens
        end
        local taken_parts = parts + total_span
        parts = taken_parts % tokens
        us = us + (taken_parts - parts) / tokens
        if us < 1e8 then -- the halves would begin with zeros
            break
        end
        local low, rests_at = us % 1e8, us + (parts > 0 and 1 or 0)
        local state = string.format(parts > 0 and '%s %d%08d+%d' or '%s %d%08d', head, (us - low) / 1e8, low, parts)
        states = states and states .. ';' .. state or state
        rest_at = rests_at > rest_at and rests_at or rest_at
        local next_parts = parts + step_span - tolerance_parts
        local rest = next_parts % tokens
        local due = us - tolerance_us + (next_parts - rest) / tokens + (rest > 0 and 1 or 0)
        next_slot = due > next_slot and due or next_slot
        done, whole = behind == '', tokens
        if not done then
            head, tokens, span, burst, behind = behind:match('^;(g(%d+)/(%d+)%*(%d+))(.*)$')
        end
    until done or not head
    if done and rest_at > now and (only or not stored or read > #stored) then
        local rest_at_ms = math.ceil(rest_at / 1000)
        redis.call('SET', KEYS[1], states, 'PXAT', string.format('%d%05d', rest_at_ms / 1e5, rest_at_ms % 1e5))
        if count > 1 then
            return { 0, now, -1, next_slot, 0, 0, 0, 0, 0, -1, '', first or now, first_parts or 0, step or 0,
                step_parts or 0, whole, count, cost }
        elseif next_slot == now then
            return now -- the slot as well: the next one is not before it
        end
        return { now, next_slot, first and first + (first_parts > 0 and 1 or 0) or now }
    end
end
if alone then
    return { TAKT_FLAG_KEYS }
end
