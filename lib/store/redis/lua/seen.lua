-- seen.lua: the version and time of the stored policy, and whether the caller has seen that policy.

local found = redis.call('HMGET', KEYS[1], 'version', 'at')
local version, at = tonumber(found[1] or 0) or 0, tonumber(found[2] or 0) or 0
local seen = version == tonumber(ARGV[1]) and at == tonumber(ARGV[2])
