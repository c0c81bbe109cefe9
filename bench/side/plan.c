/*
 * plan.c: see plan.h.
 */
#include "plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"

#define STARTS_MAX  1000000 /* that are written down */
#define COUNT_EVERY 64      /* where they are only counted, the clock is looked at every so many */

side_plan side = {.outstanding = 1, .count = 1, .rules = 1};

static int64_t starts_us[STARTS_MAX], slots_us[STARTS_MAX];
static int64_t starts, *took_ns, took;
static int64_t jobs, jobs_us, busy_us; /* what they took, and what of it counts */
static int64_t counted, counted_from_us, counted_to_us;

static void read_word(char *word)
{
    static const struct {
        const char *name;
        const char **text;
        int64_t *number;
    } fields[] = {
        {"workload", &side.workload, NULL},
        {"socket", &side.socket, NULL},
        {"out", &side.out, NULL},
        {"rate", NULL, &side.rate},
        {"outstanding", NULL, &side.outstanding},
        {"permits", NULL, &side.permits},
        {"job_ms", NULL, &side.job_ms},
        {"count", NULL, &side.count},
        {"keys", NULL, &side.keys},
        {"rules", NULL, &side.rules},
        {"together", NULL, &side.together},
        {"end_us", NULL, &side.end_us},
    };
    char *value = strchr(word, '=');

    for (size_t i = 0; value && i < sizeof fields / sizeof *fields; i++) {
        if (strncmp(word, fields[i].name, (size_t)(value - word)) != 0 ||
            fields[i].name[value - word] != '\0')
            continue;
        if (fields[i].text)
            *fields[i].text = value + 1;
        else
            *fields[i].number = strtoll(value + 1, NULL, 10);
        return;
    }
    fprintf(stderr, "what is \"%s\"?\n", word);
    exit(64);
}

void side_read_plan(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_word(argv[i]);
    if (!side.workload || !side.socket) {
        fprintf(stderr, "usage: %s workload=NAME socket=PATH ...\n", argv[0]);
        exit(64);
    }
    took_ns = calloc((size_t)side.count, sizeof *took_ns);
}

void side_wait_for_all(void)
{
    if (!side.together)
        return;
    printf("ready\n");
    fflush(stdout);
    if (scanf("%" SCNd64 " %" SCNd64 " %" SCNd64, &side.begin_us, &side.until_us, &side.end_us) !=
        3) {
        fprintf(stderr, "nobody said when to begin\n");
        exit(1);
    }
}

int64_t side_now_us(void)
{
    return bench_now_ns() / 1000;
}

void side_granted(int64_t slot_us)
{
    if (starts < STARTS_MAX) {
        starts_us[starts] = side_now_us();
        slots_us[starts] = slot_us;
    }
    starts++;
}

void side_worked(int64_t from_us)
{
    int64_t now_us = side_now_us();
    int64_t first_us = from_us > side.begin_us ? from_us : side.begin_us;
    int64_t last_us = now_us < side.until_us ? now_us : side.until_us;

    jobs++;
    jobs_us += now_us - from_us;
    busy_us += last_us > first_us ? last_us - first_us : 0;
}

void side_count(void)
{
    int64_t now_us;

    if (++starts % COUNT_EVERY != 0)
        return;
    now_us = side_now_us();
    if (now_us < side.begin_us)
        return;
    if (counted_from_us == 0)
        counted_from_us = now_us;
    else
        counted += COUNT_EVERY;
    counted_to_us = now_us;
}

void side_took(int64_t ns)
{
    if (took < side.count)
        took_ns[took++] = ns;
}

static void write_instants(const char *path, const int64_t *instants)
{
    int64_t count = counted > 0 ? 0 : starts < STARTS_MAX ? starts : STARTS_MAX;
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(instants, sizeof *instants, (size_t)count, file) != (size_t)count ||
        fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_files(void)
{
    char path[4096];

    if (!side.out)
        return;
    write_instants(side.out, starts_us);
    snprintf(path, sizeof path, "%s.slots", side.out);
    if (starts > 0 && slots_us[0] > 0)
        write_instants(path, slots_us);
}

void side_tell(void)
{
    write_files();
    printf("{\"grants\":%" PRId64, starts);
    if (counted > 0)
        printf(",\"counted\":%" PRId64 ",\"counted_us\":%" PRId64, counted,
               counted_to_us - counted_from_us);
    if (jobs > 0)
        printf(",\"jobs\":%" PRId64 ",\"jobs_us\":%" PRId64 ",\"busy_us\":%" PRId64, jobs, jobs_us,
               busy_us);
    printf(",\"took_ns\":[");
    for (int64_t i = 0; i < took; i++)
        printf("%s%" PRId64, i > 0 ? "," : "", took_ns[i]);
    printf("]}\n");
}
