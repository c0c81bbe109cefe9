/*
 * `takt top`: shows limits on the whole terminal, refreshed; keys block and unblock them. Without a
 * terminal: two looks, then a table or JSON.
 */
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "commands.h"
#include "kit/message.h"
#include "kit/signals.h"
#include "watch.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};

#define INTERVAL_US     1000000
#define INTERVAL_MIN_US 100000
#define INTERVAL_MAX_US 60000000

enum { KEY_INTERVAL = 0x200, KEY_ONCE };

typedef struct cli_top {
    takt_cli_watch watch;
    bool once;
    takt_cli_view view;
    takt_cli_screen screen;
    uv_timer_t timer;
    takt_signals signals;
    int looks_left; /* without a screen */
    int signal;     /* the signal that ended it; 0: none */
    int status;     /* the exit status */
} cli_top;

static void read_interval(struct argp_state *state, cli_top *top, const char *word)
{
    top->watch.rows.interval_us = takt_argument_any_duration(state, "--interval", word);
    if (top->watch.rows.interval_us < INTERVAL_MIN_US ||
        top->watch.rows.interval_us > INTERVAL_MAX_US)
        argp_error(state, "--interval is from 100ms to 1min, not %s", word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_top *top = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = top->watch.settings;
        return 0;
    case KEY_INTERVAL:
        read_interval(state, top, word);
        return 0;
    case KEY_ONCE:
        top->once = true;
        return 0;
    case ARGP_KEY_ARG:
        takt_cli_watch_name(state, &top->watch, word);
        return 0;
    case ARGP_KEY_END:
        if (takt_cli_is_ad_hoc(top->watch.settings) && top->watch.target_count == 0)
            argp_error(state, "name a limit: there is no policy to take it from");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"interval", KEY_INTERVAL, "DURATION", 0, "Time between looks, 100ms to 1min (default 1s)", 1},
    {"once", KEY_ONCE, 0, 0, "Print one table and end; the default without a terminal", 1},
    {0},
};
static const struct argp_child children[] = {{&takt_cli_json_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_location_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    options,
    parse,
    "[LIMIT[:KEY]...]",
    "Shows limits live: the fleet's rate and the quota, waiters, permits held, blocks and "
    "penalties. "
    "Without LIMIT it shows all limits of the policy and the busiest keys in use; without a "
    "policy, "
    "the busiest limits and keys in the store. On the screen j and k select a limit, b blocks and "
    "u unblocks it, ? shows all keys, q quits."
    "\vA rate needs two samples: --once and --json (one object per limit and line) take them one "
    "--interval apart.\n\n"
    "Exit status: 0; 64 wrong command line, 69 store unusable, 78 policy unusable.\n\n"
    "Examples:\n"
    "  takt top\n"
    "  takt top mail api:acme api:globex\n"
    "  takt top --json mail",
    children,
    NULL,
    NULL,
};

/* ---- the end --------------------------------------------------------------------------------- */

/* Gives the terminal back and lets the loop end. A second call is harmless. */
static void end(cli_top *top)
{
    if (top->watch.rows.closed)
        return;
    top->watch.rows.closed = true;
    takt_cli_screen_close(&top->screen);
    uv_close((uv_handle_t *)&top->timer, NULL);
    takt_signals_close(&top->signals);
    takt_close(top->watch.session.client, NULL, NULL);
    top->watch.session.client = NULL;
}

static void on_signal(uv_signal_t *signal, int number)
{
    cli_top *top = signal->data;

    top->signal = number;
    end(top);
}

static void on_gone(void *data)
{
    cli_top *top = data;

    top->status = EX_IOERR;
    end(top);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static void draw(cli_top *top)
{
    char *frame = NULL;
    size_t size = 0;
    FILE *file;

    if (top->screen.frame) /* the last frame is still being written: draw again later */
        top->screen.stale = true;
    if (top->watch.rows.closed || top->screen.frame)
        return;
    file = open_memstream(&frame, &size);
    if (!file)
        return;
    takt_cli_page_draw(&top->view, &top->watch.rows, file, top->screen.columns, top->screen.lines);
    if (fclose(file) == 0)
        takt_cli_screen_write(&top->screen, frame, size);
    else
        free(frame);
}

/* Looks only at rows on the screen. */
static void look(cli_top *top)
{
    if (top->screen.open)
        takt_cli_rows_look(&top->watch.rows, top->view.first,
                           takt_cli_page_rows(top->screen.lines));
    else
        takt_cli_rows_look(&top->watch.rows, 0, top->watch.rows.count);
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* The chosen row stays chosen when it moves. */
static void show_list(cli_top *top)
{
    takt_cli_view *view = &top->view;
    const takt_cli_row *chosen =
        view->chosen < top->watch.rows.count ? top->watch.rows.all[view->chosen] : NULL;

    takt_cli_watch_listed(&top->watch, view->note);
    for (size_t i = 0; i < top->watch.rows.count; i++)
        if (top->watch.rows.all[i] == chosen && chosen)
            view->chosen = i;
}

static void on_listed(void *data)
{
    cli_top *top = data;

    if (top->watch.rows.closed)
        return;
    show_list(top);
    look(top);
    draw(top);
}

static void on_timer(uv_timer_t *timer)
{
    cli_top *top = timer->data;

    if (top->screen.open)
        takt_cli_watch_again(&top->watch);
    look(top);
    if (top->screen.open)
        draw(top);
}

static void on_looked(void *data)
{
    cli_top *top = data;

    if (top->screen.open)
        draw(top);
    else if (!top->watch.rows.closed && (--top->looks_left <= 0 || top->watch.rows.count == 0 ||
                                         top->watch.rows.all[0]->status < 0))
        end(top);
    else if (!top->watch.rows.closed)
        uv_timer_start(&top->timer, on_timer, (uint64_t)top->watch.rows.interval_us / 1000, 0);
}

static void on_steered(void *data, const takt_cli_row *row, int status,
                       const takt_standing *standing)
{
    cli_top *top = data;

    takt_cli_steer_answer(&top->view, row, status, standing);
    look(top);
    draw(top);
}

static void on_event(void *data, const char *text)
{
    cli_top *top = data;

    snprintf(top->view.event, sizeof(top->view.event), "%s", text);
    if (!top->screen.open)
        takt_message("%s", text);
    else if (!top->watch.session.store_lost)
        takt_cli_steer_tell(&top->view, "%s", text);
}

/* Prints the rows, and the limits that could not be read; returns the exit status. */
static int print(cli_top *top)
{
    int status = 0;

    for (size_t i = 0; i < top->watch.rows.count; i++)
        if (top->watch.rows.all[i]->status < 0)
            status = takt_cli_refusal(&top->watch.session, &top->watch.rows.all[i]->target,
                                      top->watch.rows.all[i]->status, NULL);
    if (top->watch.settings->json)
        takt_cli_table_print_json(&top->watch.rows);
    else
        takt_cli_table_print(&top->watch.rows);
    int output = takt_message_end_output();
    return status ? status : output;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static void name_store(cli_top *top)
{
    const char *url = takt_cli_store(top->watch.settings);
    char standard[sizeof(top->view.store)] = "";
    takt_error error;

    url = url ? url : takt_policy_store(top->watch.session.policy);
    if (!url && takt_store_default_url(standard, sizeof(standard), &error) == 0)
        url = standard;
    takt_cli_store_shown(url ? url : "", top->view.store, sizeof(top->view.store));
}

static void on_changed(void *data)
{
    draw(data);
}

static void on_press(void *data, takt_cli_key key, char byte)
{
    cli_top *top = data;
    size_t first = top->view.first;
    takt_cli_act act = takt_cli_steer_press(&top->view, &top->watch.rows, key, byte);

    if (act == ACT_END)
        end(top);
    else if (act == ACT_SUSPEND)
        takt_cli_screen_suspend(&top->screen);
    draw(top);
    if (!top->watch.rows.closed && top->view.first != first)
        look(top); /* look at rows that have scrolled in */
}

static int open_screen(cli_top *top)
{
    top->screen.pressed = on_press;
    top->screen.changed = on_changed;
    top->screen.gone = on_gone;
    top->screen.data = top;
    int failed = takt_cli_screen_open(&top->screen, &top->watch.session.loop);
    if (failed)
        takt_message("cannot use the terminal: %s", uv_strerror(failed));
    return failed ? EX_OSERR : 0;
}

/* Runs until a key, a signal or, without a screen, the last look ends it. */
static int look_on(cli_top *top, bool screen)
{
    int status = 0;

    uv_timer_init(&top->watch.session.loop, &top->timer);
    top->timer.data = top;
    takt_signals_open(&top->signals, &top->watch.session.loop, ending_signals, on_signal, top);
    if (screen)
        status = open_screen(top);
    if (status) {
        end(top);
        return status;
    }
    top->looks_left = top->watch.rows.interval_us > 0 ? 2 : 1;
    if (screen)
        uv_timer_start(&top->timer, on_timer, 0, (uint64_t)top->watch.rows.interval_us / 1000);
    else
        look(top);
    uv_run(&top->watch.session.loop, UV_RUN_DEFAULT);
    return screen || top->signal ? top->status : print(top);
}

/* Dies of the signal, so that the parent process sees it. */
static void die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

static int show(cli_top *top)
{
    bool screen = !top->once && !top->watch.settings->json && takt_cli_screen_is_there();

    name_store(top);
    top->view.foreign = top->watch.lister.foreign;
    if (!screen || top->view.foreign) { /* the screen lists by itself */
        takt_cli_watch_list(&top->watch, top->view.note);
        if (!screen && top->view.note[0])
            takt_message("%s", top->view.note);
    }
    if (top->watch.rows.count > 0)
        return look_on(top, screen);
    takt_message("nothing is in use in namespace %s of %s",
                 takt_policy_namespace(top->watch.session.policy), top->view.store);
    return 0;
}

static int run(cli_top *top)
{
    takt_cli_watch *watch = &top->watch;

    watch->session.on_event = on_event;
    watch->session.data = watch->rows.data = watch->lister.data = top;
    watch->lister.listed = on_listed;
    watch->rows.looked = on_looked;
    watch->rows.steered = on_steered;
    int status = takt_cli_watch_open(watch);
    if (status == 0)
        status = show(top);
    takt_cli_watch_close(watch);
    if (top->signal)
        die_of(top->signal);
    return status;
}

int takt_cli_top_print_all(takt_cli_settings *settings)
{
    cli_top top = {.watch.settings = settings, .once = true};

    setlocale(LC_CTYPE, "");
    return run(&top);
}

int takt_cli_top(int argc, char **argv, takt_cli_settings *settings)
{
    cli_top top = {.watch = {.settings = settings, .rows.interval_us = INTERVAL_US}};

    setlocale(LC_CTYPE, "");
    takt_cli_parse(&argp, argc, argv, false, &top);
    return run(&top);
}
