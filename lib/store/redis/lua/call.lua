-- call.lua: what a call knows of its ledger.
--
-- What is kept in a table is found by all functions at the price of one upvalue: where each had its own for whatever it
-- uses, making the functions would cost more than what they do.  So a piece is a table, and this one is the call's.
-- needs: clock arguments

local NEVER = 1e300
local ledger = {
    now = now,
    stored = stored,
    turn = 0,
    blocked = 0,
    reason = '', -- why it is blocked, as the text has it
    fence = 0, -- the last fencing number given out
    leased = 0, -- until then permits are held at the latest; 0: nobody holds any
    meter = nil, -- while somebody looks: `ends`, `since` and `taken`; core/meter.h
    stated = 0, -- core/ledger.h's takt_contest
    contested = 0, -- 0: there is no contest
    asked = 0, -- when offers were asked for; core/ledger.h's takt_offers
    offers = {}, -- `slot`, `cost` and `priority`
    others = false, -- other rules hold than the caller's
    listed = false, -- somebody stands in line
    damaged = false, -- it could not be read
    zone_wanted = false, -- the name of a timezone that the text names and the caller has not told
}
