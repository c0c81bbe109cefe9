-- extend.lua: extends a block, starting now, and sets its reason.
-- needs: standing

local function extend_block(span, reason)
    local ends = ledger.now + span
    if ends > ledger.blocked then
        ledger.blocked = ends
        ledger.reason = reason ~= '' and reason or ledger.reason
        make_brake()
        brake.pace()
    end
end
