/*
 * picture.c: simulations as one SVG picture.
 *
 * Decides the layout: a title, a line about the job, a table with two lines for each simulation,
 * and below it the panels of each simulation, two in a row. One style sheet has the colours, for
 * light and for dark surroundings.
 */
#include <stdio.h>
#include <string.h>

#include "simulate/draw/panels.h"
#include "simulate/draw/picture.h"

#define MARGIN     200
#define WIDTH      (2 * TAKT_PANEL_WIDTH)
#define INNER      (WIDTH - 2 * MARGIN)
#define LINE       210
#define TITLE_LINE 300
#define CELL_SIZE  (2 * TAKT_FORMAT_SIZE + 8)

/* The width of a letter, on average and rather wide, by the size of its text. */
#define LETTER       84
#define LETTER_TITLE 135
#define LETTER_NAME  100

/* The colours, light then dark, and the rest of the style. */
const char takt_picture_style[] =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica "
    "Neue',Arial,sans-serif;font-size:140px;"
    "fill:#1f2328}"
    ".title{font-size:210px;font-weight:600}.name{font-size:155px;font-weight:600}.h{font-weight:"
    "600}"
    ".sub,.t,.head{fill:#59636e}.t{font-size:125px}.e{text-anchor:end}.m{text-anchor:middle}"
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
    "}\n";

/* One column of the table: its head and the figure of a simulation. */
typedef struct column {
    const char *head;
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

static void nearly_all(const takt_simulation *simulation, char text[CELL_SIZE])
{
    takt_format_span(simulation->figures.all.p99_us, text);
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
    {"took", took},
    {"half waited up to", half},
    {"99 % waited up to", nearly_all},
    {"store calls per start", store_calls},
    {"starts per worker", per_worker},
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

/* Writes a text in lines of at most `letters`, which begin after blanks; returns y of the next
 * line. */
static int put_wrapped(takt_page *page, const char *style, int y, int line_height, size_t letters,
                       const char *text)
{
    char line[512];

    while (*text) {
        size_t size = strlen(text), at = size;
        if (size > letters) {
            at = letters < sizeof line - 1 ? letters : sizeof line - 1;
            while (at > 0 && text[at] != ' ')
                at--;
            if (at == 0)
                at = size < sizeof line - 1 ? size : sizeof line - 1; /* a word without blanks */
        }
        snprintf(line, sizeof line, "%.*s", (int)at, text);
        takt_page_put(page, "<text class='%s' x='%d' y='%d'>", style, MARGIN, y);
        takt_page_put_text(page, line);
        takt_page_put(page, "</text>\n");
        text += at;
        text += strspn(text, " ");
        y += line_height;
    }
    return y;
}

/* Characters of UTF-8. */
static int letters_of(const char *text)
{
    int count = 0;

    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

/* The right edges of the columns, as wide as their texts and spread over the width. */
static void set_columns(const takt_simulation *const *simulations, unsigned count,
                          int right[COLUMN_COUNT])
{
    int widths[COLUMN_COUNT], all = 0, x = MARGIN;
    char text[CELL_SIZE];

    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        widths[i] = letters_of(columns[i].head);
        for (unsigned row = 0; row < count; row++) {
            columns[i].cell(simulations[row], text);
            if (letters_of(text) > widths[i])
                widths[i] = letters_of(text);
        }
        widths[i] = (widths[i] + 2) * LETTER;
        all += widths[i];
    }
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        right[i] = x += all < INNER ? widths[i] + (INNER - all) / (int)COLUMN_COUNT
                                    : (int)((long long)widths[i] * INNER / all);
}

static int put_table(takt_page *page, const takt_simulation *const *simulations, unsigned count,
                     int y)
{
    int right[COLUMN_COUNT];
    char text[CELL_SIZE];

    set_columns(simulations, count, right);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        takt_page_put(page, "<text class='head e' x='%d' y='%d'>%s</text>\n", right[i], y,
                      columns[i].head);
    for (unsigned row = 0; row < count; row++) {
        takt_page_put(page, "<path class='rule' d='M%d %dH%d'/><text class='h' x='%d' y='%d'>",
                      MARGIN, y + 80, WIDTH - MARGIN, MARGIN, y + 80 + LINE);
        takt_picture_put_algorithms(page, simulations[row]);
        takt_page_put(page, "</text>");
        y += 80 + 2 * LINE;
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            columns[i].cell(simulations[row], text);
            takt_page_put(page, "<text class='num e' x='%d' y='%d'>%s</text>", right[i], y, text);
        }
        takt_page_put(page, "\n");
    }
    return y + LINE;
}

static int keep(const char *text, size_t size, void *data)
{
    char *kept = data;
    size_t used = strlen(kept);

    snprintf(kept + used, TAKT_DEED_SIZE - used, "%.*s", (int)size, text);
    return 0;
}

static void put_deed(takt_page *page, const takt_simulation *simulation);

void takt_picture_deed(const takt_simulation *simulation, char text[TAKT_DEED_SIZE])
{
    takt_page page = {keep, text, 0};

    *text = '\0';
    put_deed(&page, simulation);
}

static void put_deed(takt_page *page, const takt_simulation *simulation)
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

/* How high the panels of a simulation are, below its name. */
static int panels_height(const takt_simulation *simulation)
{
    return (takt_panels_count(simulation) + 1) / 2 * TAKT_PANEL_HEIGHT;
}

static int put_simulation(takt_page *page, const takt_axes *axes, const takt_simulation *simulation,
                          int y)
{
    char name[512];

    takt_simulation_describe(simulation, name, sizeof name);
    y = put_wrapped(page, "name", y + LINE, LINE, INNER / LETTER_NAME, name);
    for (int i = 0; i < takt_panels_count(simulation); i++)
        takt_panels_draw(page, axes, simulation, i, i % 2 * TAKT_PANEL_WIDTH,
                         y + i / 2 * TAKT_PANEL_HEIGHT);
    return y + panels_height(simulation);
}

/* Everything inside the picture; returns its height. */
static int put_all(takt_page *page, const takt_axes *axes,
                   const takt_simulation *const *simulations, unsigned count, const char *title)
{
    char deed[TAKT_DEED_SIZE];
    int y = put_wrapped(page, "title", 350, TITLE_LINE, INNER / LETTER_TITLE, title);

    takt_picture_deed(simulations[0], deed);
    y = put_wrapped(page, "sub", y, LINE, INNER / LETTER, deed);
    y = put_table(page, simulations, count, y + LINE);
    for (unsigned i = 0; i < count; i++)
        y = put_simulation(page, axes, simulations[i], y);
    return y;
}

static int drop(const char *text, size_t size, void *data)
{
    (void)text;
    (void)size;
    (void)data;
    return 0;
}

int takt_simulation_svg(const takt_simulation *const *simulations, unsigned count,
                        const char *title, takt_write_cb write, void *data)
{
    takt_page page = {write, data, 0}, nowhere = {drop, NULL, 0};
    takt_axes axes;

    if (count == 0 || count > TAKT_SIMULATIONS_MAX || !title || !write ||
        simulations[0]->limit.numbers.rule_count == 0)
        return TAKT_E_INVALID;
    takt_axes_fit(&axes, simulations, count);
    int height = put_all(&nowhere, &axes, simulations, count, title);
    takt_page_put(&page,
                  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' "
                  "height='%d' role='img'>\n<title>",
                  WIDTH, height, WIDTH / 10, height / 10);
    takt_page_put_text(&page, title);
    takt_page_put(&page, "</title>\n<style>");
    takt_page_put_raw(&page, takt_picture_style);
    takt_page_put(&page, "</style>\n<rect class='bg' width='%d' height='%d'/>\n", WIDTH, height);
    put_all(&page, &axes, simulations, count, title);
    takt_page_put(&page, "</svg>\n");
    return page.status;
}
