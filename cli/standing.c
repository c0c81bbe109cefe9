/*
 * A standing as JSON: its fields are those of takt_standing, but that of the limit's tokens, whose
 * name is the limit's own.
 */
#include "standing.h"

#include <stdio.h>
#include <string.h>

#include "json.h"

void takt_cli_standing_json(const cli_target *target, const takt_standing *standing)
{
    printf("\"limit\":\"%s\",\"key\":", target->limit);
    if (target->key)
        takt_cli_json_string(stdout, target->key, strlen(target->key));
    else
        printf("null");
    printf(",\"now_us\":%lld,\"limit_tokens\":%lld,\"remaining\":%lld,\"retry_after_us\":%lld,"
           "\"reset_after_us\":%lld,\"blocked_until_us\":%lld,\"waiting\":%lld,\"workers\":%lld,"
           "\"concurrency\":%lld,\"held\":%lld,\"holders\":%lld,\"rate_percent\":%lld,\"reason\":",
           (long long)standing->now_us, (long long)standing->limit, (long long)standing->remaining,
           (long long)standing->retry_after_us, (long long)standing->reset_after_us,
           (long long)standing->blocked_until_us, (long long)standing->waiting,
           (long long)standing->workers, (long long)standing->concurrency,
           (long long)standing->held, (long long)standing->holders,
           (long long)standing->rate_percent);
    if (standing->reason[0])
        takt_cli_json_string(stdout, standing->reason, strlen(standing->reason));
    else
        printf("null");
}
