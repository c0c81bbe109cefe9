/*
 * `takt simulate --workers --jobs`: lets a fleet do a bulk job, once for each algorithm, and
 * reports it.
 */
#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "kit/message.h"
#include "simulate.h"

static int run_simulations(const takt_cli_simulate_plan *plan, takt_simulation **simulations,
                           unsigned count)
{
    takt_error error = {0};

    for (unsigned i = 0; i < count; i++) {
        const char *algorithm = plan->compared_count > 0 ? plan->compared[i] : NULL;
        int code =
            takt_simulation_run(&simulations[i], plan->limit, algorithm, &plan->bulk, &error);
        if (code == 0)
            continue;
        takt_message("%s", error.text);
        return code == TAKT_E_NOMEM ? EX_OSERR : EX_USAGE;
    }
    return 0;
}

/* What a picture shows, above it. */
static void make_title(const takt_cli_simulate_plan *plan, takt_simulation *const *simulations,
                       unsigned count, char *title, size_t size)
{
    char rules[256] = "", span[TAKT_SPAN_SIZE];
    const takt_figures *figures = takt_simulation_figures(simulations[0]);

    takt_policy_describe(plan->policy, plan->target.limit, rules, sizeof(rules));
    if (count > 1)
        snprintf(title, size, "%lld job%s at %s, under %u algorithms", (long long)plan->bulk.jobs,
                 takt_plural((uint64_t)plan->bulk.jobs), rules, count);
    else if (figures->jobs_done < plan->bulk.jobs)
        snprintf(title, size, "%lld of %lld job%s at %s, then no worker is left",
                 (long long)figures->jobs_done, (long long)plan->bulk.jobs,
                 takt_plural((uint64_t)plan->bulk.jobs), rules);
    else
        snprintf(title, size, "%lld job%s at %s take%s %s", (long long)plan->bulk.jobs,
                 takt_plural((uint64_t)plan->bulk.jobs), rules, plan->bulk.jobs == 1 ? "s" : "",
                 takt_format_span(figures->duration_us, span));
}

static int write_part(const char *text, size_t size, void *data)
{
    return fwrite(text, 1, size, data) == size ? 0 : TAKT_E_SYSTEM;
}

typedef int (*cli_draw)(const takt_simulation *const *simulations, unsigned count,
                        const char *title, takt_write_cb write, void *data);

static int draw_file(const char *path, cli_draw draw, takt_simulation *const *simulations,
                     unsigned count, const char *title)
{
    FILE *file = fopen(path, "w");
    int failed =
        file ? draw((const takt_simulation *const *)simulations, count, title, write_part, file)
             : -1;
    int reason = errno;

    if (file && fclose(file) != 0 && !failed) {
        reason = errno;
        failed = -1;
    }
    if (!failed)
        return 0;
    takt_message("cannot write %s: %s", path, strerror(reason));
    return EX_CANTCREAT;
}

static int tell(const takt_cli_simulate_plan *plan, takt_simulation *const *simulations,
                unsigned count)
{
    char title[512];
    int status = 0;

    if ((plan->svg || plan->html) && takt_simulation_figures(simulations[0])->rule_count == 0) {
        takt_message("--svg and --html draw the pace of a rule; this limit has no rules");
        return EX_USAGE;
    }
    make_title(plan, simulations, count, title, sizeof(title));
    if (!plan->settings->json)
        printf("%s\n\n", title);
    for (unsigned i = 0; plan->settings->json && i < count; i++)
        takt_cli_simulation_json(stdout, simulations[i], plan);
    if (!plan->settings->json)
        takt_cli_simulations_table(stdout, simulations, count);
    if (plan->svg)
        status = draw_file(plan->svg, takt_simulation_svg, simulations, count, title);
    if (plan->html && status == 0)
        status = draw_file(plan->html, takt_simulation_html, simulations, count, title);
    return status;
}

int takt_cli_simulate_fleet(const takt_cli_simulate_plan *plan)
{
    takt_simulation *simulations[TAKT_CLI_COMPARED_MAX] = {0};
    unsigned count = plan->compared_count > 0 ? plan->compared_count : 1;
    int status = run_simulations(plan, simulations, count);

    if (status == 0)
        status = tell(plan, simulations, count);
    for (unsigned i = 0; i < count; i++)
        takt_simulation_free(simulations[i]);
    int written = takt_message_end_output();
    return status ? status : written;
}
