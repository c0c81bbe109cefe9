/*
 * The figures of a simulated fleet: one JSON object, or a table for a person with a column for each
 * simulation.
 */
#include <inttypes.h>
#include <string.h>

#include "kit/message.h"
#include "simulate.h"

#define CELL_SIZE 96
#define HAND_OVER (TAKT_SIM_PRIORITIES + 1) /* of waits: that of permits */

__extension__ typedef __int128 wide;

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_seconds(FILE *file, const char *name, int64_t us)
{
    char text[TAKT_CLI_DECIMAL_SIZE];

    fprintf(file, "\"%s\":%s", name, takt_cli_decimal(us, text));
}

/* a / b to a millionth. */
static void put_ratio(FILE *file, const char *name, int64_t a, int64_t b)
{
    wide millionths = b > 0 ? ((wide)a * 2000000 + b) / (2 * (wide)b) : 0;

    put_seconds(file, name, (int64_t)millionths);
}

static void put_waits(FILE *file, const char *name, const takt_waits *waits)
{
    fprintf(file, "\"%s\":{\"count\":%" PRId64 ",", name, waits->count);
    put_seconds(file, "p50", waits->p50_us);
    fputc(',', file);
    put_seconds(file, "p95", waits->p95_us);
    fputc(',', file);
    put_seconds(file, "p99", waits->p99_us);
    fputc(',', file);
    put_seconds(file, "longest", waits->max_us);
    fputc('}', file);
}

static void put_rules(FILE *file, const takt_figures *figures)
{
    fprintf(file, ",\"rules\":[");
    for (int i = 0; i < figures->rule_count; i++) {
        const takt_busiest *rule = &figures->busiest[i];
        fprintf(file, "%s{\"unit\":\"%s\",\"algorithm\":\"%s\",\"limit\":%" PRId64 ",",
                i ? "," : "", rule->unit, rule->algorithm, rule->limit);
        put_seconds(file, "period", rule->period_us);
        fprintf(file,
                ",\"burst\":%" PRId64 ",\"busiest\":%" PRId64 ",\"busiest_started\":%" PRId64
                ",\"taken\":%" PRId64 "}",
                rule->burst, rule->slots, rule->starts, rule->taken);
    }
    fputc(']', file);
}

static void put_permits(FILE *file, const takt_figures *figures)
{
    fprintf(file, ",\"permits\":{\"concurrency\":%" PRId64 ",\"lost\":%" PRId64 ",",
            figures->concurrency, figures->lost);
    put_ratio(file, "busy", figures->busy_ppm, 1000000);
    fputc(',', file);
    put_waits(file, "hand_over", &figures->hand_over);
    fputc('}', file);
}

static void put_workers(FILE *file, const takt_simulation *simulation, int32_t workers)
{
    const takt_figures *figures = takt_simulation_figures(simulation);

    fprintf(file, ",\"workers\":{\"least\":%" PRId64 ",\"most\":%" PRId64 ",",
            figures->min_per_worker, figures->max_per_worker);
    put_ratio(file, "fairness", figures->fairness_ppm, 1000000);
    fprintf(file, ",\"starts\":[");
    for (int32_t i = 0; i < workers; i++)
        fprintf(file, "%s%" PRId64, i ? "," : "", takt_simulation_worker_starts(simulation, i));
    fprintf(file, "]}");
}

void takt_cli_simulation_json(FILE *file, const takt_simulation *simulation,
                              const takt_cli_simulate_plan *plan)
{
    const takt_figures *figures = takt_simulation_figures(simulation);
    char name[2] = "0";

    fprintf(file, "{\"seed\":%" PRIu64 ",\"jobs\":%" PRId64 ",\"jobs_done\":%" PRId64 ",",
            plan->bulk.seed, plan->bulk.jobs, figures->jobs_done);
    put_seconds(file, "duration", figures->duration_us);
    fputc(',', file);
    put_seconds(file, "first_start", figures->first_start_us);
    fputc(',', file);
    put_seconds(file, "last_start", figures->last_start_us);
    fprintf(file,
            ",\"started\":%" PRId64 ",\"started_again\":%" PRId64 ",\"refused\":%" PRId64
            ",\"tokens\":%" PRId64 ",",
            figures->started, figures->started_again, figures->refused, figures->tokens);
    put_ratio(file, "tokens_per_second", figures->tokens * 1000000,
              figures->last_start_us - figures->first_start_us);
    fprintf(file, ",\"waits\":{");
    put_waits(file, "all", &figures->all);
    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++, name[0]++) {
        if (figures->waits[i].count == 0)
            continue;
        fputc(',', file);
        put_waits(file, name, &figures->waits[i]);
    }
    fputc('}', file);
    put_rules(file, figures);
    fprintf(file, ",\"slots\":%" PRId64 ",\"store_calls\":%" PRId64 ",", figures->slots,
            figures->store_calls);
    put_ratio(file, "store_calls_per_grant", figures->store_calls, figures->started);
    fprintf(file, ",\"most_at_work\":%" PRId64, figures->max_at_work);
    if (figures->concurrency > 0)
        put_permits(file, figures);
    put_workers(file, simulation, plan->bulk.workers);
    fprintf(file, "}\n");
}

/* ---- a table --------------------------------------------------------------------------------- */

typedef void (*cli_cell)(const takt_figures *figures, int which, char text[CELL_SIZE]);

static void print_row(FILE *file, takt_simulation *const *simulations, unsigned count,
                      const char *name, cli_cell cell, int which)
{
    char text[CELL_SIZE];

    fprintf(file, "%-26s", name);
    for (unsigned i = 0; i < count; i++) {
        cell(takt_simulation_figures(simulations[i]), which, text);
        fprintf(file, " %26s", text);
    }
    fputc('\n', file);
}

static void algorithms(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    const char *name = figures->rule_count > 0 ? figures->busiest[which].algorithm : "permits";

    snprintf(text, CELL_SIZE, "%s", name);
}

static void duration(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    char span[TAKT_SPAN_SIZE];

    (void)which;
    snprintf(text, CELL_SIZE, "%s", takt_format_span(figures->duration_us, span));
}

/* "second", "90 s" */
static const char *period_of(int64_t period_us, char text[TAKT_SPAN_SIZE])
{
    static const struct {
        int64_t us;
        const char *name;
    } units[] = {{1000000, "second"},
                 {60000000, "minute"},
                 {INT64_C(3600000000), "hour"},
                 {INT64_C(86400000000), "day"}};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (period_us == units[i].us)
            return units[i].name;
    return takt_format_span(period_us, text);
}

/* What was taken of a rule from the first start to the last, in its unit and period. */
static void pace(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    int64_t span_us = figures->last_start_us - figures->first_start_us;
    wide hundredths = 0;
    char period[TAKT_SPAN_SIZE];

    if (span_us > 0)
        hundredths =
            (wide)figures->busiest[which].taken * figures->busiest[which].period_us * 100 / span_us;
    snprintf(text, CELL_SIZE, "%lld.%02d per %s", (long long)(hundredths / 100),
             (int)(hundredths % 100), period_of(figures->busiest[which].period_us, period));
}

/* A figure that is a plain count. */
static void counts(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    const int64_t all[] = {figures->jobs_done, figures->started_again, figures->refused,
                           figures->max_at_work, figures->lost};

    snprintf(text, CELL_SIZE, "%" PRId64, all[which]);
}

static void waits(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    const takt_waits *waits = which == TAKT_SIM_PRIORITIES ? &figures->all
                              : which == HAND_OVER         ? &figures->hand_over
                                                           : &figures->waits[which];
    char p50[TAKT_SPAN_SIZE], p95[TAKT_SPAN_SIZE], p99[TAKT_SPAN_SIZE];

    takt_format_span(waits->p50_us, p50);
    takt_format_span(waits->p95_us, p95);
    takt_format_span(waits->p99_us, p99);
    snprintf(text, CELL_SIZE, "%.20s / %.20s / %.20s", p50, p95, p99);
}

static void busiest(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    snprintf(text, CELL_SIZE, "%" PRId64 " of %" PRId64, figures->busiest[which].slots,
             figures->busiest[which].limit);
}

static void busy(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    (void)which;
    snprintf(text, CELL_SIZE, "%d.%d %%", (int)(figures->busy_ppm / 10000),
             (int)(figures->busy_ppm % 10000 / 1000));
}

static void at_work(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    (void)which;
    snprintf(text, CELL_SIZE, "%" PRId64 " of %" PRId64, figures->max_at_work,
             figures->concurrency);
}

static void calls(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    int64_t thousandths = figures->started > 0 ? figures->store_calls * 1000 / figures->started : 0;

    (void)which;
    snprintf(text, CELL_SIZE, "%" PRId64 ".%03d", thousandths / 1000, (int)(thousandths % 1000));
}

static void per_worker(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    (void)which;
    snprintf(text, CELL_SIZE, "%" PRId64 " to %" PRId64, figures->min_per_worker,
             figures->max_per_worker);
}

static void fairness(const takt_figures *figures, int which, char text[CELL_SIZE])
{
    (void)which;
    snprintf(text, CELL_SIZE, "%d.%04d", (int)(figures->fairness_ppm / 1000000),
             (int)(figures->fairness_ppm % 1000000 / 100));
}

static bool any(takt_simulation *const *simulations, unsigned count,
                bool (*holds)(const takt_figures *figures))
{
    for (unsigned i = 0; i < count; i++)
        if (holds(takt_simulation_figures(simulations[i])))
            return true;
    return false;
}

static bool has_started_again(const takt_figures *figures)
{
    return figures->started_again > 0;
}

static bool has_refused(const takt_figures *figures)
{
    return figures->refused > 0;
}

static bool has_lost(const takt_figures *figures)
{
    return figures->lost > 0;
}

static void print_permits(FILE *file, takt_simulation *const *simulations, unsigned count)
{
    print_row(file, simulations, count, "permits busy", busy, 0);
    print_row(file, simulations, count, "hand-over: 50 / 95 / 99 %", waits, HAND_OVER);
    if (any(simulations, count, has_lost))
        print_row(file, simulations, count, "permits lost", counts, 4);
}

/* Whether rules count something else than tokens. */
static bool names_units(const takt_figures *figures)
{
    for (int i = 0; i < figures->rule_count; i++)
        if (strcmp(figures->busiest[i].unit, "tokens") != 0)
            return true;
    return false;
}

/* Whether rules are of several limits, within each other. */
static bool names_limits(const takt_figures *figures)
{
    for (int i = 0; i < figures->rule_count; i++)
        if (strcmp(figures->busiest[i].limit_name, figures->busiest[0].limit_name) != 0)
            return true;
    return false;
}

void takt_cli_simulations_table(FILE *file, takt_simulation *const *simulations, unsigned count)
{
    const takt_figures *first = takt_simulation_figures(simulations[0]);
    bool named = names_units(first), nested = names_limits(first);
    char name[160], span[TAKT_SPAN_SIZE];

    print_row(file, simulations, count, "", algorithms, 0);
    print_row(file, simulations, count, "took", duration, 0);
    if (first->rule_count > 0)
        print_row(file, simulations, count, "average rate", pace, 0);
    print_row(file, simulations, count, "jobs done", counts, 0);
    if (any(simulations, count, has_started_again))
        print_row(file, simulations, count, "started again", counts, 1);
    if (any(simulations, count, has_refused))
        print_row(file, simulations, count, "refused, tried again", counts, 2);
    print_row(file, simulations, count, "waits: 50 / 95 / 99 %", waits, TAKT_SIM_PRIORITIES);
    for (int i = 0; i < TAKT_SIM_PRIORITIES; i++) {
        if (first->waits[i].count == 0 || first->waits[i].count == first->all.count)
            continue;
        snprintf(name, sizeof(name), "  of priority %d", i);
        print_row(file, simulations, count, name, waits, i);
    }
    for (int i = 0; i < first->rule_count; i++) {
        const takt_busiest *rule = &first->busiest[i];
        snprintf(name, sizeof(name), "busiest %s%s%s%s%s", period_of(rule->period_us, span),
                 named ? " of " : "", named ? rule->unit : "", nested ? " at " : "",
                 nested ? rule->limit_name : "");
        print_row(file, simulations, count, name, busiest, i);
    }
    print_row(file, simulations, count, "store calls per start", calls, 0);
    print_row(file, simulations, count, "most at work at once",
              first->concurrency > 0 ? at_work : counts, 3);
    if (first->concurrency > 0)
        print_permits(file, simulations, count);
    print_row(file, simulations, count, "starts per worker", per_worker, 0);
    print_row(file, simulations, count, "fairness (1 is even)", fairness, 0);
}
