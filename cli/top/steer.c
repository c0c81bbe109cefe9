/*
 * Handles keys: choosing a limit, blocking and unblocking it, and the question for how long and
 * why.
 */
#include <stdarg.h>
#include <string.h>

#include "kit/message.h"
#include "top.h"

void takt_cli_steer_tell(takt_cli_view *view, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(view->message, sizeof(view->message), format, arguments);
    va_end(arguments);
}

void takt_cli_steer_answer(takt_cli_view *view, const takt_cli_row *row, int status,
                           const takt_standing *standing)
{
    char span[TAKT_SPAN_SIZE];

    if (!standing)
        takt_cli_steer_tell(view, "%.100s is unchanged: %s", row->target.text,
                            takt_strerror(status));
    else if (standing->blocked_until_us > standing->now_us)
        takt_cli_steer_tell(view, "%.100s is blocked for %s", row->target.text,
                            takt_format_span(standing->blocked_until_us - standing->now_us, span));
    else
        takt_cli_steer_tell(view, "%.100s is not blocked", row->target.text);
}

static void on_steered(takt_call *call, int status, const takt_standing *standing)
{
    const takt_cli_row *row = call->data;

    if (!row->rows->closed)
        row->rows->steered(row->rows->data, row, status, standing);
}

static void tell_refusal(takt_cli_view *view, const takt_cli_row *row, int code)
{
    if (code == TAKT_E_BUSY)
        takt_cli_steer_tell(view, "%.100s: still waiting for the answer to the last key",
                            row->target.text);
    else if (code < 0)
        takt_cli_steer_tell(view, "%.100s: %s", row->target.text, takt_strerror(code));
}

static void unblock(takt_cli_view *view, takt_cli_row *row)
{
    tell_refusal(view, row,
                 takt_unblock(row->rows->session->client, &row->steer, row->target.limit,
                              row->target.key, on_steered));
}

/* Reads "10min the vendor is down". False: malformed, and the message shows the correct form. */
static bool block(takt_cli_view *view, takt_cli_row *row)
{
    char word[64];
    size_t size = strcspn(view->line, " ");
    const char *reason = view->line + size + strspn(view->line + size, " ");
    takt_error error = {0};
    int64_t for_us = 0;

    snprintf(word, sizeof(word), "%.*s", (int)(size < sizeof(word) ? size : sizeof(word) - 1),
             view->line);
    if (takt_parse_duration(word, &for_us, &error) != 0 || takt_check_reason(reason, &error) != 0) {
        takt_cli_steer_tell(view, "%s", error.text);
    } else if (for_us <= 0) {
        takt_cli_steer_tell(view, "a block must be longer than 0");
    } else {
        tell_refusal(view, row,
                     takt_block(row->rows->session->client, &row->steer, row->target.limit,
                                row->target.key, for_us, reason, on_steered));
        return true;
    }
    return false;
}

/* Handles a key while the question is open. */
static void write_answer(takt_cli_view *view, takt_cli_row *row, takt_cli_key key, char byte)
{
    size_t size = strlen(view->line);

    switch (key) {
    case KEY_CHARACTER:
        if (size + 1 < sizeof(view->line)) {
            view->line[size] = byte;
            view->line[size + 1] = '\0';
        }
        return;
    case KEY_ERASE:
        while (size > 0 && (view->line[--size] & 0xc0) == 0x80)
            continue;
        view->line[size] = '\0';
        return;
    case KEY_ERASE_ALL:
        view->line[0] = '\0';
        return;
    case KEY_ESCAPE:
        view->asking = false;
        return;
    case KEY_ENTER:
        view->asking = !block(view, row) && view->line[0] != '\0';
        return;
    default:
        return;
    }
}

static void choose(takt_cli_view *view, const takt_cli_rows *rows, int step)
{
    if (step < 0 && view->chosen > 0)
        view->chosen--;
    else if (step > 0 && view->chosen + 1 < rows->count)
        view->chosen++;
}

static takt_cli_act do_letter(takt_cli_view *view, takt_cli_rows *rows, takt_cli_row *row,
                              char letter)
{
    if (letter == 'j') {
        choose(view, rows, 1);
    } else if (letter == 'k') {
        choose(view, rows, -1);
    } else if (letter == '?') {
        view->help = true;
    } else if (letter == 't') {
        view->tenants = !view->tenants;
    } else if (letter == 'b' && row) {
        view->asking = true;
        view->line[0] = '\0';
    } else if (letter == 'u' && row) {
        unblock(view, row);
    }
    return letter == 'q' ? ACT_END : ACT_NONE;
}

takt_cli_act takt_cli_steer_press(takt_cli_view *view, takt_cli_rows *rows, takt_cli_key key,
                                  char byte)
{
    takt_cli_row *row = view->chosen < rows->count ? rows->all[view->chosen] : NULL;

    view->message[0] = '\0';
    if (key == KEY_INTERRUPT || key == KEY_SUSPEND)
        return key == KEY_INTERRUPT ? ACT_END : ACT_SUSPEND;
    if (view->asking && row)
        write_answer(view, row, key, byte);
    else if (view->help)
        view->help = false;
    else if (key == KEY_UP || key == KEY_DOWN)
        choose(view, rows, key == KEY_UP ? -1 : 1);
    else if (key == KEY_CHARACTER)
        return do_letter(view, rows, row, byte);
    return ACT_NONE;
}
