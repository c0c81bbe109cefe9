/*
 * run.c: runs one call on a ledger. Decides which function of core/ledger.h a call needs, and fills
 * its outputs; the stores read and write the ledger.
 */
#include "core/tenants.h"
#include "store/store.h"

static takt_more more_of(const takt_store_call *call)
{
    takt_more more;

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        more.of[i] = (int32_t)call->more[i];
    return more;
}

static takt_amounts amounts_of(int64_t tokens, int64_t requests, const int64_t *more)
{
    takt_amounts amounts = {{tokens, requests}};

    for (int i = 0; i < TAKT_MORE_MAX; i++)
        amounts.of[TAKT_UNIT_MORE + i] = more[i];
    return amounts;
}

/* Work that has used nothing did not begin. */
static takt_amounts used_by(const takt_store_call *call)
{
    takt_amounts used = amounts_of(call->actual, 0, call->actual_more);
    bool begun = false;

    for (int unit = 0; unit < TAKT_UNITS; unit++)
        begun |= used.of[unit] > 0;
    used.of[TAKT_UNIT_REQUESTS] = begun ? call->requests : 0;
    return used;
}

/* The tenant pays for the difference. The request of work that has begun counts in both, so that
 * units which are not scarce beside it cost nothing. */
static int64_t correct_tenant(takt_ledger *ledger, int64_t now_us, const takt_store_call *call)
{
    takt_amounts taken = amounts_of(call->cost, call->requests, call->more), used = used_by(call);

    if (call->requests == 0)
        taken.of[TAKT_UNIT_REQUESTS] = used.of[TAKT_UNIT_REQUESTS] = 1;
    return takt_tenants_correct(ledger, now_us, call->tenant, call->priority, call->tenant_weight,
                                taken, used);
}

/* Whether a level has permits, by the caller's numbers or its own. */
static bool has_permits(const takt_ledger *ledger, const takt_store_call *call)
{
    bool has = call->numbers->concurrency > 0 || ledger->numbers->concurrency > 0;

    for (int i = 0; i < ledger->inner_count; i++)
        has = has || call->inner[i].numbers->concurrency > 0 ||
              ledger->inner[i]->numbers->concurrency > 0;
    return has;
}

static void run_try(takt_ledger *ledger, int64_t now_us, takt_store_call *call)
{
    int64_t retry_at_us;
    bool taken;

    if (call->claim && has_permits(ledger, call))
        taken = takt_ledger_try_permit(ledger, now_us, call->claim, call->cost, more_of(call),
                                       &retry_at_us, call->award);
    else
        taken = takt_ledger_try(ledger, now_us, call->cost, more_of(call), &retry_at_us);
    call->status = taken ? 0 : TAKT_E_NO_SLOT;
    takt_ledger_tried(ledger, now_us, taken, &call->standing);
    call->ledger_no = ledger->tight;
    call->standing.retry_after_us = retry_at_us == TAKT_NEVER ? TAKT_NEVER : retry_at_us - now_us;
}

static void tell_tenants(const takt_ledger *ledger, takt_store_call *call)
{
    call->standing.tenants = call->tenants;
    call->standing.tenant_count =
        call->tenants ? takt_tenants_tell(ledger, call->tenants, TAKT_TENANTS_MAX) : 0;
}

void takt_store_run(takt_ledger *ledger, int64_t now_us, takt_store_call *call)
{
    call->status = 0;
    switch (call->op) {
    case TAKT_OP_CLAIM:
        takt_ledger_claim(ledger, now_us, call->claim, call->award);
        takt_ledger_tell_newer(ledger, 0, call->numbers, call->award);
        for (int i = 0; i < ledger->inner_count; i++)
            takt_ledger_tell_newer(ledger, i + 1, call->inner[i].numbers, call->award);
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
        takt_ledger_settle(ledger, now_us, call->slot_us,
                           amounts_of(call->cost, call->requests, call->more), used_by(call));
        call->tag_change = call->tenant ? correct_tenant(ledger, now_us, call) : 0;
        break;
    case TAKT_OP_LOWER:
        takt_ledger_lower(ledger, now_us,
                          amounts_of(call->actual, call->requests, call->actual_more));
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
    tell_tenants(ledger, call);
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
