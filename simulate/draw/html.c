/*
 * html.c: simulations as one HTML page: the panels of the picture, as many in a row as fit, and a
 * table of all figures with a column for each simulation.
 */
#include <stdio.h>

#include "base/integers.h"
#include "base/time_text.h"
#include "simulate/draw/panels.h"
#include "simulate/draw/picture.h"

static const char *const head =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<style>\n"
    "body{margin:0 auto;max-width:1560px;padding:16px;background:#fff;color:#1f2328;"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "h1{font-size:22px;line-height:1.25;margin:8px 0;overflow-wrap:anywhere}"
    "h2{font-size:16px;margin:24px 0 0;overflow-wrap:anywhere}"
    "p{margin:4px 0;color:#59636e}\n"
    ".panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));"
    "gap:8px}\n"
    "svg{display:block;width:100%;height:auto}\n"
    ".scroll{overflow-x:auto;margin-top:24px}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:3px 0 3px 20px;text-align:right;border-bottom:1px solid #e4e8ec}\n"
    "td+td{white-space:nowrap}th:first-child,td:first-child{text-align:left;padding-left:0}\n"
    "td:first-child{color:#59636e}\n"
    "@media (prefers-color-scheme:dark){body{background:#14181d;color:#e8edf2}"
    "p,td:first-child{color:#a2acb7}th,td{border-color:#2b323a}}\n";

/* One line of the table: its name, then a cell for each simulation. */
typedef struct listing {
    takt_page *page;
    const takt_simulation *const *simulations;
    unsigned count;
} listing;

typedef void (*put_cell)(takt_page *page, const takt_figures *figures, int which);

static void put_row(const listing *table, const char *name, put_cell put, int which)
{
    takt_page_put(table->page, "<tr><td>%s</td>", name);
    for (unsigned i = 0; i < table->count; i++) {
        takt_page_put(table->page, "<td>");
        put(table->page, &table->simulations[i]->figures, which);
        takt_page_put(table->page, "</td>");
    }
    takt_page_put(table->page, "</tr>\n");
}

static void put_count(takt_page *page, int64_t count)
{
    char text[TAKT_FORMAT_SIZE];

    takt_page_put(page, "%s", takt_format_count(count, text));
}

static void put_span(takt_page *page, int64_t span_us)
{
    char text[TAKT_FORMAT_SIZE];

    takt_page_put(page, "%s", takt_format_span(span_us, text));
}

static void put_duration(takt_page *page, const takt_figures *figures, int which)
{
    (void)which;
    put_span(page, figures->duration_us);
}

/* What was taken of a rule from the first start to the last, in its unit and period. */
static void put_pace(takt_page *page, const takt_figures *figures, int which)
{
    char text[TAKT_FORMAT_SIZE], period[TAKT_FORMAT_SIZE];
    int64_t span_us = figures->last_start_us - figures->first_start_us;
    takt_wide hundredths = 0;

    if (span_us > 0)
        hundredths = (takt_wide)figures->busiest[which].taken * figures->busiest[which].period_us *
                     100 / span_us;
    takt_page_put(page, "%s per %s", takt_format_ratio((int64_t)hundredths, 100, 2, text),
                  takt_format_period(figures->busiest[which].period_us, period));
}

/* Counts, by their order in the figures. */
static void put_counts(takt_page *page, const takt_figures *figures, int which)
{
    const int64_t counts[] = {figures->jobs_done,  figures->started, figures->started_again,
                              figures->refused,    figures->slots,   figures->store_calls,
                              figures->max_at_work};

    put_count(page, counts[which]);
}

static void put_calls_per_start(takt_page *page, const takt_figures *figures, int which)
{
    char text[TAKT_FORMAT_SIZE];

    (void)which;
    takt_page_put(page, "%s", takt_format_ratio(figures->store_calls, figures->started, 3, text));
}

static void put_per_worker(takt_page *page, const takt_figures *figures, int which)
{
    (void)which;
    put_count(page, figures->min_per_worker);
    takt_page_put(page, " to ");
    put_count(page, figures->max_per_worker);
}

static void put_fairness(takt_page *page, const takt_figures *figures, int which)
{
    char text[TAKT_FORMAT_SIZE];

    (void)which;
    takt_page_put(page, "%s", takt_format_ratio(figures->fairness_ppm, 1000000, 4, text));
}

/* which: the priority, or TAKT_SIM_PRIORITIES for all priorities. */
static void put_waits(takt_page *page, const takt_figures *figures, int which)
{
    const takt_waits *waits = which == TAKT_SIM_PRIORITIES ? &figures->all : &figures->waits[which];

    put_span(page, waits->p50_us);
    takt_page_put(page, " / ");
    put_span(page, waits->p95_us);
    takt_page_put(page, " / ");
    put_span(page, waits->p99_us);
}

static void put_busiest(takt_page *page, const takt_figures *figures, int which)
{
    put_count(page, figures->busiest[which].slots);
}

static void put_waits_rows(const listing *table)
{
    const takt_figures *figures = &table->simulations[0]->figures;
    char name[64];

    put_row(table, "waits of 50 % / 95 % / 99 %, at most", put_waits, TAKT_SIM_PRIORITIES);
    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++) {
        if (figures->waits[i].count == 0 || figures->waits[i].count == figures->all.count)
            continue;
        snprintf(name, sizeof name, "of priority %d", i);
        put_row(table, name, put_waits, i);
    }
}

static void put_busiest_rows(const listing *table)
{
    const takt_figures *figures = &table->simulations[0]->figures;
    char name[160], rate[48], period[TAKT_FORMAT_SIZE];
    bool named = false;

    for (int i = 0; i < figures->rule_count; i++)
        named = named || strcmp(figures->busiest[i].unit, "tokens") != 0;
    for (int i = 0; i < figures->rule_count; i++) {
        const takt_busiest *rule = &figures->busiest[i];
        int64_t burst = table->simulations[0]->limit.numbers.rules[i].burst; /* as it is written */
        takt_format_rate(rule->limit, rule->period_us, rate, sizeof rate);
        int size = snprintf(name, sizeof name, "busiest %s%s%s (quota %s",
                            takt_format_period(rule->period_us, period), named ? " of " : "",
                            named ? rule->unit : "", rate);
        snprintf(name + size, sizeof name - (size_t)size, burst > 1 ? ", burst %lld)" : ")",
                 (long long)burst);
        put_row(table, name, put_busiest, i);
    }
}

static void put_table(const listing *table)
{
    takt_page_put(table->page, "<div class=\"scroll\"><table>\n<tr><th></th>");
    for (unsigned i = 0; i < table->count; i++) {
        takt_page_put(table->page, "<th>");
        takt_picture_put_algorithms(table->page, table->simulations[i]);
        takt_page_put(table->page, "</th>");
    }
    takt_page_put(table->page, "</tr>\n");
    put_row(table, "took", put_duration, 0);
    put_row(table, "average rate", put_pace, 0);
    put_row(table, "jobs done", put_counts, 0);
    put_row(table, "starts", put_counts, 1);
    put_row(table, "of these repeated after a crash", put_counts, 2);
    put_row(table, "refused and retried", put_counts, 3);
    put_waits_rows(table);
    put_busiest_rows(table);
    put_row(table, "slots awarded", put_counts, 4);
    put_row(table, "store calls", put_counts, 5);
    put_row(table, "store calls per start", put_calls_per_start, 0);
    put_row(table, "most jobs running at one time", put_counts, 6);
    put_row(table, "starts per worker that never crashed", put_per_worker, 0);
    put_row(table, "fairness between them (1 is even)", put_fairness, 0);
    takt_page_put(table->page, "</table></div>\n");
}

/* Each panel is a picture of its own, so that the window decides how many stand side by side. */
static void put_panels(takt_page *page, const takt_axes *axes, const takt_simulation *simulation)
{
    char name[512];

    takt_simulation_describe(simulation, name, sizeof name);
    takt_page_put(page, "<h2>");
    takt_page_put_text(page, name);
    takt_page_put(page, "</h2>\n<div class=\"panels\">\n");
    for (int i = 0; i < takt_panels_count(simulation); i++) {
        takt_page_put(page,
                      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' role='img'>\n",
                      TAKT_PANEL_WIDTH, TAKT_PANEL_HEIGHT);
        takt_panels_draw(page, axes, simulation, i, 0, 0);
        takt_page_put(page, "</svg>\n");
    }
    takt_page_put(page, "</div>\n");
}

int takt_simulation_html(const takt_simulation *const *simulations, unsigned count,
                         const char *title, takt_write_cb write, void *data)
{
    takt_page page = {write, data, 0};
    char deed[TAKT_DEED_SIZE];
    takt_axes axes;

    if (count == 0 || count > TAKT_SIMULATIONS_MAX || !title || !write ||
        simulations[0]->limit.numbers.rule_count == 0)
        return TAKT_E_INVALID;
    takt_page_put_raw(&page, head);
    takt_page_put_raw(&page, takt_picture_style);
    takt_page_put(&page, "</style>\n<title>");
    takt_page_put_text(&page, title);
    takt_page_put(&page, "</title>\n");
    takt_page_put(&page, "<h1>");
    takt_page_put_text(&page, title);
    takt_picture_deed(simulations[0], deed);
    takt_page_put(&page, "</h1>\n<p>");
    takt_page_put_text(&page, deed);
    takt_page_put(&page, "</p>\n");
    takt_axes_fit(&axes, simulations, count);
    for (unsigned i = 0; i < count; i++)
        put_panels(&page, &axes, simulations[i]);
    put_table(&(listing){&page, simulations, count});
    takt_page_put(&page, "</html>\n");
    return page.status;
}
