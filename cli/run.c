/*
 * `takt run`: waits for a permit, then becomes the command. If the command needs no supervision,
 * exec replaces this process: signals, the terminal and the exit status then belong to the command,
 * at no cost. A limit with concurrency holds its permit until the command ends, and a limit in
 * shadow is evaluated at the end; then the command is a child of this process, which passes signals
 * on to it and ends as it ends.
 *
 * A command that was ended by a signal from here may leave processes behind that it had started.
 * They are ended as well before the permit is given back: SIGTERM, then SIGKILL after a while.
 * Processes left by a command that ended by itself are not touched.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "commands.h"
#include "common/page.h"
#include "common/session.h"
#include "common/shadow.h"
#include "kit/child.h"
#include "kit/environment.h"
#include "kit/message.h"
#include "kit/orphans.h"
#include "kit/signals.h"
#include "kit/terminal.h"
#include "kit/wait_notice.h"

enum { KEY_MAX_WAIT = 0x200, KEY_TRY };

/* Processes left behind by a signalled command: the time from SIGTERM to SIGKILL, the longest wait
 * for them, and the time between checks. */
#define LEFT_TIMEOUT_MS 2000
#define LEFT_GIVE_UP_MS 10000
#define LEFT_LOOK_MS    20

#define NOTICE_MS 250 /* time between redraws of the line about the wait */

/* Signals per check: a process that forks all the time must be slower than that. */
#define KILLS_A_LOOK 200

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, 0};

typedef struct cli_run {
    takt_cli_settings *settings;
    takt_cli_target target;
    takt_cli_wish wish;
    int64_t max_wait_us;
    bool now_or_never;
    char **command;

    takt_cli_session session;
    takt_request request;
    takt_permit permit;
    takt_call call;
    takt_wait_notice notice;
    uv_timer_t notice_timer;
    bool noticed; /* a line is on the terminal */
    takt_signals signals;
    int signal;        /* the signal that ended the wait or the command; 0: none */
    uv_signal_t ended; /* the end of the command */
    uv_timer_t look;   /* checks the processes left behind */
    uint64_t left_at_ms;
    bool told_to_end;
    pid_t child; /* 0: it has ended */
    takt_cli_shadows shadows;
    bool held;       /* the command runs, or has run, as our child */
    int exit_status; /* the command's */
    int status;      /* the acquire's */
} cli_run;

static error_t parse(int key, char *word, struct argp_state *state)
{
    cli_run *run = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &run->wish;
        state->child_inputs[1] = run->settings;
        state->child_inputs[2] = run->settings;
        return 0;
    case KEY_MAX_WAIT:
        run->max_wait_us = takt_argument_any_duration(state, "--max-wait", word);
        return 0;
    case KEY_TRY:
        run->now_or_never = true;
        return 0;
    default:
        return takt_cli_parse_command_line(key, word, state, &run->target, &run->command);
    }
}

static const struct argp_option options[] = {
    {"max-wait", KEY_MAX_WAIT, "DURATION", 0,
     "Give up after that long (250ms, 30s, 5min): exit status 75", 1},
    {"try", KEY_TRY, 0, 0, "Now or never: exit status 75 if it would have to wait", 1},
    {0},
};
static const struct argp_child children[] = {{&takt_cli_wish_argp, 0, NULL, 0},
                                             {&takt_cli_rate_argp, 0, NULL, 0},
                                             {&takt_cli_location_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    options,
    parse,
    "LIMIT[:KEY] -- COMMAND [ARGUMENT...]",
    "Waits until a slot of LIMIT is due, then runs COMMAND and exits with its status."
    "\vExit status: COMMAND's own; 64 wrong command line, 69 store unusable, 75 no slot in time, "
    "78 policy unusable, 126 COMMAND cannot be run, 127 COMMAND not found.\n\n"
    "Examples:\n"
    "  takt run mail -- ./send-one-mail\n"
    "  takt run api:acme --max-wait 30s -- curl -sf https://example.com/\n"
    "  takt run mail --rate 10/s --rate 800/day -- ./send-one-mail",
    children,
    NULL,
    NULL,
};

/* ---- the line about the wait ----------------------------------------------------------------- */

static void wipe_notice(cli_run *run)
{
    if (run->noticed && takt_terminal_is_ours(STDERR_FILENO))
        fputs(TAKT_TERMINAL_WIPE, stderr);
    run->noticed = false;
}

static void draw_notice(cli_run *run, const char *text)
{
    char line[TAKT_WAIT_NOTICE_SIZE + 64];
    unsigned columns, rows;

    wipe_notice(run);
    if (!*text || !takt_terminal_is_ours(STDERR_FILENO))
        return;
    snprintf(line, sizeof(line), "%s: %s", takt_message_name(), text);
    takt_terminal_size(STDERR_FILENO, &columns, &rows);
    takt_cli_fit(stderr, line, (int)columns - 1);
    run->noticed = true;
}

static void on_notice(uv_timer_t *timer)
{
    cli_run *run = timer->data;
    takt_wait_notice_waiter waiter = {&run->request, 1};
    bool lost = run->session.store_lost;
    const char *text = takt_wait_notice_tick(&run->notice, run->session.client, &waiter, 0, lost,
                                             uv_now(timer->loop));

    if (lost && *text && run->max_wait_us == 0)
        text = TAKT_WAIT_NOTICE_STORE " (--max-wait to give up)";
    draw_notice(run, text);
}

static void begin_notice(cli_run *run)
{
    uv_timer_init(&run->session.loop, &run->notice_timer);
    run->notice_timer.data = run;
    if (takt_terminal_can_draw(STDERR_FILENO))
        uv_timer_start(&run->notice_timer, on_notice, NOTICE_MS, NOTICE_MS);
}

/* A second call is harmless. */
static void end_notice(cli_run *run)
{
    wipe_notice(run);
    if (!uv_is_closing((uv_handle_t *)&run->notice_timer))
        uv_close((uv_handle_t *)&run->notice_timer, NULL);
}

static void on_event(void *data, const char *text)
{
    cli_run *run = data;

    wipe_notice(run);
    takt_message("%s", text);
}

/* ---- the permit and the command -------------------------------------------------------------- */

/* The rest of the loop's work ends by itself once client and signals are closed. */
static void end_waiting(cli_run *run)
{
    end_notice(run);
    takt_close(run->session.client, NULL, NULL);
    run->session.client = NULL;
    takt_signals_close(&run->signals);
}

static void give_back(cli_run *run)
{
    uv_close((uv_handle_t *)&run->ended, NULL);
    uv_close((uv_handle_t *)&run->look, NULL);
    takt_cli_shadows_read(&run->session, &run->shadows);
    takt_release(&run->permit);
    end_waiting(run);
}

/* Whether any process was left to signal. */
static bool kill_left(void)
{
    for (int i = 0; i < KILLS_A_LOOK; i++)
        if (takt_orphans_signal(SIGKILL) == 0)
            return false;
    return true;
}

static void on_look(uv_timer_t *timer)
{
    cli_run *run = timer->data;
    uint64_t since_ms = uv_now(timer->loop) - run->left_at_ms;
    bool left = since_ms < LEFT_TIMEOUT_MS ? takt_orphans_signal(0) > 0 : kill_left();

    if (!left || since_ms >= LEFT_GIVE_UP_MS)
        give_back(run);
}

/* Ends the processes that a signalled command left behind. */
static void end_left(cli_run *run)
{
    uv_update_time(&run->session.loop);
    run->left_at_ms = uv_now(&run->session.loop);
    if (run->told_to_end && takt_orphans_signal(SIGTERM) > 0)
        uv_timer_start(&run->look, on_look, LEFT_LOOK_MS, LEFT_LOOK_MS);
    else
        give_back(run);
}

/* A child has ended: the command, or an orphan of it. */
static void on_end(uv_signal_t *handle, int signal)
{
    cli_run *run = handle->data;
    pid_t child;
    int status;

    (void)signal;
    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
        if (child != run->child)
            continue;
        run->child = 0;
        run->exit_status = WEXITSTATUS(status);
        run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        end_left(run);
        return;
    }
}

/* Runs the command as a child while its permit is held. */
static void run_held(cli_run *run)
{
    int failed;

    run->held = true;
    takt_orphans_adopt();
    uv_timer_init(&run->session.loop, &run->look);
    uv_signal_init(&run->session.loop, &run->ended);
    run->ended.data = run->look.data = run;
    uv_signal_start(&run->ended, on_end, SIGCHLD);
    failed = takt_child_start(run->command, &run->child);
    if (failed == 0)
        return;
    takt_message("cannot run %s: %s", run->command[0], strerror(failed));
    run->exit_status = failed == ENOENT ? 127 : 126;
    give_back(run);
}

static void decide(cli_run *run, int status)
{
    run->status = status;
    end_notice(run);
    takt_cli_export_fence(&run->permit);
    takt_cli_shadows_read(&run->session, &run->shadows);
    if (status == 0 && (run->permit.fence > 0 || run->shadows.count > 0)) {
        run_held(run);
        return;
    }
    takt_release(&run->permit);
    end_waiting(run);
}

static void on_permit(takt_permit *permit, int status)
{
    cli_run *run = permit->data;

    if (run->session.client)
        decide(run, status);
}

static void on_verdict(takt_call *call, int status, const takt_standing *standing)
{
    cli_run *run = call->data;

    (void)standing;
    if (run->session.client)
        decide(run, status);
}

/* Whether the terminal sends its signals to our process group, to which the command belongs. */
static bool in_foreground(void)
{
    int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool found = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();

    if (terminal >= 0)
        close(terminal);
    return found;
}

/* Leaves the line before the signal takes effect, so that no worker keeps a place for this
 * process. */
static void on_signal(uv_signal_t *handle, int signal)
{
    cli_run *run = handle->data;

    if (run->held) {
        bool by_terminal = (signal == SIGINT || signal == SIGQUIT) && in_foreground();
        run->told_to_end |= signal != SIGUSR1 && signal != SIGUSR2;
        if (!by_terminal && run->child > 0) /* the terminal signals the command itself */
            kill(run->child, signal);
        return;
    }
    run->signal = signal;
    end_waiting(run);
}

/* 0, or the exit status that explains why there is no permit. */
static int wait_for_permit(cli_run *run)
{
    takt_request *request = &run->request;
    int failed = takt_cli_request(&run->session, &run->target, &run->wish, request);

    if (failed)
        return failed;
    request->max_wait_us = run->max_wait_us;
    run->permit.data = run->call.data = run;
    takt_signals_open(&run->signals, &run->session.loop, ending_signals, on_signal, run);
    begin_notice(run);
    if (run->now_or_never)
        failed =
            takt_try_acquire(run->session.client, &run->call, &run->permit, request, on_verdict);
    else
        failed = takt_acquire(run->session.client, &run->permit, request, on_permit);
    if (failed) {
        run->status = failed;
        end_waiting(run);
    }
    uv_run(&run->session.loop, UV_RUN_DEFAULT);
    if (run->signal || run->status == 0)
        return 0;
    return takt_cli_refusal(&run->session, &run->target, run->status, request);
}

int takt_cli_run(int argc, char **argv, takt_cli_settings *settings)
{
    cli_run run = {.settings = settings, .wish = {.cost = 1, .priority = TAKT_PRIORITY_POLICY}};

    takt_cli_parse(&argp, argc, argv, true, &run);
    setlocale(LC_CTYPE, ""); /* for the reasons shown on a terminal */
    run.session.on_event = on_event;
    run.session.data = &run;
    int status = takt_cli_open(&run.session, settings, &run.target);
    if (status)
        return status;
    status = wait_for_permit(&run);
    if (run.held)
        takt_cli_shadows_print(&run.shadows);
    takt_cli_close(&run.session);
    if (status)
        return status;
    if (run.signal) {
        signal(run.signal, SIG_DFL);
        raise(run.signal);
    }
    if (run.held)
        return run.exit_status;
    char **environment = takt_environment_for_commands();
    if (environment)
        execvpe(run.command[0], run.command, environment);
    else
        errno = ENOMEM;
    status = errno == ENOENT ? 127 : 126;
    takt_message("cannot run %s: %s", run.command[0], strerror(errno));
    free(environment);
    return status;
}
