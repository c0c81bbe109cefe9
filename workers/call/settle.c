/*
 * settle.c: see settle.h.
 */
#include "settle.h"

#include <stdio.h>
#include <string.h>

#include "cost.h"

#define PLACES_MAX 16 /* more than any vendor has in a policy */

typedef struct settling {
    const takt_caller_call *call;
    takt_caller_unsettled *unsettled;
    bool says_missing, says_wrong; /* about this answer */
} settling;

static void say(settling *of, takt_caller_cost_verdict verdict, const char *unit, const char *why)
{
    takt_caller_unsettled *unsettled = of->unsettled;
    bool wrong = verdict == TAKT_CALLER_COST_WRONG;

    if (!(wrong ? of->says_wrong : of->says_missing))
        return;
    takt_worker_say("job %s: %s%snot settled, its estimated cost counts: %s (reported once)",
                    takt_job_head_of(of->call->job)->id, unit ? unit : "", unit ? ": " : "", why);
    *(wrong ? &unsettled->said_wrong : &unsettled->said_missing) = true;
}

/* ---- pointers -------------------------------------------------------------------------------- */

static int pointers_of_limit(const takt_caller_call *call, takt_caller_cost *costs)
{
    const takt_policy *policy = takt_get_policy(takt_job_client(call->job));
    const char *limit = takt_job_head_of(call->job)->limit;
    int count = 0;

    while (count < PLACES_MAX &&
           takt_policy_settle(policy, limit, (size_t)count, &costs[count].from.unit,
                              &costs[count].from.pointer) == 0)
        count++;
    return count;
}

/* Where the answer states costs. The command line names one pointer, which is not for jobs that
 * state amounts of several units. */
static int pointers_of(const takt_caller_call *call, const takt_caller_options *options,
                       takt_caller_cost *costs)
{
    int count = call->spec.settle_count;

    for (int i = 0; i < count; i++)
        costs[i].from = call->spec.settle[i];
    if (count == 0)
        count = pointers_of_limit(call, costs);
    if (count == 0 && options->settle && !takt_job_head_of(call->job)->amounts[1].unit)
        costs[count++].from = (takt_caller_unit_pointer){NULL, options->settle};
    return count;
}

/* ---- settling -------------------------------------------------------------------------------- */

/* A cost without a unit is an amount of the unit that the job states. Without a rate there is
 * nothing to correct. */
static void settle_stated(settling *of, int64_t amount)
{
    const takt_job_head *head = takt_job_head_of(of->call->job);
    takt_amount used = {head->amounts[0].unit, amount};
    int64_t tokens = 0, period_us = 0;

    if (head->amounts[1].unit) {
        say(of, TAKT_CALLER_COST_WRONG, NULL,
            "settle of its limit states one amount, and its cost has several; write settle: {UNIT: "
            "POINTER}");
        return;
    }
    if (takt_job_settle(of->call->job, &used, 1) != TAKT_E_INVALID || used.unit)
        return;
    takt_policy_rate(takt_get_policy(takt_job_client(of->call->job)), head->limit, head->key,
                     &tokens, &period_us);
    if (period_us > 0)
        say(of, TAKT_CALLER_COST_WRONG, NULL,
            "its limit counts a unit, so state an amount of it in the job, like \"cost\": "
            "{\"tokens\": 800}");
}

static void settle_units(settling *of, const takt_amount *used, int count)
{
    char why[COST_WHY_SIZE];

    if (count == 0 || takt_job_settle(of->call->job, used, count) != TAKT_E_INVALID)
        return;
    snprintf(why, sizeof(why),
             "its limits do not count %s%s; let settle name units that their rules count",
             used[0].unit, count > 1 ? ", or another unit of its settle" : "");
    say(of, TAKT_CALLER_COST_WRONG, NULL, why);
}

/* Of several pointers for one unit, the first that the answer has counts. */
static const takt_caller_cost *choose(const takt_caller_cost *costs, int from, int count)
{
    for (int i = from; i < count; i++)
        if (strcmp(costs[i].from.unit, costs[from].from.unit) == 0 &&
            costs[i].verdict != TAKT_CALLER_COST_MISSING)
            return &costs[i];
    return &costs[from];
}

static bool is_first_of_unit(const takt_caller_cost *costs, int at)
{
    for (int i = 0; i < at; i++)
        if (strcmp(costs[i].from.unit, costs[at].from.unit) == 0)
            return false;
    return true;
}

void takt_caller_settle(takt_caller_unsettled *unsettled, const takt_caller_call *call,
                        const takt_caller_options *options, long status)
{
    const takt_caller_answer *answer = &call->answer;
    bool expected = takt_caller_spec_expects(&call->spec, status);
    settling of = {call, unsettled, expected && !unsettled->said_missing, !unsettled->said_wrong};
    takt_caller_cost costs[PLACES_MAX];
    takt_amount used[TAKT_AMOUNTS_MAX];
    int count = pointers_of(call, options, costs), used_count = 0;

    if (count == 0)
        return;
    takt_caller_costs_read(costs, count, answer->type, answer->body.at, answer->body.size);
    if (!costs[0].from.unit && costs[0].verdict == TAKT_CALLER_COST_FOUND) {
        settle_stated(&of, costs[0].amount);
        return;
    }
    if (!expected)
        of.says_wrong = false;
    if (!costs[0].from.unit) {
        say(&of, costs[0].verdict, NULL, costs[0].why);
        return;
    }
    for (int i = 0; i < count; i++) {
        const takt_caller_cost *cost = choose(costs, i, count);
        if (!is_first_of_unit(costs, i))
            continue;
        if (cost->verdict != TAKT_CALLER_COST_FOUND)
            say(&of, cost->verdict, cost->from.unit, cost->why);
        else if (used_count < TAKT_AMOUNTS_MAX)
            used[used_count++] = (takt_amount){cost->from.unit, cost->amount};
    }
    settle_units(&of, used, used_count);
}
