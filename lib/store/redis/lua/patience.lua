-- patience.lua: how long those in line wait for each other, and for how long their keys are kept; core/line.h.

local KEEPALIVE = 2000000
local SILENT = 6000000 -- without a claim for so long a worker is taken for dead
local SLACK = 10000000 -- the line's keys live longer than what is in them, so that not every claim must prolong them
local LOOKAHEAD_FRACTION = 16 -- of a lookahead: nobody comes again sooner,
local LOOKAHEAD_FRACTION_FIRST = 64 -- nor the first in line
local TURNS = 562949953421312 -- of a priority
