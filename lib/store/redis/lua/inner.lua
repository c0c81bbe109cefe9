-- inner.lua: the ledgers of the inner limits whose rules a claim's slots, or a try's amounts, keep as well
-- (core/inner.c). The table is made only if the call names such limits. inner_line.lua adds functions to it, about the
-- lines of these ledgers and about the waiters that leave.
--
-- The other pieces work on the ledger that `ledger`, `limit`, `logs`, `brake`, `tenants`, ARGV and KEYS are about. Each
-- level has its own of these, and of `line`, and enter() puts them in place. Outside this piece they are those of the
-- outermost level.
--
-- KEYS  behind those of the outermost ledger, for each inner level, the innermost first: its text, its holders, its log
-- told  from 2 on for each of them the first six fields of ARGV, and as a seventh which amounts of the claim its own
--       ones are (takt_unit_map of rules/rule.h): a digit for each; without it they are the same. The last field of
--       the innermost one may be @ or @weight,name: its tenants are those of the claim, or have these names
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
        outermost = { text = KEYS[1], held_key = KEYS[4], log = KEYS[5], log_named = log_named, fields = ARGV,
            ledger = ledger, limit = limit, tenants = tenants, number = 0 },
        levels = {}, -- the innermost first
        all = {}, -- the same, and behind them the outermost one
        current = nil, -- the level in place
        alike = false, -- the innermost line has the claim's tenants
        name = nil, -- of the claim's tenant there, within the turns of its subject
        weight = 1,
        parked_at = NEVER, -- when to claim again for places that the inner rules give nothing
        bounded = false, -- a level has max_waiting
        way = nil, -- when_full of the levels with max_waiting
        differ = false, -- they have different ones
        leaves = nil, -- how many of the caller's waiters leave, and in which way, one after the other
        void = nil, -- the reply to a try if a page of a log is damaged; nil: the call is a claim
        copy = copy,

        enter = function(level)
            local left = inner.current
            left.logs, left.brake, left.line, left.held = logs, brake, line, held
            ledger, limit, logs, brake, tenants = level.ledger, level.limit, level.logs, level.brake, level.tenants
            line, held, inner.current = level.line, level.held, level
            ARGV, KEYS[1], KEYS[4], KEYS[5] = level.fields, level.text, level.held_key, level.log
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

        -- Reads an inner ledger, but not what is held of it. Sets the reply that refuses the call, if any.
        open = function(level)
            local found = redis.call('GET', KEYS[1])
            local ends = found and found:find(';p', 1, true) or #(found or '') + 1
            ledger.stored, tenants.head = found, found and found:sub(1, ends - 1)
            tenants.tail = found and found:sub(ends) or ''
            if not read_arguments() then
                inner.refusal = redis.error_reply('TAKT ARGUMENTS')
                return
            end
            ledger.lease_min = limit.concurrency > 0 and limit.lease or 0 -- of the caller's policy
            inner.note_stated()
            open_ledger()
            if ledger.zone_wanted then
                inner.refusal = { TAKT_FLAG_ZONE, ledger.zone_wanted }
            elseif limit.concurrency > 0 and not held_named then
                inner.refusal = inner.refusal or { TAKT_FLAG_KEYS, TAKT_KEYS_HELD }
            end
            if ledger.listed and not tenants.list[1] then
                level.tenants, tenants = nil, nil
            end
            if limit.max_waiting > 0 then
                inner.note_bound()
            end
            if level.map or limit.count_more() > 0 then
                inner.further, level.told = true, inner.teller(level, limit.count_more())
            end
        end,

        -- The caller's policy says how many further units of the level the claim states.
        note_stated = function()
            limit.find_units()
            inner.current.stated = limit.count_more()
        end,

        note_bound = function()
            inner.differ = inner.differ or inner.bounded and inner.way ~= limit.when_full
            inner.bounded, inner.way = true, limit.when_full
        end,

        -- An amount of a claim by its place: the cost, or one of all its further amounts.
        amount_at = function(place, cost, all)
            return place == 0 and cost or math.max(all and all[place] or 0, 1)
        end,

        -- The place among a claim's amounts of a level's own amount: 0 is its tokens. -1: newer numbers count the unit,
        -- and the claim does not state it. A request takes 1 of it, so the place is that of requests.
        place_of = function(level, unit)
            return unit > level.stated and -1 or level.map and level.map[unit] or unit
        end,

        -- What amounts of a claim are on a level: a list of `count` further units, or nil.
        more_on = function(level, count, cost, all)
            local more = count > 0 and {} or nil
            for unit = 1, count do
                more[unit] = inner.amount_at(inner.place_of(level, unit), cost, all)
            end
            return more
        end,

        -- The same of the outermost level.
        own_more = function(cost, all)
            return inner.more_on(inner.outermost, limit.count_more(), cost, all)
        end,

        -- Returns a function that tells what amounts of a claim are on a level: its cost, and a list of `count` further
        -- units, or nil.
        teller = function(level, count)
            return function(cost, all)
                return inner.amount_at(inner.place_of(level, 0), cost, all), inner.more_on(level, count, cost, all)
            end
        end,

        -- The same of a level that counts the claim's cost and requests alone.
        plain = function(cost)
            return cost
        end,

        -- What a request takes of the level in place, as told() of the inner ones returns it.
        told = function(cost, all)
            local level = inner.current
            if level == inner.outermost then
                return cost, inner.own_more(cost, all)
            end
            return (level.told or inner.plain)(cost, all)
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
            line, held = nil, nil
            keep_text(text.encode(), '', rests_at(), true)
            return inner.void and inner.void()
                or { TAKT_FLAG_DAMAGED + TAKT_FLAG_STALE, ledger.now, 0, 0, 0, 0, 0, 0, 0, 0, '' }
        end,

        -- When the inner rules let a request start. `all`: all its further amounts, or nil.
        due = function(from, cost, all)
            for _, level in ipairs(inner.levels) do
                inner.enter(level)
                local own, more = cost, nil
                if level.told then
                    own, more = level.told(cost, all)
                end
                from = from == NEVER and NEVER or limit.earliest(math.max(from, ledger.blocked), own, more)
            end
            inner.enter(inner.outermost)
            return from
        end,

        -- takt_inner_tidy of core/inner_line.h.
        tidy = function(worker)
            inner.each(function()
                tidy_rules()
                if limit.concurrency > 0 then
                    open_holders(worker)
                else
                    ledger.leased = 0
                end
                if tenants then
                    tenants.worker = worker
                end
                if tenants and tenants.list[1] then
                    tenants.tidy()
                    line = tenants.list[1] and tenants.line or nil
                end
            end)
        end,

        -- The end of the last block of all levels.
        blocked_until = function()
            local at = ledger.blocked
            for _, level in ipairs(inner.levels) do
                at = math.max(at, level.ledger.blocked)
            end
            return at
        end,

        -- The newer numbers of the inner levels, up to the last one that has any, each behind a line feed.
        tell_newer = function()
            local told, gap = '', ''
            for _, level in ipairs(inner.levels) do
                gap = gap .. '\n'
                if level.ledger.others then
                    inner.enter(level)
                    told, gap = told .. gap .. tell_newer(), ''
                    inner.enter(inner.outermost)
                end
            end
            return told
        end,

        is_damaged = function()
            local damaged = ledger.damaged
            for _, level in ipairs(inner.levels) do
                damaged = damaged or level.ledger.damaged
            end
            return damaged
        end,

        -- ---- permits: core/inner_permits.c. If a level has permits, the holders of all levels are named, and the
        -- outermost one has `held`, too. ----

        is_stale = function(seq)
            local stale = false
            inner.each(function()
                stale = stale or held and held.own and held.own.seq >= seq or false
            end)
            return stale
        end,

        -- The worker states what it holds. Each level records as many as all of them accept.
        state = function(seq, holding)
            local function accept()
                holding = held and held.accepted(holding) or holding
            end
            local function record()
                if held then
                    held.record(seq, holding)
                end
            end
            accept()
            inner.each(accept)
            inner.each(record)
            record()
            return holding
        end,

        give = function(seq, n)
            inner.each(function()
                if held then
                    held.give(seq, n)
                end
            end)
        end,

        -- Numbers so many permits. Returns the first number of the innermost level that has permits; nil: none has any.
        number = function(given)
            local first
            inner.each(function()
                if held then
                    local fence = held.next_fence()
                    ledger.fence, first = fence + given - 1, first or fence
                end
            end)
            return first
        end,

        -- Runs a function whose wake-ups are those of the level in place.
        waking = function(level, act)
            local names, all = wakes.names, wakes.sent + #wakes.names
            wakes.names, wakes.sent = level.names, all - #level.names
            act()
            wakes.names, wakes.sent = names, wakes.sent + #level.names - #names
        end,

        -- Wakes those that lack a permit of an inner level and would get one now, and those whose waiters have left.
        wake = function()
            inner.each(function(level)
                inner.waking(level, function()
                    if held and tenants and tenants.list[1] then
                        tenants.wake()
                    end
                    wakes.publish()
                end)
            end)
        end,

        -- Writes an inner ledger. No worker in a line that is not read counts as silent later than one that claims now.
        keep = function()
            local expires, tail = rests_at(), ''
            if tenants then
                ledger.listed, tail = tenants.places[1] ~= nil, tenants.encode()
            end
            local kept = text.encode() .. tail
            if tenants and ledger.listed then
                expires = math.max(expires, tenants.line.all.latest)
            elseif ledger.listed then
                expires = math.max(expires, ledger.now + TAKT_SILENT_US)
            end
            keep_text(kept, '', expires, held and held.dirty)
            if held then
                held.save()
            end
        end,

        keep_all = function()
            inner.each(inner.keep)
        end,
    }

    for i, level in pairs(inner_keys) do
        level.ledger, level.limit, level.fields = copy(ledger), copy(limit), {}
        level.ledger.offers, level.ledger.gaps, level.ledger.inner, level.log_named = {}, {}, inner, true
        level.tenants = copy(tenants)
        level.tenants.list, level.tenants.places, level.tenants.line = {}, {}, copy(tenants.line)
        level.tenants.is_inner, level.names = true, {}
        for field in (told[i] .. ' '):gmatch('([^ ]*) ') do
            level.fields[#level.fields + 1] = field
        end
        if level.fields[7] then
            local a, b, c, d = level.fields[7]:match('^(%d)(%d)(%d)(%d)$')
            level.map = a and { [0] = tonumber(a), tonumber(b), tonumber(c), tonumber(d) }
            local weight, name = level.fields[#level.fields]:match('^@(%d*),?(.*)$')
            inner.alike = inner.alike or weight == ''
            if weight and weight ~= '' then
                inner.name, inner.weight = name, math.min(math.max(tonumber(weight), 1), TAKT_TENANT_WEIGHT_MAX)
            end
        end
        inner.levels[i - 1], inner.all[i - 1], level.number = level, level, i - 1
    end
    inner.all[#inner.levels + 1] = inner.outermost
    inner.current, ledger.inner = inner.outermost, inner
end
