/*
 * Which names of fields are taken for misspelt ones.
 */
#include <criterion/criterion.h>

#include "jobs/frame/misspelt.h"

Test(misspelt, one_letter_away_and_beginning_alike)
{
    cr_expect_str_eq(takt_misspelt_meant("kye"), "key");
    cr_expect_str_eq(takt_misspelt_meant("Key"), "key");
    cr_expect_str_eq(takt_misspelt_meant("tennant"), "tenant");
    cr_expect_str_eq(takt_misspelt_meant("prioriy"), "priority");
    cr_expect_str_eq(takt_misspelt_meant("idempotency-key"), "idempotency_key");
    cr_expect_str_eq(takt_misspelt_meant("limt"), "limit");
}

Test(misspelt, others_belong_to_the_job)
{
    static const char *const own[] = {"",     "id",  "key",    "tenant", "host",     "post",
                                      "text", "url", "method", "dead",   "tenants_", "to"};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        cr_expect_null(takt_misspelt_meant(own[i]), "%s", own[i]);
}
