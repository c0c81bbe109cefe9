-- inner.lua: the ledgers of the inner limits whose rules a claim's slots keep as well (core/inner.c). The table is made
-- only if the claim names such limits.
--
-- The other pieces work on the ledger that `ledger`, `limit`, `logs`, `brake`, `tenants`, ARGV and KEYS are about. Each
-- level has its own of these, and enter() puts them in place. Outside this piece they are those of the outermost level.
--
-- KEYS  behind those of the outermost ledger, for each inner level, the innermost first: its text, its log
-- told  from 2 on for each of them the first six fields of ARGV
-- needs: keep

if inner_keys then
    local function copy(from)
        local made = {}
        for name, value in pairs(from) do
            made[name] = value
        end
        return made
    end

    local inner
    inner = {
        outermost = { text = KEYS[1], log = KEYS[5], log_named = log_named, fields = ARGV, ledger = ledger,
            limit = limit, tenants = tenants },
        levels = {}, -- the innermost first
        current = nil, -- the level in place
        parked_at = NEVER, -- when to claim again for places that the inner rules give nothing

        enter = function(level)
            local left = inner.current
            left.logs, left.brake = logs, brake
            ledger, limit, logs, brake, tenants = level.ledger, level.limit, level.logs, level.brake, level.tenants
            ARGV, KEYS[1], KEYS[5], inner.current = level.fields, level.text, level.log, level
            log_named = level.log_named
            if not logs and rule.made.l then
                make_logs() -- each level has pages of its own
            end
        end,

        -- Calls a function for each inner level, which is in place then.
        each = function(act)
            for _, level in ipairs(inner.levels) do
                inner.enter(level)
                act(level)
            end
            inner.enter(inner.outermost)
        end,

        -- Reads an inner ledger, but not its line and what is held of it. Sets the reply that refuses the call, if any.
        open = function(level)
            local found = redis.call('GET', KEYS[1])
            local ends = found and found:find(';p', 1, true) or #(found or '') + 1
            ledger.stored, level.tail = found and found:sub(1, ends - 1), found and found:sub(ends) or ''
            if not read_arguments() then
                inner.refusal = redis.error_reply('TAKT ARGUMENTS')
                return
            end
            open_ledger()
            if ledger.zone_wanted then
                inner.refusal = { TAKT_FLAG_ZONE, ledger.zone_wanted }
            elseif ledger.damaged then
                level.tail = ''
            end
        end,

        -- Reads the inner ledgers. Returns a reply instead of the claim's, or nil.
        open_all = function()
            inner.each(inner.open)
            return inner.refusal
        end,

        -- A page of a log of the level in place is damaged: its ledger begins anew, and nothing is given.
        begin_anew = function()
            begin_anew()
            limit.find_units()
            keep_text(text.encode(), '', rests_at(), true)
            return { TAKT_FLAG_DAMAGED + TAKT_FLAG_STALE, ledger.now, 0, 0, 0, 0, 0, 0, 0, 0, '' }
        end,

        -- When the inner rules let a request start. `more`: as in limit.part().
        due = function(from, cost, more)
            for _, level in ipairs(inner.levels) do
                inner.enter(level)
                from = from == NEVER and NEVER or limit.earliest(math.max(from, ledger.blocked), cost, more)
            end
            inner.enter(inner.outermost)
            return from
        end,

        -- What a place can use for so long is left to it: without a paced rule all tokens of a window may be given at
        -- its begin.
        soon = function()
            local span, ahead = TAKT_SPAN_MAX_US, 2 * limit.lookahead
            for _, one in ipairs(limit.rules) do
                if one ~= limit.brake then
                    span = one.algorithm == rule.made.g and 0 or math.min(span, one.span)
                end
            end
            return limit.rules[1] and math.max(span, ahead) or ahead
        end,

        -- Lowers what a place wants to what the inner rules give soon. False: that is nothing.
        cap = function(place)
            local till, able = ledger.now + inner.soon(), place.waiting
            inner.each(function()
                local tokens, others = limit.room(math.max(ledger.now, ledger.blocked), till)
                able = math.min(able, others and others[0] or TAKT_ROOM_MAX, math.floor(tokens / place.need))
                place.wanting = math.min(place.wanting, tokens)
            end)
            place.held_back = place.waiting - able
            if able <= 0 then
                local due = inner.due(math.max(ledger.now, ledger.blocked), place.need)
                inner.parked_at = math.min(inner.parked_at,
                    due == NEVER and ledger.now + TAKT_KEEPALIVE_US or due - limit.lookahead)
            end
            return able > 0
        end,

        can_give = function(want)
            local can = true
            inner.each(function()
                can = can and want.cost <= limit.capacity()
            end)
            return can
        end,

        -- The end of the last block of all levels.
        blocked_until = function()
            local at = ledger.blocked
            for _, level in ipairs(inner.levels) do
                at = math.max(at, level.ledger.blocked)
            end
            return at
        end,

        is_damaged = function()
            local damaged = ledger.damaged
            for _, level in ipairs(inner.levels) do
                damaged = damaged or level.ledger.damaged
            end
            return damaged
        end,

        -- Writes an inner ledger. No worker in its line counts as silent later than one that claims now.
        keep = function(level)
            local expires = rests_at()
            if ledger.listed or level.tail ~= '' then
                expires = math.max(expires, ledger.now + TAKT_SILENT_US)
            end
            keep_text(text.encode(), level.tail, expires)
        end,

        keep_all = function()
            inner.each(inner.keep)
        end,
    }

    for i, level in pairs(inner_keys) do
        level.ledger, level.limit, level.fields = copy(ledger), copy(limit), {}
        level.ledger.offers, level.ledger.gaps, level.ledger.inner, level.log_named = {}, {}, inner, true
        for field in (told[i] .. ' '):gmatch('([^ ]*) ') do
            level.fields[#level.fields + 1] = field
        end
        inner.levels[i - 1] = level
    end
    inner.current, ledger.inner = inner.outermost, inner
end
