/*
 * picture.c: simulations as one SVG picture.
 *
 * Decides the layout: a title, a line about the job, a table with a line for each simulation, and
 * below it the charts of each simulation. One style sheet has the colours, for light and for dark
 * surroundings.
 */
#include <stdio.h>

#include "simulate/draw/panels.h"
#include "simulate/draw/picture.h"

#define WIDTH     9600
#define TABLE_TOP 980
#define ROW       210
#define CELL_SIZE (2 * TAKT_FORMAT_SIZE + 8)

/* The colours, light then dark, and the rest of the style. */
static const char *const style =
    "<style>"
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica "
    "Neue',Arial,sans-serif;font-size:125px;"
    "fill:#1f2328}"
    ".title{font-size:210px;font-weight:600}.name{font-size:155px;font-weight:600}.h{font-weight:"
    "600}"
    ".sub,.t,.head{fill:#59636e}.t{font-size:115px}.e{text-anchor:end}.m{text-anchor:middle}"
    ".num{font-variant-numeric:tabular-nums}"
    ".bg{fill:#fff}path{fill:none}.axis{stroke:#818b98;stroke-width:10}.grid,.rule{stroke:#e4e8ec;"
    "stroke-width:8}"
    ".starts{fill:#78a9f5}.longest{fill:#d5dae0}.crashed{fill:#c3cad2}.outage{fill:#f5b83d;fill-"
    "opacity:.35}"
    ".quota{stroke:#c62f2f;stroke-width:14;stroke-dasharray:60 35}"
    ".crash{stroke:#7d3fd1;stroke-width:14;stroke-dasharray:25 20}"
    ".line{stroke-width:18;stroke-linejoin:round;stroke-linecap:round}"
    ".key{fill:none}.starts.key,.longest.key,.crashed.key,.outage.key{stroke-width:90}"
    ".starts.key{stroke:#78a9f5}.longest.key{stroke:#d5dae0}.crashed.key{stroke:#c3cad2}"
    ".outage.key{stroke:#f5b83d;stroke-opacity:.35}"
    ".p0{stroke:#c2410c}.p1{stroke:#b7791f}.p2{stroke:#6f8f12}.p3{stroke:#2f9e44}.p4{stroke:#"
    "0c8599}"
    ".p5{stroke:#1d4ed8}.p6{stroke:#6741d9}.p7{stroke:#a21caf}.p8{stroke:#be185d}.p9{stroke:#"
    "495057}"
    "@media (prefers-color-scheme:dark){"
    "text{fill:#e8edf2}.sub,.t,.head{fill:#a2acb7}.bg{fill:#14181d}.axis{stroke:#7f8994}.grid,."
    "rule{stroke:#2b323a}"
    ".starts{fill:#3f73c4}.longest{fill:#3a424c}.crashed{fill:#4c555f}.outage{fill:#e0a22a;fill-"
    "opacity:.3}"
    ".quota{stroke:#ff7b72}.crash{stroke:#c297ff}"
    ".starts.key{stroke:#3f73c4}.longest.key{stroke:#3a424c}.crashed.key{stroke:#4c555f}"
    ".outage.key{stroke:#e0a22a;stroke-opacity:.3}.key{fill:none}"
    ".p0{stroke:#ff9d5c}.p1{stroke:#f2c14e}.p2{stroke:#b9d14a}.p3{stroke:#6fdc8c}.p4{stroke:#"
    "5fd3e6}"
    ".p5{stroke:#9cc2ff}.p6{stroke:#b79cff}.p7{stroke:#e59cf5}.p8{stroke:#ff9cc4}.p9{stroke:#"
    "c4ccd4}"
    "}</style>\n";

/* One column of the table: its heads and the figure of a simulation. */
typedef struct column {
    int x;
    const char *head[2];
    void (*cell)(const takt_simulation *simulation, char text[CELL_SIZE]);
} column;

static void took(const takt_simulation *simulation, char text[CELL_SIZE])
{
    takt_format_span(simulation->figures.duration_us, text);
}

static void half(const takt_simulation *simulation, char text[CELL_SIZE])
{
    takt_format_span(simulation->figures.all.p50_us, text);
}

static void max_of_them(const takt_simulation *simulation, char text[CELL_SIZE])
{
    takt_format_span(simulation->figures.all.p95_us, text);
}

static void nearly_all(const takt_simulation *simulation, char text[CELL_SIZE])
{
    takt_format_span(simulation->figures.all.p99_us, text);
}

static void busiest(const takt_simulation *simulation, char text[CELL_SIZE])
{
    const takt_busiest *window = &simulation->figures.busiest[simulation->tightest];
    char slots[TAKT_FORMAT_SIZE], limit[TAKT_FORMAT_SIZE];

    snprintf(text, CELL_SIZE, "%s / %s", takt_format_count(window->slots, slots),
             takt_format_count(window->limit, limit));
}

static void store_calls(const takt_simulation *simulation, char text[CELL_SIZE])
{
    takt_format_ratio(simulation->figures.store_calls, simulation->figures.started, 3, text);
}

static void per_worker(const takt_simulation *simulation, char text[CELL_SIZE])
{
    char min[TAKT_FORMAT_SIZE], max[TAKT_FORMAT_SIZE];

    takt_format_count(simulation->figures.min_per_worker, min);
    takt_format_count(simulation->figures.max_per_worker, max);
    snprintf(text, CELL_SIZE, "%s to %s", min, max);
}

static const column columns[] = {
    {3250, {"", "took"}, took},
    {4300, {"half waited", "at most"}, half},
    {5100, {"", "95 %"}, max_of_them},
    {5900, {"", "99 %"}, nearly_all},
    {7000, {"busiest window", "/ limit"}, busiest},
    {8000, {"store calls", "per start"}, store_calls},
    {9300, {"starts", "per worker"}, per_worker},
};
#define COLUMN_COUNT (sizeof columns / sizeof *columns)

/* Only the algorithms: the numbers are in the name of each band. */
void takt_picture_put_algorithms(takt_page *page, const takt_simulation *simulation)
{
    const takt_figures *figures = &simulation->figures;

    for (int i = 0; i < figures->rule_count; i++) {
        bool told = false;
        for (int j = 0; j < i; j++)
            told = told || figures->busiest[j].algorithm == figures->busiest[i].algorithm;
        if (!told)
            takt_page_put(page, "%s%s", i > 0 ? ", " : "", figures->busiest[i].algorithm);
    }
}

static void put_table(takt_page *page, const takt_simulation *const *simulations, unsigned count)
{
    char text[CELL_SIZE];

    for (size_t i = 0; i < COLUMN_COUNT; i++)
        for (int line = 0; line < 2; line++)
            takt_page_put(page, "<text class='head e' x='%d' y='%d'>%s</text>\n", columns[i].x,
                          TABLE_TOP + (line - 1) * 150, columns[i].head[line]);
    for (unsigned row = 0; row < count; row++) {
        int y = TABLE_TOP + ROW * ((int)row + 1);
        takt_page_put(page, "<path class='rule' d='M300 %dH9300'/><text class='h' x='300' y='%d'>",
                      y - 150, y);
        takt_picture_put_algorithms(page, simulations[row]);
        takt_page_put(page, "</text>");
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            columns[i].cell(simulations[row], text);
            takt_page_put(page, "<text class='num e' x='%d' y='%d'>%s</text>", columns[i].x, y,
                          text);
        }
        takt_page_put(page, "\n");
    }
}

/* The job in one line. */
void takt_picture_put_deed(takt_page *page, const takt_simulation *simulation)
{
    const takt_bulk *bulk = &simulation->bulk;
    char text[TAKT_FORMAT_SIZE], min[TAKT_FORMAT_SIZE], max[TAKT_FORMAT_SIZE];

    takt_page_put(page, "%s jobs", takt_format_count(bulk->jobs, text));
    if (bulk->work_max_us > 0 && bulk->work_min_us == bulk->work_max_us)
        takt_page_put(page, " of %s", takt_format_span(bulk->work_max_us, max));
    else if (bulk->work_max_us > 0)
        takt_page_put(page, " of %s to %s", takt_format_span(bulk->work_min_us, min),
                      takt_format_span(bulk->work_max_us, max));
    if (bulk->cost_max > 1 && bulk->cost_min == bulk->cost_max)
        takt_page_put(page, ", cost %d", (int)bulk->cost_max);
    else if (bulk->cost_max > 1)
        takt_page_put(page, ", cost %d to %d", (int)bulk->cost_min, (int)bulk->cost_max);
    takt_page_put(page, "; %s worker%s with up to %s in hand",
                  takt_format_count(bulk->workers, text), bulk->workers == 1 ? "" : "s",
                  takt_format_count(bulk->at_once, max));
    takt_page_put(page, "; the store a round trip of %s away",
                  takt_format_span(bulk->round_trip_us, text));
}

void takt_picture_put(takt_page *page, const takt_simulation *const *simulations, unsigned count,
                      const char *title)
{
    int top = TABLE_TOP + ROW * (int)count + 250, height = top + (int)count * TAKT_BAND_HEIGHT;
    takt_axes axes;

    takt_axes_fit(&axes, simulations, count);
    takt_page_put(page,
                  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' "
                  "height='%d' role='img'>\n<title>",
                  WIDTH, height, WIDTH / 10, height / 10);
    takt_page_put_text(page, title);
    takt_page_put(page, "</title>\n");
    takt_page_put_raw(page, style);
    takt_page_put(page,
                  "<rect class='bg' width='%d' height='%d'/>\n<text class='title' x='300' y='390'>",
                  WIDTH, height);
    takt_page_put_text(page, title);
    takt_page_put(page, "</text>\n<text class='sub' x='300' y='610'>");
    takt_picture_put_deed(page, simulations[0]);
    takt_page_put(page, "</text>\n");
    put_table(page, simulations, count);
    for (unsigned i = 0; i < count; i++)
        takt_panels_draw(page, &axes, simulations[i], top + (int)i * TAKT_BAND_HEIGHT);
    takt_page_put(page, "</svg>\n");
}

int takt_simulation_svg(const takt_simulation *const *simulations, unsigned count,
                        const char *title, takt_write_cb write, void *data)
{
    takt_page page = {write, data, 0};

    if (count == 0 || count > TAKT_SIMULATIONS_MAX || !title || !write ||
        simulations[0]->limit.numbers.rule_count == 0)
        return TAKT_E_INVALID;
    takt_picture_put(&page, simulations, count, title);
    return page.status;
}
