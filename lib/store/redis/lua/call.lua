-- call.lua: the fields of a call and of its ledger.
--
-- Each piece of the scripts is one table, so a function reaches all its fields through one upvalue. With an upvalue for
-- each field, defining the functions would cost more than running them. This table belongs to the call.
-- needs: clock arguments

local NEVER = 1e300
local tenants -- tenants.lua; nil: there are none
local ledger = {
    now = now,
    stored = stored,
    turn = 0,
    blocked = 0,
    reason = '', -- the reason of the block, in the form of the text
    fence = 0, -- the last fencing number assigned
    leased = 0, -- no lease ends later than this; 0: no permit is held
    lease_min = 0, -- leases that begin now last so long at least: lease_min_us of core/ledger.h
    meter = nil, -- set while a program watches: `ends`, `since` and `taken`; core/meter.h
    stated = 0, -- takt_contest of core/ledger.h
    contested = 0, -- 0: there is no contest
    asker = '0', -- the worker that asked for offers
    asked = 0, -- the time of that request; takt_offers of core/ledger.h
    offers = {}, -- each has `slot`, `cost` and `priority`
    inner = nil, -- the ledgers of inner limits (inner.lua); nil: the call names none
    gaps = nil, -- slots that were passed over (gaps.lua); nil: there can be none
    passed_over = nil, -- their text, before the rules are known
    others = false, -- the rules in force are not the caller's
    listed = false, -- the line is not empty
    damaged = false, -- the text is malformed
    zone_wanted = false, -- the name of a timezone in the text that the caller did not send
}

-- Ends a call that needs further keys, before it has changed anything. The caller repeats the call with these keys.
local function want_keys(keys)
    error({ TAKT_FLAG_KEYS, keys })
end
