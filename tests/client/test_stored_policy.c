/*
 * test_stored_policy.c: reading the policy in a store, also when a part of its record is damaged.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client/stored_policy.h"

#define TEXT "limits: [{name: a, rules: [{rate: 1/s}]}]\n"

static takt_stored_policy *read_kept(const char *kept)
{
    takt_policy_exchange exchange = {
        .version = 7, .at_us = 100, .kept = strdup(kept), .kept_size = strlen(kept)};
    takt_stored_policy *stored;

    cr_assert_eq(takt_stored_policy_parse(&stored, &exchange), 0);
    cr_assert_null(exchange.kept);
    return stored;
}

Test(stored_policy, reads_the_history)
{
    static const struct {
        const char *kept;
        int changes;
    } table[] = {
        {"\n" TEXT, 0},
        {"7\t100\t3\t43\tann\tnews\n\n" TEXT, 1},
        {"7\t100\t3\t43\tann\tnews\n6\t90\t2\t43\tbob\t\n\n" TEXT, 2},
        {"7\t100\t3\t43\tann\tnews\n6\tx\n5\t80\t1\t43\tbob\told\n\n" TEXT, 2}, /* one is damaged */
        {"7\n\n" TEXT, 0},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_stored_policy *stored = read_kept(table[i].kept);
        cr_expect_eq(stored->change_count, table[i].changes, "row %zu", i);
        cr_expect_not_null(stored->policy, "row %zu: %s", i, stored->trouble.text);
        cr_expect_eq(stored->size, strlen(TEXT), "row %zu", i);
        takt_stored_policy_free(stored);
    }
}

Test(stored_policy, without_an_end_of_the_history_has_no_text)
{
    takt_stored_policy *stored = read_kept("7\t100\t3\t43\tann\tnews");

    cr_expect_null(stored->policy);
    cr_expect_not_null(strstr(stored->trouble.text, "history"), "%s", stored->trouble.text);
    takt_stored_policy_free(stored);
}
