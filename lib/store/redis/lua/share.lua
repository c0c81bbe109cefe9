-- share.lua: the shares of a turn, and the tokens left to the places before it (takt_view_look of core/view.h). All
-- functions are inline.

-- The tokens of a share: those of one lookahead (`through`), or the available ones if these are more, divided by the
-- weights of the priority's workers.
-- inline
local function share_of(room, through, weight)
    return math.max(math.floor((room > through and room or through) / weight), 1)
end

-- The tokens left to the places before: their shares, and of each share of the first the whole need, but no more than
-- the other workers of the priority want; and all tokens wanted more urgently. `owed`: the least of their shares.
-- inline
local function ahead_of(shares, share, first_need, first_shares, wanted, urgent, owed)
    return urgent + math.min((owed > shares * share and owed or shares * share)
        + ((shares > 0 and first_need > share) and first_shares * (first_need - share) or 0), wanted)
end

-- The least that the places before want: the whole need of the first, and one token for each of the others.
-- inline
local function first_of(before, first_need, urgent)
    return urgent + (before > 0 and first_need + before - 1 or 0)
end

-- The permits of a share.
-- inline
local function permit_share(concurrency, weight)
    return math.max(math.floor(concurrency / weight), 1)
end

-- The free permits that are not left to the places before; 0 or less: none.
-- inline
local function permits_beside(free, shares, share, wanted)
    return free - math.min(shares * share, wanted)
end
