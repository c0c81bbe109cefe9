-- tenants_line.lua: the line of a ledger with tenants, with what other pieces use of that of line.lua. It counts as
-- lost, so that these do not read the keys of the line.
-- needs: tenants tenant_turns

if tenants then
    local function zeros()
        return { [0] = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
    end

    tenants.line = {
        lost = true,
        all = {},
        gone = {},
        records = {},
        dirty = {},
        wake = tenants.wake,
        assign = tenants.assign,
        trim = tenants.trim,
        charge = tenants.charge,

        sum = function()
            local all = { waiting = 0, workers = 0, latest = 0, late = 0, places = zeros(), active = zeros(),
                wanting = zeros(), asking = zeros(), more = {} }
            for unit = 1, limit.count_more() do
                all.more[unit] = zeros()
            end
            tenants.line.all = all
            for _, place in ipairs(tenants.places) do
                tenants.line.add(place, 1)
            end
        end,

        -- Adds a place to the totals (sign 1), or subtracts it (sign -1) from all but the latest expiry.
        add = function(place, sign)
            local all, priority, waiting = tenants.line.all, place.priority, sign * place.waiting
            local places, active, wanting, asking = all.places, all.active, all.wanting, all.asking
            all.waiting, places[priority] = all.waiting + waiting, places[priority] + sign
            if place.foremost then
                all.workers = all.workers + sign
            end
            if place.expires > all.latest then
                all.latest = place.expires
            end
            if place.aside then
                all.late = all.late + waiting
                return
            end
            active[priority], wanting[priority] = active[priority] + sign, wanting[priority] + sign * place.wanting
            asking[priority] = asking[priority] + waiting - sign * place.held_back
            for unit, totals in ipairs(all.more) do
                totals[priority] = totals[priority] + sign * wanted_by(place, unit)
            end
        end,

        is_listed = function()
            return tenants.places[1] ~= nil
        end,

        -- The worker's places by priority.
        record_of = function(name)
            local record
            for _, place in ipairs(tenants.places) do
                if place.worker == name then
                    record = record or { seq = place.seq }
                    record[place.priority] = place
                end
            end
            return record
        end,

        -- Takes the claimer's places out.
        count = function()
            local kept, latest = {}, 0
            for _, place in ipairs(tenants.places) do
                if place.worker ~= tenants.worker then
                    kept[#kept + 1], latest = place, math.max(latest, place.expires)
                else
                    tenants.touch(place)
                    tenants.line.add(place, -1)
                end
            end
            tenants.places, tenants.line.all.latest = kept, latest
        end,

        put_back = function(own)
            local places = tenants.places
            for priority = 0, 9 do
                local place, at = own[priority], #places + 1
                while place and at > 1 and tenants.stands_before(place, places[at - 1]) do
                    at = at - 1
                end
                if place then
                    table.insert(places, at, place)
                    tenants.touch(place)
                    tenants.line.add(place, 1)
                end
            end
        end,

        -- The first and the last place that loses waiters if too many wait.
        first_other = function(priority)
            for _, place in ipairs(tenants.places) do
                if place.priority == priority and tenants.can_be_told(place) then
                    return place, tenants.waker(place)
                end
            end
        end,

        last_other = function(priority)
            for i = #tenants.places, 1, -1 do
                local place = tenants.places[i]
                if place.priority == priority and tenants.can_be_told(place) then
                    return place, tenants.waker(place)
                end
            end
        end,

        totals = function(unit)
            return unit == 0 and tenants.line.all.asking or tenants.line.all.more[unit]
        end,

        weigh = function()
        end,

        add_more = function()
        end,

        set_aside = function(_, _, place)
            place.aside, place.written = true, nil
            tenants.touch(place)
            tenants.line.sum()
        end,

        save = function()
            if tenants.emptied then
                redis.call('UNLINK', KEYS[2], KEYS[3])
            end
        end,
    }
end
