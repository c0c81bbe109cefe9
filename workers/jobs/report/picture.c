/*
 * picture.c: every line of the picture ends with a newline, so that output after a killed worker
 * begins below it. No line is longer than the terminal is wide, so that going up by the number of
 * lines leads to the start of the picture. If the window has become narrower, the terminal has
 * broken the old lines into several.
 */
#include "picture.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kit/text.h"

#define NAME_MAX_SHOWN 16
#define BESIDES        5 /* lines that are not limits: two on top, heads, the rest, a trouble */
#define DAYS_MAX       3650.0
#define QUOTA_SIZE     256

/* Adds a line, cut to the terminal's width, without control characters. */
__attribute__((format(printf, 3, 4))) static void add(takt_report_picture *picture,
                                                      unsigned columns, const char *format, ...)
{
    char text[1024], *to = picture->lines[picture->count];
    const char *at = text, *end;
    unsigned width = 0;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    end = text + strlen(text);
    while (at < end && width + 1 < columns) {
        const char *from = at;
        uint32_t letter = 0;
        size_t size = takt_utf8_decode(at, (size_t)(end - at), &letter);
        at += size > 0 ? size : 1;
        if (size == 0 || takt_quote_hides(letter)) {
            *to++ = '?';
        } else {
            memcpy(to, from, (size_t)(at - from));
            to += at - from;
        }
        width++;
    }
    *to = '\0';
    picture->widths[picture->count++] = width;
}

/* At most seven characters. */
static const char *shown_number(uint64_t number, char text[16])
{
    if (number < 10000000)
        snprintf(text, 16, "%" PRIu64, number);
    else if (number < UINT64_C(100000000000))
        snprintf(text, 16, "%.1fM", (double)number / 1e6);
    else
        snprintf(text, 16, ">99999M");
    return text;
}

static const char *shown_rate(double rate, char text[16])
{
    snprintf(text, 16, rate < 1000 ? "%.1f/s" : "%.0f/s", rate < 99999 ? rate : 99999);
    return text;
}

/* How long the waiting jobs will take: the time of the slowest limit, and at least that of all jobs
 * together by the total. 0: unknown, as when jobs wait and none starts. */
static double seconds_left(const takt_figures *figures)
{
    takt_report_limit sum = takt_figures_sum(figures);
    double rate = takt_rate_now(&figures->rate), longest = 0;

    if (figures->total > sum.done + sum.dead && rate > 0)
        longest = (double)(figures->total - sum.done - sum.dead) / rate;
    for (const takt_report_limit *at = figures->limits; at && longest > 0; at = at->next) {
        double waiting = (double)(at->waiting + at->put_away), starts = takt_rate_now(&at->rate);
        if (waiting > 0 && starts <= 0)
            return 0;
        if (waiting > 0 && waiting / starts > longest)
            longest = waiting / starts;
    }
    return longest;
}

static void add_second(takt_report_picture *picture, const takt_figures *figures, unsigned columns)
{
    static const char *const phases[] = {
        [TAKT_REPORT_STARTING] = "starting",
        [TAKT_REPORT_WORKING] = "working",
        [TAKT_REPORT_DRAINING] = "stopping: running jobs end, waiting jobs are given back",
    };
    double seconds = figures->phase == TAKT_REPORT_WORKING ? seconds_left(figures) : 0;
    char now[16], span[TAKT_SPAN_SIZE], left[TAKT_FIGURES_NOTICE_SIZE + 8] = "";

    if (figures->phase == TAKT_REPORT_WORKING && figures->notice[0])
        snprintf(left, sizeof(left), "; %s", figures->notice);
    else if (seconds > 0 && seconds < DAYS_MAX * 86400)
        snprintf(left, sizeof(left), ", about %s left",
                 takt_format_rough_span((int64_t)(seconds * 1e6), span));
    add(picture, columns, "%s, %s%s", phases[figures->phase],
        shown_rate(takt_rate_now(&figures->rate), now), left);
}

static const char *shown_name(const char *name, char text[NAME_MAX_SHOWN + 1])
{
    if (strlen(name) <= NAME_MAX_SHOWN)
        snprintf(text, NAME_MAX_SHOWN + 1, "%s", name);
    else
        snprintf(text, NAME_MAX_SHOWN + 1, "%.*s~", NAME_MAX_SHOWN - 1, name);
    return text;
}

static void add_limit(takt_report_picture *picture, const takt_report_limit *limit,
                      const takt_policy *policy, unsigned columns)
{
    char name[NAME_MAX_SHOWN + 1], quota[QUOTA_SIZE], now[16], done[16], dead[16], running[16],
        waiting[16];

    if (!policy || takt_policy_describe(policy, limit->name, quota, sizeof(quota)) != 0)
        snprintf(quota, sizeof(quota), "?");
    add(picture, columns, "%-*s %8s %7s %7s %7s %7s  %s", NAME_MAX_SHOWN,
        shown_name(limit->name, name), shown_rate(takt_rate_now(&limit->rate), now),
        shown_number(limit->done, done), shown_number(limit->dead, dead),
        shown_number(limit->running, running),
        shown_number(limit->waiting + limit->put_away, waiting), quota);
}

/* Whether `one` is busier than `other`. */
static bool is_livelier(const takt_report_limit *one, const takt_report_limit *other)
{
    uint64_t here = one->waiting + one->put_away + one->running;
    uint64_t there = other->waiting + other->put_away + other->running;

    return here != there ? here > there : one->started > other->started;
}

/* If there is no room for all limits, the busiest ones are shown, in the usual order. */
static bool is_shown(const takt_figures *figures, const takt_report_limit *limit, unsigned room)
{
    unsigned before = 0;

    for (const takt_report_limit *at = figures->limits; at && before < room; at = at->next)
        before += at != limit && is_livelier(at, limit);
    if (before >= room)
        return false;
    for (const takt_report_limit *at = figures->limits; at != limit && before < room; at = at->next)
        /* equally busy: the first one wins */
        before += !is_livelier(at, limit) && !is_livelier(limit, at);
    return before < room;
}

static void add_limits(takt_report_picture *picture, const takt_figures *figures,
                       const takt_policy *policy, unsigned columns, unsigned room)
{
    unsigned left_out = 0;

    add(picture, columns, "%-*s %8s %7s %7s %7s %7s  %s", NAME_MAX_SHOWN, "limit", "rate now",
        "done", "failed", "running", "waiting", "quota");
    for (const takt_report_limit *at = figures->limits; at; at = at->next) {
        if (is_shown(figures, at, room))
            add_limit(picture, at, policy, columns);
        else
            left_out++;
    }
    if (left_out > 0)
        add(picture, columns, "and %u more limit%s", left_out, takt_plural(left_out));
}

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

void takt_report_picture_make(takt_report_picture *picture, const takt_figures *figures,
                              const takt_policy *policy, unsigned columns, unsigned rows)
{
    const takt_report_trouble *trouble = takt_figures_first_trouble(figures);
    char text[160];

    columns = min(columns, TAKT_REPORT_PICTURE_COLUMNS_MAX);
    rows = min(rows, TAKT_REPORT_PICTURE_LINES_MAX);
    picture->count = 0;
    if (rows < 2)
        return;
    takt_figures_line(figures, text, sizeof(text));
    add(picture, columns, "%s: %s", figures->name, text);
    if (rows > 2)
        add_second(picture, figures, columns);
    if (figures->limits && rows > BESIDES + 1)
        add_limits(picture, figures, policy, columns, rows - BESIDES - 1);
    if (trouble && picture->count + 1 < rows)
        add(picture, columns, "%s: %s", trouble->who, trouble->text);
}

/* Moves the cursor up to the start of the picture. */
static size_t go_up(const takt_report_picture *before, unsigned columns, char *text)
{
    unsigned lines = 0;

    for (unsigned i = 0; i < before->count; i++)
        lines += before->widths[i] <= columns || columns == 0
                     ? 1
                     : (before->widths[i] + columns - 1) / columns;
    return lines > 0 ? (size_t)sprintf(text, "\r\033[%uA", lines) : 0;
}

size_t takt_report_picture_wipe(const takt_report_picture *before, unsigned columns, char *text)
{
    size_t used = go_up(before, columns, text);

    return used > 0 ? used + (size_t)sprintf(text + used, "\033[J") : 0;
}

size_t takt_report_picture_draw(const takt_report_picture *before,
                                const takt_report_picture *picture, unsigned columns, char *text)
{
    size_t used = go_up(before, columns, text);

    for (unsigned i = 0; i < picture->count; i++)
        used += (size_t)sprintf(text + used, "%s\033[K\n", picture->lines[i]);
    return used + (size_t)sprintf(text + used, "\033[J");
}
