/*
 * figures.c: counts jobs.
 */
#include "figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000)
#define S  (1000 * MS)

/* From the length of a short job to the wait for tomorrow's quota. */
const int64_t takt_figures_bounds_us[TAKT_FIGURES_BUCKETS] = {
    1 * MS, 5 * MS, 25 * MS, 100 * MS, 250 * MS, 500 * MS,  1 * S,     5 * S,
    15 * S, 60 * S, 300 * S, 900 * S,  3600 * S, 14400 * S, 86400 * S,
};

void takt_figures_histogram_add(takt_figures_histogram *histogram, int64_t value_us)
{
    int i = 0;

    if (value_us < 0)
        value_us = 0;
    while (i < TAKT_FIGURES_BUCKETS && value_us > takt_figures_bounds_us[i])
        i++;
    histogram->counts[i]++;
    histogram->count++;
    histogram->sum_us += value_us;
}

takt_report_limit *takt_figures_get(takt_figures *figures, const char *limit)
{
    takt_report_limit *at = figures->limits;

    while (at && strcmp(at->name, limit) != 0)
        at = at->next;
    if (at)
        return at;
    at = calloc(1, sizeof(*at));
    if (!at)
        return NULL;
    at->name = strdup(limit);
    if (!at->name) {
        free(at);
        return NULL;
    }
    if (figures->last)
        figures->last->next = at;
    else
        figures->limits = at;
    figures->last = at;
    return at;
}

static uint64_t *count_of(takt_report_limit *limit, takt_report_state state)
{
    switch (state) {
    case TAKT_REPORT_WAITING:
        return &limit->waiting;
    case TAKT_REPORT_PUT_AWAY:
        return &limit->put_away;
    case TAKT_REPORT_RUNNING:
        return &limit->running;
    case TAKT_REPORT_NOWHERE:
        break;
    }
    return NULL;
}

void takt_figures_move(takt_report_limit *limit, takt_report_state from, takt_report_state to)
{
    uint64_t *left = count_of(limit, from), *entered = count_of(limit, to);

    if (left && *left > 0)
        --*left;
    if (entered)
        ++*entered;
}

bool takt_figures_trouble(takt_figures *figures, const char *who, const char *text)
{
    takt_report_trouble *at = figures->troubles, *end = at + TAKT_FIGURES_TROUBLES;

    while (at < end && at->who && strcmp(at->who, who) != 0)
        at++;
    if (at == end || (!text && !at->who) ||
        (text && at->who && strncmp(at->text, text, sizeof(at->text) - 1) == 0))
        return false;
    if (!text) {
        memmove(at, at + 1, (size_t)(end - at - 1) * sizeof(*at));
        end[-1].who = NULL;
        return true;
    }
    at->who = who;
    snprintf(at->text, sizeof(at->text), "%s", text);
    return true;
}

const takt_report_trouble *takt_figures_first_trouble(const takt_figures *figures)
{
    return figures->troubles[0].who ? &figures->troubles[0] : NULL;
}

bool takt_figures_is_ready(const takt_figures *figures)
{
    return figures->phase == TAKT_REPORT_WORKING && !takt_figures_first_trouble(figures);
}

static void add(takt_report_limit *sum, const takt_report_limit *limit)
{
    sum->taken += limit->taken;
    sum->started += limit->started;
    sum->done += limit->done;
    sum->retried += limit->retried;
    sum->dead += limit->dead;
    sum->given_back += limit->given_back;
    sum->lost += limit->lost;
    sum->waiting += limit->waiting;
    sum->put_away += limit->put_away;
    sum->running += limit->running;
}

takt_report_limit takt_figures_sum(const takt_figures *figures)
{
    takt_report_limit sum = {0};

    add(&sum, &figures->nowhere);
    for (const takt_report_limit *at = figures->limits; at; at = at->next)
        add(&sum, at);
    return sum;
}

void takt_figures_line(const takt_figures *figures, char *text, size_t size)
{
    takt_report_limit sum = takt_figures_sum(figures);
    char total[48] = "";

    if (figures->total > 0)
        snprintf(total, sizeof(total), " of %s%" PRIu64, figures->exact ? "" : "about ",
                 figures->total);
    snprintf(text, size,
             "%" PRIu64 "%s done, %" PRIu64 " failed, %" PRIu64 " running, %" PRIu64 " waiting",
             sum.done, total, sum.dead, sum.running, sum.waiting + sum.put_away);
}

void takt_figures_free(takt_figures *figures)
{
    takt_report_limit *at;

    while ((at = figures->limits) != NULL) {
        figures->limits = at->next;
        free(at->name);
        free(at);
    }
    figures->last = NULL;
}
