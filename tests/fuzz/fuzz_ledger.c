/*
 * Any bytes as a ledger's text, read by workers of several limits: it is read or refused, later
 * claims stay within the rules' bounds, and a written ledger reads back as the same ledger.
 */
#include "fuzz.h"

#include "base/memory_pages.h"
#include "core/holders.h"
#include "core/ledger_text.h"
#include "core/line.h"

#define NOW INT64_C(1763692800000000)
#define BIG (INT64_C(1) << 53)

static void add_rule(takt_numbers *numbers, int64_t tokens, int64_t period_us, int64_t burst)
{
    takt_rule *rule = &numbers->rules[numbers->rule_count++];

    *rule = (takt_rule){
        .algorithm = &takt_gcra, .limit = tokens, .period_us = period_us, .burst = burst};
    if (takt_rule_prepare(rule, NULL) < 0)
        abort();
}

static void add_rule_by(takt_numbers *numbers, const takt_algorithm *algorithm, takt_align align,
                        int64_t tokens, int64_t period_us)
{
    takt_rule *rule = &numbers->rules[numbers->rule_count++];

    *rule = (takt_rule){
        .algorithm = algorithm, .align = align, .limit = tokens, .period_us = period_us};
    if (takt_rule_prepare(rule, NULL) < 0)
        abort();
}

static takt_numbers numbers_by(int number)
{
    takt_numbers numbers = {.lookahead_us = TAKT_LOOKAHEAD_US};

    if (number == 0)
        add_rule(&numbers, 10, 1000000, 5);
    if (number == 1) {
        add_rule(&numbers, 3, 1000000, 1);
        add_rule(&numbers, 800, INT64_C(86400000000), 100);
        numbers.revision = 5;
        numbers.max_waiting = 20;
        numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    }
    if (number == 2)
        add_rule(&numbers, TAKT_RULE_LIMIT_MAX - 63, TAKT_SPAN_MAX_US - 1,
                 TAKT_RULE_LIMIT_MAX - 63);
    if (number == 3) {
        add_rule_by(&numbers, &takt_sliding_log, TAKT_ALIGN_DEFAULT, 2000, 100000);
        add_rule_by(&numbers, &takt_sliding_window, TAKT_ALIGN_DEFAULT, 3000, 7000);
        add_rule_by(&numbers, &takt_fixed_window, TAKT_ALIGN_CLOCK, 1500, 30000000);
        add_rule_by(&numbers, &takt_fixed_window, TAKT_ALIGN_FIRST_USE, 1700, 60000000);
        add_rule_by(&numbers, &takt_sliding_log, TAKT_ALIGN_DEFAULT, 5000, 1000000);
    }
    if (number == 4) {
        numbers.concurrency = 20;
        numbers.lease_us = 30000000;
    }
    if (number == 5) {
        add_rule(&numbers, 10, 1000000, 5);
        numbers.concurrency = 3;
        numbers.lease_us = 1000000;
        numbers.revision = 8;
    }
    return numbers;
}

/* A written ledger reads back, and writes the same text. An empty one is not kept. */
static void check_round_trip(const takt_ledger *ledger)
{
    size_t room =
        takt_ledger_text_size(ledger->line_count, ledger->holder_count, ledger->tenant_count);
    char *text = malloc(room), *again = malloc(room);
    takt_place *line = calloc((size_t)ledger->line_count + 1, sizeof *line);
    takt_holder *holders = calloc((size_t)ledger->holder_count + 1, sizeof *holders);
    takt_tenant *tenants = calloc((size_t)ledger->tenant_count + 1, sizeof *tenants);
    takt_memory_pages pages;
    takt_ledger read = {.line = line,
                        .line_capacity = ledger->line_count,
                        .holders = holders,
                        .holder_capacity = ledger->holder_count,
                        .tenants = tenants,
                        .tenant_capacity = ledger->tenant_count,
                        .pages = &pages.pages};
    takt_numbers kept;
    size_t size;

    if (!text || !again || !line || !holders || !tenants)
        abort();
    takt_memory_pages_init(&pages);
    size = takt_ledger_encode(ledger, text, room);
    if (size == 0 && takt_ledger_expires_at(ledger) > NOW)
        abort();
    if (size == 0)
        goto done;
    if (takt_ledger_decode(&read, ledger->numbers, &kept, NOW, text, size) < 0 ||
        read.numbers != ledger->numbers)
        abort();
    if (takt_ledger_encode(&read, again, room) != size || memcmp(text, again, size) != 0)
        abort();
done:
    free(text);
    free(again);
    free(line);
    free(holders);
    free(tenants);
}

/* Given permits are held, never more than exist, except for those held before. */
static void check_permits(const takt_ledger *ledger, const takt_award *award, int64_t before)
{
    int64_t held = takt_holders_held(ledger), max = ledger->numbers->concurrency;

    if (max == 0 || award->stale)
        return;
    if (held > (before > max ? before : max) || award->holding > held)
        abort();
    if (award->holding > 0 && award->fence + award->reuses > ledger->fence + 1)
        abort();
}

static void claim_once(takt_ledger *ledger, int64_t cost, int64_t seq, const char *tenant)
{
    takt_claim claim = {.worker = 0xbeef,
                        .seq = seq,
                        .holding = 2,
                        .waiting = 50,
                        .weight = seq % 3 * 30,
                        .tenant = tenant,
                        .tenant_weight = 3,
                        .want_count = 2};
    int64_t before;
    takt_award award;

    claim.wants[0] = (takt_want){20, TAKT_NEVER, (int32_t)cost, 0, {{0}}};
    claim.wants[1] = (takt_want){20, NOW + 100000, 1, 9, {{0}}};
    before = takt_holders_held(ledger);
    takt_ledger_claim(ledger, NOW, &claim, &award);
    check_permits(ledger, &award, before);
    if (ledger->pages->trouble != TAKT_PAGES_FINE)
        return; /* a log without its pages: the decisions are void */
    for (int i = 0; i < award.run_count; i++)
        for (int64_t j = 0; j < award.runs[i].count; j++) {
            int64_t slot_us = takt_run_slot(&award.runs[i], j);
            if (slot_us < NOW || slot_us > NOW + TAKT_LOOKAHEAD_MAX_US ||
                slot_us < ledger->blocked_until_us)
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;

    for (int number = 0; number < 6; number++) {
        takt_numbers numbers = numbers_by(number), kept;
        int places = takt_ledger_text_places(text, size);
        int held = takt_ledger_text_holders(text, size);
        int told = takt_ledger_text_tenants(text, size);
        takt_place *line = calloc((size_t)places + TAKT_PRIORITIES, sizeof *line);
        takt_holder *holders = calloc((size_t)held + 1, sizeof *holders);
        takt_tenant *tenants = calloc((size_t)told + 4 * TAKT_PRIORITIES, sizeof *tenants);
        takt_memory_pages pages;
        takt_ledger ledger = {.line = line,
                              .line_capacity = places,
                              .holders = holders,
                              .holder_capacity = held,
                              .tenants = tenants,
                              .tenant_capacity = told,
                              .pages = &pages.pages};
        takt_standing standing;
        int64_t retry_us, cost;
        int status;

        if (!line || !holders || !tenants)
            abort();
        takt_memory_pages_init(&pages);
        status = takt_ledger_decode(&ledger, &numbers, &kept, NOW, text, size);
        if (status < 0 &&
            (ledger.line_count > 0 || ledger.holder_count > 0 || ledger.tenant_count > 0))
            abort();
        if (status < 0 && ledger.blocked_until_us <= NOW)
            abort();
        /* in millions of years the numbers run out */
        if (ledger.turn < BIG - TAKT_PRIORITIES * 4 * TAKT_TURN_STEP &&
            ledger.fence < BIG - 4 * TAKT_REUSES) {
            takt_ledger_tidy(&ledger, NOW); /* as every call begins */
            check_round_trip(&ledger);
            ledger.line_capacity = places + TAKT_PRIORITIES;
            ledger.holder_capacity = held + 1;
            ledger.tenant_capacity = told + 4 * TAKT_PRIORITIES;
            cost = takt_numbers_capacity(ledger.numbers, TAKT_UNIT_TOKENS, NULL) < 1000 ? 1 : 1000;
            claim_once(&ledger, cost, BIG - 1, number % 2 ? "a tenant" : NULL);
            check_round_trip(&ledger);
            claim_once(&ledger, cost, BIG, number % 3 ? "a tenant" : NULL);
            check_round_trip(&ledger);
            takt_ledger_peek(&ledger, NOW, &standing);
            (void)takt_ledger_try(&ledger, NOW, 1, TAKT_NO_MORE, &retry_us);
            takt_ledger_unblock(&ledger, NOW);
            check_round_trip(&ledger);
            (void)takt_ledger_expires_at(&ledger);
        }
        takt_memory_pages_close(&pages);
        free(line);
        free(holders);
        free(tenants);
    }
    return 0;
}
