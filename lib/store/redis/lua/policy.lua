-- policy.lua: returns the stored policy of a namespace, unless the caller has it (store/policy_record.c).
--
-- KEYS  1 the policy
-- ARGV  1 version and 2 time of the policy that the caller has; 0: none
-- reply version and time of the stored policy, 0: none; history and text, if the caller has another policy
-- needs: seen

if #KEYS ~= 1 or #ARGV ~= 2 then
    return redis.error_reply('TAKT ARGUMENTS')
elseif seen or version == 0 then
    return { version, at }
end
local kept = redis.call('HMGET', KEYS[1], 'history', 'text')
return { version, at, kept[1] or '', kept[2] or '' }
