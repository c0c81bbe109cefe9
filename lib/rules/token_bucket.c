/*
 * token_bucket.c: GCRA as a bucket that gets `limit` tokens per period and holds `burst` tokens
 * (default: those of one period). Decides the size of the bucket; gcra.c has the arithmetic.
 */
#include "rules/gcra.h"

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
