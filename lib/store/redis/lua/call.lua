-- call.lua: what a call knows of its ledger.
--
-- All functions reach the fields of a table by one upvalue.  If each function had an upvalue for everything that it
-- uses, making the functions would cost more than running them.  So each piece is a table, and this one is the call's.
-- needs: clock arguments

local NEVER = 1e300
local ledger = {
    now = now,
    stored = stored,
    turn = 0,
    blocked = 0,
    reason = '', -- why it is blocked, as the text has it
    fence = 0, -- the last fencing number given out
    leased = 0, -- no lease ends later; 0: no permit is held
    meter = nil, -- while somebody watches: `ends`, `since` and `taken`; core/meter.h
    stated = 0, -- core/ledger.h's takt_contest
    contested = 0, -- 0: there is no contest
    asker = '0', -- the worker that they were asked for
    asked = 0, -- when offers were asked for; core/ledger.h's takt_offers
    offers = {}, -- `slot`, `cost` and `priority`
    others = false, -- other rules than the caller's are in force
    listed = false, -- the line is not empty
    damaged = false, -- the text could not be read
    zone_wanted = false, -- the name of a timezone that the text names and the caller has not told
}
