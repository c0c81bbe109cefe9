-- quick.lua: the fast path of the most frequent claim. The script runs it before it defines any function.
--
-- The fast path needs a ledger with GCRA rules only: no line, no block, no revision. All waiters have the same cost
-- and no deadline, and all of them get a slot within the lookahead. With several rules the claim has one waiter, and
-- its slot is due now. The result is the same as from the other pieces, with far fewer instructions. All other claims,
-- and numbers too large to be exact here, are left to those pieces. A claim in the short form always ends here: with an
-- award, or with a request for the full form and the keys of the line.
--
-- KEYS  1 the ledger's text; or those of claim.lua
-- ARGV  with one key, of one waiter: rules, lookahead, cost (the short form); or those of claim.lua
-- reply for one waiter with a slot: now, next slot, slot; a single number if all three are equal
--
-- Calls are slow, so this piece makes few of them. Arithmetic ("+ 0") turns a text into a number. "%d" turns a number
-- into a text; it is quicker than "%.0f". "%d" may be limited to 32 bits, so the number is written in two halves.
-- needs: clock

local asked = ARGV[1] or ''
-- The first rule (head) and the rules after it (behind); then the lookahead, the number of waiters and their cost.
local behind = ''
local head, tokens, span, burst, lookahead, count, cost
if #KEYS == 1 then
    head, tokens, span, burst, lookahead, cost = asked:match('^(g(%d+)/(%d+)%*(%d+)) (%d+) (%d+)$')
    count = 1
end
local brief = head
if not head then
    head, tokens, span, burst, lookahead, count, cost =
        asked:match('^(g(%d+)/(%d+)%*(%d+)) %d+ 0 (%d+) %d+ [^ ]* %x+ %d+ (%d+)%f[^%d][*!,%d]* %6 %-1 (%d+) %d$')
end
if not head then
    head, tokens, span, burst, behind, lookahead, count, cost =
        asked:match('^(g(%d+)/(%d+)%*(%d+))(;g[^ ]*) %d+ 0 (%d+) %d+ [^ ]* %x+ %d+ (1)%f[^%d][*!,%d]* 1 %-1 (%d+) %d$')
end
if head and not held_named and not ARGV[2] then
    count, cost = count + 0, cost + 0
    local only, rest_at, next_slot, read, states = behind == '', 0, now, 1, nil
    local done, first, first_parts, step, step_parts, whole -- the slots, if some are due later than now
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
        -- Parts that can be taken now, and parts that can be taken within the lookahead. Both are negative if the state
        -- is far in the future, after a clock jump. Another piece then pulls the state back.
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
        if us < 1e8 then -- the text would begin with a zero
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
            return now -- the slot is due now, too: no slot is later than the next one
        end
        return { now, next_slot, first and first + (first_parts > 0 and 1 or 0) or now }
    end
end
if brief then
    return { TAKT_FLAG_KEYS, TAKT_KEYS_TEXT + TAKT_KEYS_LINE }
end
