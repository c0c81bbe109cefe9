/*
 * standing.c: see standing.h. The JSON has the fields of takt_standing, except that the field of
 * the limit's tokens has another name.
 */
#include "standing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "kit/message.h"

int takt_cli_standing_keep(const takt_standing *standing, takt_standing *kept,
                           takt_tenant_standing **tenants)
{
    size_t size = (size_t)standing->tenant_count * sizeof(**tenants);
    takt_tenant_standing *copy = standing->tenants ? malloc(size + 1) : NULL; /* also of none */

    if (standing->tenants && !copy)
        return TAKT_E_NOMEM;
    if (copy)
        memcpy(copy, standing->tenants, size);
    free(*tenants);
    *tenants = copy;
    *kept = *standing;
    kept->tenants = copy;
    return 0;
}

double takt_cli_standing_share(const takt_standing *standing, int tenant)
{
    double weights = 0;

    for (int i = 0; i < standing->tenant_count; i++)
        weights += (double)standing->tenants[i].weight;
    return (double)standing->tenants[tenant].weight / weights;
}

int64_t takt_cli_standing_wait(const takt_standing *standing, int tenant)
{
    int64_t wait_us = standing->now_us - standing->tenants[tenant].since_us;

    return wait_us > 0 ? wait_us : 0;
}

const char *takt_cli_standing_subject(const takt_policy *policy, const char *limit)
{
    return takt_policy_shares_by_key(policy, limit) ? "key" : "tenant";
}

void takt_cli_standing_print_tenants(const takt_standing *standing, const char *subject)
{
    char span[TAKT_SPAN_SIZE], shown[TAKT_QUOTE_SIZE];

    for (int i = 0; i < standing->tenant_count; i++) {
        const takt_tenant_standing *tenant = &standing->tenants[i];
        printf("    %s %s: share %.1f%%, %lld waiting, for %s\n", subject,
               takt_quote(tenant->name, shown), 100 * takt_cli_standing_share(standing, i),
               (long long)tenant->waiting,
               takt_format_span(takt_cli_standing_wait(standing, i), span));
    }
}

static void write_tenants(const takt_standing *standing)
{
    printf(",\"tenants\":[");
    for (int i = 0; i < standing->tenant_count; i++) {
        const takt_tenant_standing *tenant = &standing->tenants[i];
        printf(i > 0 ? ",{" : "{");
        takt_cli_json_field("name", tenant->name);
        printf(",\"weight\":%lld,\"share\":%.4f,\"waiting\":%lld,\"waits_us\":%lld}",
               (long long)tenant->weight, takt_cli_standing_share(standing, i),
               (long long)tenant->waiting, (long long)takt_cli_standing_wait(standing, i));
    }
    putchar(']');
}

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
    if (standing->tenants)
        write_tenants(standing);
}
