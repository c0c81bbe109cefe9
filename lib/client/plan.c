/*
 * plan.c: see takt/plan.h.  The rules' states of each limit and key are kept here, as a ledger
 * keeps them, without a line and without a store.
 */
#include <takt/plan.h>

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/list.h"
#include "base/memory_pages.h"
#include "base/table.h"
#include "client/request.h"

/* The work planned for one limit and key. */
typedef struct planned {
    takt_entry entry;
    const takt_numbers *numbers;
    takt_rules_state state;
    takt_memory_pages pages;
    int64_t last_us; /* later work has no earlier slot */
    char name[];     /* the limit's name, NUL, the key */
} planned;

struct takt_plan {
    const takt_policy *policy;
    int64_t from_us;
    takt_table known;
};

int takt_plan_new(takt_plan **plan, const takt_policy *policy, int64_t from_us)
{
    takt_plan *made = calloc(1, sizeof *made);

    if (made && takt_table_init(&made->known, 0) == 0) {
        *made = (takt_plan){.policy = policy, .from_us = from_us, .known = made->known};
        *plan = made;
        return 0;
    }
    free(made);
    return TAKT_E_NOMEM;
}

void takt_plan_free(takt_plan *plan)
{
    takt_entry *entry;

    if (!plan)
        return;
    while ((entry = takt_table_any(&plan->known)) != NULL) {
        planned *gone = TAKT_HOLDER(entry, planned, entry);
        takt_table_remove(&plan->known, entry);
        takt_memory_pages_close(&gone->pages);
        free(gone);
    }
    takt_table_close(&plan->known);
    free(plan);
}

/* The plan of a limit and key; a new one is at rest. NULL: no memory. */
static planned *find(takt_plan *plan, const takt_limit *limit, const char *key)
{
    char name[TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX + 1];
    size_t size = (size_t)(stpcpy(stpcpy(name, limit->name) + 1, key) - name);
    takt_entry *entry = takt_table_find(&plan->known, name, size);
    planned *made;

    if (entry)
        return TAKT_HOLDER(entry, planned, entry);
    made = malloc(sizeof *made + size);
    if (!made)
        return NULL;
    memcpy(made->name, name, size);
    made->entry = (takt_entry){.key = made->name, .size = size};
    made->numbers = &limit->numbers;
    made->last_us = plan->from_us;
    takt_memory_pages_init(&made->pages);
    takt_numbers_begin(&made->state, &made->pages.pages);
    takt_numbers_rest(made->numbers, &made->state, plan->from_us);
    takt_table_add(&plan->known, &made->entry);
    return made;
}

/* The first instant that conforms at all levels.  A level can only move it to a later time, so a
 * round over all levels that does not move it has found it. */
static int64_t earliest(planned *const *known, const takt_amounts *taken, int count,
                        int64_t from_us)
{
    int64_t at_us = from_us, before_us;

    for (int i = 0; i < count; i++)
        at_us = takt_max(at_us, known[i]->last_us);
    do {
        before_us = at_us;
        for (int i = 0; i < count && at_us < TAKT_NEVER; i++)
            at_us = takt_numbers_earliest(known[i]->numbers, &known[i]->state, at_us, taken[i]);
    } while (at_us != before_us);
    return at_us;
}

static bool take(planned *at, int64_t at_us, takt_amounts taken)
{
    takt_numbers_commit(at->numbers, &at->state, at_us, taken);
    at->last_us = at_us;
    takt_memory_pages_end(&at->pages, true);
    return at->pages.pages.trouble == TAKT_PAGES_FINE;
}

int takt_plan_add(takt_plan *plan, const takt_request *request, int64_t *at_us, takt_error *error)
{
    planned *known[TAKT_LEVELS_MAX];
    takt_amounts taken[TAKT_LEVELS_MAX];
    takt_demand demand;
    int count = 0, code;

    code = takt_request_check(plan->policy, NULL, NULL, request, &demand, error);
    if (code == 0)
        code = takt_request_admit(request, &demand, error);
    for (int level = 0; code == 0 && level < demand.count; level++) {
        const takt_limit *limit = demand.limits[level];
        if (limit->access != TAKT_ACCESS_LIMITED || limit->mode != TAKT_MODE_ENFORCE)
            continue;
        taken[count] = takt_amounts_of(demand.costs[level], takt_request_more(&demand, level));
        known[count] = find(plan, limit, takt_request_key(request, &demand, level));
        if (!known[count++])
            code = takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    if (code != 0)
        return code;
    *at_us = earliest(known, taken, count, plan->from_us);
    for (int i = 0; i < count && *at_us < TAKT_NEVER; i++)
        if (!take(known[i], *at_us, taken[i]))
            return takt_fail(error, TAKT_E_NOMEM, "no memory");
    return 0;
}
