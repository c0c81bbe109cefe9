-- claim.lua: takt_ledger_claim (core/ledger_claim.c, claim_*.c). Decides which slots a worker gets now, and when it
-- claims again.
--
-- The script is this piece behind all that it needs, directly or not (embed.py). It begins with time.lua, keys.lua and
-- clock.lua. Then each fast path may answer: quick.lua, quick_line.lua, quick_permits.lua. arguments.lua splits the
-- fields. The last statement of this piece is run() of keep.lua, which reads the ledger and calls the function below.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders (with permits), 5 its log; then those of inner
--       limits (inner.lua)
-- ARGV  1 rules, 2 span, 3 revision, 4 lookahead, 5 max_waiting, permits and adapt, 6 zones,
--       7 worker, 8 seq, 9 waiting; after it `*weight` of more than one process, `!` from a distant worker,
--       `,newcomers` with a bound that refuses, `/slot,cost,priority` with an offer, `@weight,process,name` with a
--       tenant; 10 holding (with permits), then for each want: count, latest (-1: any time), cost and after a slash
--       each the amounts of further units, priority
-- with KEYS 1 alone also the short form: the arguments and reply of quick.lua
-- reply flags, now, claim_again_at, next_slot_at, blocked_until, waiting, workers, refused, in_line, least_urgent,
--       the newer ledger's text or '' (with those of inner limits: inner.tell_newer), with permits: holding, fence,
--       reuses; then for each run first us, parts,
--       step us, parts, whole, count, cost (with further amounts: the text of the want)
-- needs: claim_restate claim_serve claim_plan

-- The need of the head of the line, if the head is one of these places and needs more than a token; and what it
-- needs of further units (nil: nothing).
function claim.need_of_head(places)
    for priority = 0, 9 do
        local own = places[priority]
        own = own and not own.aside and own or nil
        local other = line and line.all.active[priority] > 0 and line.first_other(priority)
        if own and not (other and other.turn < own.turn) then
            return own.need > 1 and own.need or 0, own.needs
        elseif other then
            return 0
        end
    end
    return 0
end

-- The permits held, and the numbers of those given. `holding`: what the worker held before.
local function number_given(reply, holding)
    local fence
    if claim.inner and held and holding + claim.slots > 0 then
        fence = claim.inner.number(claim.slots)
    end
    if held then
        reply[12], reply[13], reply[14] = held.number(holding, claim.slots, claim.least_urgent >= 0)
        reply[13] = fence or reply[13]
    end
end

local function decide(reply)
    local holding = held and (claim.inner or held).state(claim.seq, claim.holding)
    if tenants and (tenants.name or tenants.list[1]) and not tenants.lead(claim, offers) then
        number_given(reply, holding)
        return
    end
    if line then
        line.count(claim.old, -1)
    end
    local needed, needed_of = claim.need_of_head(claim.old)
    claim.restate()
    claim.taken = offers.accept(claim.offer)
    claim.serve_all()
    if claim.inner and (claim.inner.bounded or limit.max_waiting > 0) then
        claim.refused = claim.inner.enforce(claim)
    elseif limit.max_waiting > 0 then
        claim.refused = overflow.enforce(claim.own, claim.newcomers)
    end
    if line and line.trim then
        line.trim(claim.own)
        local one = claim.wants[1] and tenants.find(claim.wants[1].priority, tenants.name or '')
        claim.tag = one and one.tag or 0
    end
    if claim.inner and claim.inner.name then
        tenants.arrange(claim.own)
    end
    if claim.inner and line and line.charge then
        claim.inner.note_due(claim)
    end
    if claim.inner and line and line.assign then
        tenants.pass_over(claim.own) -- its turns may be over
    end
    claim.plan_all()
    if claim.inner then
        claim.park()
    end
    if overflow.moves_front() then
        claim.hurry_first()
    end
    if (needed > 0 or needed_of) and claim.least_urgent >= 0 then
        local needs, needs_of = claim.need_of_head(claim.own)
        claim.news = claim.news or needed > claim.given and needed > needs
        for unit = 1, needed_of and limit.count_more() or 0 do
            local need, other = needed_of[unit] or 0, needs_of and needs_of[unit] or 0
            claim.news = claim.news or need > 1 and need > (claim.given_of[unit] or 0) and need > other
        end
    end
    if claim.own.seq and not line then
        name_line()
        open_line(claim.worker, true)
    end
    if line then
        line.put_back(claim.own)
    end
    if claim.inner then
        tenants.clear_behind(tenants)
        claim.inner.put_back()
        claim.crowded = claim.inner.bounded and claim.inner.is_near()
    end
    number_given(reply, holding)
end

return run(function()
    local reply = { 0, ledger.now, 0, 0, 0, 0, 0, 0, 0, 0, '' }
    tidy(claim.worker)
    if claim.inner then
        claim.inner.tidy(claim.worker)
    end
    wakes.names = {}
    claim.reply, claim.own, claim.wants, claim.refused, claim.in_line, claim.slots = reply, {}, {}, 0, 0, 0
    claim.least_urgent, claim.again_at, claim.turn_at, claim.given, claim.news = -1, -1, 0, 0, false
    claim.offer, claim.taken, claim.tag = nil, false, 0
    claim.largest, claim.from = limit.capacity(), math.max(ledger.blocked, ledger.now)
    claim.room, claim.due, claim.take = limit.room, limit.due, take.take
    if claim.levels then
        claim.room, claim.due, claim.take = limit.gaps.room, limit.gaps.due, claim.levels.take
    end
    claim.given_of = {}
    for unit = 1, limit.count_more() do
        claim.largest_of[unit] = limit.capacity(unit)
    end
    claim.old = line and line.record_of(claim.worker) or {}
    claim.read_wants()
    local seq, stale = claim.seq, nil
    if held then
        reply[12], reply[13], reply[14] = 0, 0, 0
        stale = held.own and held.own.seq >= seq
    end
    stale = stale or claim.old.seq and claim.old.seq >= seq or held and claim.inner and claim.inner.is_stale(seq)
    if not stale then
        decide(reply)
    end
    local own = not stale and claim.own or nil
    if held then
        held.wake(own)
    end
    if wakes.publish(own) then
        claim.come_soon()
    end
    if claim.inner and (held or claim.inner.bounded) then
        claim.inner.wake()
    end
    reply[11] = tell_newer() .. (claim.inner and claim.inner.tell_newer() or '')
    local blocked, damaged, next_of = ledger.blocked, ledger.damaged, limit.earliest
    if claim.inner then
        blocked, damaged = claim.inner.blocked_until(), claim.inner.is_damaged()
    end
    if claim.levels then
        next_of = claim.levels.next
    end
    local next_slot = next_of(math.max(blocked, ledger.now), claim.least_cost, claim.least_more)
    next_slot = math.max(next_slot, claim.turn_at)
    reply[1] = (damaged and TAKT_FLAG_DAMAGED or 0) + (stale and TAKT_FLAG_STALE or 0)
        + (reply[11] ~= '' and TAKT_FLAG_OUTDATED or 0) + (held and TAKT_FLAG_PERMITS or 0)
        + (claim.news and TAKT_FLAG_NEWS or 0) + (claim.taken and TAKT_FLAG_TAKEN or 0)
        + (claim.parked and TAKT_FLAG_PARKED or 0) + (claim.crowded and TAKT_FLAG_CROWDED or 0)
        + (claim.unlisted and TAKT_FLAG_UNLISTED or 0) + (claim.prompt and TAKT_FLAG_PROMPT or 0)
        + (claim.tag > 0 and TAKT_FLAG_TAG or 0)
    reply[3], reply[4], reply[5] = claim.again_at, next_slot == NEVER and -1 or next_slot, blocked
    reply[6], reply[7] = line and line.all.waiting or 0, line and line.all.workers or 0
    reply[8] = claim.inner and claim.inner.leaves or claim.refused
    reply[9], reply[10] = claim.in_line, claim.least_urgent
    if claim.tag > 0 then
        reply[#reply + 1] = claim.tag
    end
    keep(not stale and claim.own or nil)
    return reply
end)
