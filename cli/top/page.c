/*
 * The lines of a screen: a head, a row for each limit, details of the chosen one, a foot.
 */
#include <string.h>

#include "common/page.h"
#include "kit/message.h"
#include "kit/wall_clock.h"
#include "top.h"

#define HOME "\033[H"

#define MARK         2 /* columns before a row */
#define HEAD_LINES   3
#define HEAD_COLUMNS 60 /* columns that the right side of the head needs */
#define DETAIL_LINES 6
#define DETAILS_FROM 16 /* fewer lines have no details */
#define HEADS_FROM   6  /* fewer lines have a shorter head */

static int details_of(int lines)
{
    return lines >= DETAILS_FROM ? DETAIL_LINES : 0;
}

static int heads_of(int lines)
{
    return lines >= HEADS_FROM ? HEAD_LINES : 1;
}

size_t takt_cli_page_rows(int lines)
{
    int rows = lines - heads_of(lines) - details_of(lines) - 1;

    return rows > 0 ? (size_t)rows : 0;
}

static const takt_cli_row *latest(const takt_cli_rows *rows)
{
    const takt_cli_row *last = NULL;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->all[i]->seen && (!last || rows->all[i]->standing.now_us > last->standing.now_us))
            last = rows->all[i];
    return last;
}

/* The error of a look at a visible row; NULL: none. */
static const char *trouble_of(const takt_cli_view *view, const takt_cli_rows *rows, int lines,
                              char text[2 * TAKT_CLI_TOP_LINE])
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE];
    const takt_cli_row *last = latest(rows);
    size_t end = view->first + takt_cli_page_rows(lines);
    int status = 0;

    for (size_t i = view->first; i < rows->count && i < end; i++)
        if (rows->all[i]->status < 0 && rows->all[i]->status != TAKT_E_NO_LIMIT)
            status = rows->all[i]->status;
    if (status == 0)
        return NULL;
    snprintf(text, 2 * TAKT_CLI_TOP_LINE, last ? "! no answer since %s: %s" : "! no answer%s: %s",
             last ? takt_wall_clock_text(last->standing.now_us, moment) : "",
             rows->session->store_lost ? view->event : takt_strerror(status));
    return text;
}

static void draw_head(takt_cli_page *page, const takt_cli_view *view, const takt_cli_rows *rows)
{
    const takt_policy *policy = takt_get_policy(rows->session->client);
    const takt_cli_row *last = latest(rows);
    int64_t latency_us = takt_cli_rows_latency(rows);
    char right[3 * TAKT_WALL_CLOCK_TEXT_SIZE] = "", version[48] = "", span[TAKT_SPAN_SIZE],
                   moment[TAKT_WALL_CLOCK_TEXT_SIZE];
    int columns = page->columns;

    if (latency_us >= 0 && last)
        snprintf(right, sizeof(right), " %s, %s", takt_format_span(latency_us, span),
                 takt_wall_clock_text(last->standing.now_us, moment));
    if (takt_policy_version(policy) > 0)
        snprintf(version, sizeof(version), ", version %lld",
                 (long long)takt_policy_version(policy));
    if (!takt_cli_page_begin(page, TAKT_CLI_REVERSE))
        return;
    if (columns < HEAD_COLUMNS)
        right[0] = '\0';
    page->columns -= (int)strlen(right);
    if (view->foreign)
        takt_cli_page_put(page, "takt top  namespace %s, no policy, store %s",
                          takt_policy_namespace(policy), view->store);
    else
        takt_cli_page_put(page, "takt top  namespace %s, policy revision %lld%s, store %s",
                          takt_policy_namespace(policy), (long long)takt_policy_revision(policy),
                          version, view->store);
    page->blanks = page->columns > page->used ? page->columns - page->used : 0;
    page->columns = columns;
    takt_cli_page_text(page, right);
    takt_cli_page_end(page);
}

static void draw_heads(takt_cli_page *page, const takt_cli_view *view, const takt_cli_rows *rows,
                       int lines, const takt_cli_layout *layout)
{
    char text[2 * TAKT_CLI_TOP_LINE];
    /* the error of the last answer is shown here, since the foot repeats the question */
    const char *trouble =
        view->asking && view->message[0] ? view->message : trouble_of(view, rows, lines, text);

    if (heads_of(lines) < HEAD_LINES && trouble) {
        takt_cli_page_line(page, TAKT_CLI_BOLD, "%s", trouble);
        return;
    }
    draw_head(page, view, rows);
    if (heads_of(lines) < HEAD_LINES)
        return;
    takt_cli_page_line(page, trouble ? TAKT_CLI_BOLD : TAKT_CLI_PLAIN, "%s",
                       trouble ? trouble : view->note);
    if (!takt_cli_page_begin(page, TAKT_CLI_BOLD))
        return;
    page->blanks = MARK;
    if (view->tenants && view->chosen < rows->count)
        takt_cli_tenants_titles(page, rows->all[view->chosen]);
    else
        takt_cli_table_titles(page, layout);
    takt_cli_page_end(page);
}

static void draw_rows(takt_cli_page *page, const takt_cli_view *view, const takt_cli_rows *rows,
                      size_t count, const takt_cli_layout *layout)
{
    for (size_t i = view->first; i < view->first + count; i++) {
        const takt_cli_row *row = i < rows->count ? rows->all[i] : NULL;
        if (!takt_cli_page_begin(page,
                                 row && i == view->chosen ? TAKT_CLI_REVERSE : TAKT_CLI_PLAIN))
            return;
        if (row) {
            takt_cli_page_text(page, i == view->chosen ? "> " : "");
            page->blanks = MARK - page->used;
            takt_cli_table_row(page, row, layout);
        }
        takt_cli_page_end(page);
    }
}

/* "3 of 5", or of several rules "3 of 5 requests, 7200 of 8000 tokens". */
static void put_left(takt_cli_page *page, const takt_standing *standing)
{
    if (standing->rule_count < 2)
        takt_cli_page_put(page, "%lld of %lld", (long long)standing->remaining,
                          (long long)standing->limit);
    for (int i = 0; standing->rule_count > 1 && i < standing->rule_count; i++) {
        const takt_rule_standing *rule = &standing->rules[i];
        takt_cli_page_put(page, "%s%lld of %lld %s", i > 0 ? ", " : "", (long long)rule->remaining,
                          (long long)rule->limit, rule->unit);
    }
}

/* Whether a unit has a number alone: a list without a policy does not know its name. */
static bool has_numbered_unit(const takt_standing *standing)
{
    for (int i = 0; i < standing->rule_count; i++)
        if (strncmp(standing->rules[i].unit, "unit ", 5) == 0)
            return true;
    return false;
}

static void draw_use(takt_cli_page *page, const takt_cli_row *row)
{
    const takt_standing *standing = &row->standing;
    char rate[TAKT_CLI_CELL_SIZE], quota[TAKT_CLI_CELL_SIZE], span[TAKT_SPAN_SIZE];

    if (!takt_cli_page_begin(page, TAKT_CLI_PLAIN))
        return;
    if (row->quota_tokens > 0)
        takt_cli_page_put(page, "  rate %s of %s", takt_cli_table_rate(row, rate),
                          takt_cli_short_quota(row->quota_tokens, row->quota_us, quota));
    if (takt_cli_table_percent(row) >= 0)
        takt_cli_page_put(page, " (%d%%)", takt_cli_table_percent(row));
    if (standing->rate_percent < 100)
        takt_cli_page_put(page, ", penalties leave %lld%%", (long long)standing->rate_percent);
    takt_cli_page_put(page, "%s", row->quota_tokens > 0 ? "; " : "  ");
    put_left(page, standing);
    takt_cli_page_put(page, " left, full in %s", takt_format_span(standing->reset_after_us, span));
    if (has_numbered_unit(standing))
        takt_cli_page_put(page, "; only the policy names units");
    takt_cli_page_end(page);
}

static void draw_queue(takt_cli_page *page, const takt_cli_row *row)
{
    const takt_standing *standing = &row->standing;
    char span[TAKT_SPAN_SIZE];

    if (!takt_cli_page_begin(page, TAKT_CLI_PLAIN))
        return;
    takt_cli_page_put(page, "  %lld waiting in %lld worker%s", (long long)standing->waiting,
                      (long long)standing->workers, takt_plural((uint64_t)standing->workers));
    if (standing->concurrency > 0)
        takt_cli_page_put(page, "; %lld of %lld held in %lld worker%s", (long long)standing->held,
                          (long long)standing->concurrency, (long long)standing->holders,
                          takt_plural((uint64_t)standing->holders));
    if (standing->tenant_count > 0)
        takt_cli_page_put(page, "; t: %d %s%s", standing->tenant_count, row->subject,
                          takt_plural((uint64_t)standing->tenant_count));
    takt_cli_page_put(
        page, "; next slot %s%s", standing->retry_after_us > 0 ? "in " : "now",
        standing->retry_after_us > 0 ? takt_format_span(standing->retry_after_us, span) : "");
    takt_cli_page_end(page);
}

/* The block of the row, or what an outer limit does to its work. */
static void draw_block(takt_cli_page *page, const takt_cli_row *row)
{
    const takt_cli_row *delaying = takt_cli_delaying(row);
    const takt_standing *standing = &delaying->standing;
    const char *outer = delaying == row ? "" : delaying->target.text;
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], span[TAKT_SPAN_SIZE], next[TAKT_CLI_CELL_SIZE];

    if (standing->blocked_until_us > standing->now_us)
        takt_cli_page_line(page, TAKT_CLI_BOLD, "  %s%sblocked until %s, for another %s%s", outer,
                           *outer ? ": " : "",
                           takt_wall_clock_text(standing->blocked_until_us, moment),
                           takt_format_span(standing->blocked_until_us - standing->now_us, span),
                           standing->reason[0] ? ":" : "");
    else if (*outer)
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "  not blocked; %s: %s", outer,
                           takt_cli_table_next(delaying, next));
    else
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "  not blocked");
    takt_cli_page_line(page, TAKT_CLI_BOLD, "  %s", standing->reason);
}

/* The details of the chosen row. */
static void draw_details(takt_cli_page *page, const takt_cli_view *view, const takt_cli_rows *rows)
{
    const takt_cli_row *row = view->chosen < rows->count ? rows->all[view->chosen] : NULL;
    int left = page->lines_left - DETAIL_LINES;
    char rules[1024] = "";

    takt_cli_page_line(page, TAKT_CLI_PLAIN, "%s", "");
    if (row) {
        takt_policy_describe_key(takt_get_policy(rows->session->client), row->target.limit,
                                 row->target.key, rules, sizeof(rules));
        takt_cli_page_line(page, TAKT_CLI_BOLD, "%s: %s", row->target.text, rules);
    }
    if (row && row->seen) {
        draw_use(page, row);
        draw_queue(page, row);
        draw_block(page, row);
    }
    while (page->lines_left > left)
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "%s", "");
}

static const char *const help[] = {
    "",
    "  j k, arrows   choose a limit",
    "  b             block it: write for how long and, if you like, why, as in",
    "                  10min the vendor is down",
    "                Enter blocks it in the whole fleet, Esc cancels",
    "  u             unblock it",
    "  t             show who takes turns: tenants, or keys; t again shows the limits",
    "  q             quit",
    "",
    "  RATE     what the whole fleet takes, over at least the last five seconds",
    "  QUOTA    the rate of the limit's first rule",
    "  LATELY   how much of it was used, ten seconds a letter",
    "  WAITING  waiters, and the workers that they are in",
    "  HELD     held permits, of how many",
    "  NEXT     of the limit, or in brackets of one around it that comes later",
    "",
    "  The first line ends with how long the store takes to answer, the median of",
    "  the last looks, and the time by its clock.",
};

static void draw_help(takt_cli_page *page, int lines)
{
    for (int i = 0; i < lines; i++)
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "%s",
                           i < (int)(sizeof(help) / sizeof(help[0])) ? help[i] : "");
}

/* Shows the end of a typed text, where its writer is typing. */
static const char *tail_of(const char *text, int columns)
{
    size_t size = strlen(text);

    if (columns > 0 && size > (size_t)columns)
        text += size - (size_t)columns;
    while ((*text & 0xc0) == 0x80)
        text++;
    return text;
}

static void draw_foot(takt_cli_page *page, const takt_cli_view *view, const takt_cli_rows *rows)
{
    if (view->asking && view->chosen < rows->count) {
        if (!takt_cli_page_begin(page, TAKT_CLI_BOLD))
            return;
        takt_cli_page_put(page,
                          "block %.40s for (10min WHY): ", rows->all[view->chosen]->target.text);
        takt_cli_page_put(page, "%s_", tail_of(view->line, page->columns - page->used - 1));
        takt_cli_page_end(page);
    } else if (view->message[0]) {
        takt_cli_page_line(page, TAKT_CLI_BOLD, "%s", view->message);
    } else {
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "%s",
                           view->help      ? "any key goes back"
                           : view->tenants ? "q quit  j k choose the limit  t limits  ? help"
                                           : "q quit  j k choose  b block  u unblock  ? help");
    }
}

void takt_cli_page_draw(takt_cli_view *view, const takt_cli_rows *rows, FILE *file, int columns,
                        int lines)
{
    takt_cli_page page = {.file = file, .terminal = true, .columns = columns, .lines_left = lines};
    size_t count = takt_cli_page_rows(lines);
    takt_cli_layout layout = takt_cli_table_layout(rows, columns);

    if (view->chosen < view->first)
        view->first = view->chosen;
    if (count > 0 && view->chosen >= view->first + count)
        view->first = view->chosen - count + 1;
    fputs(HOME, file);
    draw_heads(&page, view, rows, lines, &layout);
    if (view->help) {
        draw_help(&page, (int)count + details_of(lines));
    } else {
        if (view->tenants && view->chosen < rows->count)
            takt_cli_tenants_draw(&page, rows->all[view->chosen], (int)count);
        else
            draw_rows(&page, view, rows, count, &layout);
        if (details_of(lines) > 0)
            draw_details(&page, view, rows);
    }
    draw_foot(&page, view, rows);
}
