/*
 * outer.c: see outer.h.
 */
#include "outer.h"

#include <stdio.h>
#include <string.h>

#include "kit/message.h"
#include "kit/outer_limit.h"
#include "kit/wall_clock.h"

#define IN_LINE 32 /* keys or tenants that a worker has in line at a time */

static void on_look(takt_call *call, int status, const takt_standing *standing);

/* Looks at the next ledger; 1: there is none. */
static int look(takt_cli_outer *outer, const char *limit)
{
    struct takt_cli_outer_ledger *ledger = &outer->ledgers[outer->count];
    const struct takt_cli_outer_ledger *last = outer->count > 0 ? ledger - 1 : NULL;
    bool keyed = last && outer->key && !last->keyed;

    if (!keyed)
        limit = takt_outer_limit(takt_get_policy(outer->client), limit, NULL);
    if (!limit || outer->count == TAKT_CLI_OUTER_MAX)
        return 1;
    if (ledger->limit != limit)
        snprintf(ledger->limit, sizeof(ledger->limit), "%s", limit);
    ledger->keyed = keyed;
    return takt_peek(outer->client, &outer->call, ledger->limit, keyed ? outer->key : NULL,
                     on_look);
}

static void go_on(takt_cli_outer *outer, const char *limit)
{
    int code = look(outer, limit);

    if (code != 0)
        outer->done(outer->data, code > 0 ? 0 : code);
}

static void on_look(takt_call *call, int status, const takt_standing *standing)
{
    takt_cli_outer *outer = call->data;
    struct takt_cli_outer_ledger *ledger = &outer->ledgers[outer->count];

    if (status != 0 || !standing) {
        outer->done(outer->data, status);
        return;
    }
    ledger->standing = *standing;
    ledger->standing.tenants = NULL; /* the callback's */
    outer->count++;
    go_on(outer, ledger->limit);
}

void takt_cli_outer_look(takt_cli_outer *outer, takt_client *client, const takt_cli_target *target,
                         void (*done)(void *data, int status), void *data)
{
    *outer = (takt_cli_outer){
        .client = client, .key = target->key, .call = {.data = outer}, .done = done, .data = data};
    go_on(outer, target->limit);
}

bool takt_cli_outer_is_crowded(const takt_cli_outer *outer)
{
    for (int i = 0; i < outer->count; i++)
        if (outer->ledgers[i].standing.tenant_count >= IN_LINE)
            return true;
    return false;
}

static bool is_in_use(const takt_standing *standing)
{
    return standing->reset_after_us > 0 || standing->waiting > 0 || takt_holds_up(standing);
}

static void print_next(const takt_standing *standing)
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], span[TAKT_SPAN_SIZE];

    if (standing->blocked_until_us > standing->now_us)
        printf("blocked until %s, for another %s%s%s\n",
               takt_wall_clock_text(standing->blocked_until_us, moment),
               takt_format_span(standing->blocked_until_us - standing->now_us, span),
               standing->reason[0] ? ": " : "", standing->reason);
    else if (takt_holds_up(standing))
        printf("%lld of %lld held\n", (long long)standing->held, (long long)standing->concurrency);
    else if (standing->retry_after_us > 0)
        printf("retry after %s, %lld waiting\n", takt_format_span(standing->retry_after_us, span),
               (long long)standing->waiting);
    else
        printf("free, %lld waiting\n", (long long)standing->waiting);
}

void takt_cli_outer_print(const takt_cli_outer *outer)
{
    char shown[TAKT_QUOTE_SIZE];

    for (int i = 0; i < outer->count; i++) {
        const struct takt_cli_outer_ledger *ledger = &outer->ledgers[i];
        if (ledger->keyed && !is_in_use(&ledger->standing))
            continue;
        printf("  within       %s%s%s: ", ledger->limit, ledger->keyed ? " key " : "",
               ledger->keyed ? takt_quote(outer->key, shown) : "");
        print_next(&ledger->standing);
    }
}
