/*
 * Reads what the command lines have in common and refuses, with EX_USAGE, what cannot be meant.
 * Whether a limit exists and a store can be opened is found out later, in session.c.
 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <takt/takt.h>

#include "kit/message.h"

enum {
    KEY_RATE = 0x100,
    KEY_BURST,
    KEY_ALGORITHM,
    KEY_ALIGN,
    KEY_TIMEZONE,
    KEY_QUEUE,
    KEY_GUARD,
    KEY_ON_STORE_FAILURE,
    KEY_CONCURRENCY,
    KEY_LEASE,
    KEY_MODE,
    KEY_JSON,
    KEY_COST,
    KEY_PRIORITY,
    KEY_TENANT,
    KEY_WITHIN_KEY,
    KEY_WITHIN
};

static error_t parse_location(int key, char *word, struct argp_state *state)
{
    takt_cli_settings *settings = state->input;

    if (key == 'p')
        settings->policy = word;
    else if (key == 's')
        settings->store = word;
    else if (key == ARGP_KEY_END && settings->file && settings->policy)
        argp_error(state, "FILE or --policy, not both");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option location_options[] = {
    {"policy", 'p', "FILE", 0, "The policy file (default: $TAKT_POLICY, else ./takt.yaml)", 8},
    {"store", 's', "URL", 0,
     "The store (default: $TAKT_STORE, else the policy's, else a file in your home directory)", 8},
    {0},
};
const struct argp takt_cli_location_argp = {
    location_options, parse_location, NULL, NULL, NULL, NULL, NULL};

/* Where what goes with a rate belongs: the field of the last rate. */
static const char **rate_field(takt_cli_settings *settings, int key)
{
    takt_rule_text *rule = &settings->rules[settings->rule_count - 1];

    switch (key) {
    case KEY_BURST:
        return &rule->burst;
    case KEY_ALGORITHM:
        return &rule->algorithm;
    case KEY_ALIGN:
        return &rule->align;
    case KEY_TIMEZONE:
        return &rule->timezone;
    case KEY_QUEUE:
        return &rule->queue;
    default:
        return &rule->guard;
    }
}

static const char *rate_field_name(int key)
{
    return key == KEY_BURST       ? "--burst"
           : key == KEY_ALGORITHM ? "--algorithm"
           : key == KEY_ALIGN     ? "--align"
           : key == KEY_TIMEZONE  ? "--timezone"
           : key == KEY_QUEUE     ? "--queue"
                                  : "--guard";
}

bool takt_cli_is_ad_hoc(const takt_cli_settings *settings)
{
    return settings->rule_count > 0 || settings->concurrency;
}

/* "500/min:requests" has the unit behind the rate. */
static void add_rate(takt_cli_settings *settings, char *word)
{
    takt_rule_text *rule = &settings->rules[settings->rule_count++];
    char *counts = strchr(word, ':');

    if (counts)
        *counts++ = '\0';
    rule->rate = word;
    rule->counts = counts;
}

static error_t parse_rate(int key, char *word, struct argp_state *state)
{
    takt_cli_settings *settings = state->input;

    if (key == KEY_RATE && settings->rule_count == TAKT_RULES_MAX)
        argp_error(state, "a limit has at most %d rates", TAKT_RULES_MAX);
    else if (key == KEY_RATE)
        add_rate(settings, word);
    else if (key >= KEY_BURST && key <= KEY_GUARD && settings->rule_count == 0)
        argp_error(state, "%s %s belongs to a rate: write --rate TOKENS/PERIOD before it",
                   rate_field_name(key), word);
    else if (key >= KEY_BURST && key <= KEY_GUARD)
        *rate_field(settings, key) = word;
    else if (key == KEY_ON_STORE_FAILURE)
        settings->on_store_failure = word;
    else if (key == KEY_MODE)
        settings->mode = word;
    else if (key == KEY_CONCURRENCY)
        settings->concurrency = word;
    else if (key == KEY_LEASE)
        settings->lease = word;
    else if (key == ARGP_KEY_END && !takt_cli_is_ad_hoc(settings) && settings->on_store_failure)
        argp_error(state, "--on-store-failure belongs to a --rate; limits of a policy have the "
                          "field on_store_failure");
    else if (key == ARGP_KEY_END && !takt_cli_is_ad_hoc(settings) && settings->mode)
        argp_error(state, "--mode belongs to a --rate or --concurrency; limits of a policy have "
                          "the field mode");
    else if (key == ARGP_KEY_END && !settings->concurrency && settings->lease)
        argp_error(state, "--lease belongs to --concurrency; limits of a policy have the field "
                          "lease");
    else if (key == ARGP_KEY_END && takt_cli_is_ad_hoc(settings) && settings->policy)
        argp_error(state, "--%s replaces a policy: leave out --policy",
                   settings->rule_count > 0 ? "rate" : "concurrency");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option rate_options[] = {
    {"rate", KEY_RATE, "TOKENS/PERIOD", 0,
     "Without a policy: the rate of LIMIT (10/s, 20/min, 500/min:requests); several hold together",
     7},
    {"burst", KEY_BURST, "N", 0,
     "Burst of the --rate before it: tokens available at one instant (default 1)", 7},
    {"algorithm", KEY_ALGORITHM, "A", 0, "Algorithm of the --rate before it (default gcra): ", 7},
    {"align", KEY_ALIGN, "clock|first-use", 0, "Where its fixed windows begin (default clock)", 7},
    {"timezone", KEY_TIMEZONE, "NAME", 0, "Whose days its fixed windows follow (default UTC)", 7},
    {"queue", KEY_QUEUE, "N", 0, "How many may wait for its leaky bucket (default any number)", 7},
    {"guard", KEY_GUARD, "DURATION", 0,
     "How much later than its slot work may begin and still keep its rate (default: that of the "
     "algorithm, 0 or 5 % of the period and at most 50ms)",
     7},
    {"concurrency", KEY_CONCURRENCY, "N", 0,
     "Without a policy: at most N at a time in the whole fleet, alone or with --rate", 7},
    {"lease", KEY_LEASE, "DURATION", 0, "How long a silent worker keeps its permits (default 30s)",
     7},
    {"on-store-failure", KEY_ON_STORE_FAILURE, "MODE", 0,
     "While the store is lost: wait (default), closed (fail), open (start), "
     "share (paced by each worker alone)",
     7},
    {"mode", KEY_MODE, "MODE", 0,
     "enforce (default), or shadow: start at once, and report what the limit would have done", 7},
    {0},
};

/* Completes the help of --algorithm by the names that the library knows. */
static char *list_algorithms(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t size;
    FILE *file = key == KEY_ALGORITHM ? open_memstream(&list, &size) : NULL;

    (void)input;
    if (!file)
        return (char *)text;
    fputs(text, file);
    for (int i = 0; takt_algorithm_name(i); i++)
        fprintf(file, "%s%s", i > 0 ? ", " : "", takt_algorithm_name(i));
    fclose(file);
    return list;
}

const struct argp takt_cli_rate_argp = {rate_options, parse_rate,      NULL, NULL,
                                        NULL,         list_algorithms, NULL};

static error_t parse_json(int key, char *word, struct argp_state *state)
{
    takt_cli_settings *settings = state->input;

    (void)word;
    if (key != KEY_JSON)
        return ARGP_ERR_UNKNOWN;
    settings->json = true;
    return 0;
}

static const struct argp_option json_options[] = {
    {"json", KEY_JSON, 0, 0, "Write JSON, for a program", 6},
    {0},
};
const struct argp takt_cli_json_argp = {json_options, parse_json, NULL, NULL, NULL, NULL, NULL};

static void add_within_key(struct argp_state *state, const char *key, takt_cli_wish *wish)
{
    char shown[TAKT_QUOTE_SIZE];

    if (wish->within_key_count == TAKT_LEVELS_MAX - 1)
        argp_error(state, "--within-key can be given at most %d times, once for each outer limit",
                   TAKT_LEVELS_MAX - 1);
    else if (strlen(key) > TAKT_KEY_SIZE_MAX)
        argp_error(state, "--within-key %s: a key has at most %d bytes", takt_quote(key, shown),
                   TAKT_KEY_SIZE_MAX);
    else
        wish->within_keys[wish->within_key_count++] = key;
}

/* N, or UNIT=N. */
static void add_cost(struct argp_state *state, char *word, takt_cli_wish *wish)
{
    char *number = strchr(word, '=');
    int64_t amount;

    if (number)
        *number++ = '\0';
    amount = takt_argument_number(state, "--cost", number ? number : word, 1, TAKT_COST_MAX);
    if (!number)
        wish->cost = (int32_t)amount;
    else if (wish->amount_count == TAKT_AMOUNTS_MAX)
        argp_error(state, "--cost UNIT=N can be given for %d units at most", TAKT_AMOUNTS_MAX);
    else
        wish->amounts[wish->amount_count++] = (takt_amount){word, amount};
}

static error_t parse_wish(int key, char *word, struct argp_state *state)
{
    takt_cli_wish *wish = state->input;

    if (key == KEY_COST)
        add_cost(state, word, wish);
    else if (key == KEY_PRIORITY)
        wish->priority =
            (int32_t)takt_argument_number(state, "--priority", word, 0, TAKT_PRIORITY_MAX);
    else if (key == KEY_TENANT)
        wish->tenant = word;
    else if (key == KEY_WITHIN_KEY)
        add_within_key(state, word, wish);
    else if (key == KEY_WITHIN)
        argp_error(state,
                   "--within: the policy says which limit LIMIT is within; --within-key names "
                   "a key of that limit");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp_option wish_options[] = {
    {"cost", KEY_COST, "[UNIT=]N", 0,
     "Tokens that one run of the command takes (default 1); or how much of a unit that rules of "
     "the limit count, such as tokens=1500; again for another unit",
     2},
    {"priority", KEY_PRIORITY, "0..9", 0,
     "0 (most urgent) to 9, in the whole fleet (default: the limit's, else 5)", 2},
    {"tenant", KEY_TENANT, "NAME", 0,
     "For whom the work is: with fair: tenant in the limit, or in one that it is within, tenants "
     "take turns",
     2},
    {"within-key", KEY_WITHIN_KEY, "KEY", 0,
     "The key of the limit that LIMIT is within; again for the one around that, and so on. '' is a "
     "limit as a whole (default)",
     2},
    /* Otherwise --within vendor would be an abbreviation, and take slots of vendor:vendor. */
    {"within", KEY_WITHIN, "LIMIT", OPTION_HIDDEN, NULL, 2},
    {0},
};
const struct argp takt_cli_wish_argp = {wish_options, parse_wish, NULL, NULL, NULL, NULL, NULL};

/* Offers all long options to the suggestion; whether one of them is the word, or begins with it. */
static bool has_option(const struct argp *argp, takt_suggestion *meant)
{
    size_t size = strlen(meant->written);

    for (const struct argp_option *option = argp->options; option && (option->name || option->key);
         option++) {
        if (option->name && strncmp(option->name, meant->written, size) == 0)
            return true;
        if (option->name)
            takt_suggest_offer(meant, option->name);
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        if (has_option(child->argp, meant))
            return true;
    return false;
}

/* argp reports an unknown option, but not its likely meaning. */
static void refuse_misspelt(const struct argp *argp, int argc, char **argv, bool runs_command)
{
    int end = 1;

    while (end < argc && strcmp(argv[end], "--") != 0)
        end++;
    if (end == argc && runs_command) /* which words are the command's is only known to argp */
        return;
    for (int i = 1; i < end; i++) {
        char word[32];
        takt_suggestion meant;
        size_t size = strcspn(argv[i], "=");
        if (strncmp(argv[i], "--", 2) != 0 || size - 2 >= sizeof(word))
            continue;
        snprintf(word, sizeof(word), "%.*s", (int)size - 2, argv[i] + 2);
        takt_suggest_begin(&meant, word);
        if (!has_option(argp, &meant) && meant.best) {
            takt_message("there is no option %s; did you mean --%s?", argv[i], meant.best);
            exit(EX_USAGE);
        }
    }
}

void takt_cli_parse(const struct argp *argp, int argc, char **argv, bool runs_command, void *input)
{
    char *name = (char *)(uintptr_t)takt_message_name();

    argv[0] = name;
    refuse_misspelt(argp, argc, argv, runs_command);
    argp_err_exit_status = EX_USAGE;
    error_t failed = argp_parse(argp, argc, argv, ARGP_IN_ORDER, NULL, input);
    if (failed) {
        takt_message("%s", strerror(failed));
        exit(EX_OSERR);
    }
}

void takt_cli_read_target(struct argp_state *state, const char *text, takt_cli_target *target)
{
    char shown[TAKT_QUOTE_SIZE];
    size_t size = strcspn(text, ":");

    if (size == 0 || size > TAKT_NAME_SIZE_MAX)
        argp_error(state, "%s is not LIMIT[:KEY]: a limit's name has 1 to %d characters",
                   takt_quote(text, shown), TAKT_NAME_SIZE_MAX);
    memcpy(target->limit, text, size);
    target->limit[size] = '\0';
    target->key = text[size] == ':' ? text + size + 1 : NULL;
    target->text = text;
    if (target->key && (!*target->key || strlen(target->key) > TAKT_KEY_SIZE_MAX))
        argp_error(state, "%s is not LIMIT[:KEY]: a key has 1 to %d bytes", takt_quote(text, shown),
                   TAKT_KEY_SIZE_MAX);
}

error_t takt_cli_parse_command_line(int key, char *word, struct argp_state *state,
                                    takt_cli_target *target, char ***command)
{
    char shown[TAKT_QUOTE_SIZE];

    if (key == ARGP_KEY_END && !*command) {
        argp_error(state,
                   state->arg_num ? "the command is missing; write it after --" : "which limit?");
    } else if (key == ARGP_KEY_ARG && state->arg_num == 0 && state->quoted) {
        argp_error(state, "LIMIT is missing; write a limit's name before the --, like mail -- %s",
                   takt_quote(word, shown));
    } else if (key == ARGP_KEY_ARG && state->arg_num == 0) {
        takt_cli_read_target(state, word, target);
    } else if (key == ARGP_KEY_ARG) {
        *command = state->argv + state->next - 1;
        state->next = state->argc;
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}
