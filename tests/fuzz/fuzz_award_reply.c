/*
 * Any reply as the answer of a script: it is refused, or every number that it gives is one that the
 * scheduler can work with.  The first byte is the operation.
 */
#include "fuzz.h"

#include "store/redis/award_reply.h"

#define BIG (INT64_C(1) << 53)

static bool is_time(int64_t us)
{
    return us == TAKT_NEVER || (us >= 0 && us <= BIG);
}

static void check_award(const takt_award *award, const takt_claim *claim)
{
    int64_t given = 0;

    require(award->now_us >= 0 && award->now_us <= BIG);
    require(is_time(award->claim_again_at_us) && is_time(award->next_slot_at_us));
    require(award->blocked_until_us >= 0 && award->blocked_until_us <= BIG);
    require(award->in_line < 1U << TAKT_PRIORITIES);
    require(award->least_urgent >= -1 && award->least_urgent <= TAKT_PRIORITY_MAX);
    require(award->run_count >= 0 && award->run_count <= TAKT_RUNS_MAX);
    for (int i = 0; i < award->run_count; i++) {
        const takt_run *run = &award->runs[i];
        require(run->count >= 1 && run->cost >= 1 && run->cost <= TAKT_COST_MAX);
        require(takt_run_slot(run, 0) >= 0 && takt_run_slot(run, run->count - 1) <= 2 * BIG);
        require(takt_run_slot(run, 0) <= takt_run_slot(run, run->count - 1));
        given += run->count;
    }
    require(award->refused >= 0 && given + award->refused <= claim->waiting);
    require(award->outdated >> TAKT_LEVELS_MAX == 0);
    for (int level = 0; level < TAKT_LEVELS_MAX; level++) {
        const takt_numbers *newer = &award->newer[level];
        if ((award->outdated >> level & 1) == 0)
            continue;
        require(newer->rule_count <= TAKT_RULES_MAX);
        require(newer->rule_count >= 1 || newer->concurrency >= 1);
        require(takt_numbers_capacity(newer, TAKT_UNIT_TOKENS, NULL) >= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static takt_resp *resp;
    static takt_award award;
    static takt_tenant_standing tenants[TAKT_TENANTS_MAX];
    takt_limit limit = {.name = "fuzz",
                        .numbers = {.lookahead_us = TAKT_LOOKAHEAD_US, .rule_count = 1}};
    takt_claim claim = {.worker = 1, .seq = 1, .waiting = 1000, .want_count = 1};
    takt_store_call call = {
        .limit = &limit, .numbers = &limit.numbers, .key = "", .claim = &claim, .award = &award};
    const takt_reply *reply = NULL;
    const char *why;
    bool damaged = false;

    if (size < 1)
        return 0;
    if (resp == NULL)
        require((resp = takt_resp_new(NULL)) != NULL);
    require(takt_resp_restart(resp));
    limit.numbers.rules[0] = (takt_rule){
        .algorithm = takt_algorithm_named("gcra"), .limit = 10, .period_us = 1000000, .burst = 5};
    require(takt_rule_prepare(&limit.numbers.rules[0], NULL) == 0);
    claim.wants[0] = (takt_want){1000, TAKT_NEVER, 1, 5, {{0}}};
    call.op = (takt_op)(data[0] % 6);
    call.tenants = tenants;
    memset(&award, 0x55, sizeof award);
    if (takt_resp_feed(resp, (const char *)data + 1, size - 1, &why) != 0 ||
        takt_resp_next(resp, &reply, &why) != 1)
        return 0;
    call.status = 77;
    if (!takt_award_reply(&call, reply, &damaged))
        return 0;
    require(call.status == 0 || (call.op == TAKT_OP_TRY && call.status == TAKT_E_NO_SLOT));
    if (call.op == TAKT_OP_CLAIM)
        check_award(&award, &claim);
    else
        require(call.standing.now_us >= 0 && call.standing.remaining >= 0 &&
                is_time(call.standing.retry_after_us));
    for (int i = 0; call.op == TAKT_OP_PEEK && i < call.standing.tenant_count; i++)
        require(tenants[i].weight >= 1 && tenants[i].waiting >= 1 &&
                memchr(tenants[i].name, 0, sizeof tenants[i].name) != NULL);
    return 0;
}
