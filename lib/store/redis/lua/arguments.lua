-- arguments.lua: splits the first argument into fields. After this piece, ARGV is the list that the operations
-- describe. The call has one argument because an argument costs the server more than a field. A claim with inner limits
-- has a further argument and three further keys for each of them (inner.lua): KEYS is without these afterwards.

local told, inner_keys = ARGV, nil
for i = #told, 2, -1 do
    inner_keys = inner_keys or {}
    local at = #KEYS - 2
    inner_keys[i] = { text = KEYS[at], held_key = KEYS[at + 1], log = KEYS[at + 2] }
    KEYS[at], KEYS[at + 1], KEYS[at + 2] = nil, nil, nil
end
local fields = told[1] or ''
local ARGV = {}
for field in (fields .. ' '):gmatch('([^ ]*) ') do
    ARGV[#ARGV + 1] = field
end
