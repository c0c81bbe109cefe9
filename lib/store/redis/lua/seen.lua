-- seen.lua: the stored policy's version and moment, and whether they are those that the caller has seen.

local found = redis.call('HMGET', KEYS[1], 'version', 'at')
local version, at = tonumber(found[1] or 0) or 0, tonumber(found[2] or 0) or 0
local seen = version == tonumber(ARGV[1]) and at == tonumber(ARGV[2])
