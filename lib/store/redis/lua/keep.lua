-- keep.lua: what becomes of the ledger's keys after a call: tell_change of store/record.c.
-- needs: ledger line

-- Opens the line where somebody stands in it, and does what time alone changes.
local function tidy(worker)
    tidy_rules()
    if listed then
        open_line(worker)
        if not line.tidy() then
            open_line(worker, true)
        end
    end
end

-- From that instant on the ledger says no more than one that has never been used.  The state is spoilt by it.
local function expires_at()
    if blocked > 0 then
        exhaust(blocked)
    end
    local at = rest_at()
    at = blocked > at and blocked or at
    return (listed and line.all.latest > at) and line.all.latest or at
end

-- Keeps the ledger, with the caller's places as `own` (nil: as they were), or drops it: the end of a call.  The
-- ledger's text is written first: a server that is out of memory refuses that, and nothing has been changed.
local function keep(own)
    local was_listed = listed or damaged
    listed = false
    for priority = 0, line and 9 or -1 do
        listed = listed or line.all.places[priority] > 0
    end
    local text = encode()
    local expires = expires_at()
    if expires <= now then
        listed = false
        if stored then
            call('DEL', KEYS[1])
        end
        if drop_pages then
            drop_pages()
        end
    elseif text ~= stored or listed then
        local expires_ms = digits(math.ceil(expires / 1000))
        call('SET', KEYS[1], text, 'PXAT', expires_ms)
        if write_pages then
            write_pages(expires_ms)
        end
    end
    if listed then
        line.save(own)
    elseif was_listed then
        call('UNLINK', KEYS[2], KEYS[3])
    end
end

-- Runs an operation on the ledger that the arguments name.  Where a page of a log is not what it should be, all that
-- was decided is void, and the ledger is begun anew.
local function run(operation)
    if not read_arguments() then
        return redis.error_reply('TAKT ARGUMENTS')
    end
    local clock = call('TIME') -- seam: now
    now = clock[1] * 1000000 + clock[2]
    stored = call('GET', KEYS[1])
    local function opened()
        open_ledger()
        return zone_wanted and { 16, zone_wanted } or operation()
    end
    if not keeps_log and not (stored and stored:find('l', 1, true)) then
        return opened()
    end
    local done, reply = pcall(opened)
    if done then
        return reply
    elseif reply ~= DAMAGED then
        error(reply, 0)
    end
    begin_anew()
    line = nil
    return operation()
end
