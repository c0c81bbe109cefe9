/*
 * `takt simulate --workers --jobs`: lets a fleet do a bulk job, once for each algorithm, and tells
 * how it went.
 */
#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "kit/message.h"
#include "simulate.h"

static int run_courses(const takt_cli_simulation *simulation, takt_course **courses, unsigned count)
{
    takt_error error = {0};

    for (unsigned i = 0; i < count; i++) {
        const char *algorithm = simulation->compared_count > 0 ? simulation->compared[i] : NULL;
        int code =
            takt_course_run(&courses[i], simulation->limit, algorithm, &simulation->bulk, &error);
        if (code == 0)
            continue;
        takt_message("%s", error.text);
        return code == TAKT_E_NOMEM ? EX_OSERR : EX_USAGE;
    }
    return 0;
}

/* What a picture shows, above it. */
static void make_title(const takt_cli_simulation *simulation, takt_course *const *courses,
                       unsigned count, char *title, size_t size)
{
    char rules[256] = "", span[TAKT_SPAN_SIZE];
    const takt_figures *figures = takt_course_figures(courses[0]);

    takt_policy_describe(simulation->policy, simulation->target.limit, rules, sizeof(rules));
    if (count > 1)
        snprintf(title, size, "%lld jobs at %s, under %u algorithms",
                 (long long)simulation->bulk.jobs, rules, count);
    else if (figures->jobs_done < simulation->bulk.jobs)
        snprintf(title, size, "%lld of %lld jobs at %s, then no worker is left",
                 (long long)figures->jobs_done, (long long)simulation->bulk.jobs, rules);
    else
        snprintf(title, size, "%lld jobs at %s take %s", (long long)simulation->bulk.jobs, rules,
                 takt_format_span(figures->duration_us, span));
}

static int write_part(const char *text, size_t size, void *data)
{
    return fwrite(text, 1, size, data) == size ? 0 : TAKT_E_SYSTEM;
}

typedef int (*cli_draw)(const takt_course *const *courses, unsigned count, const char *title,
                        takt_write_cb write, void *data);

static int draw_file(const char *path, cli_draw draw, takt_course *const *courses, unsigned count,
                     const char *title)
{
    FILE *file = fopen(path, "w");
    int failed =
        file ? draw((const takt_course *const *)courses, count, title, write_part, file) : -1;
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

static int tell(const takt_cli_simulation *simulation, takt_course *const *courses, unsigned count)
{
    char title[512];
    int status = 0;

    if ((simulation->svg || simulation->html) && takt_course_figures(courses[0])->rule_count == 0) {
        takt_message("--svg and --html draw the pace of a rule, and this limit has none");
        return EX_USAGE;
    }
    make_title(simulation, courses, count, title, sizeof(title));
    if (!simulation->settings->json)
        printf("%s\n\n", title);
    for (unsigned i = 0; simulation->settings->json && i < count; i++)
        takt_cli_course_json(stdout, courses[i], simulation);
    if (!simulation->settings->json)
        takt_cli_courses_table(stdout, courses, count);
    if (simulation->svg)
        status = draw_file(simulation->svg, takt_course_svg, courses, count, title);
    if (simulation->html && status == 0)
        status = draw_file(simulation->html, takt_course_html, courses, count, title);
    return status;
}

int takt_cli_simulate_fleet(const takt_cli_simulation *simulation)
{
    takt_course *courses[TAKT_CLI_COMPARED_MAX] = {0};
    unsigned count = simulation->compared_count > 0 ? simulation->compared_count : 1;
    int status = run_courses(simulation, courses, count);

    if (status == 0)
        status = tell(simulation, courses, count);
    for (unsigned i = 0; i < count; i++)
        takt_course_free(courses[i]);
    int written = takt_message_end_output();
    return status ? status : written;
}
