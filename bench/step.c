/*
 * step.c: the arithmetic alone: one GCRA step, one claim on a ledger at hand, and a ledger's text
 * read and written.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "core/ledger_text.h"

#define TIMES 5000000

static takt_numbers limit = {.rule_count = 1, .lookahead_us = TAKT_LOOKAHEAD_US};
static takt_place line[64];

static double since_ns(int64_t begin, int64_t count)
{
    return (double)(bench_now_ns() - begin) / (double)count;
}

static double step_ns(void)
{
    const takt_rule *rule = &limit.rules[0];
    takt_rule_state state;
    int64_t begin = bench_now_ns(), at = 0;

    takt_gcra.rest(rule, &state, 0);
    for (int i = 0; i < TIMES; i++) {
        at = takt_gcra.earliest(rule, &state, at, 1);
        takt_gcra.commit(rule, &state, at, 1);
    }
    if (at < TIMES / 10) /* the loop must not be optimised away */
        abort();
    return since_ns(begin, TIMES);
}

static double claim_ns(int64_t waiters)
{
    takt_ledger ledger = {.line = line, .line_capacity = 64};
    takt_claim claim = {
        .worker = 1,
        .waiting = waiters,
        .want_count = 1,
        .wants = {{.count = waiters, .latest_us = TAKT_NEVER, .cost = 1, .priority = 5}}};
    takt_award award;
    int64_t begin = bench_now_ns();

    takt_ledger_init(&ledger, &limit, 0);
    for (int i = 0; i < TIMES / 10; i++) {
        claim.seq++;
        takt_ledger_claim(&ledger, (int64_t)i * waiters, &claim, &award);
    }
    return since_ns(begin, TIMES / 10);
}

static double text_ns(int places)
{
    takt_ledger ledger = {.line = line, .line_capacity = 64};
    takt_numbers kept;
    char text[32768];
    int64_t begin, now_us = INT64_C(1763692800000000);
    size_t size;

    takt_ledger_init(&ledger, &limit, now_us);
    for (int i = 0; i < places; i++)
        ledger.line[ledger.line_count++] = (takt_place){.worker = (uint64_t)i * 0x123456789abcdef,
                                                        .seq = i,
                                                        .turn = i,
                                                        .wanting = 50,
                                                        .need = 1,
                                                        .waiting = 50,
                                                        .again_at_us = now_us,
                                                        .expires_at_us = now_us,
                                                        .priority = 5};
    ledger.turn = places;
    size = takt_ledger_encode(&ledger, text, sizeof text);
    begin = bench_now_ns();
    for (int i = 0; i < TIMES / 100; i++) {
        if (takt_ledger_decode(&ledger, &limit, &kept, now_us, text, size) < 0)
            abort();
        size = takt_ledger_encode(&ledger, text, sizeof text);
    }
    return since_ns(begin, TIMES / 100);
}

int main(void)
{
    limit.rules[0] =
        (takt_rule){.algorithm = &takt_gcra, .limit = 1000000, .period_us = 1000000, .burst = 1000};
    bench_must(takt_rule_prepare(&limit.rules[0], NULL), "takt_rule_prepare");
    printf("{\"bench\":\"step\",\"gcra_step_ns\":%.1f,\"claim_of_1_ns\":%.0f,\"claim_of_1000_ns\":%"
           ".0f,"
           "\"text_of_1_place_ns\":%.0f,\"text_of_64_places_ns\":%.0f}\n",
           step_ns(), claim_ns(1), claim_ns(1000), text_ns(1), text_ns(64));
    return 0;
}
