/*
 * busiest.c: see busiest.h.
 */
#include "simulate/busiest.h"

#include <stdlib.h>

#include <takt/error.h>

#define FIRST_CAPACITY 64
#define LAST_CAPACITY  (1 << 18)
#define STEPS          65536

static takt_instant *at(const takt_window *window, int i)
{
    return &window->instants[(window->first + i) & (window->capacity - 1)];
}

int takt_window_open(takt_window *window, int64_t period_us, int64_t slack_us)
{
    *window = (takt_window){
        .period_us = period_us, .slack_us = slack_us, .step_us = 1, .capacity = FIRST_CAPACITY};
    window->instants = calloc(FIRST_CAPACITY, sizeof *window->instants);
    return window->instants ? 0 : TAKT_E_NOMEM;
}

void takt_window_close(takt_window *window)
{
    free(window->instants);
    *window = (takt_window){0};
}

static int grow(takt_window *window)
{
    takt_instant *instants = calloc(2 * (size_t)window->capacity, sizeof *instants);

    if (!instants)
        return TAKT_E_NOMEM;
    for (int i = 0; i < window->count; i++)
        instants[i] = *at(window, i);
    free(window->instants);
    window->instants = instants;
    window->first = 0;
    window->capacity *= 2;
    return 0;
}

static int64_t step_of(const takt_window *window, int64_t at_us)
{
    return at_us / window->step_us;
}

/* Merges instants of the same step that all count, or all do not count, into the first of them. */
static void merge(takt_window *window)
{
    int kept = 0, counting = 0;

    window->step_us = (window->period_us + window->slack_us) / STEPS + 1;
    for (int i = 0; i < window->count; i++) {
        if (kept > 0 && i != window->counting &&
            step_of(window, at(window, kept - 1)->at_us) == step_of(window, at(window, i)->at_us))
            at(window, kept - 1)->tokens += at(window, i)->tokens;
        else
            *at(window, kept++) = *at(window, i);
        if (i < window->counting)
            counting = kept;
    }
    window->count = kept;
    window->counting = counting;
}

/* Counts the next instant: the window that ends with it contains the instants less than a period
 * before it, or before the end of its step. */
static void count_next(takt_window *window)
{
    const takt_instant next = *at(window, window->counting++);
    int64_t end_us = next.at_us + window->step_us - 1;

    window->tokens += next.tokens;
    while (window->counting > 1 && at(window, 0)->at_us <= end_us - window->period_us) {
        window->tokens -= at(window, 0)->tokens;
        window->first = (window->first + 1) & (window->capacity - 1);
        window->counting--;
        window->count--;
    }
    if (window->tokens > window->max)
        window->max = window->tokens;
}

/* Inserts an instant among those that do not count yet. */
static void insert(takt_window *window, int64_t at_us, int64_t tokens)
{
    int i = window->count;

    while (i > window->counting && at(window, i - 1)->at_us > at_us)
        i--;
    if (i > window->counting &&
        step_of(window, at(window, i - 1)->at_us) == step_of(window, at_us)) {
        at(window, i - 1)->tokens += tokens;
        return;
    }
    for (int j = window->count; j > i; j--)
        *at(window, j) = *at(window, j - 1);
    *at(window, i) = (takt_instant){at_us, tokens};
    window->count++;
}

int takt_window_add(takt_window *window, int64_t at_us, int64_t tokens)
{
    if (window->count == window->capacity && window->capacity == LAST_CAPACITY)
        merge(window);
    else if (window->count == window->capacity && grow(window) < 0)
        return TAKT_E_NOMEM;
    insert(window, at_us, tokens);
    while (window->counting < window->count &&
           at(window, window->counting)->at_us <
               at(window, window->count - 1)->at_us - window->slack_us)
        count_next(window);
    return 0;
}

void takt_window_flush(takt_window *window)
{
    while (window->counting < window->count)
        count_next(window);
}
