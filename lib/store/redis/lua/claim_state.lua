-- claim_state.lua: the table of a claim: what the worker states (KEYS and ARGV are those of claim.lua), and what is
-- decided. Its functions are in claim_*.lua and claim.lua. Among tenants tenants_claim.lua replaces some of them.
-- needs: quick quick_line quick_permits holders tenants_claim levels inner_line overflow offers worth

local claim = {
    inner = ledger.inner, -- the ledgers of inner limits; nil: none
    levels = levels, -- how slots are found with these or with gaps; nil: there are neither
    worker = ARGV[7],
    seq = tonumber(ARGV[8]),
    waiting = tonumber(ARGV[9]),
    weight = 1,
    newcomers = 0, -- the waiters among them that no award has counted
    offer = nil, -- a slot offered to more urgent work
    taken = false, -- the ledger keeps the offer
    holding = held_named and tonumber(ARGV[10]),
    first_want = held_named and 11 or 10, -- index in ARGV
    wants = {},
    largest = 0, -- the highest cost that the rules can ever give
    largest_of = {}, -- likewise, of further units
    from = 0, -- the earliest instant for slots
    old = {}, -- the worker's places by priority before the claim
    own = {}, -- the worker's places by priority after the claim
    refused = 0,
    slots = 0,
    given = 0, -- tokens
    given_of = {}, -- by further unit
    news = false, -- the head no longer needs what the others left to it
    in_line = 0,
    least_urgent = -1,
    again_at = -1,
    parked = false, -- it does not stand in line
    prompt = false, -- if it claims later than at again_at, its slot is later
    crowded = false, -- an inner line has more waiters than half of its bound
    unlisted = false, -- too many tenants wait
    turn_at = 0, -- the earliest slot of its first waiter
    tag = 0, -- the tag of the tenant that its first want is of, if an award tells it; 0: none
    room = nil, due = nil, take = nil, -- of limit.lua, or with gaps or inner limits of levels.lua
    least_cost = 1, -- the lowest cost of a waiter that can be given
    least_more = nil, -- likewise, of further units
    reply = {},
    seen = {}, -- what look() saw last
}
