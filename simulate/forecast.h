/*
 * forecast.h: the slots that the present waiters would get if no other waiter came.
 *
 * It is a copy of a ledger's rule states in which the slots of all waiters are taken already. It
 * starts again when a waiter goes before others, and takes one step when a waiter joins at the end.
 */
#ifndef TAKT_SIMULATE_FORECAST_H
#define TAKT_SIMULATE_FORECAST_H

#include "base/memory_pages.h"
#include "core/ledger.h"

typedef struct takt_forecast {
    const takt_numbers *numbers;
    takt_memory_pages pages;
    takt_rules_state state;
    int64_t last_us;   /* the last slot taken */
    int last_priority; /* the priority of its waiter */
    bool valid;
    bool out_of_memory; /* memory has run out: the forecast is unusable */
    struct {            /* the state before the last slot was taken */
        takt_rules_state state;
        int64_t last_us;
        int last_priority;
        unsigned taken;
        bool known;
    } before;
} takt_forecast;

void takt_forecast_init(takt_forecast *forecast, const takt_numbers *numbers);
void takt_forecast_close(takt_forecast *forecast);

/* Starts from the ledger's state, without waiters. */
void takt_forecast_begin(takt_forecast *forecast, const takt_ledger *ledger,
                         const takt_memory_pages *pages);

/* The slot of one more waiter, after all others and not before now_us. */
int64_t takt_forecast_slot(takt_forecast *forecast, int64_t now_us, takt_amounts taken);

/* Takes that slot. */
void takt_forecast_take(takt_forecast *forecast, int64_t slot_us, takt_amounts taken, int priority);

/* Gives the last slot back. False: the state before is unknown, and the forecast is invalid. */
bool takt_forecast_undo(takt_forecast *forecast);

#endif
