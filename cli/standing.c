/*
 * Writes a standing as JSON: the fields of takt_standing, except that the field of the limit's
 * tokens has another name.
 */
#include "standing.h"

#include <stdio.h>
#include <string.h>

#include "json.h"

void takt_cli_standing_json(const takt_cli_target *target, const takt_standing *standing)
{
    takt_cli_json_field("limit", target->limit);
    putchar(',');
    takt_cli_json_field("key", target->key);
    printf(",\"now_us\":%lld,\"limit_tokens\":%lld,\"remaining\":%lld,\"retry_after_us\":%lld,"
           "\"reset_after_us\":%lld,\"blocked_until_us\":%lld,\"waiting\":%lld,\"workers\":%lld,"
           "\"concurrency\":%lld,\"held\":%lld,\"holders\":%lld,\"rate_percent\":%lld,",
           (long long)standing->now_us, (long long)standing->limit, (long long)standing->remaining,
           (long long)standing->retry_after_us, (long long)standing->reset_after_us,
           (long long)standing->blocked_until_us, (long long)standing->waiting,
           (long long)standing->workers, (long long)standing->concurrency,
           (long long)standing->held, (long long)standing->holders,
           (long long)standing->rate_percent);
    takt_cli_json_field("reason", standing->reason[0] ? standing->reason : NULL);
    printf(",\"rules\":[");
    for (int i = 0; i < standing->rule_count; i++) {
        const takt_rule_standing *rule = &standing->rules[i];
        printf("%s{", i > 0 ? "," : "");
        takt_cli_json_field("unit", rule->unit);
        printf(",\"limit\":%lld,\"remaining\":%lld,\"reset_after_us\":%lld}",
               (long long)rule->limit, (long long)rule->remaining, (long long)rule->reset_after_us);
    }
    putchar(']');
}
