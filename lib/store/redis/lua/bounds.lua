-- bounds.lua: how large numbers may become, as in core.

local EXACT = 9007199254740992 -- 2^53: doubles are whole numbers up to here
local ROOM_MAX = 1000000000
local RECOVER_MAX = 86400000000 -- the time of `recover`
local REASON_MAX = 360 -- bytes of why a ledger is blocked, as the text has it
local SPAN_MAX = 1576800000000000
local LOOKAHEAD_MAX = 10000000
