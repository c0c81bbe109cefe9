-- claims.lua: several claims in one call, one after the other, each as the script of a claim runs it. embed.py puts
-- that script before this piece, as the function claim(KEYS, ARGV).
--
-- KEYS  those of the first claim, then those of the next one, ...
-- ARGV  1 for each claim `KEYS,ARGUMENTS`: how many of each it has, with a blank between two; then the arguments
-- reply an array: the reply to each claim, or the error of one that failed. It ends early if it would have too many
--       values: the claims behind were not run.

local replies, values, key, argument = {}, 0, 0, 1
local written = {} -- the tenants of the ledger that the last claim has written: tenants_text.lua
for keys, arguments in ARGV[1]:gmatch('(%d+),(%d+)') do
    if values > TAKT_CLAIMS_VALUES_MAX then
        break
    end
    local own_keys, own = { written = written }, {}
    for i = 1, keys do
        own_keys[i] = KEYS[key + i]
    end
    for i = 1, arguments do
        own[i] = ARGV[argument + i]
    end
    key, argument = key + keys, argument + arguments
    local done, reply = pcall(claim, own_keys, own)
    if not done and type(reply) ~= 'table' then
        reply = redis.error_reply(reply) -- of a server before 7
    end
    replies[#replies + 1] = reply
    values = values + 1 + (type(reply) == 'table' and #reply or 0)
end
return replies
