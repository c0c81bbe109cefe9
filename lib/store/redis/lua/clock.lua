-- clock.lua: the beginning of every script about a ledger: the time, and the ledger's text.
-- needs: time

local stored = redis.call('GET', KEYS[1]) -- false: no ledger
