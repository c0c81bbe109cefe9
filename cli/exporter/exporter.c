/*
 * `takt exporter`: serves the state of limits over HTTP, for Prometheus. It looks at the limits at
 * a fixed interval, so that scrapes, however many, cost the store nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "commands.h"
#include "exporter.h"
#include "kit/argument.h"
#include "kit/message.h"
#include "kit/openmetrics.h"
#include "kit/signals.h"
#include "kit/status_http.h"
#include "kit/status_server.h"

#define ADDRESS         "9465"
#define INTERVAL_US     5000000
#define INTERVAL_MIN_US 100000
#define INTERVAL_MAX_US 60000000

enum { KEY_LISTEN = 0x200, KEY_INTERVAL };

typedef struct cli_exporter {
    takt_cli_watch watch;
    const char *address;
    takt_status_server *server;
    uv_timer_t timer;
    takt_signals signals;
} cli_exporter;

static void read_interval(struct argp_state *state, cli_exporter *exporter, const char *word)
{
    int64_t interval_us = takt_argument_any_duration(state, "--interval", word);

    if (interval_us < INTERVAL_MIN_US || interval_us > INTERVAL_MAX_US)
        argp_error(state, "--interval is from 100ms to 1min, not %s", word);
    exporter->watch.rows.interval_us = interval_us;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_exporter *exporter = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = exporter->watch.settings;
        return 0;
    case KEY_LISTEN:
        exporter->address = word;
        return 0;
    case KEY_INTERVAL:
        read_interval(state, exporter, word);
        return 0;
    case ARGP_KEY_ARG:
        takt_cli_watch_name(state, &exporter->watch, word);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"listen", KEY_LISTEN, "ADDRESS", 0,
     "Where to serve: a port of the loopback (default " ADDRESS
     "), an IP address and a port, like 0.0.0.0:9465 or [::]:9465, or unix:PATH",
     1},
    {"interval", KEY_INTERVAL, "DURATION", 0, "Time between looks, 100ms to 1min (default 5s)", 1},
    {0},
};
static const struct argp_child children[] = {{&takt_cli_location_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "[LIMIT[:KEY]...]",
    "Serves rate, quota, waiting jobs, workers, permits, blocks and backlog of limits as "
    "OpenMetrics text at /metrics, until a signal ends it. Without LIMIT it serves all limits of "
    "the policy and the busiest keys in use; without a policy, the busiest limits and keys in the "
    "store."
    "\vExit status: 0; 64 wrong command line, 69 store unusable, 71 cannot listen, 78 policy "
    "unusable.\n\n"
    "Examples:\n"
    "  takt exporter\n"
    "  takt exporter --listen 0.0.0.0:9465 mail api:acme\n"
    "  curl http://localhost:9465/metrics",
    children,
    NULL,
    NULL,
};

static char *refusal(int code, size_t *size)
{
    char *text;
    int count = asprintf(&text, "%d %s: ask GET or HEAD of /metrics\n", code,
                         takt_status_http_reason(code));

    *size = count < 0 ? 0 : (size_t)count;
    return count < 0 ? NULL : text;
}

static char *page(void *data, const char *path, int *code, size_t *size, const char **type)
{
    const cli_exporter *exporter = data;

    if (*code == 200 && strcmp(path, "/metrics") == 0) {
        *type = TAKT_OPENMETRICS_TYPE;
        return takt_cli_exporter_text(&exporter->watch, size);
    }
    *type = "text/plain; charset=utf-8";
    *code = *code == 200 ? 404 : *code;
    return refusal(*code, size);
}

static void look(cli_exporter *exporter)
{
    takt_cli_rows_look(&exporter->watch.rows, 0, exporter->watch.rows.count);
}

static void on_timer(uv_timer_t *timer)
{
    cli_exporter *exporter = timer->data;

    takt_cli_watch_again(&exporter->watch);
    look(exporter);
}

static void on_listed(void *data)
{
    cli_exporter *exporter = data;

    if (!exporter->watch.rows.closed)
        takt_cli_watch_listed(&exporter->watch, NULL);
}

static void on_looked(void *data)
{
    (void)data; /* the next scrape shows it */
}

static void end(cli_exporter *exporter)
{
    if (exporter->watch.rows.closed)
        return;
    exporter->watch.rows.closed = true;
    takt_status_server_close(exporter->server);
    uv_close((uv_handle_t *)&exporter->timer, NULL);
    takt_signals_close(&exporter->signals);
    takt_close(exporter->watch.session.client, NULL, NULL);
    exporter->watch.session.client = NULL;
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void)number;
    end(signal->data);
}

static int serve(cli_exporter *exporter)
{
    takt_status_site site = {.address = exporter->address,
                             .abroad = true,
                             .what = "metrics",
                             .page = page,
                             .data = exporter};
    uv_loop_t *loop = &exporter->watch.session.loop;
    uint64_t interval_ms = (uint64_t)exporter->watch.rows.interval_us / 1000;
    takt_error error = {0};
    int code = takt_status_server_open(&exporter->server, loop, &site, &error);

    if (code) {
        takt_message("%s", error.text);
        return code == TAKT_E_INVALID ? EX_USAGE : EX_OSERR;
    }
    uv_timer_init(loop, &exporter->timer);
    exporter->timer.data = exporter;
    takt_signals_open(&exporter->signals, loop, takt_signals_ending, on_signal, exporter);
    uv_timer_start(&exporter->timer, on_timer, interval_ms, interval_ms);
    look(exporter);
    if (strncmp(exporter->address, "unix:", 5) == 0)
        takt_message("serving /metrics at %s", exporter->address);
    else
        takt_message("serving http://%s%s/metrics",
                     strchr(exporter->address, ':') ? "" : "localhost:", exporter->address);
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}

int takt_cli_exporter(int argc, char **argv, takt_cli_settings *settings)
{
    cli_exporter exporter = {.watch = {.settings = settings, .rows.interval_us = INTERVAL_US},
                             .address = ADDRESS};
    takt_cli_watch *watch = &exporter.watch;
    char note[256] = "";

    watch->rows.data = watch->lister.data = &exporter;
    watch->rows.looked = on_looked;
    watch->rows.forgets = true;
    watch->lister.listed = on_listed;
    takt_cli_parse(&argp, argc, argv, false, &exporter);
    takt_signals_ignore_broken_pipes();
    int status = takt_cli_watch_open(watch);
    if (status == 0) {
        takt_cli_watch_list(watch, note);
        if (note[0])
            takt_message("%s", note);
        status = serve(&exporter);
    }
    takt_cli_watch_close(watch);
    return status;
}
