-- lease.lua: for how long permits are held, and numbers given ahead; core/holders.h.

local LEASE_MAX = 86400000000
local HOLDERS_SLACK = 10000000 -- the key lives longer than what is in it, so that not every claim must prolong it
local REUSES = 1000
local REUSES_AHEAD = 60000000
