-- overflow.lua: decides which waiters leave if more wait than max_waiting allows (core/overflow.c).
-- needs: line wakes

local overflow
overflow = {
    moved = false, -- waiters that have left an inner line may have stood in front

    -- The number of waiters above the bound. `own`: the caller's places, which the line's totals do not include.
    excess = function(own)
        local over = -limit.max_waiting
        if line then
            over = over + line.all.waiting - (limit.when_full ~= '' and overflow.late() or 0)
        end
        for priority = 0, 9 do
            over = over + (own[priority] and own[priority].waiting or 0)
        end
        return over
    end,

    -- The waiters whose workers cannot be told that they leave. `line.charge`: it is a line of tenants.
    late = function()
        return line.charge and tenants.count_late() or line.all.late
    end,

    -- Whether other workers have places that count.
    has_others = function(priority)
        if line.charge then
            return line.last_other(priority) ~= nil
        end
        return line.all.active[priority] > 0
    end,

    -- The least urgent priority of the caller's places, and of all other places that count.
    least_urgent = function(own)
        local mine, theirs = -1, -1
        for priority = 0, 9 do
            mine = own[priority] and priority or mine
            theirs = line and overflow.has_others(priority) and priority or theirs
        end
        return mine, theirs
    end,

    -- The place that loses the next waiters: its priority, or -1. For another worker's place also the place and its
    -- worker.
    victim = function(own)
        local mine, theirs = overflow.least_urgent(own)
        local place, name
        if theirs < 0 or wakes.full() or theirs < mine then
            return mine
        elseif limit.when_full == 'u' then
            if mine >= 0 and theirs > mine then
                place, name = line.last_other(theirs)
            end
        else
            place, name = line.first_other(theirs)
            if place and theirs == mine and own[mine].came < place.turn then
                return mine
            end
        end
        if not place then
            return mine
        end
        return theirs, place, name
    end,

    -- Whether waiters that leave may have stood in front.
    moves_front = function()
        return limit.when_full == 'o' or overflow.moved
    end,

    take_out = function(place, count)
        place.waiting, place.written = place.waiting - count, nil
        place.held_back = math.min(place.held_back or 0, place.waiting)
        place.wanting = place.wanting > count * place.need and place.wanting - count * place.need or 0
        for unit, wanting in ipairs(place.more or {}) do
            place.more[unit] = math.max(wanting - count * needed_by(place, unit), 0)
        end
    end,

    -- Removes waiters from another worker's place.
    drop = function(priority, place, name, count, own)
        local all, wanting = line.all, place.wanting
        line.weigh(priority, place, -1)
        line.add_more(priority, place, -1)
        overflow.take_out(place, count)
        line.weigh(priority, place, 1)
        line.add_more(priority, place, 1)
        all.waiting = all.waiting - count
        all.wanting[priority] = all.wanting[priority] - wanting + place.wanting
        all.asking[priority] = all.asking[priority] - count
        if place.waiting == 0 then
            line.set_aside(name, priority, place)
        end
        if line.charge then
            tenants.touch(place)
            line.sum() -- the place may have been held back, or aside
        end
        if own[priority] then
            own[priority].before = nil -- to be counted again: the place may have stood before it
        end
        line.dirty[name] = line.records[name]
    end,

    -- Removes waiters from a place of the caller.
    drop_own = function(priority, count, own)
        local mine = own[priority]
        overflow.take_out(mine, count)
        own[priority] = mine.waiting > 0 and mine or nil
    end,

    -- Waiters of a worker (nil: of the caller) have left this level, and leave the others.
    leave_others = function(priority, count, worker)
        if ledger.inner then
            ledger.inner.leave(priority, count, worker)
        end
    end,

    -- refuse: newcomers of the caller leave, up to a number, the least urgent first.
    refuse = function(own, newcomers)
        local over, refused = math.min(overflow.excess(own), newcomers), 0
        for priority = 9, 0, -1 do
            local mine = own[priority]
            local count = mine and math.min(over, mine.waiting - mine.accepted) or 0
            if count > 0 then
                over, refused = over - count, refused + count
                overflow.drop_own(priority, count, own)
                overflow.leave_others(priority, count)
            end
        end
        return refused
    end,

    -- Returns the number of the caller's waiters that leave.
    enforce = function(own, newcomers)
        if limit.when_full == '' then
            return overflow.refuse(own, newcomers)
        end
        local over, refused, emptied = overflow.excess(own), 0, false
        while over > 0 do
            local priority, place, name = overflow.victim(own)
            local mine = own[priority]
            local waiting = place and place.waiting or mine and mine.waiting
            if not waiting then
                break
            end
            local count = over < waiting and over or waiting
            over = over - count
            if place then
                emptied = emptied or count == waiting
                wakes.add(name)
                overflow.drop(priority, place, name, count, own)
            else
                refused = refused + count
                overflow.drop_own(priority, count, own)
            end
            overflow.leave_others(priority, count, place and (place.worker or name))
            overflow.moved = overflow.moved or place ~= nil and limit.when_full == 'o'
        end
        if emptied and ledger.inner then
            ledger.inner.wake_first(own)
        end
        return refused
    end,
}
