/*
 * nest.c: see nest.h.
 */
#include "scheduler/nest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/tenant_name.h"

#define ID_SIZE (TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX)

/* ---- which work is nested -------------------------------------------------------------------- */

static bool has_tenants(const takt_limit *limit)
{
    return limit->fair != TAKT_FAIR_WORKER;
}

takt_inside takt_chain_inside(const takt_chain *chain)
{
    if (!has_tenants(chain->limits[0]))
        return TAKT_INSIDE_NONE;
    return has_tenants(chain->limits[chain->count - 1]) ? TAKT_INSIDE_ALIKE : TAKT_INSIDE_WITHIN;
}

/* Whether a limit between has tenants that the outermost one does not have. */
static bool has_tenants_between(const takt_chain *chain)
{
    if (has_tenants(chain->limits[chain->count - 1]))
        return false;
    for (int i = 1; i + 1 < chain->count; i++)
        if (has_tenants(chain->limits[i]))
            return true;
    return false;
}

static bool suits(const takt_chain *chain, int level)
{
    const takt_limit *limit = chain->limits[level];

    return limit->mode == chain->limits[0]->mode && limit->access != TAKT_ACCESS_UNLIMITED;
}

bool takt_chain_is_nested(const takt_chain *chain)
{
    takt_chain_units units;

    for (int i = 0; i < chain->count; i++)
        if (!suits(chain, i))
            return false;
    return chain->count > 1 && !has_tenants_between(chain) && takt_chain_number(chain, &units);
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool counts(const takt_limit *limit, int amount)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if ((int)limit->numbers.rules[i].unit == takt_unit_at(amount))
            return true;
    return false;
}

/* The name of a limit's unit, and what a request takes of it that states none; 0: it has to. */
static const char *unit_of(const takt_limit *limit, int amount, int32_t *usual)
{
    *usual = amount == 0 ? limit->default_amount : limit->more_defaults.of[amount - 1];
    return amount == 0 ? limit->unit : limit->more_units[amount - 1];
}

/* Whether a request takes as much of both units.  If one of them has no default, each request
 * states the amount. */
static bool are_alike(const takt_limit *a, int amount, const takt_limit *b, int other)
{
    int32_t usual, other_usual;
    bool same = strcmp(unit_of(a, amount, &usual), unit_of(b, other, &other_usual)) == 0;

    return same && (usual == other_usual || usual == 0 || other_usual == 0);
}

/* The place of a level's amount among the claim's, which gets one if it has none; -1: there is no
 * more. */
static int place_of(const takt_chain *chain, int level, int amount, takt_chain_units *units)
{
    int free = -1;

    for (int i = TAKT_AMOUNTS_MAX - 1; i >= 0; i--) {
        const takt_chain_unit *unit = &units->of[i];
        if (unit->level < 0)
            free = i;
        else if (are_alike(chain->limits[level], amount, chain->limits[unit->level], unit->amount))
            return i;
    }
    if (free >= 0)
        units->of[free] = (takt_chain_unit){(int8_t)level, (int8_t)amount};
    return free;
}

static bool number_level(const takt_chain *chain, int level, takt_chain_units *units)
{
    for (int amount = 0; amount < TAKT_AMOUNTS_MAX; amount++) {
        int place;
        if (!counts(chain->limits[level], amount))
            continue;
        place = place_of(chain, level, amount, units);
        if (place < 0)
            return false;
        units->maps[level].shift[amount] = (int8_t)(place - amount);
    }
    return true;
}

bool takt_chain_number(const takt_chain *chain, takt_chain_units *units)
{
    int outermost = chain->count - 1;

    *units = (takt_chain_units){.of = {{0, 0}}};
    if (chain->numbered) {
        memcpy(units->maps, chain->maps, sizeof units->maps);
        return true;
    }
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        bool own = counts(chain->limits[outermost], i);
        units->of[i] = (takt_chain_unit){(int8_t)(own ? outermost : -1), (int8_t)i};
    }
    for (int level = 0; level < outermost; level++)
        if (!number_level(chain, level, units))
            return false;
    return true;
}

/* The place of a level's amount in a numbered chain. */
static int numbered_place(const takt_chain *chain, int level, int amount)
{
    return level + 1 < chain->count ? amount + chain->maps[level].shift[amount] : amount;
}

void takt_chain_state(takt_chain *chain)
{
    for (int level = 0; level < chain->count; level++)
        for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
            chain->stated.of[level][i] = counts(chain->limits[level], i);
}

bool takt_chain_follows(const takt_chain *chain)
{
    bool taken[TAKT_AMOUNTS_MAX] = {false};

    for (int level = 0; level < chain->count; level++)
        for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
            taken[numbered_place(chain, level, i)] |= chain->stated.of[level][i];
    for (int level = 0; level < chain->count; level++)
        for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
            if (counts(chain->limits[level], i) && !chain->stated.of[level][i] &&
                taken[numbered_place(chain, level, i)])
                return false;
    return true;
}

bool takt_chain_take(const takt_chain *chain, int32_t *cost, takt_more *more)
{
    int outermost = chain->count - 1;
    takt_chain_units units;

    if (!takt_chain_number(chain, &units))
        return false;
    *cost = (int32_t)chain->costs[outermost];
    *more = TAKT_NO_MORE;
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        const takt_chain_unit *unit = &units.of[i];
        int32_t amount;
        if (unit->level < 0)
            continue;
        amount = unit->amount == 0 ? (int32_t)chain->costs[unit->level]
                                   : chain->more[unit->level].of[unit->amount - 1];
        if (i == 0)
            *cost = amount;
        else
            more->of[i - 1] = amount;
    }
    return true;
}

takt_run takt_nest_part(const takt_numbers *numbers, takt_unit_map map, takt_run run)
{
    int64_t claimed[TAKT_AMOUNTS_MAX] = {run.cost, run.more.of[0], run.more.of[1], run.more.of[2]};
    int units = takt_numbers_units(numbers);

    run.cost = (int32_t)claimed[map.shift[0]];
    for (int i = 1; i < TAKT_AMOUNTS_MAX; i++)
        run.more.of[i - 1] = takt_unit_at(i) < units ? (int32_t)claimed[i + map.shift[i]] : 0;
    return run;
}

/* ---- the inner limits of a queue ------------------------------------------------------------- */

static size_t write_id(char id[ID_SIZE], const takt_limit *limit, const char *key)
{
    size_t name_size = strlen(limit->name), key_size = strlen(key);

    memcpy(id, limit->name, name_size + 1);
    memcpy(id + name_size + 1, key, key_size);
    return name_size + 1 + key_size;
}

static takt_inner_ledger *find(const takt_scheduler *scheduler, const char *id, size_t size)
{
    takt_entry *entry = takt_table_find(&scheduler->inner, id, size);

    return entry ? TAKT_HOLDER(entry, takt_inner_ledger, entry) : NULL;
}

/* The ledger of an inner limit, made if necessary; NULL: no memory. */
static takt_inner_ledger *ledger_at(takt_scheduler *scheduler, const takt_limit *limit,
                                    const char *key)
{
    char id[ID_SIZE];
    size_t size = write_id(id, limit, key);
    takt_inner_ledger *ledger = find(scheduler, id, size);

    if (ledger)
        return ledger;
    ledger = calloc(1, sizeof *ledger + size);
    if (!ledger)
        return NULL;
    memcpy(ledger->id, id, size);
    ledger->entry.key = ledger->id;
    ledger->entry.size = size;
    takt_list_init(&ledger->queues);
    takt_table_add(&scheduler->inner, &ledger->entry);
    return ledger;
}

/* The subject of a chain: its keys, the innermost first, and the name of a limit that has no key.
 * A hash replaces a text that is too long. */
static void name_subject(char subject[TAKT_TENANT_SIZE_MAX + 1], const takt_chain *chain)
{
    uint64_t hash = 0;
    size_t used = 0;

    for (int i = 0; i + 1 < chain->count; i++) {
        const char *part = chain->keys[i][0] ? chain->keys[i] : chain->limits[i]->name;
        hash = takt_tenant_worker(hash, part);
        if (used <= TAKT_TENANT_SIZE_MAX)
            used += (size_t)snprintf(subject + used, TAKT_TENANT_SIZE_MAX + 1 - used, "%s%s",
                                     i > 0 ? "/" : "", part);
    }
    if (used > TAKT_TENANT_SIZE_MAX)
        snprintf(subject, TAKT_TENANT_SIZE_MAX + 1, "#%016" PRIx64, hash);
}

int takt_nest_join(takt_scheduler *scheduler, takt_queue *queue, const takt_chain *chain,
                   const char *const *keys, const char *tenant)
{
    takt_nest *nest = calloc(1, sizeof *nest);
    takt_chain_units units;

    if (!nest)
        return TAKT_E_NOMEM;
    queue->nest = nest;
    nest->numbered = chain->numbered;
    nest->tenant = tenant;
    nest->weight = 1;
    (void)takt_chain_number(chain, &units); /* it suits */
    name_subject(nest->subject, chain);
    while (nest->count + 1 < chain->count) {
        takt_inner *inner = &nest->inner[nest->count];
        takt_inner_ledger *ledger =
            ledger_at(scheduler, chain->limits[nest->count], keys[nest->count]);
        if (!ledger)
            return TAKT_E_NOMEM; /* takt_nest_leave frees the others */
        *inner = (takt_inner){chain->limits[nest->count],
                              keys[nest->count],
                              units.maps[nest->count],
                              queue,
                              ledger,
                              {0}};
        takt_list_append(&ledger->queues, &inner->link);
        nest->count++;
    }
    return 0;
}

void takt_nest_leave(takt_scheduler *scheduler, takt_queue *queue)
{
    for (int i = 0; queue->nest && i < queue->nest->count; i++) {
        takt_inner *inner = &queue->nest->inner[i];
        takt_inner_ledger *ledger = inner->ledger;
        ledger->alone -= queue->loss.alone;
        takt_list_remove(&inner->link);
        if (!takt_list_empty(&ledger->queues))
            continue;
        takt_table_remove(&scheduler->inner, &ledger->entry);
        free(ledger->share);
        free(ledger);
    }
}

takt_queue *takt_nest_next(takt_scheduler *scheduler, const takt_limit *limit, const char *key,
                           const takt_queue *before)
{
    char id[ID_SIZE];
    takt_inner_ledger *ledger = find(scheduler, id, write_id(id, limit, key));
    const takt_link *next;

    if (!ledger)
        return NULL;
    next = ledger->queues.next;
    for (int i = 0; before && i < before->nest->count; i++)
        if (before->nest->inner[i].ledger == ledger)
            next = before->nest->inner[i].link.next;
    return next != &ledger->queues ? TAKT_HOLDER(next, takt_inner, link)->queue : NULL;
}

bool takt_nest_has(const takt_queue *queue, const takt_chain *chain)
{
    for (int i = 0; i < queue->nest->count; i++)
        if (queue->nest->inner[i].limit != chain->limits[i])
            return false;
    return queue->limit == chain->limits[queue->nest->count];
}

bool takt_nest_continues(const takt_nest *nest, const takt_chain *chain)
{
    takt_chain_units units;

    if (!takt_chain_number(chain, &units))
        return false;
    for (int i = 0; i < nest->count; i++)
        if (!takt_unit_map_same(nest->inner[i].units, units.maps[i]))
            return false;
    return true;
}

uint64_t takt_nest_worker(const takt_queue *queue, uint64_t worker)
{
    const takt_nest *nest = queue->nest;
    char units[TAKT_AMOUNTS_MAX + 1];

    worker = takt_tenant_worker(worker, queue->limit->name);
    worker = takt_tenant_worker(worker, queue->key);
    for (int i = 0; i < nest->count; i++) {
        worker = takt_tenant_worker(worker, nest->inner[i].limit->name);
        worker = takt_tenant_worker(worker, nest->inner[i].key);
        takt_unit_map_write(nest->inner[i].units, units);
        worker = takt_tenant_worker(worker, units);
    }
    return takt_tenant_worker(worker, nest->tenant);
}

const char *takt_nest_tenant(const takt_queue *queue, int level, int32_t *weight)
{
    const takt_nest *nest = queue->nest;
    bool within = nest->inside == TAKT_INSIDE_WITHIN;

    *weight = level == 0 && within ? nest->weight : queue->turn->weight;
    if (level == 0 && nest->inside == TAKT_INSIDE_NONE)
        return NULL;
    return level == 0 && within ? nest->tenant : queue->turn->tenant;
}
