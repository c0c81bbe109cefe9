-- keys.lua: which keys a call names. A call repeats its first key in place of a key that it does not name, so that each
-- key has its index. While a slot of a cluster moves, only the named keys must be on one node.
--
-- KEYS  1 the ledger's text, 2 its line, 3 its places, 4 its holders, 5 its log; then those of inner limits (inner.lua)

local line_named = #KEYS > 2 and KEYS[2] ~= KEYS[1]
local held_named = #KEYS > 3 and KEYS[4] ~= KEYS[1]
local log_named = #KEYS > 4 and KEYS[5] ~= KEYS[1]
