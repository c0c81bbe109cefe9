-- arguments.lua: splits the first argument into fields. After this piece, ARGV is the list that the operations
-- describe. The call has one argument because an argument costs the server more than a field. A claim with inner limits
-- has a further argument and two further keys for each of them (inner.lua): KEYS is without these afterwards.

local told, inner_keys = ARGV, nil
for i = #told, 2, -1 do
    inner_keys = inner_keys or {}
    inner_keys[i], KEYS[#KEYS], KEYS[#KEYS - 1] = { text = KEYS[#KEYS - 1], log = KEYS[#KEYS] }, nil, nil
end
local fields = told[1] or ''
local ARGV = {}
for field in (fields .. ' '):gmatch('([^ ]*) ') do
    ARGV[#ARGV + 1] = field
end
