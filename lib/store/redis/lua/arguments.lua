-- arguments.lua: the one argument, field by field: from here on ARGV is the list that the operations describe.  An
-- argument costs the server more than a field.

local fields = ARGV[1] or ''
local ARGV = {}
for field in (fields .. ' '):gmatch('([^ ]*) ') do
    ARGV[#ARGV + 1] = field
end
