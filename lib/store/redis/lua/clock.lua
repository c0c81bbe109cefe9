-- clock.lua: the beginning of every script: the time, which the server's clock alone tells, and the ledger's text.
--
-- What is kept in a table is found by all functions at the price of one upvalue: where each had its own for whatever it
-- uses, making the functions would cost more than what they do.  So a piece is a table, and this one is the call's.

local NEVER = 1e300
local clock = redis.call('TIME') -- seam: now
local ledger = {
    now = clock[1] * 1000000 + clock[2],
    stored = redis.call('GET', KEYS[1]), -- false: there is none
    turn = 0,
    blocked = 0,
    listed = false, -- somebody stands in line
    damaged = false, -- it could not be read
    zone_wanted = false, -- the name of a timezone that the text names and the caller has not told
}
