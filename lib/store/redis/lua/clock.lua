-- clock.lua: the start of every script about a ledger. Reads the time and the ledger's text.
-- needs: time keys

local stored = redis.call('GET', KEYS[1]) -- false: no ledger
