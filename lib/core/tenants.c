/*
 * tenants.c: see tenants.h. Keeps the table, charges tenants for what they were given, and forgets
 * them. Whose turn it is tenant_turns.c decides; the places themselves are line.c's.
 */
#include "core/tenants.h"

#include <string.h>

#include "base/integers.h"
#include "core/due.h"
#include "core/line.h"
#include "core/tenant_name.h"
#include "rules/window.h"

/* ---- the table --------------------------------------------------------------------------------
 */

int takt_tenants_find(const takt_ledger *ledger, int priority, const char *name)
{
    int at = 0;

    while (at < ledger->tenant_count && (ledger->tenants[at].priority != priority ||
                                         strcmp(ledger->tenants[at].name, name) != 0))
        at++;
    return at;
}

static int add(takt_ledger *ledger, int64_t now_us, int priority, const char *name)
{
    takt_tenant *tenant = &ledger->tenants[ledger->tenant_count];

    memset(tenant, 0, sizeof *tenant);
    memcpy(tenant->name, name, strlen(name) + 1);
    tenant->priority = (int8_t)priority;
    tenant->weight = 1;
    tenant->since_us = now_us;
    return ledger->tenant_count++;
}

void takt_tenants_count_none(const takt_ledger *ledger)
{
    for (int i = 0; i < ledger->tenant_count; i++) {
        takt_tenant *tenant = &ledger->tenants[i];
        tenant->wanting = tenant->usable = tenant->need = (takt_amounts){{0}};
        tenant->places = tenant->in_turn = tenant->away = 0;
        tenant->processes = tenant->all = 0;
    }
}

void takt_tenant_count_place(takt_tenant *tenant, const takt_place *place)
{
    tenant->all++;
    if (place->aside)
        return;
    tenant->in_turn++;
    tenant->processes += place->weight;
    tenant->away += place->behind && place->away;
    if (place->behind)
        return;
    for (int unit = 0; unit < TAKT_UNITS; unit++) {
        tenant->wanting.of[unit] += takt_line_wanted(place, unit);
        tenant->usable.of[unit] += takt_line_usable(place, unit);
        if (tenant->places == 0)
            tenant->need.of[unit] = takt_line_need(place, unit);
    }
    tenant->places++;
}

void takt_tenants_count(const takt_ledger *ledger)
{
    takt_tenants_count_none(ledger);
    for (int at = 0; at < ledger->line_count; at++)
        takt_tenant_count_place(takt_tenant_of(ledger, at), &ledger->line[at]);
}

/* Places that have stood in line without tenants are of those that name none. */
static void name_all(takt_ledger *ledger, int64_t now_us)
{
    for (int at = 0; at < ledger->line_count; at++) {
        int priority = ledger->line[at].priority, index = takt_tenants_find(ledger, priority, "");
        if (index == ledger->tenant_count)
            index = add(ledger, now_us, priority, "");
        ledger->line[at].tenant = (int16_t)(index + 1);
        ledger->turn = takt_max(ledger->turn, ledger->line[at].turn); /* nobody owes turns here */
    }
}

int64_t takt_tenants_weights(const takt_ledger *ledger, int priority, int without)
{
    int64_t weights = 0;

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        if (i != without && tenant->priority == priority && tenant->places > 0)
            weights += tenant->weight;
    }
    return weights;
}

static void drop(takt_ledger *ledger, int index)
{
    for (int at = 0; at < ledger->line_count; at++)
        ledger->line[at].tenant =
            (int16_t)(ledger->line[at].tenant - (ledger->line[at].tenant > index + 1));
    ledger->tenant_count--;
    memmove(&ledger->tenants[index], &ledger->tenants[index + 1],
            (size_t)(ledger->tenant_count - index) * sizeof *ledger->tenants);
}

/* Makes space in a full table: of the tenants that do not wait, forgets the one with the lowest
 * tag. False: all others wait. */
static bool forget_one(takt_ledger *ledger, const char *name)
{
    int found = -1;

    for (int i = 0; i < ledger->tenant_count; i++)
        if (ledger->tenants[i].all == 0 && strcmp(ledger->tenants[i].name, name) != 0 &&
            (found < 0 || ledger->tenants[i].tag < ledger->tenants[found].tag))
            found = i;
    if (found >= 0)
        drop(ledger, found);
    return found >= 0;
}

/* The index of the claim's tenant in a priority, which is added if need be; -1: there is no space.
 */
static int admit(takt_ledger *ledger, int64_t now_us, int priority, const char *name)
{
    int index = takt_tenants_find(ledger, priority, name);

    if (index < ledger->tenant_count) {
        if (ledger->tenants[index].all == 0)
            ledger->tenants[index].since_us = now_us;
        return index;
    }
    if ((ledger->tenant_count == TAKT_TENANTS_MAX && !forget_one(ledger, name)) ||
        ledger->tenant_count == ledger->tenant_capacity)
        return -1;
    return add(ledger, now_us, priority, name);
}

/* ---- tags -------------------------------------------------------------------------------------
 */

int takt_tenants_unit(const takt_ledger *ledger)
{
    const takt_numbers *numbers = ledger->numbers;
    int unit = numbers->rule_count > 0 ? TAKT_UNITS : TAKT_UNIT_REQUESTS;

    for (int i = 0; i < numbers->rule_count; i++)
        unit = (int)takt_min(unit, numbers->rules[i].unit);
    return unit;
}

int64_t takt_tenants_lookahead(const takt_ledger *ledger, int64_t now_us)
{
    const takt_numbers *numbers = ledger->numbers;
    int unit = takt_tenants_unit(ledger);
    takt_amounts room =
        takt_numbers_room(numbers, &ledger->state, takt_max(now_us, ledger->blocked_until_us),
                          now_us + numbers->lookahead_us);
    takt_amounts through = takt_numbers_throughput(numbers, &ledger->state, numbers->lookahead_us);

    return takt_max(room.of[unit], through.of[unit]);
}

/* The lowest tag of the tenants of a priority that wait, or that are passed over for a moment.  If
 * there is none: the highest one of those whose places are aside; INT64_MAX: nobody is in line. */
static int64_t level_of(const takt_ledger *ledger, int priority)
{
    int64_t lowest = INT64_MAX, highest = -1;

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        if (tenant->priority != priority)
            continue;
        if (tenant->places > 0 || tenant->away > 0)
            lowest = takt_min(lowest, tenant->tag);
        if (tenant->all > 0)
            highest = takt_max(highest, tenant->tag);
    }
    return lowest == INT64_MAX && highest >= 0 ? highest : lowest;
}

/* What the rules give of the priced unit in the time in which they give all that. */
static int64_t price_of(const takt_ledger *ledger, takt_amounts amounts)
{
    int unit = takt_tenants_unit(ledger);
    int64_t worth_us;

    if (takt_numbers_units(ledger->numbers) == 1)
        return amounts.of[unit];
    worth_us = takt_numbers_worth(ledger->numbers, &ledger->state, amounts);
    return takt_max(takt_numbers_throughput(ledger->numbers, &ledger->state, worth_us).of[unit],
                    amounts.of[unit]);
}

/* What the largest requests that stand first for tenants of a priority add to their tags. */
static int64_t largest_step(const takt_ledger *ledger, int priority)
{
    takt_amounts most = {{0}};

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        if (tenant->priority != priority || tenant->places == 0)
            continue;
        TAKT_EACH_UNIT(unit, TAKT_UNITS)
        most.of[unit] =
            takt_max(most.of[unit], takt_ceil_div(tenant->need.of[unit], tenant->weight));
    }
    return takt_min(price_of(ledger, most), TAKT_SETTLED_MAX) * TAKT_TENANT_STEP;
}

/* By how much the tag of a tenant may be lower than those of others, if tenants of so many weights
 * share the tokens of a lookahead. */
static int64_t behind_at_most(const takt_ledger *ledger, int priority, int64_t tokens,
                              int64_t weights)
{
    int64_t turn = tokens / takt_max(weights, 1) + 1;

    return TAKT_TENANT_TURNS * turn * TAKT_TENANT_STEP + largest_step(ledger, priority);
}

static int64_t tokens_of_lookahead(const takt_ledger *ledger)
{
    const takt_numbers *numbers = ledger->numbers;

    return takt_numbers_throughput(numbers, &ledger->state, numbers->lookahead_us)
        .of[takt_tenants_unit(ledger)];
}

/* A tenant comes into line.  A full table has forgotten others, so it does not count for how long
 * this one has waited. */
static void begin(takt_ledger *ledger, takt_tenant *tenant, int64_t waited_from)
{
    int64_t level = level_of(ledger, tenant->priority), from = level;
    int64_t weights = takt_tenants_weights(ledger, tenant->priority, -1) + tenant->weight;

    if (level == INT64_MAX)
        return;
    if (waited_from > 0 && waited_from < level && ledger->tenant_count < TAKT_TENANTS_MAX)
        from = takt_max(waited_from, level - behind_at_most(ledger, tenant->priority,
                                                            tokens_of_lookahead(ledger), weights));
    tenant->tag = takt_max(tenant->tag, from);
}

/* A tenant claims that is in line.  It may be behind the next one by a few turns. Those that are
 * behind still more come along: their keys may hold them up together. */
static void catch_up(takt_ledger *ledger, int64_t now_us, int index)
{
    const takt_tenant *tenant = &ledger->tenants[index];
    int64_t weights = takt_tenants_weights(ledger, tenant->priority, index);
    int64_t next = INT64_MAX, from = tenant->tag, more;

    if (weights == 0)
        return;
    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *other = &ledger->tenants[i];
        if (other->priority == tenant->priority && other->places > 0 && other->tag > from)
            next = takt_min(next, other->tag);
    }
    more = next - from -
           behind_at_most(ledger, tenant->priority, takt_tenants_lookahead(ledger, now_us),
                          weights + tenant->weight);
    for (int i = 0; next < INT64_MAX && more > 0 && i < ledger->tenant_count; i++) {
        takt_tenant *other = &ledger->tenants[i];
        if (other->priority == tenant->priority && other->tag <= from)
            other->tag += more;
    }
}

bool takt_tenants_join(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       const char *tenant, int32_t tenant_weight, int64_t waited_from)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];
    int64_t weight = takt_min(takt_max(tenant_weight, 1), TAKT_TENANT_WEIGHT_MAX);

    if (ledger->tenant_capacity == 0)
        return false;
    if (ledger->tenant_count == 0)
        name_all(ledger, now_us);
    takt_tenant_write(tenant ? tenant : "", name);
    takt_tenants_count(ledger);
    for (int i = 0; i < claim->want_count; i++) {
        int priority = claim->wants[i].priority, index;
        if (i > 0 && priority == claim->wants[i - 1].priority)
            continue;
        index = admit(ledger, now_us, priority, name);
        if (index < 0)
            return false;
        ledger->tenants[index].weight = weight;
        if (ledger->tenants[index].places == 0)
            begin(ledger, &ledger->tenants[index], waited_from);
        else
            catch_up(ledger, now_us, index);
    }
    return true;
}

void takt_tenants_assign(takt_ledger *ledger, const takt_claim *claim, const char *tenant)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];

    takt_tenant_write(tenant ? tenant : "", name);
    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        if (place->worker != claim->worker)
            continue;
        place->tenant = (int16_t)(takt_tenants_find(ledger, place->priority, name) + 1);
        place->process = claim->process;
    }
}

void takt_tenants_charge(takt_ledger *ledger, int at, takt_amounts given)
{
    takt_tenant *tenant = takt_tenant_of(ledger, at);
    int64_t price = price_of(ledger, given);

    tenant->tag =
        takt_min(tenant->tag + price * TAKT_TENANT_STEP / tenant->weight, TAKT_EXACT_MAX / 2);
}

int64_t takt_tenant_step(const takt_tenant *tenant, int64_t tokens)
{
    return takt_min(tokens, TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / tenant->weight;
}

/* A tenant has used less than it took.  One that does not wait saves nothing.  As no tag is below
 * 0, those of the others may rise instead. */
static void lower(takt_ledger *ledger, takt_tenant *tenant, int64_t step)
{
    int64_t tag = tenant->tag - step, least = -TAKT_EXACT_MAX / 2;

    if (tenant->places == 0)
        least = takt_min(tenant->tag, level_of(ledger, tenant->priority));
    tenant->tag = takt_max(tag, least);
    for (int i = 0; tag < 0 && least < 0 && i < ledger->tenant_count; i++) {
        takt_tenant *other = &ledger->tenants[i];
        if (other != tenant && other->priority == tenant->priority)
            other->tag = takt_min(other->tag - tag, TAKT_EXACT_MAX / 2);
    }
    tenant->tag = takt_max(tenant->tag, 0);
}

int64_t takt_tenants_correct(takt_ledger *ledger, int64_t now_us, const char *name, int priority,
                             int64_t weight, takt_amounts taken, takt_amounts used)
{
    int64_t more = price_of(ledger, used) - price_of(ledger, taken);
    char text[TAKT_TENANT_TEXT_MAX + 1];
    takt_tenant *tenant;
    int64_t step;
    int index;

    if (ledger->tenant_count == 0 || more == 0)
        return 0;
    takt_tenant_write(name, text);
    takt_tenants_count(ledger);
    index = takt_tenants_find(ledger, priority, text);
    if (index == ledger->tenant_count) {
        if (more < 0 || index == TAKT_TENANTS_MAX || index == ledger->tenant_capacity)
            return 0;
        index = add(ledger, now_us, priority, text);
        ledger->tenants[index].weight = takt_min(takt_max(weight, 1), TAKT_TENANT_WEIGHT_MAX);
    }
    tenant = &ledger->tenants[index];
    step = takt_tenant_step(tenant, more < 0 ? -more : more);
    if (more > 0) {
        if (tenant->places == 0)
            begin(ledger, tenant, 0);
        tenant->tag = takt_min(tenant->tag + step, TAKT_EXACT_MAX / 2);
    } else {
        lower(ledger, tenant, step);
    }
    takt_tenants_trim(ledger);
    return more < 0 ? -step : step;
}

int64_t takt_tenants_tag(const takt_ledger *ledger, const takt_claim *claim)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];
    int index;

    if (claim->want_count == 0)
        return 0;
    takt_tenant_write(claim->tenant ? claim->tenant : "", name);
    index = takt_tenants_find(ledger, claim->wants[0].priority, name);
    return index < ledger->tenant_count ? ledger->tenants[index].tag : 0;
}

/* ---- forgetting -------------------------------------------------------------------------------
 */

/* A tenant that does not wait may be forgotten if its tag is no higher: with any claim that says
 * that it has waited in its worker it would begin there. */
static int64_t past_tag(const takt_ledger *ledger, int priority, int64_t level)
{
    return level == INT64_MAX
               ? level
               : level - behind_at_most(ledger, priority, tokens_of_lookahead(ledger),
                                        takt_tenants_weights(ledger, priority, -1));
}

/* A tenant whose places are all aside, or passed over, saves nothing: the order of an inner line
 * draws near to that of the outermost one.  One that is passed over for an idle slot keeps its
 * turn. */
void takt_tenants_trim(takt_ledger *ledger)
{
    int64_t levels[TAKT_PRIORITIES], past[TAKT_PRIORITIES];

    takt_tenants_count(ledger);
    for (int priority = 0; priority < TAKT_PRIORITIES; priority++) {
        levels[priority] = level_of(ledger, priority);
        past[priority] = INT64_MIN;
    }
    for (int i = ledger->tenant_count - 1; i >= 0; i--) {
        takt_tenant *tenant = &ledger->tenants[i];
        int priority = tenant->priority;
        int64_t level = levels[priority];
        if (tenant->all == 0 && past[priority] == INT64_MIN)
            past[priority] = past_tag(ledger, priority, level);
        if (tenant->all == 0 && tenant->tag <= past[priority]) {
            drop(ledger, i);
            continue;
        }
        if (tenant->all > 0)
            tenant->tag = takt_max(tenant->tag, level);
        if (level >= TAKT_TENANT_TAG_HIGH)
            tenant->tag = takt_max(tenant->tag - level, 0);
    }
}

void takt_tenants_tidy(takt_ledger *ledger, int64_t now_us)
{
    for (int i = 0; i < ledger->tenant_count; i++) {
        ledger->tenants[i].places = 0;
        ledger->tenants[i].since_us = takt_min(ledger->tenants[i].since_us, now_us);
    }
    takt_due_open(ledger, now_us);
    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        takt_tenant *tenant = takt_tenant_of(ledger, at);
        if (place->aside)
            continue;
        if (tenant->places == 0 && place->again_at_us + ledger->numbers->lookahead_us < now_us)
            place->aside = true;
        else
            tenant->places++;
    }
    takt_tenants_trim(ledger);
}

/* ---- for people -------------------------------------------------------------------------------
 */

static int64_t waiters_of(const takt_ledger *ledger, int index)
{
    int64_t waiting = 0;

    for (int at = 0; at < ledger->line_count; at++)
        waiting += ledger->line[at].tenant == index + 1 ? ledger->line[at].waiting : 0;
    return waiting;
}

int takt_tenants_tell(const takt_ledger *ledger, takt_tenant_standing *told, int max)
{
    int count = 0;

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        takt_tenant_standing one = {.weight = tenant->weight, .since_us = tenant->since_us};
        int at = 0;
        one.waiting = waiters_of(ledger, i);
        if (one.waiting == 0)
            continue;
        takt_tenant_read(tenant->name, one.name);
        while (at < count && strcmp(told[at].name, one.name) != 0)
            at++;
        if (at < count) { /* it waits with another priority, too */
            told[at].waiting += one.waiting;
            told[at].since_us = takt_min(told[at].since_us, one.since_us);
        } else if (count < max) {
            told[count++] = one;
        }
    }
    return count == 1 && told[0].name[0] == '\0' ? 0 : count;
}
