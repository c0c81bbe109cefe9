-- lows.lua: the lowest backlogs of recent stretches of time (rules/lows.c). A table has the step and two lists, since
-- and low, with one item for each stretch. low is NEVER if the stretch has no slot.
-- needs: numbers

local lows
local function make_lows()
    lows = {
        -- The last stretch that begins at the slot or earlier; 0: all stretches begin later.
        find = function(kept, slot)
            local i = #kept.since
            while i > 0 and kept.since[i] > slot do
                i = i - 1
            end
            return i
        end,

        begin_stretch = function(kept, slot)
            local since, low = kept.since, kept.low
            local last = #since
            while last > 1 and low[last - 1] >= low[last] do
                low[last - 1] = low[last]
                since[last], low[last], last = nil, nil, last - 1
            end
            if last == TAKT_LOWS_MAX or low[last] == 0 then
                table.remove(since, 1)
                table.remove(low, 1)
            end
            since[#since + 1], low[#low + 1] = slot, NEVER
        end,

        note = function(kept, slot, backlog, depth)
            local at = lows.find(kept, slot - 1)
            if at == 0 then
                return
            end
            local least = math.min(kept.low[at], math.floor(depth / 4))
            kept.low[at] = math.min(kept.low[at], backlog)
            if at == #kept.since and (slot > kept.since[at] + kept.step or 2 * backlog < least) then
                lows.begin_stretch(kept, slot)
            end
        end,

        -- The most that can be taken back of a slot, as time. Nil: unknown.
        of = function(kept, slot)
            local at = kept and lows.find(kept, slot) or 0
            local least = at > 0 and NEVER or nil
            for i = at > 0 and at or 1, at > 0 and #kept.low or 0 do
                least = math.min(least, kept.low[i])
            end
            return least
        end,

        lower = function(kept, slot, by)
            for i = math.max(lows.find(kept, slot), 1), #kept.low do
                if kept.low[i] ~= NEVER then
                    kept.low[i] = math.max(kept.low[i] - by, 0)
                end
            end
        end,

        -- A slot was settled; no slot was given after `till`. Returns the new lows.
        learn = function(kept, now, slot, till)
            local age = now - slot
            local step = math.floor(age / TAKT_LOWS_STEPS) + 1
            if age <= math.max(till - now, 0) or age > TAKT_LOWS_OLD_US then
                return kept
            elseif kept and step < kept.step then
                step = kept.step - math.floor((kept.step - step) / TAKT_LOWS_DECAY)
            end
            if not kept or kept.since[#kept.since] > till + 1 then
                return { step = step, since = { till + 1 }, low = { NEVER } }
            end
            kept.step = step
            return kept
        end,

        write = function(kept)
            local parts = { '~', numbers.digits(kept.step) }
            for i = 1, #kept.since do
                parts[#parts + 1] = '@' .. numbers.digits(kept.since[i])
                if kept.low[i] ~= NEVER then
                    parts[#parts + 1] = ',' .. numbers.digits(kept.low[i])
                end
            end
            return table.concat(parts)
        end,

        -- Nil: the text is malformed.
        read = function(text)
            local step, at = text:match('^~(%d+)()@')
            local kept = { step = tonumber(step), since = {}, low = {} }
            if not step or kept.step < 1 or kept.step > TAKT_LOWS_OLD_US then
                return nil
            end
            while at <= #text do
                local since, more, low, stop = text:match('^@(%d+)(,?)(%d*)()', at)
                since, low = tonumber(since), tonumber(low)
                local n = #kept.since
                if not since or (more == ',') ~= (low ~= nil) or since < 1 or since > TAKT_EXACT_MAX
                    or (low and low > TAKT_EXACT_MAX) or n == TAKT_LOWS_MAX or (n > 0 and since <= kept.since[n]) then
                    return nil
                end
                kept.since[n + 1], kept.low[n + 1], at = since, low or NEVER, stop
            end
            return kept
        end,
    }
end
