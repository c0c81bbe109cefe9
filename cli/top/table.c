/*
 * A row for each limit: its columns, as on the screen and as a table elsewhere, or as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/page.h"
#include "common/standing.h"
#include "top.h"

#define WIDEST 100000 /* columns of output that is not a terminal */

/* The columns of the table; the name and the last one share the rest. */
#define MARK    2
#define RATE    6
#define OF      4
#define QUOTA   8
#define BAR     6
#define WAITING 11
#define HELD    7
#define STATE   16
#define NAME    8 /* the minimum */
#define GAPS    5

#define WAITING_NARROW 5
#define HISTORY_MIN    6
#define UNKNOWN        1000000000 /* permits, if the ledger's text does not say how many */

#define STATE_SIZE (2 * TAKT_CLI_CELL_SIZE + TAKT_NAME_SIZE_MAX + TAKT_KEY_SIZE_MAX)

#define FIXED (MARK + RATE + OF + QUOTA + BAR + WAITING + HELD + GAPS)

/* The used part of the quota in hundredths; -1: unknown. */
int takt_cli_table_percent(const takt_cli_row *row)
{
    double percent;

    if (row->rate < 0 || row->quota_tokens == 0)
        return -1;
    percent = row->rate * (double)row->quota_us / 1e4 / (double)row->quota_tokens;
    return percent < 999 ? (int)(percent + 0.5) : 999;
}

/* The rate in the unit of the quota. */
const char *takt_cli_table_rate(const takt_cli_row *row, char text[TAKT_CLI_CELL_SIZE])
{
    double rate = row->rate * (double)row->quota_us / 1e6;

    if (row->rate < 0 || row->quota_tokens == 0)
        strcpy(text, row->quota_tokens == 0 ? "" : "-");
    else if (rate >= 99999.5)
        takt_cli_short_count(rate < 9e18 ? (int64_t)rate : INT64_MAX, text);
    else
        snprintf(text, TAKT_CLI_CELL_SIZE, "%.*f", rate < 9.995 ? 2 : rate < 99.95 ? 1 : 0, rate);
    return text;
}

static void put_bar(takt_cli_page *page, int percent, int columns)
{
    char bar[64];
    int filled = percent > 100 ? columns : (percent * columns + 50) / 100;

    for (int i = 0; i < columns; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[columns] = '\0';
    takt_cli_page_cell(page, percent < 0 ? "" : bar, columns);
}

/* One character per stretch, the present one last: the part of the quota that was used. */
static void put_history(takt_cli_page *page, const takt_cli_row *row, int columns)
{
    static const char *const blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
                                         "\u2585", "\u2586", "\u2587", "\u2588"};
    static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    const char *const *levels = MB_CUR_MAX > 1 ? blocks : letters;
    char text[4 * TAKT_CLI_TOP_HISTORY + 1] = "";

    for (int64_t i = row->stretch - columns + 1; i <= row->stretch; i++) {
        int percent = i < 0 || !row->seen ? -1 : row->history[i % TAKT_CLI_TOP_HISTORY];
        strcat(text, percent < 0 ? " " : percent >= 100 ? levels[7] : levels[percent * 8 / 100]);
    }
    takt_cli_page_cell(page, text, columns);
}

const char *takt_cli_table_next(const takt_cli_row *row, char text[TAKT_CLI_CELL_SIZE])
{
    const takt_standing *standing = &row->standing;
    char span[TAKT_CLI_CELL_SIZE];

    if (standing->blocked_until_us > standing->now_us)
        snprintf(text, TAKT_CLI_CELL_SIZE, "blocked %s",
                 takt_cli_short_span(standing->blocked_until_us - standing->now_us, span));
    else if (standing->concurrency > 0 && standing->held >= standing->concurrency)
        snprintf(text, TAKT_CLI_CELL_SIZE, "all held");
    else if (standing->retry_after_us > 0)
        snprintf(text, TAKT_CLI_CELL_SIZE, "next %s",
                 takt_cli_short_span(standing->retry_after_us, span));
    else
        snprintf(text, TAKT_CLI_CELL_SIZE, "free");
    return text;
}

/* What an outer limit does to the row's work has this limit's name behind it. */
static const char *state_text(const takt_cli_row *row, char text[STATE_SIZE])
{
    const takt_cli_row *delaying;
    char next[TAKT_CLI_CELL_SIZE];
    int used = 0;

    if (row->status == TAKT_E_NO_LIMIT)
        return "not in policy";
    if (!row->seen)
        return row->status < 0 ? "no answer" : "";
    if (row->standing.rate_percent < 100)
        used = snprintf(text, 16, "%d%% ", (int)row->standing.rate_percent);
    delaying = takt_cli_delaying(row);
    snprintf(text + used, STATE_SIZE - (size_t)used, delaying == row ? "%s" : "%s (%s)",
             takt_cli_table_next(delaying, next), delaying->target.text);
    return text;
}

static void put_waiting(takt_cli_page *page, const takt_standing *standing, int columns)
{
    char text[2 * TAKT_CLI_CELL_SIZE + 8], waiting[TAKT_CLI_CELL_SIZE], in[TAKT_CLI_CELL_SIZE];

    snprintf(text, sizeof(text), standing->workers > 0 && columns == WAITING ? "%s in %s" : "%s",
             takt_cli_short_count(standing->waiting, waiting),
             takt_cli_short_count(standing->workers, in));
    takt_cli_page_cell(page, text, columns);
}

static void put_held(takt_cli_page *page, const takt_standing *standing)
{
    char text[2 * TAKT_CLI_CELL_SIZE + 8], held[TAKT_CLI_CELL_SIZE], all[TAKT_CLI_CELL_SIZE];

    snprintf(text, sizeof(text), standing->concurrency < UNKNOWN ? "%s/%s" : "%s",
             takt_cli_short_count(standing->held, held),
             takt_cli_short_count(standing->concurrency, all));
    takt_cli_page_cell(page, standing->concurrency > 0 ? text : "", HELD);
}

void takt_cli_table_row(takt_cli_page *page, const takt_cli_row *row, const takt_cli_layout *layout)
{
    char cell[TAKT_CLI_CELL_SIZE], quota[TAKT_CLI_CELL_SIZE], state[STATE_SIZE];

    takt_cli_page_cell(page, row->target.text, layout->name);
    takt_cli_page_put(page, "%*s", RATE, row->seen ? takt_cli_table_rate(row, cell) : "");
    takt_cli_page_put(page, "%s", row->seen && row->quota_tokens > 0 ? " of " : "    ");
    takt_cli_page_cell(page,
                       row->seen && row->quota_tokens > 0
                           ? takt_cli_short_quota(row->quota_tokens, row->quota_us, quota)
                           : "",
                       QUOTA);
    if (layout->bar > 0)
        put_bar(page, row->seen ? takt_cli_table_percent(row) : -1, layout->bar);
    if (layout->history > 0)
        put_history(page, row, layout->history);
    if (row->seen) {
        put_waiting(page, &row->standing, layout->waiting);
        put_held(page, &row->standing);
    } else {
        takt_cli_page_cell(page, "", layout->waiting);
        takt_cli_page_cell(page, "", HELD);
    }
    takt_cli_page_text(page, state_text(row, state));
}

void takt_cli_table_titles(takt_cli_page *page, const takt_cli_layout *layout)
{
    takt_cli_page_cell(page, "LIMIT", layout->name);
    takt_cli_page_put(page, "%*s%*s", RATE, "RATE", OF, "");
    takt_cli_page_cell(page, "QUOTA", QUOTA);
    if (layout->bar > 0)
        takt_cli_page_cell(page, "USED", layout->bar);
    if (layout->history > 0)
        takt_cli_page_cell(page, layout->history < 12 ? "LATELY" : "LAST MINUTES", layout->history);
    takt_cli_page_cell(page, layout->waiting < WAITING ? "WAIT" : "WAITING", layout->waiting);
    takt_cli_page_cell(page, "HELD", HELD);
    takt_cli_page_text(page, "NEXT SLOT");
}

static int longest_name(const takt_cli_rows *rows)
{
    size_t longest = 8;

    for (size_t i = 0; i < rows->count; i++)
        if (strlen(rows->all[i]->target.text) > longest)
            longest = strlen(rows->all[i]->target.text);
    return (int)longest;
}

takt_cli_layout takt_cli_table_layout(const takt_cli_rows *rows, int columns)
{
    takt_cli_layout layout = {.bar = BAR, .waiting = WAITING};
    int longest = longest_name(rows), room = columns - FIXED - STATE;

    if (room < NAME) { /* a narrow table: less room for each column */
        layout.bar = 0;
        layout.waiting = WAITING_NARROW;
        room += BAR + 1 + WAITING - WAITING_NARROW;
        room = room < NAME ? NAME : room;
    }
    layout.name = longest < room ? longest : room;
    room -= layout.name + 1;
    if (layout.bar > 0 && room >= HISTORY_MIN)
        layout.history = room < TAKT_CLI_TOP_HISTORY ? room : TAKT_CLI_TOP_HISTORY;
    return layout;
}

void takt_cli_table_print(const takt_cli_rows *rows)
{
    takt_cli_page page = {.file = stdout, .columns = WIDEST};
    takt_cli_layout layout = {.name = longest_name(rows), .bar = BAR, .waiting = WAITING};

    takt_cli_page_begin(&page, TAKT_CLI_PLAIN);
    takt_cli_table_titles(&page, &layout);
    takt_cli_page_end(&page);
    for (size_t i = 0; i < rows->count; i++) {
        const takt_standing *delaying = &takt_cli_delaying(rows->all[i])->standing;
        takt_cli_page_begin(&page, TAKT_CLI_PLAIN);
        takt_cli_table_row(&page, rows->all[i], &layout);
        if (delaying->blocked_until_us > delaying->now_us && delaying->reason[0])
            takt_cli_page_put(&page, ": %s", delaying->reason);
        takt_cli_page_end(&page);
        takt_cli_standing_print_tenants(&rows->all[i]->standing, rows->all[i]->subject);
    }
}

void takt_cli_table_print_json(const takt_cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const takt_cli_row *row = rows->all[i];
        if (!row->seen)
            continue;
        putchar('{');
        takt_cli_standing_json(&row->target, &row->standing);
        printf(",\"watched_since_us\":%lld,\"taken\":%lld",
               (long long)row->standing.watched_since_us, (long long)row->standing.taken);
        if (row->rate < 0)
            printf(",\"rate_per_s\":null");
        else
            printf(",\"rate_per_s\":%.3f", row->rate);
        if (row->quota_tokens > 0)
            printf(",\"quota_tokens\":%lld,\"quota_period_us\":%lld}\n",
                   (long long)row->quota_tokens, (long long)row->quota_us);
        else
            printf(",\"quota_tokens\":null,\"quota_period_us\":null}\n");
    }
}
