/*
 * run.c: runs one call on a ledger. Decides which function of core/ledger.h a call needs, and fills
 * its outputs; the stores read and write the ledger.
 */
#include "store/store.h"

static void run_try(takt_ledger *ledger, int64_t now_us, takt_store_call *call)
{
    int64_t retry_at_us;
    bool taken;

    if (call->claim && (call->numbers->concurrency > 0 || ledger->numbers->concurrency > 0))
        taken = takt_ledger_try_permit(ledger, now_us, call->claim, call->cost, &retry_at_us,
                                       call->award);
    else
        taken = takt_ledger_try(ledger, now_us, call->cost, &retry_at_us);
    call->status = taken ? 0 : TAKT_E_NO_SLOT;
    takt_ledger_peek(ledger, now_us, &call->standing);
    call->standing.retry_after_us = retry_at_us == TAKT_NEVER ? TAKT_NEVER : retry_at_us - now_us;
}

void takt_store_run(takt_ledger *ledger, int64_t now_us, takt_store_call *call)
{
    call->status = 0;
    switch (call->op) {
    case TAKT_OP_CLAIM:
        takt_ledger_claim(ledger, now_us, call->claim, call->award);
        takt_ledger_tell_newer(ledger, call->numbers, call->award);
        return;
    case TAKT_OP_TRY:
        run_try(ledger, now_us, call);
        return;
    case TAKT_OP_BLOCK:
        takt_ledger_block(ledger, now_us, call->for_us, call->reason);
        break;
    case TAKT_OP_PENALIZE:
        takt_ledger_penalize(ledger, now_us, call->for_us, call->reason);
        break;
    case TAKT_OP_UNBLOCK:
        takt_ledger_unblock(ledger, now_us);
        break;
    case TAKT_OP_RESET:
        takt_ledger_reset(ledger, now_us);
        break;
    case TAKT_OP_SETTLE:
        takt_ledger_settle(ledger, now_us, call->slot_us, call->requests, call->cost, call->actual);
        break;
    case TAKT_OP_LOWER:
        takt_ledger_lower(ledger, now_us, (takt_amounts){{call->actual, call->requests}});
        break;
    case TAKT_OP_PEEK:
        if (call->for_us > 0)
            takt_ledger_watch(ledger, now_us, call->for_us);
        break;
    case TAKT_OP_POLICY: /* handled by policy_record.c */
    case TAKT_OP_APPLY:
        break;
    }
    takt_ledger_peek(ledger, now_us, &call->standing);
}

bool takt_store_is_news(const takt_store_call *call)
{
    switch (call->op) {
    case TAKT_OP_BLOCK:
    case TAKT_OP_PENALIZE:
    case TAKT_OP_UNBLOCK:
    case TAKT_OP_RESET:
        return true;
    case TAKT_OP_CLAIM:
        return call->status == 0 && call->award->news;
    default:
        return false;
    }
}
