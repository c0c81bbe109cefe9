-- share.lua: the share of a turn, and the tokens left to the places before it; look() of core/ledger.c. All functions
-- are inline.

-- The tokens of a turn: those of one lookahead (`through`), or the available ones if these are more, divided by the
-- workers of the priority.
-- inline
local function share_of(room, through, workers)
    return math.max(math.floor((room > through and room or through) / workers), 1)
end

-- The tokens left to the places before: a share for each place and the whole need of the first, but no more than the
-- other workers of the priority want; and all tokens wanted more urgently.
-- inline
local function ahead_of(before, share, first_need, wanted, urgent)
    return urgent + math.min(before * share + ((before > 0 and first_need > share) and first_need - share or 0), wanted)
end

-- The least that the places before want: the whole need of the first, and one token for each of the others.
-- inline
local function first_of(before, first_need, urgent)
    return urgent + (before > 0 and first_need + before - 1 or 0)
end

-- The permits of a turn.
-- inline
local function permit_share(concurrency, workers)
    return math.max(math.floor(concurrency / workers), 1)
end

-- The free permits that are not left to the places before; 0 or less: none.
-- inline
local function permits_beside(free, before, share, wanted)
    return free - math.min(before * share, wanted)
end
