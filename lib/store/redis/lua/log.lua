-- log.lua: the times and numbers of tokens taken (rules/log.c). A log is a table with the numbers of takt_log.
--
-- The pages are fields of KEYS[5], "BOOK:PAGE", with 12 entries each. A page is so short that the server stores a small
-- log compactly. A page has the first entry's instant in 7 bytes and its running total. For each other entry it has the
-- time since the previous entry and the tokens. If all entries took one token, the instant has 2^55 added and the
-- tokens are omitted. The first byte of a number determines how many bytes follow (SIZES): three bytes are enough for
-- 12 seconds.
--
-- No key is written before write_pages().
-- needs: call numbers

local LOG_PAGE = 12

local ALL_ONES = 128 -- a bit of the instant's first byte: all entries took one token
-- For each size of a number: the lowest first byte, the count of first bytes, and the number of bytes that follow.
local SIZES = { { 0, 32, 0 }, { 32, 32, 1 }, { 64, 184, 2 }, { 248, 7, 3 }, { 255, 1, 7 } }

local PAGE_DAMAGED -- the error for a damaged page
local logs
local function make_logs()
    PAGE_DAMAGED = {}
    logs = {
        taken = {}, -- books
        pages = {}, -- by field: pages read or made in this call
        changed = {},
        dropped = {},
        all_dropped = false,

        -- From here on the call may read and write pages.
        open = function()
            if not log_named then
                want_keys(TAKT_KEYS_LOG)
            end
        end,

        between = function(from, to)
            return (to - from) % TAKT_LOG_WRAP
        end,

        held = function(log)
            return logs.between(log.before, log.total)
        end,

        write_number = function(bytes, n)
            for _, size in ipairs(SIZES) do
                if n < size[2] * 256 ^ size[3] then
                    bytes[#bytes + 1] = size[1] + math.floor(n / 256 ^ size[3])
                    for i = size[3] - 1, 0, -1 do
                        bytes[#bytes + 1] = math.floor(n / 256 ^ i) % 256
                    end
                    return
                end
            end
        end,

        write_page = function(page)
            local bytes, rest_of, all_ones = {}, page.at[1], ALL_ONES
            for i = 2, #page.at do
                if logs.between(page.total[i - 1], page.total[i]) ~= 1 then
                    all_ones = 0
                end
            end
            for i = 7, 1, -1 do
                bytes[i], rest_of = rest_of % 256, math.floor(rest_of / 256)
            end
            bytes[1] = bytes[1] + all_ones
            logs.write_number(bytes, page.total[1])
            for i = 2, #page.at do
                logs.write_number(bytes, page.at[i] - page.at[i - 1])
                if all_ones == 0 then
                    logs.write_number(bytes, logs.between(page.total[i - 1], page.total[i]))
                end
            end
            return string.char(unpack(bytes))
        end,

        read_page = function(text)
            local bytes, at, total, instant, i = { text:byte(1, -1) }, {}, {}, 0, 8
            local function read_number()
                local first = bytes[i] or 0
                for _, size in ipairs(SIZES) do
                    if first < size[1] + size[2] then
                        local n = first - size[1]
                        if not bytes[i + size[3]] then
                            error(PAGE_DAMAGED)
                        end
                        for j = i + 1, i + size[3] do
                            n = n * 256 + bytes[j]
                        end
                        i = i + size[3] + 1
                        return n
                    end
                end
            end
            local all_ones = (bytes[1] or 0) >= ALL_ONES
            bytes[1] = all_ones and bytes[1] - ALL_ONES or bytes[1]
            for j = 1, 7 do
                instant = instant * 256 + (bytes[j] or 0)
            end
            at[1], total[1] = instant, read_number()
            while bytes[i] do
                at[#at + 1] = at[#at] + read_number()
                total[#total + 1] = (total[#total] + (all_ones and 1 or read_number())) % TAKT_LOG_WRAP
            end
            return { at = at, total = total }
        end,

        field_of = function(log, number)
            return log.book .. ':' .. numbers.digits(math.floor(number / LOG_PAGE))
        end,

        page_of = function(log, number)
            local field = logs.field_of(log, number)
            if not logs.pages[field] then
                local text = not logs.dropped[field] and redis.call('HGET', KEYS[5], field)
                if not text then
                    error(PAGE_DAMAGED)
                end
                logs.pages[field] = logs.read_page(text)
            end
            return logs.pages[field], field
        end,

        -- Reads an entry that counts.
        entry = function(log, number)
            if number >= log.next then
                return log.last, log.total
            end
            local page, i = logs.page_of(log, number), number % LOG_PAGE + 1
            local at, total = page.at[i], page.total[i]
            if not at or at >= log.last or total == log.before or logs.between(log.before, total) >= logs.held(log) then
                error(PAGE_DAMAGED)
            end
            return at, total
        end,

        -- The number of the first entry with a running total of at least `tokens` (nil: later than an instant); next +
        -- 1: none.
        seek = function(log, tokens, instant)
            local function is_found(number)
                local at, total = logs.entry(log, number)
                if tokens then
                    return logs.between(log.before, total) >= tokens
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
                local middle = low + math.floor((high - low) / 2)
                if is_found(middle) then
                    high = middle
                else
                    low = middle + 1
                end
            end
            return low
        end,

        drop_page = function(field)
            logs.dropped[field], logs.pages[field], logs.changed[field] = true, nil, nil
        end,

        -- Drops all entries before `number`.
        drop_before = function(log, number)
            if number == log.first then
                return
            end
            local _, total = logs.entry(log, number - 1)
            log.before = total
            number = number > log.next and log.next or number
            if log.book > 0 then
                for page = math.floor(log.first / LOG_PAGE), math.floor(number / LOG_PAGE) - 1 do
                    logs.drop_page(log.book .. ':' .. numbers.digits(page))
                end
            end
            log.first = number
        end,

        take_book = function()
            logs.open()
            for book = 1, TAKT_BOOKS_MAX do
                if not logs.taken[book] then
                    logs.all_dropped = logs.all_dropped or next(logs.taken) == nil -- no other log has pages in the key
                    logs.taken[book] = true
                    return book
                end
            end
            error(PAGE_DAMAGED)
        end,

        -- Moves the latest entry into its page, to make room in the head.
        put_away = function(log)
            local page, field
            if log.book == 0 then
                log.book = logs.take_book()
            end
            if log.next % LOG_PAGE == 0 then
                page, field = { at = {}, total = {} }, logs.field_of(log, log.next)
                logs.pages[field], logs.dropped[field] = page, nil
            else
                page, field = logs.page_of(log, log.next)
            end
            local i = log.next % LOG_PAGE + 1
            if #page.at < i - 1 then
                error(PAGE_DAMAGED)
            end
            for j = i + 1, #page.at do -- a number is used again if the log was empty in between
                page.at[j], page.total[j] = nil, nil
            end
            page.at[i], page.total[i] = log.last, log.total
            logs.changed[field] = page
            log.next = log.next + 1
        end,

        append = function(log, at, tokens)
            if at ~= log.last and logs.held(log) > 0 then
                logs.put_away(log)
            end
            log.last = at
            log.total = (log.total + tokens) % TAKT_LOG_WRAP
        end,

        -- Takes back tokens of a slot, at most those that were taken at it.
        take_back = function(log, at, tokens)
            if logs.held(log) == 0 or at > log.last then
                return
            end
            local number = at == log.last and log.next or logs.seek(log, nil, at - 1)
            local before, found, total = log.before, nil, nil
            if log.next - number <= TAKT_LOG_BACK_MAX then
                found, total = logs.entry(log, number)
            end
            if found ~= at then
                return
            elseif number > log.first then
                found, before = logs.entry(log, number - 1)
            end
            tokens = math.min(tokens, logs.between(before, total) - (log.first < log.next and 1 or 0))
            for i = number, tokens > 0 and log.next - 1 or -1 do
                local page, field = logs.page_of(log, i)
                page.total[i % LOG_PAGE + 1] = (page.total[i % LOG_PAGE + 1] - tokens) % TAKT_LOG_WRAP
                logs.changed[field] = page
            end
            log.total = (log.total - tokens) % TAKT_LOG_WRAP
        end,

        drop = function(log, at)
            if logs.held(log) == 0 then
                return
            elseif log.last <= at then
                logs.drop_before(log, log.next + 1)
            else
                logs.drop_before(log, logs.seek(log, nil, at))
            end
        end,

        new = function()
            return { first = 0, next = 0, before = 0, total = 0, last = 0, full = 0, full_at = 0, book = 0 }
        end,

        -- Drops everything, including the book. This call does not take the book again.
        clear = function(log)
            local first = next(logs.taken)
            if log and log.book > 0 and next(logs.taken, first) == nil then
                logs.pages, logs.changed, logs.dropped, logs.all_dropped = {}, {}, {}, true
            elseif log and log.book > 0 then
                for page = math.floor(log.first / LOG_PAGE), math.floor(log.next / LOG_PAGE) do
                    logs.drop_page(log.book .. ':' .. numbers.digits(page))
                end
            end
            return logs.new()
        end,

        slot_of = function(log, n)
            return (logs.entry(log, logs.seek(log, n)))
        end,

        count_to = function(log, at)
            if logs.held(log) == 0 then
                return 0
            elseif at >= log.last then
                return logs.held(log)
            end
            local number = logs.seek(log, nil, at)
            if number == log.first then
                return 0
            end
            local _, total = logs.entry(log, number - 1)
            return logs.between(log.before, total)
        end,

        forget = function()
            logs.open()
            logs.taken, logs.pages, logs.changed, logs.dropped, logs.all_dropped = {}, {}, {}, {}, true
        end,

        drop_pages = function()
            if next(logs.taken) then
                redis.call('UNLINK', KEYS[5])
            end
        end,

        write_pages = function(expires_ms)
            local fields, ended = {}, {}
            if logs.all_dropped then
                redis.call('UNLINK', KEYS[5])
            end
            for field, page in pairs(logs.changed) do
                fields[#fields + 1], fields[#fields + 2] = field, logs.write_page(page)
            end
            for field in pairs(logs.dropped) do
                ended[#ended + 1] = field
            end
            for i = 1, #fields, 4000 do
                redis.call('HSET', KEYS[5], unpack(fields, i, math.min(i + 3999, #fields)))
            end
            for i = 1, logs.all_dropped and 0 or #ended, 4000 do
                redis.call('HDEL', KEYS[5], unpack(ended, i, math.min(i + 3999, #ended)))
            end
            if next(logs.taken) then
                redis.call('PEXPIREAT', KEYS[5], expires_ms)
            end
        end,

        -- Takes a book. False: another log has it.
        take = function(book)
            logs.open()
            local free = not logs.taken[book]
            logs.taken[book] = true
            return free
        end,
    }
end
