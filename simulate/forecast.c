/*
 * forecast.c: see forecast.h.
 */
#include "simulate/forecast.h"

void takt_forecast_init(takt_forecast *forecast, const takt_numbers *numbers)
{
    *forecast = (takt_forecast){.numbers = numbers};
    takt_memory_pages_init(&forecast->pages);
}

void takt_forecast_close(takt_forecast *forecast)
{
    takt_memory_pages_close(&forecast->pages);
}

/* A failure ends with its call; the forecast remembers it. */
static void note_trouble(takt_forecast *forecast)
{
    if (forecast->pages.pages.trouble != TAKT_PAGES_FINE)
        forecast->out_of_memory = true;
}

void takt_forecast_begin(takt_forecast *forecast, const takt_ledger *ledger,
                         const takt_memory_pages *pages)
{
    takt_memory_pages_close(&forecast->pages);
    takt_memory_pages_copy(&forecast->pages, pages);
    forecast->state = ledger->state;
    for (int i = 0; i < TAKT_RULES_MAX; i++)
        forecast->state.rules[i].pages = &forecast->pages.pages;
    forecast->last_us = INT64_MIN;
    forecast->last_priority = 0;
    forecast->valid = true;
    forecast->before.known = false;
    note_trouble(forecast);
}

int64_t takt_forecast_slot(takt_forecast *forecast, int64_t now_us, takt_amounts taken)
{
    int64_t from_us = now_us > forecast->last_us ? now_us : forecast->last_us;
    int64_t slot_us = takt_numbers_earliest(forecast->numbers, &forecast->state, from_us, taken);

    note_trouble(forecast);
    return slot_us;
}

void takt_forecast_take(takt_forecast *forecast, int64_t slot_us, takt_amounts taken, int priority)
{
    takt_memory_pages_end(&forecast->pages, true);
    forecast->before.state = forecast->state;
    forecast->before.last_us = forecast->last_us;
    forecast->before.last_priority = forecast->last_priority;
    forecast->before.taken = forecast->pages.pages.taken;
    forecast->before.known = true;
    takt_numbers_commit(forecast->numbers, &forecast->state, slot_us, taken);
    forecast->last_us = slot_us;
    forecast->last_priority = priority;
    note_trouble(forecast);
}

bool takt_forecast_undo(takt_forecast *forecast)
{
    forecast->valid = forecast->valid && forecast->before.known;
    if (!forecast->valid)
        return false;
    takt_memory_pages_end(&forecast->pages, false);
    forecast->pages.pages.taken = forecast->before.taken;
    forecast->state = forecast->before.state;
    forecast->last_us = forecast->before.last_us;
    forecast->last_priority = forecast->before.last_priority;
    forecast->before.known = false;
    return true;
}
