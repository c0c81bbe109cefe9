/*
 * token_bucket.c: GCRA in the words of a bucket that is filled with `limit` tokens a period and
 * holds `burst` of them: a whole period's worth where the policy does not say.  Decides the size of
 * the bucket; the arithmetic is gcra.c's.
 */
#include "core/gcra.h"

static int prepare(takt_rule *rule, takt_error *error)
{
    if (rule->burst == 0)
        rule->burst = rule->limit;
    return takt_gcra_prepare(rule, error);
}

const takt_algorithm takt_token_bucket = {
    .name = "token-bucket",
    .takes = TAKT_TAKES_BURST,
    .prepare = prepare,
    TAKT_GCRA_ROW,
};
