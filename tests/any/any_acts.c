/*
 * any_acts.c: draws the next action by weight.
 */
#include "any/any.h"

static void do_open(void)
{
    party_open(&here.parties[below(PARTIES)]);
}

static void do_close(void)
{
    party_close(&here.parties[below(PARTIES)]);
}

static void do_reload_any(void)
{
    party *of = any_party();

    if (of)
        do_reload(of);
}

static void do_look(void)
{
    party *of = any_party();
    takt_shadow shadow;

    if (of)
        (void)takt_get_shadow(of->client, limits[below(limit_count)].name, &shadow);
}

static const struct {
    void (*act)(void);
    int weight;
    bool within_callbacks; /* else it runs a loop */
} acts[] = {
    {do_acquire, 300, true},    {do_release, 160, true}, {do_try, 80, true},
    {do_cancel, 60, true},      {do_settle, 50, true},   {do_call, 60, true},
    {do_free, 40, true},        {do_open, 8, true},      {do_close, 5, true},
    {do_reload_any, 10, true},  {do_look, 10, true},     {run_loops, 300, false},
    {await_a_while, 20, false}, {do_fault, 10, false},   {do_apply, 4, false},
};

static void do_one(bool within_callback)
{
    int64_t at, total = 0;
    size_t i = 0;

    for (size_t j = 0; j < sizeof acts / sizeof acts[0]; j++)
        total += acts[j].within_callbacks || !within_callback ? acts[j].weight : 0;
    at = below(total);
    for (;; i++) {
        int weight = acts[i].within_callbacks || !within_callback ? acts[i].weight : 0;
        if (at < weight)
            break;
        at -= weight;
    }
    acts[i].act();
}

void do_anything(void)
{
    do_one(false);
}

void do_within_callback(void)
{
    if (here.ending || one_in(2))
        return;
    here.depth++;
    for (int64_t n = below(4); n > 0; n--)
        do_one(true);
    here.depth--;
}
