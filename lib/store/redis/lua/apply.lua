-- apply.lua: replaces the stored policy if it is the one that the caller has seen (store/policy_record.c).
--
-- KEYS  1 the policy
-- ARGV  1 version and 2 time of the policy that the caller has seen (0: none), 3 the history entry of the new policy,
--       4 its text
-- reply version and time of the stored policy; 1 if it is the caller's, 0 if another policy was stored
-- needs: time seen

if #KEYS ~= 1 or #ARGV ~= 4 then
    return redis.error_reply('TAKT ARGUMENTS')
elseif not seen then
    return { version, at, 0 }
end
version, at = version + 1, now > at and now or at + 1
local lines = { string.format('%.0f\t%.0f\t%s\n', version, at, ARGV[3]) }
for line in (redis.call('HGET', KEYS[1], 'history') or ''):gmatch('[^\n]+\n') do
    if #lines < TAKT_CHANGES_KEPT then
        lines[#lines + 1] = line
    end
end
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', version), 'at', string.format('%.0f', at), 'history',
    table.concat(lines), 'text', ARGV[4])
return { version, at, 1 }
