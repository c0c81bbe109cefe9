-- keep.lua: runs an operation, from reading the keys of a ledger to writing them (store/record.c).
-- needs: holders tenants_text tenants_line

-- From here on the call may read and write the keys of the line.
local function name_line()
    if not line_named then
        want_keys(TAKT_KEYS_LINE)
    end
end

-- Opens the line if it is not empty, and applies changes that only depend on time.
local function tidy(worker)
    tidy_rules()
    if ledger.damaged then
        name_line() -- it is deleted
    end
    if tenants then
        tenants.worker = worker
    end
    if tenants and tenants.list[1] then
        tenants.tidy()
        line = tenants.list[1] and tenants.line or nil
    elseif ledger.listed then
        name_line()
        open_line(worker)
        if not line.tidy() then
            open_line(worker, true)
        end
    end
    if held_named then
        open_holders(worker)
    else
        ledger.leased = 0 -- the limit has no permits; otherwise the caller would have sent the key
    end
end

-- The instant from which the ledger without its line equals an unused one.
local function rests_at()
    local at = limit.rest_at()
    return math.max(at, ledger.blocked, ledger.fence, ledger.leased, brake and brake.ends_at() or 0,
        ledger.meter and ledger.meter.ends or 0, ledger.asked > 0 and ledger.asked + limit.lookahead or 0)
end

-- Writes the ledger's text (in two parts) and its log, or deletes both.
local function keep_text(head, tail, expires, always)
    if expires <= ledger.now then
        ledger.listed = false
        if ledger.stored then
            redis.call('DEL', KEYS[1])
        end
        if logs then
            logs.drop_pages()
        end
    elseif always or head ~= ledger.stored then
        redis.call('SET', KEYS[1], head .. tail, 'PXAT', numbers.digits(math.ceil(expires / 1000)))
        if logs then -- the next claim of this script must not find the text without its pages
            logs.write_pages(numbers.digits(math.ceil((expires + SLACK) / 1000)))
        end
    end
end

-- Ends a call: keeps the ledger or drops it. `own`: the caller's places; nil: unchanged. The ledger's text is written
-- first: a server without memory refuses that command, and no key has changed.
local function keep(own)
    local was_listed = ledger.listed or ledger.damaged
    ledger.listed = line and line.is_listed()
    local kept, expires = text.encode(), rests_at()
    if tenants then
        kept = kept .. tenants.encode()
    end
    if ledger.listed and line.all.latest > expires then
        expires = line.all.latest
    end
    keep_text(kept, '', expires, ledger.listed or held and held.dirty)
    if ledger.inner then
        ledger.inner.keep_all()
    end
    if ledger.listed then
        line.save(own)
    elseif was_listed and line_named then -- without these keys the line was one of tenants
        redis.call('UNLINK', KEYS[2], KEYS[3])
    end
    if held then
        held.save()
    end
end

-- Runs an operation on the ledger that the arguments name. If a page of a log is damaged, all decisions are void, and a
-- new ledger begins.
local function run(operation)
    if #KEYS > 5 or not read_arguments() then
        return redis.error_reply('TAKT ARGUMENTS')
    end
    local function opened()
        if ledger.inner then
            ledger.inner.note_stated()
        end
        open_ledger()
        if ledger.zone_wanted then
            return { TAKT_FLAG_ZONE, ledger.zone_wanted }
        elseif limit.concurrency > 0 and not held_named then
            return { TAKT_FLAG_KEYS, TAKT_KEYS_HELD }
        end
        return ledger.inner and ledger.inner.open_all() or operation()
    end
    local function begun_anew()
        if ledger.inner then
            return ledger.inner.begin_anew()
        end
        begin_anew()
        limit.find_units()
        line, held = nil, nil
        return operation()
    end
    local done, reply = pcall(opened)
    if not done and logs and reply == PAGE_DAMAGED then
        done, reply = pcall(begun_anew)
    end
    if done or type(reply) == 'table' and reply[1] == TAKT_FLAG_KEYS then
        return reply
    end
    error(reply, 0)
end
