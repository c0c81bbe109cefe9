/*
 * Chains of limits: which of them one claim can decide about, and how the units that the levels
 * count are numbered.
 */
#include "scheduler/chain.h"

#include "scheduler/chains.h"

TestSuite(chain, .init = make_limits);

static bool is_nested(void)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});

    return takt_chain_is_nested(&chain);
}

Test(chain, what_one_claim_cannot_decide_is_not_nested)
{
    takt_chain alone = chain_of(&server, (const char *const[]){"mx"});

    cr_expect(is_nested());
    cr_expect_not(takt_chain_is_nested(&alone));
    for (int i = 0; i < 3; i++) {
        takt_limit *limits[] = {&user, &domain, &server};
        bool between = i == 1;
        takt_limit kept = *limits[i];
        limits[i]->mode = TAKT_MODE_SHADOW;
        cr_expect_not(is_nested(), "level %d in shadow", i);
        *limits[i] = kept;
        limits[i]->access = TAKT_ACCESS_UNLIMITED;
        cr_expect_not(is_nested(), "level %d is unlimited", i);
        *limits[i] = kept;
        limits[i]->numbers.concurrency = 3;
        cr_expect(is_nested(), "level %d has permits", i);
        *limits[i] = kept;
        limits[i]->numbers.max_waiting = 3;
        cr_expect(is_nested(), "level %d bounds its waiters", i);
        *limits[i] = kept;
        limits[i]->fair = TAKT_FAIR_TENANT;
        cr_expect_eq(is_nested(), !between, "level %d has tenants", i);
        *limits[i] = kept;
    }
}

Test(chain, levels_in_shadow_are_one_decision_as_well)
{
    user.mode = domain.mode = server.mode = TAKT_MODE_SHADOW;
    cr_expect(is_nested());
    domain.mode = TAKT_MODE_ENFORCE;
    cr_expect_not(is_nested());
}

Test(chain, levels_with_bounds_may_differ_in_who_leaves)
{
    user.numbers.max_waiting = 3;
    server.numbers.max_waiting = 5;
    server.numbers.when_full = TAKT_WHEN_FULL_DROP_OLDEST;
    cr_expect(is_nested());
}

typedef struct takes {
    int32_t cost;
    takt_more more;
} takes;

static takes taken_of(const takt_chain *chain)
{
    takes work;

    cr_assert(takt_chain_take(chain, &work.cost, &work.more));
    return work;
}

Test(chain, the_cost_is_that_of_a_level_that_counts_it)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});

    chain.costs[0] = chain.costs[2] = 3;
    chain.costs[1] = 2;
    domain.numbers.rules[0].unit = TAKT_UNIT_REQUESTS;
    cr_expect(takt_chain_is_nested(&chain), "the domain counts none");
    cr_expect_eq(taken_of(&chain).cost, 3);
    server.numbers.rules[0].unit = TAKT_UNIT_REQUESTS;
    chain.costs[2] = 1;
    cr_expect(takt_chain_is_nested(&chain));
    cr_expect_eq(taken_of(&chain).cost, 3, "the user's level counts it");
}

Test(chain, units_have_the_numbers_of_the_outermost_limit)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});
    takt_chain_units units;
    takes work;

    count_units(&server, "input", "output");
    count_units(&domain, "output", "images");
    strcpy(user.unit, "input");
    chain.costs[0] = chain.costs[2] = 100;
    chain.costs[1] = chain.more[2].of[0] = 20;
    chain.more[1].of[0] = 3;
    cr_expect(takt_chain_is_nested(&chain));
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect(takt_unit_map_is_plain(units.maps[0]));
    cr_expect_eq(units.maps[1].shift[0], 1, "output is the second amount");
    cr_expect_eq(units.maps[1].shift[1], 1, "images are the third one");
    work = taken_of(&chain);
    cr_expect_eq(work.cost, 100);
    cr_expect_eq(work.more.of[0], 20);
    cr_expect_eq(work.more.of[1], 3);
    cr_expect_eq(work.more.of[2], 0);
}

Test(chain, a_unit_with_other_defaults_is_another_one)
{
    takt_chain chain = chain_of(&domain, (const char *const[]){"d", "mx"});
    takt_chain_units units;

    strcpy(server.unit, "tokens");
    strcpy(domain.unit, "tokens");
    server.default_amount = 5;
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect(takt_unit_map_is_plain(units.maps[0]), "a request states it: the domain has none");
    domain.default_amount = 7;
    cr_assert(takt_chain_number(&chain, &units));
    cr_expect_eq(units.maps[0].shift[0], 1);
}

Test(chain, five_units_are_too_many)
{
    takt_chain chain = chain_of(&user, (const char *const[]){"u", "d", "mx"});

    count_units(&server, "a", "b");
    count_units(&domain, "c", "d");
    strcpy(user.unit, "d");
    cr_expect(takt_chain_is_nested(&chain));
    strcpy(user.unit, "e");
    cr_expect_not(takt_chain_is_nested(&chain));
}

Test(chain, limits_of_an_agent_count_no_unit_in_the_place_of_another_one)
{
    takt_chain chain = numbered();
    takt_limit newer = server, inner = domain;

    chain.limits[0] = &inner;
    chain.limits[1] = &newer;
    cr_expect(takt_chain_follows(&chain));
    count_units(&newer, "tokens", "images");
    cr_expect_not(takt_chain_follows(&chain), "the domain's unit has that place");
    newer.numbers.rules[1].unit = TAKT_UNIT_MORE + 1;
    cr_expect(takt_chain_follows(&chain), "a request takes 1 of it");
    chain.limits[1] = &server;
    count_units(&inner, "images", "tokens");
    cr_expect_not(takt_chain_follows(&chain), "and its first one has it");
}

/* A policy is refused that has a limit between others with `fair`, and none outside; limits that
 * were within others under another policy may still be such. */
Test(chain, a_limit_between_has_tenants_only_with_the_outermost)
{
    takt_limit innermost = named("mailbox", 1, &domain);
    takt_chain chain = chain_of(&innermost, (const char *const[]){"ann", "a", "mx"});

    domain.fair = TAKT_FAIR_TENANT;
    cr_expect(!takt_chain_is_nested(&chain));
    server.fair = TAKT_FAIR_TENANT;
    cr_expect(takt_chain_is_nested(&chain));
}
