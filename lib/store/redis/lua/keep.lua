-- keep.lua: runs an operation, from reading the keys of a ledger to writing them (store/record.c).
-- needs: holders

-- Opens the line if it is not empty, and applies changes that only depend on time.
local function tidy(worker)
    tidy_rules()
    if ledger.listed then
        open_line(worker)
        if not line.tidy() then
            open_line(worker, true)
        end
    end
    if #KEYS == 5 then
        open_holders(worker)
    else
        ledger.leased = 0 -- the limit has no permits; otherwise the caller would have sent the key
    end
end

-- The instant from which the ledger equals an unused one.
local function expires_at()
    local at = limit.rest_at()
    at = math.max(at, ledger.blocked, ledger.fence, ledger.leased, brake and brake.ends_at() or 0,
        ledger.meter and ledger.meter.ends or 0, ledger.asked > 0 and ledger.asked + limit.lookahead or 0)
    return (ledger.listed and line.all.latest > at) and line.all.latest or at
end

-- Ends a call: keeps the ledger or drops it. `own`: the caller's places; nil: unchanged. The ledger's text is written
-- first: a server without memory refuses that command, and no key has changed.
local function keep(own)
    local was_listed = ledger.listed or ledger.damaged
    ledger.listed = line and line.is_listed()
    local kept = text.encode()
    local expires = expires_at()
    if expires <= ledger.now then
        ledger.listed = false
        if ledger.stored then
            redis.call('DEL', KEYS[1])
        end
        if logs then
            logs.drop_pages()
        end
    elseif kept ~= ledger.stored or ledger.listed or (held and held.dirty) then
        local expires_ms = numbers.digits(math.ceil(expires / 1000))
        redis.call('SET', KEYS[1], kept, 'PXAT', expires_ms)
        if logs then
            logs.write_pages(expires_ms)
        end
    end
    if ledger.listed then
        line.save(own)
    elseif was_listed then
        redis.call('UNLINK', KEYS[2], KEYS[3])
    end
    if held then
        held.save()
    end
end

-- Runs an operation on the ledger that the arguments name. If a page of a log is damaged, all decisions are void, and a
-- new ledger begins.
local function run(operation)
    if #KEYS < 4 or #KEYS > 5 or not read_arguments() then
        return redis.error_reply('TAKT ARGUMENTS')
    end
    local function opened()
        open_ledger()
        if ledger.zone_wanted then
            return { TAKT_FLAG_ZONE, ledger.zone_wanted }
        elseif limit.concurrency > 0 and #KEYS == 4 then
            return { TAKT_FLAG_PERMITS }
        end
        return operation()
    end
    local done, reply = pcall(opened)
    if done then
        return reply
    elseif not logs or reply ~= PAGE_DAMAGED then
        error(reply, 0)
    end
    begin_anew()
    line, held = nil, nil
    return operation()
end
