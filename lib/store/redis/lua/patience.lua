-- patience.lua: how long those in line wait for each other, and for how long their keys are kept; core/line.h.

local SLACK = 10000000 -- the line's keys live longer than what is in them, so that not every claim must prolong them
local TURNS = 562949953421312 -- of a priority
