-- bounds.lua: how large numbers may become, as in core.

local EXACT = 9007199254740992 -- 2^53: doubles are whole numbers up to here
local ROOM_MAX = 1000000000
local SPAN_MAX = 1576800000000000
