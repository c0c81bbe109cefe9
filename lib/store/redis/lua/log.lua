-- log.lua: who took tokens when; core/log.c.  A log is a table of the numbers of takt_log.
--
-- Its pages are fields of KEYS[4], "BOOK:PAGE", of 12 entries each, so short that the server keeps a small log without
-- any overhead: the first entry's instant in 7 bytes, its running total, then for each other entry twice what it is
-- later, with 1 added where it took more than one token, and in that case how many.  These numbers are in groups of 7
-- bits, the lowest first, of which all but the last have the highest bit set.
--
-- Nothing is written before write_pages().
-- needs: numbers

local WRAP = 2 ^ 50
local LOG_PAGE = 12
local BOOKS_MAX = 16
local DAMAGED = {} -- what is thrown where a page is not what it should be

local keeps_log = false -- some rule does
local write_pages, drop_pages -- where it does: at the end of a call, what has become of the pages
local forget_logs -- everything begins anew

local function make_log()
    local taken, pages, changed, dropped = {}, {}, {}, {}
    local all_dropped = false

    local function between(from, to)
        return (to - from) % WRAP
    end

    local function held(log)
        return between(log.before, log.total)
    end

    local function write_number(bytes, n)
        while n >= 128 do
            bytes[#bytes + 1] = n % 128 + 128
            n = floor(n / 128)
        end
        bytes[#bytes + 1] = n
    end

    local function write_page(page)
        local bytes, rest_of = {}, page.at[1]
        for i = 7, 1, -1 do
            bytes[i], rest_of = rest_of % 256, floor(rest_of / 256)
        end
        write_number(bytes, page.total[1])
        for i = 2, #page.at do
            local tokens = between(page.total[i - 1], page.total[i])
            write_number(bytes, (page.at[i] - page.at[i - 1]) * 2 + (tokens > 1 and 1 or 0))
            if tokens > 1 then
                write_number(bytes, tokens)
            end
        end
        return string.char(unpack(bytes))
    end

    local function read_page(text)
        local bytes, at, total, instant, i = { text:byte(1, -1) }, {}, {}, 0, 8
        local function read_number()
            local n, unit = 0, 1
            repeat
                if not bytes[i] then
                    error(DAMAGED)
                end
                n, unit, i = n + bytes[i] % 128 * unit, unit * 128, i + 1
            until bytes[i - 1] < 128
            return n
        end
        for j = 1, 7 do
            instant = instant * 256 + (bytes[j] or 0)
        end
        at[1], total[1] = instant, read_number()
        while bytes[i] do
            local later = read_number()
            local tokens = later % 2 == 1 and read_number() or 1
            at[#at + 1], total[#total + 1] = at[#at] + floor(later / 2), (total[#total] + tokens) % WRAP
        end
        return { at = at, total = total }
    end

    local function field_of(log, number)
        return log.book .. ':' .. digits(floor(number / LOG_PAGE))
    end

    local function page_of(log, number)
        local field = field_of(log, number)
        if not pages[field] then
            local text = not dropped[field] and call('HGET', KEYS[4], field)
            if not text then
                error(DAMAGED)
            end
            pages[field] = read_page(text)
        end
        return pages[field], field
    end

    -- An entry that counts.
    local function entry(log, number)
        if number >= log.next then
            return log.last, log.total
        end
        local page, i = page_of(log, number), number % LOG_PAGE + 1
        local at, total = page.at[i], page.total[i]
        if not at or at >= log.last or total == log.before or between(log.before, total) >= held(log) then
            error(DAMAGED)
        end
        return at, total
    end

    -- The number of the first entry of at least so many tokens (nil: later than an instant); next + 1 if none is.
    local function seek(log, tokens, instant)
        local function is_found(number)
            local at, total = entry(log, number)
            if tokens then
                return between(log.before, total) >= tokens
            end
            return at > instant
        end
        local low, high, step = log.first, log.first, 1
        while high <= log.next and not is_found(high) do
            low = high + 1
            high, step = low + step, step * 2
        end
        high = high > log.next and log.next + 1 or high
        while low < high do
            local middle = low + floor((high - low) / 2)
            if is_found(middle) then
                high = middle
            else
                low = middle + 1
            end
        end
        return low
    end

    local function drop_page(field)
        dropped[field], pages[field], changed[field] = true, nil, nil
    end

    -- Lets go of all entries before `number`.
    local function drop_before(log, number)
        if number == log.first then
            return
        end
        local _, total = entry(log, number - 1)
        log.before = total
        number = number > log.next and log.next or number
        if log.book > 0 then
            for page = floor(log.first / LOG_PAGE), floor(number / LOG_PAGE) - 1 do
                drop_page(log.book .. ':' .. digits(page))
            end
        end
        log.first = number
    end

    local function take_book()
        for book = 1, BOOKS_MAX do
            if not taken[book] then
                all_dropped = all_dropped or next(taken) == nil -- what there may be is nobody's
                taken[book] = true
                return book
            end
        end
        error(DAMAGED)
    end

    -- Puts the latest into its page, to make room in the head.
    local function put_away(log)
        local page, field
        if log.book == 0 then
            log.book = take_book()
        end
        if log.next % LOG_PAGE == 0 then
            page, field = { at = {}, total = {} }, field_of(log, log.next)
            pages[field], dropped[field] = page, nil
        else
            page, field = page_of(log, log.next)
        end
        local i = log.next % LOG_PAGE + 1
        if #page.at < i - 1 then
            error(DAMAGED)
        end
        for j = i + 1, #page.at do -- a number is used again where the log was empty in between
            page.at[j], page.total[j] = nil, nil
        end
        page.at[i], page.total[i] = log.last, log.total
        changed[field] = page
        log.next = log.next + 1
    end

    local function append(log, at, tokens)
        if at ~= log.last and held(log) > 0 then
            put_away(log)
        end
        log.last = at
        log.total = (log.total + tokens) % WRAP
    end

    local function drop(log, at)
        if held(log) == 0 then
            return
        elseif log.last <= at then
            drop_before(log, log.next + 1)
        else
            drop_before(log, seek(log, nil, at))
        end
    end

    local function new_log()
        return { first = 0, next = 0, before = 0, total = 0, last = 0, full = 0, full_at = 0, book = 0 }
    end

    -- Lets go of everything, also of the book, which nobody takes again in this call.
    local function clear(log)
        if log and log.book > 0 then
            for page = floor(log.first / LOG_PAGE), floor(log.next / LOG_PAGE) do
                drop_page(log.book .. ':' .. digits(page))
            end
        end
        return new_log()
    end

    local function slot_of(log, n)
        return (entry(log, seek(log, n)))
    end

    local function count_to(log, at)
        if held(log) == 0 then
            return 0
        elseif at >= log.last then
            return held(log)
        end
        local number = seek(log, nil, at)
        if number == log.first then
            return 0
        end
        local _, total = entry(log, number - 1)
        return between(log.before, total)
    end

    forget_logs = function()
        taken, pages, changed, dropped, all_dropped = {}, {}, {}, {}, true
    end

    drop_pages = function()
        if next(taken) then
            call('UNLINK', KEYS[4])
        end
    end

    write_pages = function(expires_ms)
        local fields, ended = {}, {}
        if all_dropped then
            call('UNLINK', KEYS[4])
        end
        for field, page in pairs(changed) do
            fields[#fields + 1], fields[#fields + 2] = field, write_page(page)
        end
        for field in pairs(dropped) do
            ended[#ended + 1] = field
        end
        for i = 1, #fields, 4000 do
            call('HSET', KEYS[4], unpack(fields, i, math.min(i + 3999, #fields)))
        end
        for i = 1, all_dropped and 0 or #ended, 4000 do
            call('HDEL', KEYS[4], unpack(ended, i, math.min(i + 3999, #ended)))
        end
        if next(taken) then
            call('PEXPIREAT', KEYS[4], expires_ms)
        end
    end

    return {
        held = held,
        between = between,
        append = append,
        drop = drop,
        clear = clear,
        new = new_log,
        slot_of = slot_of,
        count_to = count_to,
        take = function(book)
            local free = not taken[book]
            taken[book] = true
            return free
        end,
    }
end
