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

static int64_t starts_us[STARTS_MAX];
static int64_t starts, *took_ns, took;
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
        {"rules", NULL, &side.rules},
        {"begin_us", NULL, &side.begin_us},
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

int64_t side_now_us(void)
{
    return bench_now_ns() / 1000;
}

void side_granted(void)
{
    if (starts < STARTS_MAX)
        starts_us[starts] = side_now_us();
    starts++;
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

static void write_starts(void)
{
    int64_t count = counted > 0 ? 0 : starts < STARTS_MAX ? starts : STARTS_MAX;
    FILE *file = side.out ? fopen(side.out, "wb") : NULL;

    if (!side.out)
        return;
    if (!file || fwrite(starts_us, sizeof *starts_us, (size_t)count, file) != (size_t)count ||
        fclose(file) != 0) {
        perror(side.out);
        exit(1);
    }
}

void side_tell(int64_t store_calls)
{
    write_starts();
    printf("{\"grants\":%" PRId64, starts);
    if (counted > 0)
        printf(",\"counted\":%" PRId64 ",\"counted_us\":%" PRId64, counted,
               counted_to_us - counted_from_us);
    if (store_calls >= 0)
        printf(",\"store_calls\":%" PRId64, store_calls);
    printf(",\"took_ns\":[");
    for (int64_t i = 0; i < took; i++)
        printf("%s%" PRId64, i > 0 ? "," : "", took_ns[i]);
    printf("]}\n");
}
