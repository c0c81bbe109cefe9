-- lease.lua: for how long permits are held, and numbers given ahead; core/holders.h.

local HOLDERS_SLACK = 10000000 -- the key lives longer than what is in it, so that not every claim must prolong it
