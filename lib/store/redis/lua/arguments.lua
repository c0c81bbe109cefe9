-- arguments.lua: splits the single argument into fields. After this piece, ARGV is the list that the operations
-- describe. The call has one argument because an argument costs the server more than a field.

local fields = ARGV[1] or ''
local ARGV = {}
for field in (fields .. ' '):gmatch('([^ ]*) ') do
    ARGV[#ARGV + 1] = field
end
