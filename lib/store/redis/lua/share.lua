-- share.lua: what one turn may take, and what it leaves to those before it; look() of core/ledger.c.  All of it is put
-- into its callers.

-- Tokens of a turn: those of one lookahead (`through`), or what lies ready if that is more, divided by the workers of
-- the priority.
-- inline
local function share_of(room, through, workers)
    return math.max(math.floor((room > through and room or through) / workers), 1)
end

-- Tokens that are left to those before: a share for each, all that the first needs, and no more than the others of the
-- priority want (nothing is kept for nobody); and what is wanted more urgently.
-- inline
local function ahead_of(before, share, first_need, wanted, urgent)
    return urgent + math.min(before * share + ((before > 0 and first_need > share) and first_need - share or 0), wanted)
end

-- Tokens that those before want in any case: all that the first needs, and one for each of the others.
-- inline
local function first_of(before, first_need, urgent)
    return urgent + (before > 0 and first_need + before - 1 or 0)
end

-- Permits of a turn.
-- inline
local function permit_share(concurrency, workers)
    return math.max(math.floor(concurrency / workers), 1)
end

-- Of the free permits those that are not left to the `before`; 0 or less: none.
-- inline
local function permits_beside(free, before, share, wanted)
    return free - math.min(before * share, wanted)
end
