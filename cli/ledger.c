/*
 * `takt peek`, `block`, `penalize`, `unblock` and `reset`: one call on a ledger, then its state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common/json.h"
#include "common/outer.h"
#include "common/session.h"
#include "common/standing.h"
#include "kit/message.h"
#include "kit/wall_clock.h"
#include "top/top.h"

typedef enum operation_kind { PEEK, BLOCK, PENALIZE, UNBLOCK, RESET } operation_kind;

typedef struct ledger_call {
    takt_cli_settings *settings;
    operation_kind operation;
    takt_cli_target target;
    int64_t for_us;     /* BLOCK, PENALIZE */
    const char *reason; /* for the same; NULL: none */
    takt_cli_session session;
    takt_call call;
    int status;
    takt_standing standing;
    takt_tenant_standing *tenants; /* the standing's */
    takt_cli_outer outer;          /* PEEK for a person */
} ledger_call;

#define KEPT "; a worker has 32 keys in line, and keeps work of others to itself until their turn"

#define KEY_REASON 0x200 /* an option without a letter */

static bool takes_duration(const ledger_call *self)
{
    return self->operation == BLOCK || self->operation == PENALIZE;
}

static void read_reason(struct argp_state *state, const char *word, ledger_call *self)
{
    takt_error error;

    if (takt_check_reason(word, &error) != 0)
        argp_error(state, "--reason: %s", error.text);
    self->reason = word;
}

/* The duration may be 0, as in a vendor's Retry-After. */
static int64_t read_duration(struct argp_state *state, const char *word, operation_kind operation)
{
    int64_t for_us;

    if (operation == PENALIZE && takt_parse_duration(word, &for_us, NULL) == 0)
        return for_us;
    return takt_argument_any_duration(state, "DURATION", word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    ledger_call *self = state->input;
    unsigned wanted = self->operation == BLOCK ? 2 : 1, max = takes_duration(self) ? 2 : 1;

    switch (key) {
    case KEY_REASON:
        read_reason(state, word, self);
        return 0;
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = self->settings;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= max)
            argp_error(state, "unexpected argument: %s", word);
        else if (state->arg_num == 0)
            takt_cli_read_target(state, word, &self->target);
        else
            self->for_us = read_duration(state, word, self->operation);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num == 0 && self->operation == PEEK && !takt_cli_is_ad_hoc(self->settings))
            return 0;
        if (state->arg_num == 0)
            argp_error(state, "which limit?");
        else if (state->arg_num < wanted)
            argp_error(state, "the duration is missing; write one, like 30s");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option reason_option[] = {
    {"reason", KEY_REASON, "TEXT", 0, "Why; `takt peek` shows it. Up to 120 bytes", 0}, {0}};

static const struct argp_child children[] = {{&takt_cli_json_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_location_argp, 0, NULL, 0},
                                             {0}};

#define STATUSES                                                                                   \
    "Exit status: 0; 64 wrong command line, 69 store unusable, 78 policy unusable.\n\nExample:\n"

static const char *const usages[] = {
    [PEEK] = "[LIMIT[:KEY]]",
    [BLOCK] = "LIMIT[:KEY] DURATION",
    [PENALIZE] = "LIMIT[:KEY] [DURATION]",
    [UNBLOCK] = "LIMIT[:KEY]",
    [RESET] = "LIMIT[:KEY]",
};

static const char *const helps[] = {
    [PEEK] = "Prints where a limit stands, and takes nothing. Without LIMIT it prints a line for "
             "each limit of the policy and the busiest keys; without a policy, for the "
             "busiest limits and keys in the store.\v" STATUSES "  takt peek api:acme\n  takt peek",
    [BLOCK] = "Blocks a limit for DURATION from now, in the whole fleet. A block that lasts longer "
              "stays as "
              "it is.\v" STATUSES "  takt block api:acme 10min --reason 'new key on its way'",
    [PENALIZE] =
        "Reports that a vendor refused work for going too fast (HTTP status 429). Nothing starts "
        "for DURATION (the vendor's Retry-After; leave it out if there was none), and a limit with "
        "`adapt` continues at a lower rate for a while. Several reports of one event count "
        "once.\v" STATUSES "  takt penalize api:acme 30s --reason 'vendor said 429'",
    [UNBLOCK] = "Ends a block. Work continues at the limit's pace, without a burst.\v" STATUSES
                "  takt unblock api:acme",
    [RESET] =
        "Forgets the tokens that were taken from a limit, and its penalties. Waiters keep their "
        "places, and a block stays.\v" STATUSES "  takt reset api:acme",
};

static void end(void *data, int status)
{
    ledger_call *self = data;

    self->status = status;
    takt_close(self->session.client, NULL, NULL);
    self->session.client = NULL;
}

static void on_answer(takt_call *call, int status, const takt_standing *standing)
{
    ledger_call *self = call->data;

    if (standing && takt_cli_standing_keep(standing, &self->standing, &self->tenants) != 0)
        status = TAKT_E_NOMEM;
    if (status == 0 && self->operation == PEEK && !self->settings->json)
        takt_cli_outer_look(&self->outer, self->session.client, &self->target, end, self);
    else
        end(self, status);
}

static int begin(ledger_call *self)
{
    takt_client *client = self->session.client;
    const char *limit = self->target.limit, *key = self->target.key;

    switch (self->operation) {
    case PEEK:
        return takt_peek(client, &self->call, limit, key, on_answer);
    case BLOCK:
        return takt_block(client, &self->call, limit, key, self->for_us, self->reason, on_answer);
    case PENALIZE:
        return takt_penalize(client, &self->call, limit, key, self->for_us, self->reason,
                             on_answer);
    case UNBLOCK:
        return takt_unblock(client, &self->call, limit, key, on_answer);
    case RESET:
    default:
        return takt_reset(client, &self->call, limit, key, on_answer);
    }
}

static void print_json(const ledger_call *self)
{
    putchar('{');
    takt_cli_standing_json(&self->target, &self->standing);
    printf("}\n");
}

static void print_block(const takt_standing *standing)
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], span[TAKT_SPAN_SIZE];

    if (standing->blocked_until_us <= standing->now_us)
        printf("  blocked      no\n");
    else
        printf("  blocked      until %s, for another %s%s%s\n",
               takt_wall_clock_text(standing->blocked_until_us, moment),
               takt_format_span(standing->blocked_until_us - standing->now_us, span),
               standing->reason[0] ? ": " : "", standing->reason);
}

/* Whether the rules count different units: then no single number says what is left. */
static bool counts_units(const takt_standing *standing)
{
    for (int i = 1; i < standing->rule_count; i++)
        if (strcmp(standing->rules[i].unit, standing->rules[0].unit) != 0)
            return true;
    return false;
}

/* The remaining amount, of each rule if there are several. */
static void print_remaining(const takt_standing *standing)
{
    bool units = counts_units(standing);
    char span[TAKT_SPAN_SIZE];

    if (!units)
        printf("  remaining    %lld of %lld\n", (long long)standing->remaining,
               (long long)standing->limit);
    for (int i = 0; standing->rule_count > 1 && i < standing->rule_count; i++) {
        const takt_rule_standing *rule = &standing->rules[i];
        if (units)
            printf("  %-12s", i == 0 ? "remaining" : "");
        else
            printf("    rule %-5d", i + 1);
        printf(" %lld of %lld %s, full in %s\n", (long long)rule->remaining, (long long)rule->limit,
               rule->unit, takt_format_span(rule->reset_after_us, span));
    }
}

static void print_lines(const ledger_call *self)
{
    const takt_standing *standing = &self->standing;
    char rules[1024] = "", span[TAKT_SPAN_SIZE], shown[TAKT_QUOTE_SIZE];

    takt_policy_describe_key(self->session.policy, self->target.limit, self->target.key, rules,
                             sizeof(rules));
    printf("%s", self->target.limit);
    if (self->target.key)
        printf(" key %s", takt_quote(self->target.key, shown));
    printf(": %s\n", rules);
    print_remaining(standing);
    printf("  retry after  %s\n", takt_format_span(standing->retry_after_us, span));
    printf("  reset after  %s\n", takt_format_span(standing->reset_after_us, span));
    print_block(standing);
    if (standing->rate_percent < 100)
        printf("  rate         %lld%% of the policy's, after penalties\n",
               (long long)standing->rate_percent);
    if (standing->concurrency > 0)
        printf("  held         %lld of %lld in %lld worker%s\n", (long long)standing->held,
               (long long)standing->concurrency, (long long)standing->holders,
               takt_plural((uint64_t)standing->holders));
    printf("  waiting      %lld in %lld worker%s%s\n", (long long)standing->waiting,
           (long long)standing->workers, takt_plural((uint64_t)standing->workers),
           takt_cli_outer_is_crowded(&self->outer) ? KEPT : "");
    takt_cli_standing_print_tenants(
        standing, takt_cli_standing_subject(self->session.policy, self->target.limit));
    takt_cli_outer_print(&self->outer);
}

/* A penalty without a time that lowers no rate. */
static void say_vain(const ledger_call *self)
{
    if (self->operation == PENALIZE && self->for_us == 0 && self->standing.rate_percent == 100)
        takt_message("nothing has changed: the limit has no adapt; write a DURATION to pause it, "
                     "or add adapt: {} to the limit");
}

static int run(int argc, char **argv, takt_cli_settings *settings, operation_kind operation)
{
    const struct argp argp = {operation == BLOCK || operation == PENALIZE ? reason_option : NULL,
                              parse,
                              usages[operation],
                              helps[operation],
                              children,
                              NULL,
                              NULL};
    ledger_call self = {.settings = settings,
                        .operation = operation,
                        .session = {.store_timeout_us = TAKT_CLI_TIMEOUT_US}};

    takt_cli_parse(&argp, argc, argv, false, &self);
    if (!self.target.text)
        return takt_cli_top_print_all(settings);
    int status = takt_cli_open(&self.session, settings, &self.target);
    if (status)
        return status;
    self.call.data = &self;
    self.status = begin(&self);
    if (self.status == 0)
        uv_run(&self.session.loop, UV_RUN_DEFAULT);
    if (self.status)
        status = takt_cli_refusal(&self.session, &self.target, self.status, NULL);
    else if (settings->json)
        print_json(&self);
    else
        print_lines(&self);
    if (status == 0)
        say_vain(&self);
    free(self.tenants);
    takt_cli_close(&self.session);
    return status ? status : takt_message_end_output();
}

int takt_cli_peek(int argc, char **argv, takt_cli_settings *settings)
{
    return run(argc, argv, settings, PEEK);
}

int takt_cli_block(int argc, char **argv, takt_cli_settings *settings)
{
    return run(argc, argv, settings, BLOCK);
}

int takt_cli_penalize(int argc, char **argv, takt_cli_settings *settings)
{
    return run(argc, argv, settings, PENALIZE);
}

int takt_cli_unblock(int argc, char **argv, takt_cli_settings *settings)
{
    return run(argc, argv, settings, UNBLOCK);
}

int takt_cli_reset(int argc, char **argv, takt_cli_settings *settings)
{
    return run(argc, argv, settings, RESET);
}
