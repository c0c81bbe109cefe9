-- levels.lua: slots by the rules of all levels and the gaps (takt_inner_take and takt_inner_next of core/inner.c). The
-- table is made only if there are inner limits or gaps.
-- needs: inner take

local levels
if limit.gaps then
    local inner, gaps = ledger.inner, limit.gaps
    levels = {
        others_want = function()
            local wanting = 0
            for priority = 0, line and 9 or -1 do
                wanting = wanting + line.all.wanting[priority]
            end
            return wanting > 0
        end,

        -- Whether the worker leaves a slot to others, which it could take only at `due`: there are rules and no gaps,
        -- and the slots before it would be lost.
        is_left = function(from, due, cost, more)
            return inner and limit.rules[1] and not gaps.rule() and limit.earliest(from, cost, more) < due
                and levels.others_want()
        end,

        -- Whether a slot that the inner rules put off is put off to a whole interval (core/gaps.h).
        is_whole = function(from)
            return inner and gaps.rule() and #ledger.gaps < TAKT_GAPS_MAX and gaps.are_used(from)
                and levels.others_want()
        end,

        -- The slot that a worker takes whose inner rules conform from `due` on.
        slot_from = function(from, due, cost, more)
            local at, is_gap = gaps.slot_from(from, due, cost, more)
            if not is_gap and at == due and levels.is_whole(from) then
                at = limit.earliest(gaps.whole(from, at), cost, more)
            end
            return at, is_gap
        end,

        -- No earlier claim of a place has a slot within the lookahead. A place that leaves the next slots to others
        -- asks from then on whether these are given.
        put_off_until = function(place)
            local from = math.max(ledger.now, ledger.blocked)
            local due, more = inner.due(from, place.need, place.first), inner.own_more(place.need, place.first)
            if due == NEVER then
                return due
            elseif not levels.is_left(from, due, place.need, more) then
                return ((more or levels.is_whole(from)) and levels.slot_from(from, due, place.need, more) or due)
                    - limit.lookahead
            end
            return math.max(due - limit.lookahead,
                ledger.now + math.floor(limit.lookahead / TAKT_LOOKAHEAD_FRACTION_LEFT))
        end,

        -- take.take() of all levels.
        take = function(from, want, count, till, runs)
            if not inner and not ledger.gaps[1] then -- the wants before this one have used all gaps
                return take.take(from, want, count, till, runs)
            end
            local cost, more, taken = want.cost, want.more, 0
            local at, is_gap
            local function pay()
                limit.pay(till)
            end
            local function commit(level)
                if level and level.told then
                    local own, own_more = level.told(cost, want.all)
                    limit.commit(at, own, 1, own_more)
                else
                    limit.commit(at, cost, 1, more)
                end
            end
            pay()
            if inner then
                inner.each(pay)
            end
            while taken < count and taken < TAKT_TAKE_STEPS_MAX do
                local due = inner and inner.due(from, cost, want.all) or from
                if due > till then
                    break
                end
                at, is_gap = levels.slot_from(from, due, cost, more)
                if at > till or levels.is_left(from, due, cost, more)
                    or not take.append_slot(runs, at, want.told or cost) then
                    break
                elseif is_gap then
                    gaps.take(from, at, cost, more)
                else
                    gaps.pass_over(from, at)
                    commit()
                end
                if inner then
                    inner.each(commit)
                end
                taken = taken + 1
            end
            return taken
        end,

        -- When all rules let a request start, if nothing else is taken.
        next = function(from, cost, more)
            local due = inner and inner.due(from, cost, more) or from
            return due == NEVER and NEVER or (gaps.slot_from(from, due, cost, more))
        end,
    }
end
