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
#include "top_list.h"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};

#define INTERVAL_US     1000000
#define INTERVAL_MIN_US 100000
#define INTERVAL_MAX_US 60000000
#define LIST_EVERY_MS   10000

enum { KEY_INTERVAL = 0x200, KEY_ONCE };

typedef struct cli_top {
    takt_cli_settings *settings;
    takt_cli_target *targets; /* the targets named on the command line */
    size_t target_count;
    bool once;

    takt_cli_session session;
    takt_cli_lister lister;
    size_t fixed; /* rows of the policy, which precede the listed ones */
    uint64_t listed_at_ms;
    takt_cli_rows rows;
    takt_cli_view view;
    takt_cli_screen screen;
    uv_timer_t timer;
    takt_signals signals;
    int looks_left; /* without a screen */
    int signal;     /* the signal that ended it; 0: none */
    int status;     /* the exit status */
} cli_top;

static void add_target(struct argp_state *state, cli_top *top, const char *word)
{
    takt_cli_target *targets = realloc(top->targets, (top->target_count + 1) * sizeof(*targets));

    if (!targets)
        argp_failure(state, EX_OSERR, 0, "%s", takt_strerror(TAKT_E_NOMEM));
    top->targets = targets;
    takt_cli_read_target(state, word, &targets[top->target_count++]);
}

static void read_interval(struct argp_state *state, cli_top *top, const char *word)
{
    top->rows.interval_us = takt_argument_any_duration(state, "--interval", word);
    if (top->rows.interval_us < INTERVAL_MIN_US || top->rows.interval_us > INTERVAL_MAX_US)
        argp_error(state, "--interval is from 100ms to 1min, not %s", word);
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_top *top = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        for (int i = 0; i < 3; i++)
            state->child_inputs[i] = top->settings;
        return 0;
    case KEY_INTERVAL:
        read_interval(state, top, word);
        return 0;
    case KEY_ONCE:
        top->once = true;
        return 0;
    case ARGP_KEY_ARG:
        add_target(state, top, word);
        return 0;
    case ARGP_KEY_END:
        if (takt_cli_is_ad_hoc(top->settings) && top->target_count == 0)
            argp_error(state, "name a limit: there is no policy to take it from");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"interval", KEY_INTERVAL, "DURATION", 0, "Look that often, 100ms to 1min (default 1s)", 1},
    {"once", KEY_ONCE, 0, 0, "Print one table, and end; so it does where there is no terminal", 1},
    {0},
};
static const struct argp_child children[] = {{&takt_cli_json_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_place_argp, 0, NULL, 0},
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
    if (top->rows.closed)
        return;
    top->rows.closed = true;
    takt_cli_screen_close(&top->screen);
    uv_close((uv_handle_t *)&top->timer, NULL);
    takt_signals_close(&top->signals);
    takt_close(top->session.client, NULL, NULL);
    top->session.client = NULL;
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
    if (top->rows.closed || top->screen.frame)
        return;
    file = open_memstream(&frame, &size);
    if (!file)
        return;
    takt_cli_page_draw(&top->view, &top->rows, file, top->screen.columns, top->screen.lines);
    if (fclose(file) == 0)
        takt_cli_screen_write(&top->screen, frame, size);
    else
        free(frame);
}

/* Looks only at rows on the screen. */
static void look(cli_top *top)
{
    if (top->screen.open)
        takt_cli_rows_look(&top->rows, top->view.first, takt_cli_page_rows(top->screen.lines));
    else
        takt_cli_rows_look(&top->rows, 0, top->rows.count);
}

/* ---- looks ----------------------------------------------------------------------------------- */

/* A followed policy may have new limits, whose rows precede the keys. */
static bool add_policy(cli_top *top)
{
    size_t before = top->rows.count, added;
    takt_cli_row *row;

    if (top->lister.foreign)
        return true;
    if (!takt_cli_rows_add_policy(&top->rows))
        return false;
    added = top->rows.count - before;
    for (size_t i = 0; i < added && before > top->fixed; i++) {
        row = top->rows.all[before + i];
        memmove(&top->rows.all[top->fixed + i + 1], &top->rows.all[top->fixed + i],
                (before - top->fixed) * sizeof(takt_cli_row *));
        top->rows.all[top->fixed + i] = row;
    }
    top->fixed += added;
    return true;
}

/* The chosen row stays chosen when it moves. */
static void show_list(cli_top *top)
{
    takt_cli_view *view = &top->view;
    const takt_cli_row *chosen =
        view->chosen < top->rows.count ? top->rows.all[view->chosen] : NULL;

    if (top->lister.code == 0 && top->lister.read)
        (void)takt_cli_lister_show(&top->lister, &top->rows, top->fixed);
    for (size_t i = 0; i < top->rows.count; i++)
        if (top->rows.all[i] == chosen && chosen)
            view->chosen = i;
    takt_cli_lister_note(&top->lister, view->note);
}

static void on_listed(void *data)
{
    cli_top *top = data;

    if (top->rows.closed)
        return;
    show_list(top);
    look(top);
    draw(top);
}

static void list_again(cli_top *top)
{
    uint64_t now_ms = uv_now(&top->session.loop);

    (void)add_policy(top);
    if (!top->screen.open || (top->listed_at_ms && now_ms - top->listed_at_ms < LIST_EVERY_MS))
        return;
    top->listed_at_ms = now_ms ? now_ms : 1;
    takt_cli_lister_again(&top->lister, &top->session.loop);
}

static void on_timer(uv_timer_t *timer)
{
    cli_top *top = timer->data;

    if (top->target_count == 0)
        list_again(top);
    look(top);
    if (top->screen.open)
        draw(top);
}

static void on_looked(void *data)
{
    cli_top *top = data;

    if (top->screen.open)
        draw(top);
    else if (!top->rows.closed &&
             (--top->looks_left <= 0 || top->rows.count == 0 || top->rows.all[0]->status < 0))
        end(top);
    else if (!top->rows.closed)
        uv_timer_start(&top->timer, on_timer, (uint64_t)top->rows.interval_us / 1000, 0);
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
    else if (!top->session.store_lost)
        takt_cli_steer_tell(&top->view, "%s", text);
}

/* Prints the rows, and the limits that could not be read; returns the exit status. */
static int print(cli_top *top)
{
    int status = 0;

    for (size_t i = 0; i < top->rows.count; i++)
        if (top->rows.all[i]->status < 0)
            status = takt_cli_refusal(&top->session, &top->rows.all[i]->target,
                                      top->rows.all[i]->status, 1);
    if (top->settings->json)
        takt_cli_table_print_json(&top->rows);
    else
        takt_cli_table_print(&top->rows);
    int output = takt_message_end_output();
    return status ? status : output;
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Adds the rows: the limits named, else all. */
static int add_rows(cli_top *top)
{
    bool added = top->target_count > 0 || add_policy(top);

    for (size_t i = 0; added && i < top->target_count; i++) {
        const takt_cli_target *target = &top->targets[i];
        if (!takt_policy_has(top->session.policy, target->limit))
            return takt_cli_refuse_limit(top->session.policy, target->limit);
        added = takt_cli_rows_add(&top->rows, target);
    }
    if (!added)
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
    else if (top->rows.count == 0 && !top->lister.foreign)
        takt_message("the policy has no limits");
    return !added ? EX_OSERR : top->rows.count == 0 && !top->lister.foreign ? EX_CONFIG : 0;
}

static void name_store(cli_top *top)
{
    const char *url = takt_cli_store(top->settings);
    char standard[sizeof(top->view.store)] = "";
    takt_error error;

    url = url ? url : takt_policy_store(top->session.policy);
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
    takt_cli_act act = takt_cli_steer_press(&top->view, &top->rows, key, byte);

    if (act == ACT_END)
        end(top);
    else if (act == ACT_SUSPEND)
        takt_cli_screen_suspend(&top->screen);
    draw(top);
    if (!top->rows.closed && top->view.first != first)
        look(top); /* look at rows that have scrolled in */
}

static int open_screen(cli_top *top)
{
    top->screen.pressed = on_press;
    top->screen.changed = on_changed;
    top->screen.gone = on_gone;
    top->screen.data = top;
    int failed = takt_cli_screen_open(&top->screen, &top->session.loop);
    if (failed)
        takt_message("cannot use the terminal: %s", uv_strerror(failed));
    return failed ? EX_OSERR : 0;
}

/* Runs until a key, a signal or, without a screen, the last look ends it. */
static int watch(cli_top *top, bool screen)
{
    int status = 0;

    uv_timer_init(&top->session.loop, &top->timer);
    top->timer.data = top;
    takt_signals_open(&top->signals, &top->session.loop, ending_signals, on_signal, top);
    if (screen)
        status = open_screen(top);
    if (status) {
        end(top);
        return status;
    }
    top->looks_left = top->rows.interval_us > 0 ? 2 : 1;
    if (screen)
        uv_timer_start(&top->timer, on_timer, 0, (uint64_t)top->rows.interval_us / 1000);
    else
        look(top);
    uv_run(&top->session.loop, UV_RUN_DEFAULT);
    return screen || top->signal ? top->status : print(top);
}

/* Dies of the signal, so that the parent process sees it. */
static void die_of(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* Without a policy the rules come from the ledgers. */
static int open_session(cli_top *top)
{
    const takt_ledgers *ledgers;
    int code;

    top->lister.foreign = top->target_count == 0 && !takt_cli_has_policy(top->settings);
    if (!top->lister.foreign)
        return takt_cli_open(&top->session, top->settings,
                             takt_cli_is_ad_hoc(top->settings) ? &top->targets[0] : NULL);
    code = takt_cli_lister_begin(&top->lister, takt_cli_store(top->settings), NULL);
    if (code != 0)
        return takt_cli_refuse_store(top->settings, code, &top->lister.error);
    ledgers = takt_cli_lister_take(&top->lister);
    if (!ledgers)
        return EX_OSERR;
    top->view.foreign = true;
    /* the client only reads it, and the lister frees it */
    return takt_cli_open_by(&top->session, top->settings, (takt_policy *)(uintptr_t)ledgers->policy,
                            NULL);
}

/* Lists what there is beside the limits of the policy. */
static void begin_list(cli_top *top, bool screen)
{
    const takt_policy *policy = top->session.policy;
    const char *url = takt_cli_store(top->settings);

    /* the screen starts the list itself */
    if (top->target_count > 0 || (screen && !top->lister.foreign))
        return;
    top->lister.code = takt_cli_lister_begin(&top->lister, url ? url : takt_policy_store(policy),
                                             takt_policy_namespace(policy));
    show_list(top);
    if (!screen && top->view.note[0])
        takt_message("%s", top->view.note);
}

static int show(cli_top *top)
{
    bool screen = !top->once && !top->settings->json && takt_cli_screen_is_there();
    int status;

    name_store(top);
    status = add_rows(top);
    if (status)
        return status;
    begin_list(top, screen);
    if (top->rows.count > 0)
        return watch(top, screen);
    takt_message("nothing is in use in namespace %s of %s",
                 takt_policy_namespace(top->session.policy), top->view.store);
    return 0;
}

static int run(cli_top *top)
{
    top->session.on_event = on_event;
    top->session.data = top->rows.data = top->lister.data = top;
    top->lister.listed = on_listed;
    top->rows.session = &top->session;
    top->rows.looked = on_looked;
    top->rows.steered = on_steered;
    int status = open_session(top);
    if (status == 0) {
        status = show(top);
        if (top->lister.foreign)
            top->session.policy = NULL;
        takt_cli_close(&top->session);
    }
    takt_cli_rows_free(&top->rows);
    takt_cli_lister_free(&top->lister);
    free(top->targets);
    if (top->signal)
        die_of(top->signal);
    return status;
}

int takt_cli_top_print_all(takt_cli_settings *settings)
{
    cli_top top = {.settings = settings, .once = true};

    setlocale(LC_CTYPE, "");
    return run(&top);
}

int takt_cli_top(int argc, char **argv, takt_cli_settings *settings)
{
    cli_top top = {.settings = settings, .rows.interval_us = INTERVAL_US};

    setlocale(LC_CTYPE, "");
    takt_cli_parse(&argp, argc, argv, false, &top);
    return run(&top);
}
