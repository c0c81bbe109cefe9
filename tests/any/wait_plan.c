/*
 * wait_plan.c: policies at random: one to three limits within each other, whose modes, rules,
 * units, permits, bounds, tenants and overrides differ from one policy of a world to the next.
 */
#include "any/wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const level_names[LEVELS] = {"user", "account", "vendor"};
const char *const level_keys[KEYS] = {NULL, "a", "b"};

/* What the policies of a world have in common. */
static struct {
    int lookahead_ms; /* workers with a shorter one than others may get nothing */
    bool bounds, tenants, units, shadows, overrides, windows;
    int revision;
    /* The permits of each limit, 0: none.  A worker with an older policy does not know those that a
     * newer one gives to an inner limit: docs/policy.md, "revision". */
    int concurrency[LEVELS];
} world;

void plan_begin(void)
{
    world.lookahead_ms = one_in(2) ? 250 : 50;
    world.bounds = one_in(3);
    world.tenants = one_in(2);
    world.units = one_in(3);
    world.shadows = one_in(2);
    world.overrides = one_in(3);
    world.windows = one_in(3);
    world.revision = 1;
    for (int i = 0; i < LEVELS; i++)
        world.concurrency[i] = one_in(4) ? 1 + (int)below(4) : 0;
}

static void add(plan *of, const char *format, ...)
{
    size_t used = strlen(of->text);
    va_list values;

    va_start(values, format);
    vsnprintf(of->text + used, sizeof of->text - used, format, values);
    va_end(values);
    MUST(strlen(of->text) + 1 < sizeof of->text, "the policy is too long");
}

static void add_rules(plan *of)
{
    static const char *const counts[] = {", counts: requests", ", counts: tokens",
                                         ", counts: bytes"};
    int kind = world.windows ? (int)below(4) : 0;
    int count = one_in(3) ? 2 : 1;
    bool units = world.units && one_in(2);

    add(of, ", rules: [");
    for (int i = 0; i < count; i++) {
        const char *unit = units ? counts[below(3)] : "";
        bool named = strstr(unit, "tokens") || strstr(unit, "bytes");
        add(of, "%s{", i > 0 ? ", " : "");
        if (kind == 1)
            add(of, "rate: %d/50ms, algorithm: fixed-window", 10 + (int)below(20));
        else if (kind == 2)
            add(of, "rate: %d/50ms, algorithm: sliding-log", 10 + (int)below(20));
        else if (kind == 3)
            add(of, "rate: %d/50ms, algorithm: sliding-window", 20 + (int)below(20));
        else
            add(of, "rate: %d/s, burst: %d", 100 + (int)below(900), 1 + (int)below(9));
        add(of, "%s%s}", unit, named ? ", default_amount: 1" : "");
    }
    add(of, "]");
}

static void add_overrides(plan *of, int level)
{
    if (!world.overrides || !one_in(2))
        return;
    of->permits[level] = 0;
    add(of, ", overrides: [");
    switch (below(3)) {
    case 0:
        add(of, "{key: a, unlimited: true}");
        break;
    case 1:
        add(of, "{key: a, rules: [{rate: 0}]}");
        break;
    default:
        add(of, "{key: a, rules: [{rate: %d/s}]}", 100 + (int)below(500));
        break;
    }
    add(of, "]");
}

/* Which limits have tenants: none, the outermost, the innermost, or all. */
static void add_tenants(plan *of, int level, int inner, int outer, int which)
{
    if (!world.tenants || which == 0 || (which == 1 && level != outer) ||
        (which == 2 && level != inner))
        return;
    if (which == 1 && one_in(4) && inner != outer)
        add(of, ", fair: key");
    else
        add(of, ", fair: tenant, weights: {acme: 3}");
}

static void add_level(plan *of, int level, int inner, int outer, int tenants)
{
    static const char *const ways[] = {"refuse", "drop-oldest", "drop-lowest"};
    bool shadow = world.shadows && one_in(3);
    int permits = world.concurrency[level];

    add(of, "  - {name: %s, mode: %s, lookahead: %dms", level_names[level],
        shadow ? "shadow" : "enforce", world.lookahead_ms);
    if (permits > 0) {
        of->permits[level] = shadow ? 0 : permits;
        add(of, ", concurrency: %d, lease: 1day", permits);
    }
    if (permits == 0 || one_in(2))
        add_rules(of);
    if (world.bounds && one_in(2)) {
        of->bounded = true;
        add(of, ", max_waiting: %d, when_full: %s", 1 + (int)below(20), ways[below(3)]);
    }
    add_tenants(of, level, inner, outer, tenants);
    add_overrides(of, level);
    for (int next = level + 1; next < LEVELS; next++)
        if (of->has[next]) {
            add(of, ", within: %s", level_names[next]);
            break;
        }
    add(of, "}\n");
}

plan *plan_new(void)
{
    plan *of = calloc(1, sizeof *of);
    int inner = -1, outer = -1, tenants = (int)below(4);
    takt_error error;

    world.revision += one_in(2);
    add(of, "revision: %d\nlimits:\n", world.revision);
    while (inner < 0)
        for (int i = 0; i < LEVELS; i++) {
            of->has[i] = !one_in(4);
            inner = inner < 0 && of->has[i] ? i : inner;
            outer = of->has[i] ? i : outer;
        }
    for (int i = 0; i < LEVELS; i++)
        if (of->has[i])
            add_level(of, i, inner, outer, tenants);
    MUST(takt_policy_parse(&of->policy, "p", of->text, strlen(of->text), &error) == 0, "%s\n%s",
         error.text, of->text);
    return of;
}

void plan_free(plan *of)
{
    takt_policy_free(of->policy);
    free(of);
}

const char *plan_of_observer(void)
{
    return "limits:\n"
           "  - {name: user, concurrency: 9, lease: 1day, within: account}\n"
           "  - {name: account, concurrency: 9, lease: 1day, within: vendor}\n"
           "  - {name: vendor, concurrency: 9, lease: 1day}\n";
}
