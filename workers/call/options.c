/*
 * options.c: see options.h.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/argument.h"
#include "pointer.h"
#include "secrets.h"

enum {
    KEY_TIMEOUT = 0x200,
    KEY_CONNECT_TIMEOUT,
    KEY_OUTAGE,
    KEY_REDIRECTS,
    KEY_RESPONSE_MAX,
    KEY_CA,
    KEY_HOSTS,
    KEY_SECRET,
    KEY_SETTLE,
    KEY_RESULT_HEADERS,
    KEY_NO_BODY,
    KEY_DRY_RUN
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Calls:", 1},
    {"timeout", KEY_TIMEOUT, "DURATION", 0,
     "Longest time for a call whose job has no \"timeout\" (default 30s)", 1},
    {"connect-timeout", KEY_CONNECT_TIMEOUT, "DURATION", 0,
     "Longest time until there is a connection (default 10s)", 1},
    {"outage", KEY_OUTAGE, "DURATION", 0,
     "A host that is unreachable costs a job no attempts for that long (default 1h; 0s: each "
     "attempt counts)",
     1},
    {"redirects", KEY_REDIRECTS, "none|same-host|any", 0, "Redirects to follow (default same-host)",
     1},
    {"response-max", KEY_RESPONSE_MAX, "SIZE", 0,
     "Largest answer, like 64KiB or 8MiB; a larger one is an error (default 1MiB)", 1},
    {"ca", KEY_CA, "FILE", 0, "Trust these certificates instead of the system's", 1},
    {"hosts", KEY_HOSTS, "HOST,...", 0,
     "Hosts that jobs may call: names, *.DOMAIN, addresses, each also with :PORT, or * for every "
     "host with a public address (default *)",
     1},
    {"secret", KEY_SECRET, "env:NAME|file:PATH[@HOST,...]", 0,
     "Jobs may send this secret to these hosts (default: to those of --hosts, but not by *); "
     "variables that begin with " SECRETS_PREFIX " need no --secret",
     1},
    {"settle", KEY_SETTLE, "POINTER", 0,
     "Where JSON answers state the real cost, like /usage/total_tokens, if neither the job nor its "
     "limit has settle (default: the cost of the job)",
     1},
    {"result-headers", KEY_RESULT_HEADERS, "all|none|NAME,...", 0,
     "Headers of the answer in results (default all)", 1},
    {"no-body", KEY_NO_BODY, 0, 0, "Leave the answer's body out of results", 1},
    {"dry-run", KEY_DRY_RUN, 0, 0,
     "Call nobody and take nothing; results say what would be called, and when", 1},
    {0},
};

void takt_caller_options_begin(takt_caller_options *options)
{
    *options = (takt_caller_options){.timeout_us = 30000000,
                                     .connect_us = 10000000,
                                     .outage_us = INT64_C(3600000000),
                                     .redirects = REDIRECT_SAME_HOST,
                                     .response_max = 1024 * 1024,
                                     .with_body = true,
                                     .with_headers = true};
}

void takt_caller_options_end(takt_caller_options *options)
{
    for (int i = 0; i < options->kept_count; i++)
        free(options->kept[i]);
}

static int64_t read_duration(struct argp_state *state, const char *option, const char *word)
{
    return takt_argument_duration(state, option, word, 1000, CALL_TIMEOUT_MAX, "takes 1ms to 1h");
}

static takt_caller_redirect_rule read_redirects(struct argp_state *state, const char *word)
{
    static const char *const names[] = {"none", "same-host", "any"};

    for (int i = 0; i < 3; i++)
        if (strcmp(word, names[i]) == 0)
            return (takt_caller_redirect_rule)i;
    argp_error(state, "--redirects takes none, same-host or any");
    return REDIRECT_NONE;
}

static size_t read_size(struct argp_state *state, const char *word)
{
    static const char *const units[] = {"", "KiB", "MiB"};
    char *end;

    errno = 0;
    unsigned long size = strtoul(word, &end, 10);
    for (int i = 0; i < 3; i++)
        if (isdigit((unsigned char)*word) && errno == 0 && strcmp(end, units[i]) == 0 &&
            size >= 1 && size <= (1ul << 30) >> (10 * i))
            return size << (10 * i);
    argp_error(state, "--response-max takes 1 to 1024MiB, like 64KiB or 8MiB");
    return 0;
}

static void read_kept(struct argp_state *state, char *word, takt_caller_options *given)
{
    given->with_headers = strcmp(word, "none") != 0;
    if (!given->with_headers || strcmp(word, "all") == 0)
        return;
    for (char *name = strtok(word, ","); name; name = strtok(NULL, ",")) {
        char *kept = given->kept_count < CALL_KEPT_MAX ? strdup(name) : NULL;
        if (!kept) {
            argp_error(state, "--result-headers takes at most %d names", CALL_KEPT_MAX);
            return;
        }
        for (char *at = kept; *at; at++)
            *at = (char)tolower((unsigned char)*at);
        given->kept[given->kept_count++] = kept;
    }
}

static void read_hosts(struct argp_state *state, const char *word, takt_caller_allowed *allowed)
{
    const char *wrong = takt_caller_hosts_check(word);

    if (wrong)
        argp_error(state, "--hosts %s", wrong);
    allowed->hosts = word;
}

/* The hosts follow the last @, since the path of a file may contain one. */
static void allow(struct argp_state *state, const char *word, takt_caller_allowed *allowed)
{
    const char *at = strrchr(word, '@'), *hosts = at ? at + 1 : NULL;
    const char *wrong = hosts ? takt_caller_hosts_check(hosts) : NULL;
    size_t size = at ? (size_t)(at - word) : strlen(word);
    size_t kind = strncmp(word, "env:", 4) == 0 ? 4 : strncmp(word, "file:", 5) == 0 ? 5 : 0;

    if (wrong)
        argp_error(state, "--secret: the text after the @ %s", wrong);
    if (takt_caller_hosts_has_any(hosts, 0))
        argp_error(state, "--secret: write the hosts that it may be sent to instead of *");
    if (kind == 0 || size <= kind)
        argp_error(state, "--secret takes env:NAME or file:PATH, with @HOST,... behind it");
    if (!takt_caller_secrets_is_set(word, size))
        argp_error(state, "--secret %.*s: this environment variable is not set", (int)size, word);
    if (allowed->secret_count == SECRETS_ALLOWED_MAX) {
        argp_error(state, "--secret can be given at most %d times", SECRETS_ALLOWED_MAX);
        return;
    }
    allowed->secrets[allowed->secret_count++] =
        (struct takt_caller_allowed_secret){word, size, hosts};
}

static const char *read_settle(struct argp_state *state, const char *word)
{
    const char *wrong = takt_caller_pointer_check(word);

    if (wrong)
        argp_error(state, "--settle %s", wrong);
    return word;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    takt_caller_options *given = state->input;

    switch (key) {
    case KEY_TIMEOUT:
        given->timeout_us = read_duration(state, "--timeout", word);
        return 0;
    case KEY_CONNECT_TIMEOUT:
        given->connect_us = read_duration(state, "--connect-timeout", word);
        return 0;
    case KEY_OUTAGE:
        given->outage_us =
            takt_argument_duration(state, "--outage", word, 0, INT64_MAX, "must be at least 0s");
        return 0;
    case KEY_REDIRECTS:
        given->redirects = read_redirects(state, word);
        return 0;
    case KEY_RESPONSE_MAX:
        given->response_max = read_size(state, word);
        return 0;
    case KEY_CA:
        if (access(word, R_OK) != 0)
            argp_error(state, "--ca: the file cannot be read: %s", strerror(errno));
        given->ca = word;
        return 0;
    case KEY_HOSTS:
        read_hosts(state, word, &given->allowed);
        return 0;
    case KEY_SECRET:
        allow(state, word, &given->allowed);
        return 0;
    case KEY_SETTLE:
        given->settle = read_settle(state, word);
        return 0;
    case KEY_RESULT_HEADERS:
        read_kept(state, word, given);
        return 0;
    case KEY_NO_BODY:
        given->with_body = false;
        return 0;
    case KEY_DRY_RUN:
        given->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp takt_caller_options_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};
