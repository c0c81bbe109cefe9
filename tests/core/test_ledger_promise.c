/*
 * Random claims, tries, blocks, peeks and clock changes: a ledger awards no more than its rules
 * allow, its line stays in order, and it is the same after it was written and read.
 */
#include "base/random.h"
#include "core/books.h"
#include "core/ledger_text.h"
#include "seed.h"

enum { WORKERS = 12, STEPS = 400 };

static takt_numbers random_limit(uint64_t *random)
{
    takt_numbers limit = {.lookahead_us = (1 + takt_random_below(random, 500)) * MS};
    int count = takt_random_below(random, 3) ? 1 : 2 + (int)takt_random_below(random, 3);

    for (int64_t period_us = 100 * MS; limit.rule_count < count; period_us *= 10)
        add_rule(&limit, 1 + takt_random_below(random, 50), period_us,
                 1 + takt_random_below(random, 30));
    if (takt_random_below(random, 4) == 0)
        limit.max_waiting = 1 + takt_random_below(random, 200);
    if (limit.max_waiting > 0)
        limit.when_full = (takt_when_full)takt_random_below(random, 3);
    return limit;
}

static int32_t random_cost(const book *b, uint64_t *random)
{
    int64_t capacity = takt_numbers_capacity(&b->limit, TAKT_UNIT_TOKENS, NULL);

    return takt_random_below(random, 3) ? 1 : (int32_t)(1 + takt_random_below(random, capacity));
}

/* Mostly a new claim, sometimes one that was sent before. */
static takt_claim random_claim(book *b, uint64_t *random, int64_t now_us, takt_claim *sent)
{
    takt_claim claim = {.worker = 1 + (uint64_t)takt_random_below(random, WORKERS),
                        .seq = ++b->seq};
    int count = (int)takt_random_below(random, 4);
    int32_t priority = 0;

    if (takt_random_below(random, 8) == 0)
        return sent[takt_random_below(random, WORKERS) + 1];
    for (int i = 0; i < count; i++) {
        priority += (int32_t)takt_random_below(random, TAKT_PRIORITIES - priority);
        claim.wants[i] = (takt_want){
            .count = 1 + takt_random_below(random, 40),
            .latest_us = takt_random_below(random, 3)
                             ? TAKT_NEVER
                             : now_us + takt_random_below(random, 2 * SECOND) - SECOND / 2,
            .cost = random_cost(b, random),
            .priority = priority};
        claim.waiting += claim.wants[i].count;
    }
    claim.want_count = count;
    if (count > 0 && takt_random_below(random, 5) == 0)
        claim.waiting += takt_random_below(random, 100);
    claim.newcomers = claim.waiting;
    claim.weight = takt_random_below(random, 3) ? 1 : takt_random_below(random, 100);
    sent[claim.worker] = claim;
    return claim;
}

static void check_award(const book *b, const takt_claim *claim, int64_t now_us)
{
    int64_t wanted = 0;

    cr_assert_eq(b->award.now_us, now_us);
    cr_assert_geq(b->award.claim_again_at_us, now_us + b->limit.lookahead_us / 64);
    for (int i = 0; i < claim->want_count; i++)
        wanted += claim->wants[i].count;
    cr_assert_leq(b->given, wanted);
    cr_assert_leq(b->given + b->award.refused, claim->waiting);
    cr_assert(!b->award.stale || b->given == 0);
    for (int i = b->slot_count - (int)b->given; i < b->slot_count; i++) {
        cr_assert(b->slots[i].slot_us >= now_us &&
                  b->slots[i].slot_us <= now_us + b->limit.lookahead_us);
        cr_assert_geq(b->slots[i].slot_us, b->award.blocked_until_us);
    }
    if (b->award.refused > 0)
        cr_assert_geq(b->award.waiting, b->limit.max_waiting, "refused while there was space");
}

/* Of the present workers, no more wait after a waiting worker's claim than max_waiting allows. */
static void check_bound(const book *b)
{
    int64_t waiting = 0;

    for (int i = 0; i < b->ledger.line_count; i++)
        waiting += b->line[i].aside && b->limit.when_full ? 0 : b->line[i].waiting;
    if (b->limit.max_waiting > 0 && b->award.in_line != 0 && !b->award.stale)
        cr_assert_leq(waiting, b->limit.max_waiting);
}

static void check_line(const book *b)
{
    for (int i = 0; i < b->ledger.line_count; i++) {
        const takt_place *place = &b->line[i], *before = place - 1;
        cr_assert(place->wanting >= 0 && place->need > 0, "place %d", i);
        cr_assert(place->waiting > 0 || (place->aside && b->limit.when_full), "place %d", i);
        cr_assert_leq(place->turn, b->ledger.turn + TAKT_OWED_MAX + b->ledger.line_count);
        if (i > 0)
            cr_assert(before->priority < place->priority ||
                      (before->priority == place->priority && before->turn < place->turn));
        for (int j = 0; j < i; j++)
            cr_assert(b->line[j].worker != place->worker || b->line[j].priority != place->priority);
    }
}

/* Writes the ledger, and continues with a ledger read from the text. */
static void pass_through_text(book *b, int64_t now_us)
{
    static char text[60000], again[60000];
    static takt_place line[LINE_MAX];
    takt_numbers kept;
    takt_ledger read = {.line = line, .line_capacity = LINE_MAX};
    size_t size = takt_ledger_encode(&b->ledger, text, sizeof text);

    cr_assert_leq(size, takt_ledger_text_size(b->ledger.line_count, b->ledger.holder_count,
                                              b->ledger.tenant_count));
    cr_assert_eq(takt_ledger_text_places(text, size), b->ledger.line_count);
    cr_assert_eq(takt_ledger_decode(&read, &b->limit, &kept, now_us, text, size), 0, "%.*s",
                 (int)size, text);
    cr_assert_eq(takt_ledger_encode(&read, again, sizeof again), size);
    cr_assert_eq(memcmp(text, again, size), 0, "%.*s\n%.*s", (int)size, text, (int)size, again);
    cr_assert_eq(read.line_count, b->ledger.line_count);
    cr_assert_eq(read.numbers, &b->limit);
    memcpy(b->line, line, (size_t)read.line_count * sizeof *line);
    read.line = b->line;
    b->ledger = read;
}

static void one_step(book *b, uint64_t *random, int64_t now_us, takt_claim *sent)
{
    takt_standing standing;
    int64_t retry_us;

    switch (takt_random_below(random, 40)) {
    case 0:
        takt_ledger_block(&b->ledger, now_us, takt_random_below(random, SECOND), NULL);
        break;
    case 1:
        takt_ledger_unblock(&b->ledger, now_us);
        break;
    case 2:
        takt_ledger_peek(&b->ledger, now_us, &standing);
        break;
    case 3:
    case 4:
    case 5: {
        int64_t cost = random_cost(b, random);
        if (takt_ledger_try(&b->ledger, now_us, cost, TAKT_NO_MORE, &retry_us))
            b->slots[b->slot_count++] = (taken){now_us, cost};
        else
            cr_assert_gt(retry_us, now_us);
        break;
    }
    default: {
        takt_claim claim = random_claim(b, random, now_us, sent);
        send_claim(b, now_us - NOW, &claim);
        check_award(b, &claim, now_us);
        check_bound(b);
    }
    }
}

Test(ledger_promise, never_over_whatever_is_said)
{
    uint64_t seed = test_seed(1);

    for (uint64_t round = 0, rounds = test_rounds(200); round < rounds; round++) {
        static book b;
        uint64_t random = seed + round;
        takt_claim sent[WORKERS + 1] = {{.worker = 1, .seq = 1}};
        int64_t now_us = NOW;
        open_book(&b, random_limit(&random));
        for (int i = 1; i <= WORKERS; i++)
            sent[i] = (takt_claim){.worker = (uint64_t)i};
        for (int step = 0; step < STEPS && b.slot_count < TAKEN_MAX - 500; step++) {
            now_us += takt_random_below(&random, 50) ? takt_random_below(&random, 40 * MS)
                                                     : takt_random_below(&random, 20 * SECOND);
            one_step(&b, &random, now_us, sent);
            check_line(&b);
            pass_through_text(&b, now_us);
        }
        for (int i = 0; i < b.limit.rule_count; i++) {
            int broken = broken_promise(&b.limit.rules[i], b.slots, b.slot_count);
            cr_assert_eq(broken, -1, "seed %" PRIu64 ": rule %d, slot %d of %d", seed + round, i,
                         broken, b.slot_count);
        }
    }
}

/* A worker that claims at its announced time, after no other call, gets a slot. */
Test(ledger_promise, who_comes_when_told_is_given_something)
{
    uint64_t seed = test_seed(1), rounds = test_rounds(400), found = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        static book b, alone;
        uint64_t random = seed + round;
        takt_numbers limit = random_limit(&random);
        limit.rule_count = 1; /* of several rules, room and due are only bounds */
        limit.max_waiting = 0;
        open_book(&b, limit);
        int64_t at_us = 0;
        for (int step = 0; step < 60; step++) {
            at_us += takt_random_below(&random, 100 * MS);
            say(&b, at_us, 1 + (uint64_t)takt_random_below(&random, 3),
                (int)takt_random_below(&random, 3), random_cost(&b, &random),
                1 + takt_random_below(&random, 30));
            int64_t again_us = b.award.claim_again_at_us - NOW;
            if (b.award.in_line == 0 || again_us > at_us + TAKT_KEEPALIVE_US)
                continue;
            int priority = 0;
            while (!(b.award.in_line & 1U << priority))
                priority++;
            const takt_place *place = place_of(&b, b.line[0].worker, priority);
            if (!place || b.ledger.line_count != 1)
                continue;
            alone = b;
            alone.ledger.line = alone.line;
            say(&alone, again_us, place->worker, priority, (int32_t)place->need, place->waiting);
            cr_assert_gt(alone.given, 0, "seed %" PRIu64 ", step %d", seed + round, step);
            found++;
        }
    }
    cr_assert_gt(found, 5 * rounds / 2, "%" PRIu64 " times", found);
}

/* All workers claim at their times: the whole rate is used, evenly, in equal shares. */
Test(ledger_promise, turns_are_even_and_nothing_is_left_over)
{
    for (int workers = 1; workers <= 64; workers *= 2) {
        static book b;
        int64_t again_us[65] = {0}, given[65] = {0}, end_us = 20 * SECOND, min = INT64_MAX, max = 0;
        open_book(&b, limit_of(100, SECOND, 1));
        for (int64_t at_us = 0; at_us < end_us; at_us += MS)
            for (int i = 0; i < workers; i++) {
                if (at_us < again_us[i])
                    continue;
                say(&b, at_us, (uint64_t)i + 1, 5, 1, 1000);
                given[i] += b.given;
                again_us[i] = b.award.claim_again_at_us - NOW;
                if (again_us[i] > at_us + TAKT_KEEPALIVE_US)
                    again_us[i] = at_us + TAKT_KEEPALIVE_US;
            }
        for (int j = 0; j < b.slot_count; j++)
            cr_assert_eq(b.slots[j].slot_us, NOW + j * 10 * MS, "%d workers: slot %d", workers, j);
        cr_assert_geq(b.slot_count, 2000);
        for (int i = 0; i < workers; i++) {
            min = given[i] < min ? given[i] : min;
            max = given[i] > max ? given[i] : max;
        }
        /* the very first had a lookahead to itself */
        cr_assert_leq(max - min, 30 + 25 / workers, "%d workers: %" PRId64 " to %" PRId64, workers,
                      min, max);
    }
}
