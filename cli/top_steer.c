/*
 * What keys do: choose a limit, block and unblock it, ask for how long and why.
 */
#include <stdarg.h>
#include <string.h>

#include "message.h"
#include "top.h"

void takt_cli_top_tell(cli_top *top, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(top->message, sizeof(top->message), format, arguments);
    va_end(arguments);
}

static void on_steered(takt_call *call, int status, const takt_standing *standing)
{
    cli_row *row = call->data;
    cli_top *top = row->top;
    char span[TAKT_SPAN_SIZE];

    if (top->ending)
        return;
    if (!standing) {
        takt_cli_top_tell(top, "%.100s is as it was: %s", row->target.text, takt_strerror(status));
    } else if (standing->blocked_until_us > standing->now_us) {
        takt_cli_top_tell(top, "%.100s is blocked for %s", row->target.text,
                          takt_format_span(standing->blocked_until_us - standing->now_us, span));
    } else {
        takt_cli_top_tell(top, "%.100s is not blocked", row->target.text);
    }
    takt_cli_top_look(top);
    takt_cli_top_draw(top);
}

static void tell_refusal(cli_top *top, const cli_row *row, int code)
{
    if (code == TAKT_E_BUSY)
        takt_cli_top_tell(top, "%.100s: the answer to the last key is not there yet",
                          row->target.text);
    else if (code < 0)
        takt_cli_top_tell(top, "%.100s: %s", row->target.text, takt_strerror(code));
}

static void unblock(cli_top *top, cli_row *row)
{
    tell_refusal(top, row,
                 takt_unblock(top->session.client, &row->steer, row->target.limit, row->target.key,
                              on_steered));
}

/* "10min the vendor is down".  False: it is to be written otherwise, and the message says how. */
static bool block(cli_top *top, cli_row *row)
{
    char word[64];
    size_t size = strcspn(top->line, " ");
    const char *reason = top->line + size + strspn(top->line + size, " ");
    takt_error error = {0};
    int64_t for_us = 0;

    snprintf(word, sizeof(word), "%.*s", (int)(size < sizeof(word) ? size : sizeof(word) - 1),
             top->line);
    if (takt_parse_duration(word, &for_us, &error) != 0 || takt_check_reason(reason, &error) != 0) {
        takt_cli_top_tell(top, "%s", error.text);
    } else if (for_us <= 0) {
        takt_cli_top_tell(top, "a block is longer than 0");
    } else {
        tell_refusal(top, row,
                     takt_block(top->session.client, &row->steer, row->target.limit,
                                row->target.key, for_us, reason, on_steered));
        return true;
    }
    return false;
}

/* A key in answer to how long and why. */
static void write_answer(cli_top *top, cli_row *row, cli_key key, char byte)
{
    size_t size = strlen(top->line);

    switch (key) {
    case KEY_CHARACTER:
        if (size + 1 < sizeof(top->line)) {
            top->line[size] = byte;
            top->line[size + 1] = '\0';
        }
        return;
    case KEY_ERASE:
        while (size > 0 && (top->line[--size] & 0xc0) == 0x80)
            continue;
        top->line[size] = '\0';
        return;
    case KEY_ERASE_ALL:
        top->line[0] = '\0';
        return;
    case KEY_ESCAPE:
        top->asking = false;
        return;
    case KEY_ENTER:
        top->asking = !block(top, row) && top->line[0] != '\0';
        return;
    default:
        return;
    }
}

static void choose(cli_top *top, int step)
{
    if (step < 0 && top->chosen > 0)
        top->chosen--;
    else if (step > 0 && top->chosen + 1 < top->row_count)
        top->chosen++;
}

static void do_letter(cli_top *top, cli_row *row, char letter)
{
    if (letter == 'q') {
        takt_cli_top_end(top);
    } else if (letter == 'j') {
        choose(top, 1);
    } else if (letter == 'k') {
        choose(top, -1);
    } else if (letter == '?') {
        top->help = true;
    } else if (letter == 'b' && row) {
        top->asking = true;
        top->line[0] = '\0';
    } else if (letter == 'u' && row) {
        unblock(top, row);
    }
}

void takt_cli_top_press(void *data, cli_key key, char byte)
{
    cli_top *top = data;
    cli_row *row = top->chosen < top->row_count ? top->rows[top->chosen] : NULL;
    size_t first = top->first;

    top->message[0] = '\0';
    if (key == KEY_INTERRUPT)
        takt_cli_top_end(top);
    else if (key == KEY_SUSPEND)
        takt_cli_screen_suspend(&top->screen);
    else if (top->asking && row)
        write_answer(top, row, key, byte);
    else if (top->help)
        top->help = false;
    else if (key == KEY_UP || key == KEY_DOWN)
        choose(top, key == KEY_UP ? -1 : 1);
    else if (key == KEY_CHARACTER)
        do_letter(top, row, byte);
    takt_cli_top_draw(top);
    if (!top->ending && top->first != first)
        takt_cli_top_look(top); /* at the rows that have come into sight */
}
