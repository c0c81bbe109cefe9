/*
 * Opens handles for signals. The commands decide what a signal does.
 */
#include "kit/signals.h"

#include <assert.h>
#include <signal.h>

#include "kit/terminal.h"

const int takt_signals_ending[] = {SIGINT, SIGTERM, SIGHUP, 0};

static bool is_ignored(int number)
{
    struct sigaction before;

    return sigaction(number, NULL, &before) != 0 || before.sa_handler == SIG_IGN;
}

void takt_signals_open(takt_signals *signals, uv_loop_t *loop, const int *numbers,
                       uv_signal_cb on_signal, void *data)
{
    signals->had_terminal = takt_terminal_is_there();
    signals->under_nohup = signals->rereads && is_ignored(SIGHUP);
    for (; *numbers != 0; numbers++) {
        if (is_ignored(*numbers) && !(*numbers == SIGHUP && signals->rereads))
            continue;
        assert(signals->count < sizeof(signals->handles) / sizeof(signals->handles[0]));
        uv_signal_t *handle = &signals->handles[signals->count++];
        uv_signal_init(loop, handle);
        handle->data = data;
        uv_signal_start(handle, on_signal, *numbers);
    }
}

void takt_signals_ignore_broken_pipes(void)
{
    signal(SIGPIPE, SIG_IGN);
}

bool takt_signals_reread(const takt_signals *signals, int number)
{
    return number == SIGHUP &&
           (signals->under_nohup || !signals->had_terminal || takt_terminal_is_there());
}

void takt_signals_unref(takt_signals *signals)
{
    for (unsigned i = 0; i < signals->count; i++)
        uv_unref((uv_handle_t *)&signals->handles[i]);
}

void takt_signals_close(takt_signals *signals)
{
    for (unsigned i = 0; i < signals->count; i++)
        uv_close((uv_handle_t *)&signals->handles[i], NULL);
    signals->count = 0;
}
