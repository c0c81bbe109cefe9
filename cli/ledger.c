/*
 * `takt peek`, `block`, `penalize`, `unblock` and `reset`: one call to one ledger, then how it
 * stands.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "kit/message.h"
#include "kit/wall_clock.h"
#include "session.h"
#include "standing.h"

typedef enum cli_errand { PEEK, BLOCK, PENALIZE, UNBLOCK, RESET } cli_errand;

typedef struct cli_visit {
    takt_cli_settings *settings;
    cli_errand errand;
    takt_cli_target target;
    int64_t for_us;     /* BLOCK, PENALIZE */
    const char *reason; /* the same; NULL: none */
    takt_cli_session session;
    takt_call call;
    int status;
    takt_standing standing;
} cli_visit;

#define KEY_REASON 0x200 /* no letter */

static bool takes_duration(const cli_visit *visit)
{
    return visit->errand == BLOCK || visit->errand == PENALIZE;
}

static void read_reason(struct argp_state *state, const char *word, cli_visit *visit)
{
    takt_error error;

    if (takt_check_reason(word, &error) != 0)
        argp_error(state, "--reason: %s", error.text);
    visit->reason = word;
}

/* A vendor's Retry-After may be 0. */
static int64_t read_span(struct argp_state *state, const char *word, cli_errand errand)
{
    int64_t for_us;

    if (errand == PENALIZE && takt_parse_duration(word, &for_us, NULL) == 0)
        return for_us;
    return takt_argument_any_duration(state, "DURATION", word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_visit *visit = state->input;
    unsigned wanted = visit->errand == BLOCK ? 2 : 1, max = takes_duration(visit) ? 2 : 1;

    switch (key) {
    case KEY_REASON:
        read_reason(state, word, visit);
        return 0;
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = visit->settings;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num >= max)
            argp_error(state, "that is one word too many: %s", word);
        else if (state->arg_num == 0)
            takt_cli_read_target(state, word, &visit->target);
        else
            visit->for_us = read_span(state, word, visit->errand);
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num == 0)
            argp_error(state, "which limit?");
        else if (state->arg_num < wanted)
            argp_error(state, "for how long? Write a duration, like 30s");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option reason_option[] = {
    {"reason", KEY_REASON, "TEXT", 0, "why, for those who look (`takt peek`): up to 120 bytes", 0},
    {0}};

static const struct argp_child children[] = {{&takt_cli_json_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_place_argp, 0, NULL, 0},
                                             {0}};

#define STATUSES                                                                                   \
    "Exit status: 0; 64 for a wrong command line, 69 where the store cannot be used, 78 for a "    \
    "policy that cannot be used.\n\nExample:\n"

static const char *const words[] = {
    [PEEK] = "LIMIT[:KEY]",
    [BLOCK] = "LIMIT[:KEY] DURATION",
    [PENALIZE] = "LIMIT[:KEY] [DURATION]",
    [UNBLOCK] = "LIMIT[:KEY]",
    [RESET] = "LIMIT[:KEY]",
};

static const char *const helps[] = {
    [PEEK] = "Prints where a limit stands, and takes nothing.\v" STATUSES "  takt peek api:acme",
    [BLOCK] =
        "Lets nothing start for DURATION from now, in the whole fleet. A block that lasts longer "
        "stays as it is.\v" STATUSES "  takt block api:acme 10min --reason 'new key on its way'",
    [PENALIZE] =
        "Reports that a vendor has refused work for going too fast (HTTP status 429): nothing "
        "starts "
        "for DURATION from now (its Retry-After; where there was none, leave it out), and a limit "
        "with `adapt` goes on at a lower rate for a while. Several reports of one event count "
        "once.\v" STATUSES "  takt penalize api:acme 30s --reason 'vendor said 429'",
    [UNBLOCK] = "Ends a block. Work goes on at the limit's pace, without a burst.\v" STATUSES
                "  takt unblock api:acme",
    [RESET] =
        "Forgets what was taken of a limit, and penalties, as if it had never been used. Who waits "
        "keeps their place, and a block stays.\v" STATUSES "  takt reset api:acme",
};

static void on_answer(takt_call *call, int status, const takt_standing *standing)
{
    cli_visit *visit = call->data;

    visit->status = status;
    if (standing)
        visit->standing = *standing;
    takt_close(visit->session.client, NULL, NULL);
    visit->session.client = NULL;
}

static int begin(cli_visit *visit)
{
    takt_client *client = visit->session.client;
    const char *limit = visit->target.limit, *key = visit->target.key;

    switch (visit->errand) {
    case PEEK:
        return takt_peek(client, &visit->call, limit, key, on_answer);
    case BLOCK:
        return takt_block(client, &visit->call, limit, key, visit->for_us, visit->reason,
                          on_answer);
    case PENALIZE:
        return takt_penalize(client, &visit->call, limit, key, visit->for_us, visit->reason,
                             on_answer);
    case UNBLOCK:
        return takt_unblock(client, &visit->call, limit, key, on_answer);
    case RESET:
    default:
        return takt_reset(client, &visit->call, limit, key, on_answer);
    }
}

static void print_json(const cli_visit *visit)
{
    putchar('{');
    takt_cli_standing_json(&visit->target, &visit->standing);
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

static void print_lines(const cli_visit *visit)
{
    const takt_standing *standing = &visit->standing;
    char rules[1024] = "", span[TAKT_SPAN_SIZE], shown[TAKT_QUOTE_SIZE];

    takt_policy_describe(visit->session.policy, visit->target.limit, rules, sizeof(rules));
    printf("%s", visit->target.limit);
    if (visit->target.key)
        printf(" key %s", takt_quote(visit->target.key, shown));
    printf(": %s\n", rules);
    printf("  remaining    %lld of %lld\n", (long long)standing->remaining,
           (long long)standing->limit);
    printf("  retry after  %s\n", takt_format_span(standing->retry_after_us, span));
    printf("  reset after  %s\n", takt_format_span(standing->reset_after_us, span));
    print_block(standing);
    if (standing->rate_percent < 100)
        printf("  rate         %lld%% of the policy's, after penalties\n",
               (long long)standing->rate_percent);
    if (standing->concurrency > 0)
        printf("  held         %lld of %lld in %lld workers\n", (long long)standing->held,
               (long long)standing->concurrency, (long long)standing->holders);
    printf("  waiting      %lld in %lld workers\n", (long long)standing->waiting,
           (long long)standing->workers);
}

static int go(int argc, char **argv, takt_cli_settings *settings, cli_errand errand)
{
    const struct argp argp = {errand == BLOCK || errand == PENALIZE ? reason_option : NULL,
                              parse,
                              words[errand],
                              helps[errand],
                              children,
                              NULL,
                              NULL};
    cli_visit visit = {.settings = settings,
                       .errand = errand,
                       .session = {.store_timeout_us = TAKT_CLI_TIMEOUT_US}};

    takt_cli_parse(&argp, argc, argv, false, &visit);
    int status = takt_cli_open(&visit.session, settings, &visit.target);
    if (status)
        return status;
    visit.call.data = &visit;
    visit.status = begin(&visit);
    if (visit.status == 0)
        uv_run(&visit.session.loop, UV_RUN_DEFAULT);
    if (visit.status)
        status = takt_cli_refusal(&visit.session, &visit.target, visit.status, 1);
    else if (settings->json)
        print_json(&visit);
    else
        print_lines(&visit);
    takt_cli_close(&visit.session);
    return status ? status : takt_message_end_output();
}

int takt_cli_peek(int argc, char **argv, takt_cli_settings *settings)
{
    return go(argc, argv, settings, PEEK);
}

int takt_cli_block(int argc, char **argv, takt_cli_settings *settings)
{
    return go(argc, argv, settings, BLOCK);
}

int takt_cli_penalize(int argc, char **argv, takt_cli_settings *settings)
{
    return go(argc, argv, settings, PENALIZE);
}

int takt_cli_unblock(int argc, char **argv, takt_cli_settings *settings)
{
    return go(argc, argv, settings, UNBLOCK);
}

int takt_cli_reset(int argc, char **argv, takt_cli_settings *settings)
{
    return go(argc, argv, settings, RESET);
}
