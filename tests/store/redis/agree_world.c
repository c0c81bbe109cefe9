/*
 * agree_world.c: random policies and calls: mostly ordinary ones, and the ends of every range.
 */
#include "agree.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "core/brake.h"
#include "core/tenant_name.h"
#include "zone/zone_load.h"

#define COUNT(array)      ((int64_t)(sizeof(array) / sizeof *(array)))
#define ONE(world, array) ((array)[below((world), COUNT(array))])

#define DAY_US INT64_C(86400000000)

/* Late enough that no key of the server's expires by itself, and early enough that timezones still
 * have changes to come. */
#define BEGIN_US INT64_C(3945000000000000)

/* Half an hour is skipped somewhere, midnight itself, and an hour is put back across midnight. */
const char *const agree_zones[AGREE_ZONES] = {"America/Los_Angeles", "Australia/Lord_Howe",
                                              "America/Havana", "Asia/Beirut"};
static const int64_t day_parts_us[] = {DAY_US, DAY_US, DAY_US / 24, DAY_US / 4, 7 * DAY_US};
static const char *const algorithms[] = {"gcra",         "gcra",         "token-bucket",
                                         "leaky-bucket", "fixed-window", "sliding-window",
                                         "sliding-log",  "sliding-log"};
static const int64_t periods_us[] = {
    1,       7,        10000,    333333, 1000000,     1000000,          1000000,
    7000000, 60000000, 60000000, DAY_US, 30 * DAY_US, 365 * DAY_US + 1, TAKT_SPAN_MAX_US};
static const int64_t limits[] = {1,  1,   2,   3,    7,      10,
                                 60, 100, 333, 1000, 999983, TAKT_RULE_LIMIT_MAX};
static const int64_t lookaheads_us[] = {250000, 250000, 250000, 0, 1, 50000, 1000000, 10000000};
static const int64_t calm_counts[] = {1, 1, 1, 2, 3};
static const int64_t counts[] = {1, 1, 1, 2, 5, 30, 1000, 1000000};
static const int64_t steps_us[] = {0,       1,       7,       300,     5000,
                                   5000,    20000,   100000,  250000,  400000,
                                   1000000, 2000000, 3000000, 6000000, 7000000};

static const int64_t concurrencies[] = {1, 1, 1, 2, 3, 5, 10, 20, 1000, TAKT_CONCURRENCY_MAX};
static const int64_t leases_us[] = {1000000, 1000000, 2000000, 5000000, 30000000, DAY_US};

static int64_t below(agree_world *world, int64_t n)
{
    return takt_random_below(&world->random, n);
}

static bool chance(agree_world *world, int percent)
{
    return below(world, 100) < percent;
}

/* A number up to max, small ones as likely as large ones. */
static int64_t up_to(agree_world *world, int64_t max)
{
    int64_t bound = 1;

    while (bound < max && chance(world, 80))
        bound *= 4;
    return 1 + below(world, bound < max ? bound : max);
}

static const takt_algorithm *draw_algorithm(agree_world *world)
{
    const takt_algorithm *algorithm;

    do
        algorithm = takt_algorithm_named(ONE(world, algorithms));
    while (!algorithm);
    return algorithm;
}

static void draw_zone(agree_world *world, takt_rule *rule)
{
    const char *name = ONE(world, agree_zones);

    rule->zone = takt_zone_named(name, strlen(name));
    rule->period_us = ONE(world, day_parts_us);
}

/* Where a limit goes by the clocks of a zone, mostly about the time when these are changed. */
static void seek_change(agree_world *world)
{
    const takt_zone *zone = world->policies[0].numbers.rules[0].zone;

    if (zone && chance(world, 90))
        world->now_us = takt_zone_next_change(zone, world->now_us);
    world->now_us += below(world, 2 * DAY_US) - (zone ? 3 : 2) * DAY_US / 2;
}

static void draw_rule(agree_world *world, takt_rule *rule)
{
    do {
        *rule = (takt_rule){.algorithm = draw_algorithm(world)};
        rule->limit = chance(world, 80) ? ONE(world, limits) : up_to(world, TAKT_RULE_LIMIT_MAX);
        rule->period_us = chance(world, 80) ? ONE(world, periods_us) : up_to(world, 10 * DAY_US);
        if (chance(world, 40))
            rule->guard_us = below(world, rule->period_us / (chance(world, 50) ? 2 : 20) + 1);
        if (chance(world, 15))
            rule->headroom_bp = chance(world, 80) ? 100 * below(world, 50) : below(world, 10000);
        if (rule->algorithm != takt_algorithm_named("leaky-bucket") &&
            rule->algorithm->letter == 'g' && chance(world, 60))
            rule->burst = up_to(world, TAKT_RULE_LIMIT_MAX);
        if (world->counts_requests && chance(world, 50))
            rule->unit = TAKT_UNIT_REQUESTS;
        else if (world->counts_more > 0 && chance(world, 60))
            rule->unit = TAKT_UNIT_MORE + (takt_unit)below(world, world->counts_more);
        if (rule->algorithm->letter == 'f' && chance(world, 30))
            rule->align = TAKT_ALIGN_FIRST_USE;
        else if (rule->algorithm->letter == 'f' && chance(world, 70))
            draw_zone(world, rule);
    } while (takt_rule_prepare(rule, NULL) < 0);
}

static void draw_permits(agree_world *world, takt_limit *limit)
{
    limit->numbers.concurrency = ONE(world, concurrencies);
    limit->numbers.lease_us = chance(world, 90) ? ONE(world, leases_us) : up_to(world, DAY_US);
}

static void draw_when_full(agree_world *world, takt_limit *limit)
{
    limit->numbers.when_full = TAKT_WHEN_FULL_REFUSE;
    if (limit->numbers.max_waiting > 0 && chance(world, 75))
        limit->numbers.when_full =
            chance(world, 50) ? TAKT_WHEN_FULL_DROP_OLDEST : TAKT_WHEN_FULL_DROP_LOWEST;
}

/* A bound that an inner key's waiters often exceed. */
static void draw_bound(agree_world *world, takt_limit *limit)
{
    limit->numbers.max_waiting = up_to(world, 200);
    draw_when_full(world, limit);
}

static void draw_adapt(agree_world *world, takt_limit *limit)
{
    static const int64_t times_us[] = {1000000, 60000000, 60000000, TAKT_RECOVER_MAX_US};

    limit->numbers.adapt =
        (takt_adapt){up_to(world, 99), up_to(world, 100), ONE(world, times_us), 1};
    if (chance(world, 70))
        limit->numbers.adapt.floor = up_to(world, 99);
    if (limit->numbers.rule_count == 0 || !takt_brake_fits(&limit->numbers))
        limit->numbers.adapt = (takt_adapt){0};
}

static void draw_limit(agree_world *world, takt_limit *limit)
{
    *limit =
        (takt_limit){.name = "any", .numbers.rule_count = 1, .numbers.lease_us = TAKT_LEASE_US};
    if (chance(world, 35))
        limit->numbers.rule_count =
            chance(world, 2) ? TAKT_RULES_MAX
                             : 2 + (int)below(world, chance(world, 80) ? 2 : TAKT_RULES_MAX - 1);
    if (chance(world, 40))
        draw_permits(world, limit);
    if (limit->numbers.concurrency > 0 && chance(world, 30))
        limit->numbers.rule_count = 0;
    for (int i = 0; i < limit->numbers.rule_count; i++)
        draw_rule(world, &limit->numbers.rules[i]);
    limit->numbers.lookahead_us = ONE(world, lookaheads_us);
    limit->numbers.max_waiting = chance(world, 35) ? up_to(world, 3000) : 0;
    draw_when_full(world, limit);
    if (chance(world, 40))
        draw_adapt(world, limit);
}

/* GCRA rules and nothing else: what lua/quick.lua answers. */
static void draw_plain(agree_world *world, takt_limit *limit)
{
    *limit = (takt_limit){.name = "any", .numbers.lease_us = TAKT_LEASE_US};
    limit->numbers.rule_count = chance(world, 25) ? 2 : 1;
    for (int i = 0; i < limit->numbers.rule_count; i++)
        do
            draw_rule(world, &limit->numbers.rules[i]);
        while (limit->numbers.rules[i].algorithm->letter != 'g');
    limit->numbers.lookahead_us = ONE(world, lookaheads_us);
}

/* A policy that differs in one thing or in all of them. */
static void draw_change(agree_world *world, takt_limit *limit)
{
    int rule = limit->numbers.rule_count > 0 ? (int)below(world, limit->numbers.rule_count) : 0;

    if (chance(world, 30))
        draw_limit(world, limit);
    else if (limit->numbers.rule_count > 0 && limit->numbers.concurrency > 0 && chance(world, 30))
        limit->numbers.concurrency = 0;
    else if (chance(world, 30))
        draw_permits(world, limit);
    else if (chance(world, 20))
        draw_when_full(world, limit);
    else if (limit->numbers.rule_count == 0)
        draw_rule(world, &limit->numbers.rules[limit->numbers.rule_count++]);
    else if (chance(world, 50))
        draw_rule(world, &limit->numbers.rules[rule]);
    else if (chance(world, 50) && limit->numbers.rule_count > 1)
        limit->numbers.rules[rule] = limit->numbers.rules[--limit->numbers.rule_count];
    else
        limit->numbers.lookahead_us = ONE(world, lookaheads_us);
    if (world->counts_requests && limit->numbers.rule_count > 0 && chance(world, 30))
        limit->numbers.rules[0].unit = TAKT_UNIT_REQUESTS;
    if (chance(world, 20))
        draw_adapt(world, limit);
    if (limit->numbers.adapt.backoff > 0 && !takt_brake_fits(&limit->numbers))
        limit->numbers.adapt = (takt_adapt){0};
}

/* Permits that all of them want, or a line that they fill. */
static void draw_crowd(agree_world *world)
{
    takt_limit *limit = &world->policies[0];
    bool drops = limit->numbers.when_full != TAKT_WHEN_FULL_REFUSE;

    world->crowd = (limit->numbers.concurrency >= 10 || drops) && chance(world, drops ? 70 : 40);
    if (!world->crowd)
        return;
    world->workers = AGREE_WORKERS;
    if (drops)
        limit->numbers.max_waiting = 8 + below(world, 16);
}

/* Most claims of a fleet: a few workers that keep pace. */
static void draw_pace(agree_world *world)
{
    takt_limit *limit = &world->policies[0];

    world->pace = !world->crowd && chance(world, 15);
    if (!world->pace)
        return;
    world->policy_count = 1;
    world->workers = 1 + (int)below(world, chance(world, 80) ? 10 : AGREE_WORKERS);
    *limit =
        (takt_limit){.name = "any", .numbers.rule_count = 1, .numbers.lease_us = TAKT_LEASE_US};
    do
        draw_rule(world, &limit->numbers.rules[0]);
    while (limit->numbers.rules[0].algorithm->letter != 'g');
    limit->numbers.lookahead_us = ONE(world, lookaheads_us);
}

/* Other frequent claims: a few workers that share permits. */
static void draw_share(agree_world *world)
{
    takt_limit *limit = &world->policies[0];

    world->share = !world->crowd && !world->pace && chance(world, 15);
    if (!world->share)
        return;
    world->policy_count = 1 + chance(world, 30);
    world->workers = 1 + (int)below(world, chance(world, 80) ? 10 : AGREE_WORKERS);
    *limit = (takt_limit){.name = "any"};
    limit->numbers.lookahead_us = ONE(world, lookaheads_us);
    for (int i = 0; i < world->policy_count; i++) { /* of one revision: they take turns */
        world->policies[i] = *limit;
        draw_permits(world, &world->policies[i]);
        if (world->policies[i].numbers.concurrency > 20 && chance(world, 80))
            world->policies[i].numbers.concurrency = up_to(world, world->workers);
    }
}

/* The policies of an inner limit, often slower than the outer ones. */
static void draw_inner(agree_world *world, int at)
{
    takt_limit *limit = world->inner[at];

    draw_limit(world, limit);
    if (chance(world, 80))
        limit->numbers.concurrency = limit->numbers.max_waiting = 0;
    if (chance(world, 30))
        draw_bound(world, limit);
    if (limit->numbers.rule_count == 0)
        draw_rule(world, &limit->numbers.rules[limit->numbers.rule_count++]);
    snprintf(limit->name, sizeof limit->name, "in%d", at + 1);
    for (int i = 1; i < AGREE_POLICIES; i++) {
        limit[i] = limit[i - 1];
        if (chance(world, 70))
            continue;
        draw_change(world, &limit[i]);
        memcpy(limit[i].name, limit->name, sizeof limit->name);
        limit[i].numbers.revision = limit[i - 1].numbers.revision + below(world, 2);
    }
    world->tenants = world->tenants > 0 ? world->tenants : 1 + (int)below(world, 4);
}

/* A rule of so many tokens in a second, mostly paced. */
static void draw_slow(agree_world *world, takt_rule *rule, int64_t most)
{
    do {
        *rule = (takt_rule){.algorithm = draw_algorithm(world)};
        if (chance(world, 80))
            rule->algorithm = takt_algorithm_named("gcra");
        rule->limit = 1 + below(world, most);
        rule->period_us = 1000000;
        if (rule->algorithm == takt_algorithm_named("gcra"))
            rule->burst = chance(world, 40) ? 1 : 1 + below(world, chance(world, 50) ? 2 : 20);
        if (world->counts_requests && chance(world, 50))
            rule->unit = TAKT_UNIT_REQUESTS;
        else if (world->counts_more > 0 && chance(world, 50))
            rule->unit = TAKT_UNIT_MORE + (takt_unit)below(world, world->counts_more);
    } while (takt_rule_prepare(rule, NULL) < 0);
}

/* Inner limits that are due later than the outer one, in the time that a claim looks at. */
static void draw_nest(agree_world *world)
{
    takt_limit *limit = &world->policies[0];

    world->nests = true;
    world->policy_count = 1;
    world->workers = 1 + (int)below(world, 6);
    world->crowd = world->pace = world->share = world->calm = false;
    *limit = (takt_limit){.name = "any", .numbers.lease_us = TAKT_LEASE_US};
    limit->numbers.lookahead_us = chance(world, 80) ? 250000 : 1000000;
    limit->numbers.rule_count = chance(world, 70) ? 1 : 2;
    for (int i = 0; i < limit->numbers.rule_count; i++)
        draw_slow(world, &limit->numbers.rules[i], 200);
    if (chance(world, 20))
        draw_permits(world, limit);
    if (chance(world, 20))
        limit->numbers.max_waiting = up_to(world, 300);
    draw_when_full(world, limit);
    for (int i = 0; i < world->inner_count; i++) {
        char name[sizeof limit->name];
        memcpy(name, world->inner[i][0].name, sizeof name);
        for (int j = 0; j < AGREE_POLICIES; j++) {
            takt_limit *inner = &world->inner[i][j];
            *inner = (takt_limit){.numbers.rule_count = 1, .numbers.lease_us = TAKT_LEASE_US};
            memcpy(inner->name, name, sizeof name);
            inner->numbers.lookahead_us = 250000;
            inner->numbers.revision = j > 0 && chance(world, 20) ? 1 : 0;
            if (j == 0 || inner->numbers.revision > 0) {
                draw_slow(world, &inner->numbers.rules[0], 30);
                if (chance(world, 40))
                    draw_permits(world, inner);
                inner->numbers.rule_count = inner->numbers.concurrency == 0 || chance(world, 60);
                if (chance(world, 40))
                    draw_bound(world, inner);
            } else {
                inner->numbers.rules[0] = inner[-1].numbers.rules[0];
                inner->numbers.rule_count = inner[-1].numbers.rule_count;
                inner->numbers.concurrency = inner[-1].numbers.concurrency;
                inner->numbers.lease_us = inner[-1].numbers.lease_us;
                inner->numbers.max_waiting = inner[-1].numbers.max_waiting;
                inner->numbers.when_full = inner[-1].numbers.when_full;
            }
        }
    }
}

/* The newer policies of a level count a further unit, and the oldest one counts none. */
static void draw_unit_later(agree_world *world, takt_limit *first, int count)
{
    takt_numbers *old = &first->numbers, *newer;

    for (int i = 0; i < old->rule_count; i++)
        if (old->rules[i].unit >= TAKT_UNIT_MORE)
            old->rules[i].unit = TAKT_UNIT_TOKENS;
    for (int i = 1; i < count; i++) {
        first[i] = first[i - 1];
        newer = &first[i].numbers;
        newer->adapt = (takt_adapt){0};
        if (i > 1)
            continue;
        newer->revision++;
        newer->rule_count = (int)takt_min(newer->rule_count + 1, TAKT_RULES_MAX);
        draw_slow(world, &newer->rules[newer->rule_count - 1], 100);
        newer->rules[newer->rule_count - 1].unit =
            TAKT_UNIT_MORE + (takt_unit)below(world, world->counts_more);
    }
}

/* Claims then state amounts of units of another level in that place. */
static void draw_units_later(agree_world *world)
{
    if (world->inner_count == 0 || world->counts_more == 0)
        return;
    if (chance(world, 30)) {
        world->policy_count = 2;
        draw_unit_later(world, world->policies, 2);
    }
    if (chance(world, 30))
        draw_unit_later(world, world->inner[0], AGREE_POLICIES);
}

/* Some workers need many tokens, or units, at once; others need few. */
static void draw_uneven(agree_world *world)
{
    takt_limit *limit = &world->policies[0];
    int kept = limit->numbers.rule_count > 1 && chance(world, 50) ? 2 : 1;
    takt_rule *rule = &limit->numbers.rules[0];

    world->uneven = world->pace = true;
    world->crowd = world->share = world->calm = false;
    world->tenants = world->inner_count = 0;
    world->weighs = false;
    world->workers = 2 + (int)below(world, chance(world, 80) ? 5 : AGREE_WORKERS - 2);
    limit->numbers.lookahead_us = 250000;
    limit->numbers.rule_count = kept;
    limit->numbers.max_waiting = chance(world, 20) ? up_to(world, 3000) : 0;
    if (chance(world, 70))
        limit->numbers.concurrency = 0;
    else
        draw_permits(world, limit);
    do {
        draw_slow(world, rule, 300);
        if (rule->burst > 0)
            rule->burst = 1 + below(world, 300);
        if (world->counts_more > 0 && chance(world, 50))
            rule->unit = TAKT_UNIT_MORE;
    } while (takt_rule_prepare(rule, NULL) < 0);
}

/* Others fill the ledger, or an inner one whose line has tenants, which has a bound then. */
static void draw_filled(agree_world *world)
{
    int at = world->inner_count > 1 ? world->inner_count : 0;

    if (world->inside > 0 && chance(world, 50))
        at = 1;
    world->filled = world->tenants > 0 && chance(world, at > 0 ? 50 : 10) ? at : -1;
    for (int i = 0; world->filled > 0 && i < AGREE_POLICIES; i++) {
        takt_limit *limit = &world->inner[world->filled - 1][i];
        limit->numbers.max_waiting = 300 + below(world, 500);
        limit->numbers.when_full = TAKT_WHEN_FULL_REFUSE;
        if (chance(world, 20))
            draw_when_full(world, limit);
    }
}

/* The units of inner limits are mostly not those of the outermost one. */
static void draw_units(agree_world *world)
{
    for (int i = 0; i < world->inner_count; i++)
        for (int j = 0; j < TAKT_AMOUNTS_MAX && chance(world, world->counts_more > 0 ? 70 : 30);
             j++)
            world->units[i].shift[j] = (int8_t)(below(world, TAKT_AMOUNTS_MAX) - j);
}

const char *agree_world_name(int ledger)
{
    static const char *const names[AGREE_LEDGERS] = {"takt:{test/any/any}", "takt:{test/in1/any}",
                                                     "takt:{test/in2/any}", "takt:{test/in3/any}",
                                                     "takt:{test/in1/other}"};

    return names[ledger];
}

void agree_world_draw(agree_world *world, uint64_t seed)
{
    *world = (agree_world){.random = seed, .now_us = BEGIN_US};
    world->now_us += below(world, 1000 * DAY_US);
    world->calm = chance(world, 40);
    world->counts_requests = chance(world, 30);
    world->counts_more = chance(world, 20) ? 1 + (int)below(world, TAKT_MORE_MAX) : 0;
    if (chance(world, 32)) {
        world->inner_count = chance(world, 70) ? 1 : 1 + (int)below(world, TAKT_INNER_MAX);
        world->counts_more = chance(world, 60) ? 0 : 1 + (int)below(world, TAKT_MORE_MAX);
        draw_units(world);
    }
    if (world->calm && chance(world, 30))
        draw_plain(world, &world->policies[0]);
    else
        draw_limit(world, &world->policies[0]);
    seek_change(world);
    world->policy_count = 1;
    while (world->policy_count < AGREE_POLICIES && chance(world, 35)) {
        takt_limit *limit = &world->policies[world->policy_count];
        *limit = limit[-1];
        draw_change(world, limit);
        limit->numbers.revision = limit[-1].numbers.revision + below(world, 2);
        world->policy_count++;
    }
    world->workers = 1 + (int)below(world, chance(world, 70) ? 6 : AGREE_WORKERS);
    if (world->calm)
        world->workers = 1 + (int)below(world, 2);
    draw_crowd(world);
    draw_pace(world);
    draw_share(world);
    world->weighs = chance(world, 30);
    if (chance(world, 20))
        world->tenants = 1 + (int)below(world, chance(world, 70) ? 4 : AGREE_WORKERS);
    if (world->inner_count > 0 && chance(world, 50)) {
        world->tenants = world->tenants > 0 ? world->tenants : 1 + (int)below(world, 3);
        world->inside = chance(world, 30) ? 1 : 2;
    }
    for (int i = 0; i < world->inner_count; i++)
        draw_inner(world, i);
    if (world->inner_count > 0 && chance(world, 50))
        draw_nest(world);
    else if (chance(world, 20))
        draw_uneven(world);
    draw_units_later(world);
    world->jumps = chance(world, 20);
    world->damages = chance(world, 20);
    draw_filled(world);
}

/* About as long as the tokens of a calm claim take to come back. */
static int64_t calm_step(agree_world *world)
{
    const takt_rule *rule = &world->policies[0].numbers.rules[0];
    int64_t interval_us = rule->algorithm ? rule->period_us / rule->limit : 1000;

    return below(world, 2 + 4 * (interval_us < DAY_US ? interval_us : DAY_US));
}

static void draw_time(agree_world *world)
{
    if (world->nests && chance(world, 90))
        world->now_us += below(world, 60000);
    else if (world->jumps && chance(world, 3))
        world->now_us +=
            below(world, chance(world, 70) ? 20000000 : 2 * DAY_US) * (chance(world, 50) ? 1 : -1);
    else if (world->policies[0].numbers.rules[0].zone && chance(world, 10))
        world->now_us += below(world, DAY_US / 12);
    else if ((world->pace || world->share) && chance(world, 80))
        world->now_us += below(world, 1 + world->policies[0].numbers.lookahead_us / world->workers);
    else if (world->calm && chance(world, 60))
        world->now_us += calm_step(world);
    else if (chance(world, 50))
        world->now_us += ONE(world, steps_us);
    else
        world->now_us += below(world, up_to(world, 1000000));
}

static int64_t draw_cost(agree_world *world, const takt_limit *limit)
{
    int64_t capacity = takt_numbers_capacity(&limit->numbers, TAKT_UNIT_TOKENS, NULL);

    if (capacity > TAKT_COST_MAX)
        capacity = TAKT_COST_MAX;
    if (chance(world, 2))
        return up_to(world, TAKT_COST_MAX);
    return chance(world, 60) ? 1 : up_to(world, capacity);
}

/* Amounts of further units: now and then fewer than the rules count, or more than they can give. */
static takt_more draw_more(agree_world *world, const takt_limit *limit)
{
    bool counted = takt_numbers_count_more(&limit->numbers) ||
                   (world->inner_count > 0 && world->counts_more > 0);
    takt_more more = {{0}};

    for (int i = 0; i < TAKT_MORE_MAX; i++) {
        int64_t capacity =
            takt_numbers_capacity(&limit->numbers, TAKT_UNIT_MORE + (takt_unit)i, NULL);
        if (!counted ? !chance(world, 2) : chance(world, 20))
            continue;
        more.of[i] = chance(world, 40) ? 1 + (int32_t)below(world, 3)
                                       : (int32_t)up_to(world, takt_min(capacity, TAKT_COST_MAX));
    }
    return more;
}

static void spread(takt_more more, int64_t amounts[TAKT_MORE_MAX])
{
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        amounts[i] = more.of[i];
}

/* The permits that a worker states: mostly the truth, sometimes more than the ledger knows of. */
static int64_t draw_holding(agree_world *world, int worker)
{
    int64_t *holding = &world->holding[worker];

    if (*holding > 0 && chance(world, 40))
        *holding -= chance(world, 50) ? 1 + below(world, *holding) : 1;
    if (chance(world, 3))
        *holding = chance(world, 70) ? *holding + 1 : up_to(world, 1000);
    if (chance(world, 5))
        *holding = 0;
    return *holding;
}

uint64_t agree_world_worker(int worker)
{
    uint64_t number = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(worker + 1);

    return worker % 5 == 4 ? number >> (12 + worker) : number; /* shorter names sort otherwise */
}

/* The name of a tenant of the world, for the process's life. */
static const char *name_tenant(int tenant)
{
    static const char *const names[] = {"", "a", "b c;d%e", "acme",
                                        "sixty-four bytes, or nearly so"};
    static char name[AGREE_WORKERS][40];

    snprintf(name[tenant], sizeof name[tenant], "%s%.0d", names[tenant % 5], tenant / 5);
    return name[tenant];
}

/* A tag of any size, or none.  What is drawn next does not depend on it. */
static int64_t draw_tag(uint64_t random)
{
    int64_t bits = takt_random_below(&random, 50) - 12;

    return bits < 18 ? 0 : takt_random_below(&random, INT64_C(1) << bits);
}

/* The worker's work is of one tenant, the same as that of others; now and then it is not told, as
 * by a worker whose policy has no tenants. */
static void draw_tenant(agree_world *world, int worker, takt_claim *claim)
{
    static const int32_t weights[] = {1, 1, 1, 2, 3, 10, 1000, 1001, 0};
    int tenant = worker % (world->tenants > 0 ? world->tenants : 1);

    claim->tenant = claim->inner_tenant = NULL;
    claim->process = 0;
    claim->tenant_weight = claim->inner_weight = 0;
    claim->waited_from = 0;
    claim->within_turns = false;
    if (world->tenants == 0)
        return;
    if (tenant == 0 && chance(world, 30))
        return;
    claim->tenant = name_tenant(tenant);
    claim->process = tenant > 0 || chance(world, 50) ? claim->worker : 0;
    claim->worker = takt_tenant_worker(claim->worker, claim->tenant);
    claim->tenant_weight = chance(world, 95) ? weights[tenant % 9] : weights[below(world, 9)];
    claim->waited_from = draw_tag(world->random);
}

/* A random worker, and its permits. */
static void draw_worker(agree_world *world, agree_step *step)
{
    bool has_all = world->crowd && chance(world, 8);
    int worker = has_all ? 0 : (int)below(world, world->workers);
    takt_claim *claim = &step->claim;

    step->worker = worker;
    claim->worker = agree_world_worker(worker);
    draw_tenant(world, worker, claim);
    claim->seq = chance(world, 98) ? ++world->seqs[worker] : below(world, world->seqs[worker] + 1);
    claim->holding = draw_holding(world, worker);
    if (has_all)
        claim->holding = chance(world, 50) ? step->call.limit->numbers.concurrency : 0;
}

/* In an uneven world each worker has a cost, which it keeps mostly. */
static int32_t draw_paced_cost(agree_world *world, int worker)
{
    const takt_numbers *numbers = &world->policies[0].numbers;
    int64_t capacity = takt_min(takt_numbers_capacity(numbers, TAKT_UNIT_TOKENS, NULL), 1000);

    if (world->uneven && chance(world, 85))
        return (int32_t)(worker % 3 == 0 ? capacity : 1 + (capacity - 1) * (worker % 3 - 1) / 4);
    return chance(world, world->weighs ? 30 : 80) ? 1
                                                  : (int32_t)draw_cost(world, &world->policies[0]);
}

static void draw_paced_claim(agree_world *world, int worker, takt_claim *claim)
{
    int32_t cost = draw_paced_cost(world, worker);

    claim->wants[0] =
        (takt_want){1 + below(world, 60), TAKT_NEVER, cost, chance(world, 98) ? 5 : 3, {{0}}};
    if (world->counts_more > 0)
        claim->wants[0].more = draw_more(world, &world->policies[0]);
    claim->want_count = 1;
    claim->waiting = claim->wants[0].count;
    if (chance(world, 20))
        claim->waiting += below(world, 1000);
}

static void draw_sharing_claim(agree_world *world, takt_claim *claim)
{
    claim->want_count = chance(world, 80);
    claim->wants[0] =
        (takt_want){ONE(world, calm_counts), TAKT_NEVER, chance(world, 98) ? 1 : 2, 5, {{0}}};
    if (chance(world, 2))
        claim->wants[0].priority = 3;
    claim->waiting = claim->want_count > 0 ? claim->wants[0].count : 0;
    if (chance(world, 5))
        claim->waiting += below(world, 1000);
}

/* Mostly the same of each worker; some numbers are none that a weight may be. */
static int64_t draw_weight(agree_world *world, int worker)
{
    static const int64_t weights[] = {1, 2, 3, 5, 8, 50, 1000};
    static const int64_t odd[] = {-1, 0, TAKT_WEIGHT_MAX, TAKT_WEIGHT_MAX + 1, TAKT_EXACT_MAX};

    if (world->uneven)
        return chance(world, 3) ? 2 : 1; /* of few turns, as nobody owes any then */
    if (!world->weighs)
        return below(world, 2);
    return chance(world, 5) ? ONE(world, odd)
                            : weights[(chance(world, 90) ? worker : below(world, 7)) % 7];
}

/* Whether a level of the call refuses newcomers. */
static bool refuses(const agree_step *step)
{
    const takt_numbers *own = step->call.numbers;
    bool refuses = own->max_waiting > 0 && !takt_numbers_drops(own);

    for (int i = 0; i < step->call.inner_count; i++) {
        const takt_numbers *inner = step->inner[i].numbers;
        refuses |= inner->max_waiting > 0 && !takt_numbers_drops(inner);
    }
    return refuses;
}

static void draw_claim(agree_world *world, agree_step *step)
{
    takt_claim *claim = &step->claim;
    int priority = chance(world, 60) ? 5 : (int)below(world, 10);

    claim->uncontended = true; /* only a hint: what may be asked briefly is asked so, too */
    claim->newcomers = 0;
    if (refuses(step))
        claim->newcomers = chance(world, 50) ? TAKT_EXACT_MAX : up_to(world, 40);
    claim->weight = draw_weight(world, step->worker);
    claim->distant = chance(world, 10) && step->call.limit->numbers.concurrency == 0;
    claim->offer = (takt_offer){.cost = 0};
    if (chance(world, world->pace || world->share || world->calm ? 1 : 40))
        claim->offer = (takt_offer){world->now_us + below(world, 300000), chance(world, 90) ? 1 : 2,
                                    chance(world, 70) ? 9 : (int)below(world, 10)};
    if ((world->pace || world->nests) && chance(world, world->nests ? 80 : 97)) {
        draw_paced_claim(world, step->worker, claim);
        return;
    }
    if (world->share && chance(world, 97)) {
        draw_sharing_claim(world, claim);
        return;
    }
    claim->waiting = 0;
    claim->want_count = chance(world, 15) ? 0 : 1 + (int)below(world, chance(world, 80) ? 2 : 6);
    if (world->calm)
        claim->want_count = chance(world, 90);
    else if (chance(world, 1))
        claim->want_count = TAKT_WANTS_MAX;
    for (int i = 0; i < claim->want_count; i++) {
        takt_want *want = &claim->wants[i];
        want->count = world->calm ? ONE(world, calm_counts) : ONE(world, counts);
        if (world->crowd)
            want->count = chance(world, 90) ? 1 : 20;
        want->cost = (int32_t)draw_cost(world, step->call.limit);
        want->more = draw_more(world, step->call.limit);
        want->latest_us = chance(world, world->calm ? 98 : 80)
                              ? TAKT_NEVER
                              : world->now_us + below(world, 2000000);
        want->priority = priority;
        if (chance(world, 40) && priority < TAKT_PRIORITY_MAX)
            priority += 1 + (int)below(world, TAKT_PRIORITY_MAX - priority);
        claim->waiting += want->count;
    }
    if (chance(world, world->calm ? 1 : 10))
        claim->waiting += up_to(world, 1000);
}

/* What the work of a slot has cost: of one that was given lately, mostly, and any number else. */
/* The tenant that pays, of the priority that most have. */
static void draw_payer(agree_world *world, takt_store_call *call)
{
    if (world->tenants == 0 || chance(world, 10))
        return;
    call->tenant = name_tenant((int)below(world, AGREE_WORKERS) % world->tenants);
    call->tenant_weight = (int32_t)below(world, 4);
    call->priority = chance(world, 80) ? 5 : (int)below(world, 10);
    if (chance(world, 30)) /* so much that only its turns show it */
        call->actual = call->cost + below(world, 20);
}

static void draw_settle(agree_world *world, takt_store_call *call)
{
    call->slot_us = world->now_us + below(world, 20000000) - 10000000;
    if (chance(world, 3))
        call->slot_us = chance(world, 50) ? 0 : world->now_us + DAY_US;
    if (world->slot_count > 0 && chance(world, 85)) {
        int at = (int)below(world, world->slot_count);
        call->slot_us = world->slots_us[at];
        call->cost = world->costs[at];
        spread(world->more[at], call->more);
    }
    call->requests = chance(world, 80) ? 1 : 1 + below(world, 5);
    call->actual = chance(world, 30) ? 0 : below(world, call->cost + 1);
    if (chance(world, 40))
        call->actual = call->cost + up_to(world, TAKT_COST_MAX - call->cost + 1) - 1;
    for (int i = 0; i < TAKT_MORE_MAX; i++) {
        int64_t taken = call->more[i];
        if (chance(world, 70))
            call->actual_more[i] =
                chance(world, 70) ? below(world, taken + 1) : taken + up_to(world, 1000);
    }
    draw_payer(world, call);
}

/* The run's first slot, or another. */
static void keep_slot(agree_world *world, const takt_run *run)
{
    int at = world->slot_count < AGREE_SLOTS ? world->slot_count++ : (int)below(world, AGREE_SLOTS);

    world->slots_us[at] = takt_run_slot(run, below(world, run->count));
    world->costs[at] = run->cost;
    world->more[at] = run->more;
}

void agree_step_learn(agree_world *world, const agree_step *step)
{
    const takt_award *award = &step->award;
    bool told = step->call.op == TAKT_OP_CLAIM || step->call.op == TAKT_OP_TRY;

    if (step->call.op == TAKT_OP_TRY && step->call.status == 0) {
        takt_more more;
        for (int k = 0; k < TAKT_MORE_MAX; k++)
            more.of[k] = (int32_t)step->call.more[k];
        keep_slot(world, &(takt_run){.first = {step->now_us, 0},
                                     .whole = 1,
                                     .count = 1,
                                     .cost = (int32_t)step->call.cost,
                                     .more = more});
    }
    if (step->call.op == TAKT_OP_CLAIM && award->run_count > 0)
        keep_slot(world, &award->runs[below(world, award->run_count)]);
    if (told && step->call.claim && !award->stale)
        world->holding[step->worker] = award->holding;
}

/* For how long a peek watches the ledger; 0: it does not. */
static int64_t draw_watch(agree_world *world)
{
    if (chance(world, 20))
        return 0;
    return chance(world, 90) ? 1 + below(world, 20000000) : 1 + below(world, TAKT_WATCH_MAX_US);
}

/* A unit's remaining amount; -1: not stated. */
static int64_t draw_left(agree_world *world, const takt_store_call *call)
{
    return chance(world, 20) ? -1 : chance(world, 40) ? 0 : below(world, 2 * call->cost);
}

static void draw_lower(agree_world *world, takt_store_call *call)
{
    call->actual = draw_left(world, call);
    call->requests = draw_left(world, call);
    for (int i = 0; i < TAKT_MORE_MAX; i++)
        call->actual_more[i] = draw_left(world, call);
}

/* For whom the worker's work is in the innermost line; now and then this is not told, as by a
 * worker whose policy has no tenants there. */
static void draw_inside(const agree_world *world, bool told, int worker, takt_claim *claim)
{
    if (world->inside == 0 || !claim->tenant || !told)
        return;
    claim->within_turns = world->inside == 2;
    claim->inner_tenant = claim->tenant;
    claim->inner_weight = claim->tenant_weight;
    if (!claim->within_turns)
        return;
    claim->tenant_weight = 1;
    claim->inner_tenant = name_tenant(worker / world->tenants % 5);
    claim->inner_weight = worker % 4;
}

/* The ledgers of inner limits that a claim's slots, or a try, keep as well. */
static void add_inner(agree_world *world, agree_step *step)
{
    step->call.inner = step->inner;
    step->call.inner_count = world->inner_count;
    draw_inside(world, chance(world, 95), step->worker, &step->claim);
    for (int i = 0; i < world->inner_count; i++) {
        const takt_limit *limit = &world->inner[i][below(world, AGREE_POLICIES)];
        bool other = i == 0 && step->worker % 2 == 1;
        step->inner[i] =
            (takt_store_inner){limit, &limit->numbers, other ? "other" : "any", world->units[i]};
        step->inner_ledgers[i] = other ? AGREE_LEDGERS - 1 : i + 1;
    }
}

void agree_step_draw(agree_world *world, agree_step *step)
{
    static const takt_op others[] = {
        TAKT_OP_TRY,      TAKT_OP_TRY,      TAKT_OP_TRY,    TAKT_OP_PEEK,   TAKT_OP_BLOCK,
        TAKT_OP_UNBLOCK,  TAKT_OP_RESET,    TAKT_OP_SETTLE, TAKT_OP_SETTLE, TAKT_OP_SETTLE,
        TAKT_OP_PENALIZE, TAKT_OP_PENALIZE, TAKT_OP_LOWER,  TAKT_OP_LOWER};
    static const char *const reasons[] = {NULL, "", "429", "50% off; vendor said 429"};
    const takt_limit *limit = &world->policies[below(world, world->policy_count)];

    step->ledger =
        world->inner_count > 0 && chance(world, 15) ? 1 + (int)below(world, world->inner_count) : 0;
    if (step->ledger > 0)
        limit = &world->inner[step->ledger - 1][below(world, AGREE_POLICIES)];
    draw_time(world);
    step->now_us = world->now_us;
    step->call = (takt_store_call){.op = ONE(world, others)};
    if (chance(world, world->pace || world->share ? 98 : 80))
        step->call.op = TAKT_OP_CLAIM;
    else if (world->inner_count > 0 && chance(world, 40))
        step->call.op = TAKT_OP_TRY;
    step->call.limit = limit;
    step->call.numbers = &limit->numbers;
    step->call.key = "any";
    step->call.claim = &step->claim;
    step->call.award = &step->award;
    step->call.cost = draw_cost(world, limit);
    spread(draw_more(world, limit), step->call.more);
    step->call.for_us =
        chance(world, world->nests ? 99 : 80) ? below(world, 2000000) : below(world, DAY_US);
    if (world->calm || (world->nests && chance(world, 50)))
        step->call.for_us = below(world, 1000);
    if (chance(world, 20))
        step->call.for_us = 0;
    step->call.reason = ONE(world, reasons);
    step->award = (takt_award){.stale = false};
    if (step->call.op == TAKT_OP_CLAIM || step->call.op == TAKT_OP_TRY)
        draw_worker(world, step);
    if ((step->call.op == TAKT_OP_CLAIM || step->call.op == TAKT_OP_TRY) && step->ledger == 0 &&
        world->inner_count > 0 && chance(world, 90))
        add_inner(world, step);
    if (step->call.op == TAKT_OP_TRY && step->call.inner_count > 0 && chance(world, 70))
        step->call.cost = 1; /* several levels may give it */
    if (step->call.op == TAKT_OP_CLAIM)
        draw_claim(world, step);
    if (step->call.op == TAKT_OP_TRY && chance(world, limit->numbers.concurrency > 0 ? 5 : 50))
        step->call.claim = NULL;
    if (step->call.op == TAKT_OP_PEEK)
        step->call.for_us = draw_watch(world);
    if (step->call.op == TAKT_OP_PEEK)
        step->call.tenants = step->tenants;
    if (step->call.op == TAKT_OP_SETTLE)
        draw_settle(world, &step->call);
    if (step->call.op == TAKT_OP_LOWER)
        draw_lower(world, &step->call);
}
