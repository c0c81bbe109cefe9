-- extend.lua: a block for ARGV[7] from now on, which only ever extends, with the reason ARGV[8].
-- needs: standing

local function extend_block()
    local ends = ledger.now + ARGV[7]
    if ends > ledger.blocked then
        ledger.blocked = ends
        ledger.reason = ARGV[8] ~= '' and ARGV[8] or ledger.reason
    end
end
