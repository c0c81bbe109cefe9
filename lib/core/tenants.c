/*
 * tenants.c: see tenants.h. Decides which tenant's turn it is, and when a tenant is forgotten. The
 * places themselves are line.c's.
 */
#include "core/tenants.h"

#include <string.h>

#include "base/integers.h"
#include "core/holders.h"
#include "core/line.h"
#include "core/tenant_name.h"
#include "core/wakes.h"
#include "rules/window.h"

/* ---- the table ------------------------------------------------------------------------------- */

/* The index of a tenant; tenant_count: it is not there. */
static int find(const takt_ledger *ledger, int priority, const char *name)
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

static takt_tenant *tenant_of(const takt_ledger *ledger, int at)
{
    return &ledger->tenants[ledger->line[at].tenant - 1];
}

static void count_none(const takt_ledger *ledger)
{
    for (int i = 0; i < ledger->tenant_count; i++) {
        takt_tenant *tenant = &ledger->tenants[i];
        tenant->wanting = tenant->usable = tenant->need = (takt_amounts){{0}};
        tenant->places = tenant->in_turn = tenant->away = 0;
        tenant->processes = tenant->all = 0;
    }
}

/* In the order of the line.  A place that the claim passes over keeps its share.  All turns of a
 * line have one size; otherwise places would plan wrongly for the turns before theirs. */
static void count_place(takt_tenant *tenant, const takt_place *place)
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
    count_none(ledger);
    for (int at = 0; at < ledger->line_count; at++)
        count_place(tenant_of(ledger, at), &ledger->line[at]);
}

/* Places that have stood in line without tenants are of those that name none. */
static void name_all(takt_ledger *ledger, int64_t now_us)
{
    for (int at = 0; at < ledger->line_count; at++) {
        int priority = ledger->line[at].priority, index = find(ledger, priority, "");
        if (index == ledger->tenant_count)
            index = add(ledger, now_us, priority, "");
        ledger->line[at].tenant = (int16_t)(index + 1);
        ledger->turn = takt_max(ledger->turn, ledger->line[at].turn); /* nobody owes turns here */
    }
}

/* The sum of the weights of the tenants of a priority that have places which are not aside, without
 * one tenant. 0: there are none. */
static int64_t weights_of(const takt_ledger *ledger, int priority, int without)
{
    int64_t weights = 0;

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        if (i != without && tenant->priority == priority && tenant->places > 0)
            weights += tenant->weight;
    }
    return weights;
}

/* The unit of prices and tags: the first that a rule counts. Permits alone are of requests. */
static int priced_unit(const takt_ledger *ledger)
{
    const takt_numbers *numbers = ledger->numbers;
    int unit = numbers->rule_count > 0 ? TAKT_UNITS : TAKT_UNIT_REQUESTS;

    for (int i = 0; i < numbers->rule_count; i++)
        unit = (int)takt_min(unit, numbers->rules[i].unit);
    return unit;
}

/* What a lookahead has of the priced unit, or the room if that is more. */
static int64_t lookahead_priced(const takt_ledger *ledger, int64_t now_us)
{
    const takt_numbers *numbers = ledger->numbers;
    int unit = priced_unit(ledger);
    takt_amounts room =
        takt_numbers_room(numbers, &ledger->state, takt_max(now_us, ledger->blocked_until_us),
                          now_us + numbers->lookahead_us);
    takt_amounts through = takt_numbers_throughput(numbers, &ledger->state, numbers->lookahead_us);

    return takt_max(room.of[unit], through.of[unit]);
}

/* A tenant claims. One that has no waiters saves nothing: its tag is not lower than the lowest of
 * the others, which is 0. One that has some may be behind the next one by a few turns. Those that
 * are behind still more come along: their keys may hold them up together. */
static void come(takt_ledger *ledger, int64_t now_us, int index, int64_t weight)
{
    takt_tenant *tenant = &ledger->tenants[index];
    int64_t weights = weights_of(ledger, tenant->priority, index);
    int64_t next = INT64_MAX, from = tenant->tag, turn, more;

    tenant->weight = weight;
    if (weights == 0 || tenant->places == 0)
        return;
    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *other = &ledger->tenants[i];
        if (other->priority == tenant->priority && other->places > 0 && other->tag > from)
            next = takt_min(next, other->tag);
    }
    turn = lookahead_priced(ledger, now_us) / (weights + weight) + 1;
    more = next - TAKT_TENANT_TURNS * turn * TAKT_TENANT_STEP - from;
    for (int i = 0; next < INT64_MAX && more > 0 && i < ledger->tenant_count; i++) {
        takt_tenant *other = &ledger->tenants[i];
        if (other->priority == tenant->priority && other->tag <= from)
            other->tag += more;
    }
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

/* Makes space in a full table: of the tenants that do not wait and had more than their part,
 * forgets the one with the smallest excess.  False: all others wait. */
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
    int index = find(ledger, priority, name);

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

bool takt_tenants_join(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       const char *tenant, int32_t tenant_weight)
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
        come(ledger, now_us, index, weight);
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
        place->tenant = (int16_t)(find(ledger, place->priority, name) + 1);
        place->client = claim->client;
    }
}

/* What the rules give of the priced unit in the time in which they give all that. */
static int64_t price_of(const takt_ledger *ledger, takt_amounts amounts)
{
    int unit = priced_unit(ledger);
    int64_t worth_us;

    if (takt_numbers_units(ledger->numbers) == 1)
        return amounts.of[unit];
    worth_us = takt_numbers_worth(ledger->numbers, &ledger->state, amounts);
    return takt_max(takt_numbers_throughput(ledger->numbers, &ledger->state, worth_us).of[unit],
                    amounts.of[unit]);
}

void takt_tenants_charge(takt_ledger *ledger, int at, takt_amounts given)
{
    takt_tenant *tenant = tenant_of(ledger, at);
    int64_t price = price_of(ledger, given);

    tenant->tag =
        takt_min(tenant->tag + price * TAKT_TENANT_STEP / tenant->weight, TAKT_EXACT_MAX / 2);
}

/* What an amount adds to the tag of a tenant. */
static int64_t step_of(const takt_tenant *tenant, int64_t tokens)
{
    return takt_min(tokens, TAKT_SETTLED_MAX) * TAKT_TENANT_STEP / tenant->weight;
}

void takt_tenants_correct(takt_ledger *ledger, int64_t now_us, const char *name, int priority,
                          int64_t weight, takt_amounts taken, takt_amounts used)
{
    int64_t more = price_of(ledger, used) - price_of(ledger, taken);
    char text[TAKT_TENANT_TEXT_MAX + 1];
    takt_tenant *tenant;
    int index;

    if (ledger->tenant_count == 0 || more == 0)
        return;
    takt_tenant_write(name, text);
    index = find(ledger, priority, text);
    if (index == ledger->tenant_count) {
        if (more < 0 || index == TAKT_TENANTS_MAX || index == ledger->tenant_capacity)
            return;
        index = add(ledger, now_us, priority, text);
        ledger->tenants[index].weight = takt_min(takt_max(weight, 1), TAKT_TENANT_WEIGHT_MAX);
    }
    tenant = &ledger->tenants[index];
    takt_tenants_count(ledger);
    if (more > 0)
        tenant->tag = takt_min(tenant->tag + step_of(tenant, more), TAKT_EXACT_MAX / 2);
    else
        tenant->tag -= step_of(tenant, -more);
    if (tenant->places == 0)
        tenant->tag = takt_max(tenant->tag, 0);
    takt_tenants_settle(ledger);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

/* The lowest tag of each priority becomes 0. A tenant whose places are all aside, or passed over,
 * saves nothing: the order of an inner line draws near to that of the outermost one.  A parked
 * tenant is not in the outermost order, and would never come to its turn so. */
static void lower(takt_ledger *ledger)
{
    int64_t lowest[TAKT_PRIORITIES];

    for (int priority = 0; priority < TAKT_PRIORITIES; priority++)
        lowest[priority] = INT64_MAX;
    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        if (tenant->places > 0 || tenant->away > 0)
            lowest[tenant->priority] = takt_min(lowest[tenant->priority], tenant->tag);
    }
    for (int i = 0; i < ledger->tenant_count; i++) {
        takt_tenant *tenant = &ledger->tenants[i];
        tenant->tag =
            takt_min(takt_max(tenant->tag - lowest[tenant->priority], 0), TAKT_EXACT_MAX / 2);
    }
}

void takt_tenants_settle(takt_ledger *ledger)
{
    takt_tenants_count(ledger);
    lower(ledger);
    for (int i = ledger->tenant_count - 1; i >= 0; i--)
        if (ledger->tenants[i].tag == 0 && ledger->tenants[i].all == 0)
            drop(ledger, i);
}

void takt_tenants_tidy(takt_ledger *ledger, int64_t now_us)
{
    for (int i = 0; i < ledger->tenant_count; i++) {
        ledger->tenants[i].places = 0;
        ledger->tenants[i].since_us = takt_min(ledger->tenants[i].since_us, now_us);
    }
    takt_tenants_open(ledger, now_us);
    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        takt_tenant *tenant = tenant_of(ledger, at);
        if (place->aside)
            continue;
        if (tenant->places == 0 && place->again_at_us + ledger->numbers->lookahead_us < now_us)
            place->aside = true;
        else
            tenant->places++;
    }
    takt_tenants_settle(ledger);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* What a tenant may take in one turn. */
static int64_t turn_of(const takt_tenant *tenant, int64_t total, int64_t weights)
{
    return takt_max(total * tenant->weight / weights, 1);
}

/* A tenant's tag after its turn. */
static int64_t tag_after(const takt_tenant *tenant, int unit, int64_t total, int64_t weights)
{
    return tenant->tag + takt_min(turn_of(tenant, total, weights), tenant->wanting.of[unit]) *
                             TAKT_TENANT_STEP / tenant->weight;
}

/* The tenant whose tag is lower after its turn goes first, so one that wants little does not wait
 * for whole turns of others.  Of equal ones the first in the table goes first. */
static bool goes_before(const takt_ledger *ledger, int a, int b, int unit, int64_t total,
                        int64_t weights)
{
    int64_t left = tag_after(&ledger->tenants[a], unit, total, weights);
    int64_t right = tag_after(&ledger->tenants[b], unit, total, weights);

    return left < right || (left == right && a < b);
}

/* What a tenant gets until it has had as much, by its weight, as a tag says. */
static int64_t until_even(const takt_tenant *tenant, int64_t tag)
{
    int64_t less = takt_max(tag - tenant->tag, 0);

    return less / TAKT_TENANT_STEP * tenant->weight +
           less % TAKT_TENANT_STEP * tenant->weight / TAKT_TENANT_STEP;
}

/* What a tenant leaves to one that goes before it: a turn, or the difference if that one was given
 * less, up to two turns. */
static int64_t left_to(const takt_tenant *tenant, int64_t tag, int unit, int64_t total,
                       int64_t weights)
{
    int64_t turn = turn_of(tenant, total, weights);

    return takt_min(takt_max(takt_max(turn, takt_min(until_even(tenant, tag), 2 * turn)),
                             tenant->need.of[unit]),
                    tenant->usable.of[unit]);
}

/* What this tenant leaves to all tenants that go before it.  `tag`: each of them gets as much, by
 * its weight, as that tag says, if it can use that. */
static int64_t left_to_others(const takt_ledger *ledger, int index, int unit, int64_t total,
                              int64_t weights, int64_t tag)
{
    const takt_tenant *mine = &ledger->tenants[index];
    int64_t left = 0;

    for (int i = 0; i < ledger->tenant_count; i++) {
        const takt_tenant *tenant = &ledger->tenants[i];
        int64_t own = 0;
        if (i == index || tenant->priority != mine->priority || tenant->places == 0)
            continue;
        if (goes_before(ledger, i, index, unit, total, weights))
            own = left_to(tenant, mine->tag, unit, total, weights);
        left += takt_max(own, takt_min(until_even(tenant, tag), tenant->usable.of[unit]));
    }
    return left;
}

/* What each process behind a tenant's places may take in one turn. */
static int64_t share_of(const takt_tenant *tenant, int64_t total, int64_t weights)
{
    int64_t processes = tenant->in_turn > 1 ? takt_max(tenant->processes, 1) : 1;

    return takt_max(turn_of(tenant, total, weights) / processes, 1);
}

/* A place's turn among tenants of its line, or of the innermost one (`of`), where its tenant has
 * that index. */
static takt_tenant_turn turn_among(const takt_ledger *ledger, int at, const takt_ledger *of,
                                   int index, int unit, int64_t total, bool plan)
{
    const takt_place *me = &ledger->line[at], *head = NULL;
    const takt_tenant *mine = &of->tenants[index];
    int64_t weights = weights_of(of, mine->priority, -1);
    int64_t before = 0, shares = 0, need = 0, tag = 0, ahead;
    takt_tenant_turn turn = {.share = share_of(mine, total, weights),
                             .shares = mine->in_turn > 1 ? takt_line_shares(me) : 1};

    for (int i = 0; i < at; i++) {
        const takt_place *place = &ledger->line[i];
        if (place->tenant != me->tenant || place->aside || place->behind ||
            (of != ledger && place->inside != me->inside))
            continue;
        head = head ? head : place;
        before++;
        shares += takt_line_shares(place);
    }
    need = head ? takt_line_need(head, unit) : 0;
    ahead =
        shares * turn.share + (head ? takt_line_shares(head) * takt_max(need - turn.share, 0) : 0);
    ahead = takt_min(ahead, plan ? mine->wanting.of[unit] - takt_line_wanted(me, unit)
                                 : mine->usable.of[unit] - takt_line_usable(me, unit));
    if (plan && head)
        tag = mine->tag + step_of(mine, ahead);
    turn.ahead = left_to_others(of, index, unit, total, weights, tag) + ahead;
    turn.first = head ? need + before - 1 : 0; /* the order of tenants may change */
    return turn;
}

/* ---- keys that hold their tenants up ----------------------------------------------------------
 */

int64_t takt_tenants_part(const takt_ledger *ledger, int at, int64_t span_us, takt_amounts one)
{
    takt_amounts through = takt_numbers_throughput(ledger->numbers, &ledger->state, span_us);
    int64_t weight = 1, weights = 1, count = INT64_MAX;

    if (at >= 0) {
        const takt_tenant *mine = tenant_of(ledger, at);
        takt_tenants_count(ledger);
        weight = mine->weight;
        weights = 0;
        for (int i = 0; i < ledger->tenant_count; i++)
            if (ledger->tenants[i].priority == mine->priority && ledger->tenants[i].all > 0)
                weights += ledger->tenants[i].weight;
    }
    TAKT_EACH_UNIT(unit, takt_numbers_units(ledger->numbers))
    count = takt_min(count,
                     takt_mul_div(through.of[unit], weight, weights) / takt_max(one.of[unit], 1));
    return count;
}

static int64_t due_of(const takt_place *place)
{
    return place->expires_at_us - TAKT_SILENT_US + place->due_in_us;
}

/* What is open to the place `at`, whose key is due at that instant.  Places that are due at one
 * instant belong to one key; the first ones in line take what is open. */
static takt_amounts open_to(const takt_ledger *ledger, int64_t now_us, int at)
{
    const takt_place *place = &ledger->line[at];
    int64_t due_us = due_of(place), open_us = now_us + ledger->numbers->lookahead_us - due_us;
    takt_amounts open = {{0}};

    for (int i = at - 1; i >= 0 && ledger->line[i].priority == place->priority; i--) {
        const takt_place *other = &ledger->line[i];
        if (other->due_in_us == 0 || due_of(other) != due_us)
            continue;
        for (int unit = 0; unit < TAKT_UNITS; unit++)
            open.of[unit] = other->open.of[unit] - takt_line_usable(other, unit);
        return open;
    }
    if (open_us < 0)
        return open;
    open = takt_numbers_throughput(ledger->numbers, &ledger->state, open_us);
    for (int unit = 0; unit < TAKT_UNITS; unit++)
        open.of[unit]++;
    return open;
}

void takt_tenants_open(takt_ledger *ledger, int64_t now_us)
{
    for (int at = 0; at < ledger->line_count; at++) {
        takt_place *place = &ledger->line[at];
        if (place->due_in_us > 0 && due_of(place) <= now_us)
            place->due_in_us = 0;
        if (place->due_in_us > 0)
            place->open = open_to(ledger, now_us, at);
    }
}

/* ---- turns inside turns ---------------------------------------------------------------------- */

static bool is_at(const takt_ledger *inner, int at, const takt_place *place)
{
    return at >= 0 && at < inner->line_count && inner->line[at].worker == place->worker &&
           inner->line[at].priority == place->priority;
}

/* A place's index in the innermost line; -1: it has none there.  A claim looks for all places of a
 * subject several times.  Meanwhile one of them may leave its place, so that others move up. */
static int find_inside(const takt_ledger *inner, takt_place *place)
{
    for (int at = place->inside_at; at >= place->inside_at - 1; at--)
        if (is_at(inner, at, place))
            return place->inside_at = at;
    return place->inside_at = takt_line_find(inner, place->worker, place->priority);
}

/* The index + 1 of a place's tenant in the innermost line; 0: it has no place there, or others do
 * not wait for it there. */
static int16_t index_inside(const takt_ledger *ledger, takt_place *place)
{
    const takt_ledger *inner = ledger->inner[0];
    int at = find_inside(inner, place);

    return at >= 0 && !inner->line[at].aside ? inner->line[at].tenant : 0;
}

void takt_tenants_look_inside(const takt_ledger *ledger, int at)
{
    const takt_ledger *inner;
    int16_t subject = ledger->line[at].tenant;

    if (!ledger->within_turns)
        return;
    inner = ledger->inner[0];
    count_none(inner);
    for (int i = 0; i < ledger->line_count; i++) {
        takt_place *place = &ledger->line[i];
        place->inside = place->tenant == subject ? index_inside(ledger, place) : 0;
        if (place->inside > 0)
            count_place(&inner->tenants[place->inside - 1], place);
    }
}

/* Whether the tenant of one place goes after that of another one in the innermost line; those that
 * have none there go last. */
static bool goes_after(const takt_ledger *inner, const takt_place *a, const takt_place *b)
{
    int64_t left, right;

    if (a->inside == b->inside || b->inside == 0)
        return false;
    if (a->inside == 0)
        return true;
    left = inner->tenants[a->inside - 1].tag;
    right = inner->tenants[b->inside - 1].tag;
    return left > right || (left == right && a->inside > b->inside);
}

/* Two places exchange their turns. */
static void exchange(takt_place *a, takt_place *b)
{
    takt_place moved = *a;
    int64_t turn = b->turn;

    *a = *b;
    a->turn = moved.turn;
    *b = moved;
    b->turn = turn;
}

/* Sorts the places of a subject.  Those of one tenant keep their order. */
static void sort(takt_ledger *ledger, int16_t subject)
{
    takt_place *line = ledger->line;

    for (int i = 0; i < ledger->line_count; i++) {
        int at = i;
        for (int j = i - 1; line[i].tenant == subject && j >= 0; j--) {
            if (line[j].tenant != subject)
                continue;
            if (!goes_after(ledger->inner[0], &line[j], &line[at]))
                break;
            exchange(&line[j], &line[at]);
            at = j;
        }
    }
}

void takt_tenants_arrange(takt_ledger *ledger, const takt_claim *claim)
{
    char name[TAKT_TENANT_TEXT_MAX + 1];
    int16_t last = 0;

    if (!ledger->within_turns)
        return;
    takt_tenant_write(claim->tenant, name);
    for (int at = 0; at < ledger->line_count; at++) {
        int16_t tenant = ledger->line[at].tenant;
        if (tenant == last || strcmp(tenant_of(ledger, at)->name, name) != 0)
            continue;
        takt_tenants_look_inside(ledger, at);
        sort(ledger, tenant);
        last = tenant;
    }
}

takt_tenant_turn takt_tenants_turn(const takt_ledger *ledger, int at, int unit, int64_t total,
                                   bool plan)
{
    const takt_place *me = &ledger->line[at];
    const takt_tenant *subject = tenant_of(ledger, at);
    int64_t weights, tag = 0;
    takt_tenant_turn turn;

    if (!ledger->within_turns || me->inside == 0)
        return turn_among(ledger, at, ledger, me->tenant - 1, unit, total, plan);
    weights = weights_of(ledger, subject->priority, -1);
    turn = turn_among(ledger, at, ledger->inner[0], me->inside - 1, unit,
                      turn_of(subject, total, weights), plan);
    if (plan && turn.ahead > 0)
        tag = subject->tag + step_of(subject, turn.ahead);
    turn.ahead += left_to_others(ledger, me->tenant - 1, unit, total, weights, tag);
    return turn;
}

/* ---- lines inside lines ---------------------------------------------------------------------- */

/* Whether the place `at` of the outermost line does not go before the claim's place `me`.  `total`:
 * what a lookahead has of the priced unit. */
static bool is_behind(const takt_ledger *outer, int me, int at, int64_t total)
{
    const takt_place *mine = &outer->line[me], *theirs = &outer->line[at];
    int64_t weights = weights_of(outer, mine->priority, -1);
    int unit = priced_unit(outer);

    if (theirs->tenant != mine->tenant)
        return !goes_before(outer, theirs->tenant - 1, mine->tenant - 1, unit, total, weights);
    if (!outer->within_turns || mine->inside == 0 || theirs->inside == 0 ||
        mine->inside == theirs->inside)
        return at > me;
    total = turn_of(tenant_of(outer, me), total, weights);
    weights = weights_of(outer->inner[0], mine->priority, -1);
    return !goes_before(outer->inner[0], theirs->inside - 1, mine->inside - 1, unit, total,
                        weights);
}

/* The same for a parked place of a line between, which is not in the outermost line: would its
 * tenant go before that of `me`?  A tenant that is not there comes last, with tag 0. */
static bool would_be_behind(const takt_ledger *outer, int me, const takt_ledger *inner, int at)
{
    const takt_tenant *mine = tenant_of(outer, me);
    int index = find(outer, mine->priority, tenant_of(inner, at)->name);
    int64_t tag = index < outer->tenant_count ? outer->tenants[index].tag : 0;

    return index != outer->line[me].tenant - 1 &&
           (tag > mine->tag || (tag == mine->tag && index > outer->line[me].tenant - 1));
}

/* The same of the places of an inner line that have the priority of `me`.  `between`: it has the
 * tenants of the outermost one. */
static void pass_over(const takt_ledger *outer, int me, takt_ledger *inner, bool between,
                      int64_t total)
{
    const takt_place *mine = &outer->line[me];

    for (int i = 0; i < inner->line_count; i++) {
        takt_place *place = &inner->line[i];
        int at;
        if (place->priority != mine->priority || place->worker == mine->worker)
            continue;
        at = takt_line_find(outer, place->worker, place->priority);
        place->away = at < 0;
        place->behind = at >= 0 ? !outer->line[at].aside && is_behind(outer, me, at, total)
                                : between && would_be_behind(outer, me, inner, i);
    }
}

void takt_tenants_pass_over(const takt_ledger *outer, int64_t now_us, uint64_t worker)
{
    int64_t total;

    if (outer->tenant_count == 0 || outer->inner_count == 0)
        return;
    total = lookahead_priced(outer, now_us);
    takt_tenants_count(outer);
    for (int me = 0; me < outer->line_count; me++) {
        if (outer->line[me].worker != worker)
            continue;
        takt_tenants_look_inside(outer, me);
        for (int i = outer->within_turns ? 1 : 0; i < outer->inner_count; i++)
            if (outer->inner[i]->tenant_count > 0)
                pass_over(outer, me, outer->inner[i], i > 0, total);
    }
}

/* Whether there was one. */
static bool clear_behind(takt_ledger *inner)
{
    bool found = false;

    for (int at = 0; at < inner->line_count; at++) {
        found |= inner->line[at].behind;
        inner->line[at].behind = false;
    }
    return found;
}

void takt_tenants_pass_over_none(const takt_ledger *outer)
{
    for (int i = 0; i < outer->inner_count; i++)
        if (clear_behind(outer->inner[i]))
            takt_tenants_settle(outer->inner[i]);
}

bool takt_tenants_precede(const takt_ledger *ledger, int i, int at)
{
    const takt_place *other = &ledger->line[i], *place = &ledger->line[at];
    int64_t left, right;

    if (other->priority != place->priority)
        return other->priority < place->priority;
    if (other->tenant == place->tenant)
        return i < at;
    left = tenant_of(ledger, i)->tag;
    right = tenant_of(ledger, at)->tag;
    return left < right || (left == right && other->tenant < place->tenant);
}

int takt_tenants_first(const takt_ledger *ledger)
{
    int first = ledger->line_count;

    for (int at = 0; at < ledger->line_count; at++)
        if (!ledger->line[at].aside &&
            (first == ledger->line_count || takt_tenants_precede(ledger, at, first)))
            first = at;
    return first;
}

/* ---- permits --------------------------------------------------------------------------------- */

void takt_tenants_wake(const takt_ledger *ledger, uint64_t claimer, int level, takt_award *award)
{
    int64_t free = takt_holders_free(ledger), concurrency = ledger->numbers->concurrency;
    int64_t ahead[TAKT_TENANTS_MAX], before[TAKT_TENANTS_MAX], urgent = 0, same = 0;
    int priority = -1;

    takt_tenants_count(ledger);
    for (int i = 0; i < ledger->tenant_count; i++) {
        before[i] = 0;
        ahead[i] = -1;
    }
    for (int at = 0; at < ledger->line_count && free > urgent; at++) {
        const takt_place *place = &ledger->line[at];
        const takt_tenant *mine = tenant_of(ledger, at);
        int index = place->tenant - 1;
        int64_t weights, kept;
        if (place->priority != priority) {
            urgent += same;
            same = 0;
            priority = place->priority;
        }
        if (place->aside)
            continue;
        same += place->wanting;
        weights = weights_of(ledger, priority, -1);
        kept = before[index] * share_of(mine, concurrency, weights);
        before[index] += takt_line_shares(place);
        if (!place->lacking || place->worker == claimer)
            continue;
        if (ahead[index] < 0)
            ahead[index] = left_to_others(ledger, index, TAKT_UNIT_TOKENS, concurrency, weights, 0);
        kept = takt_min(kept, mine->wanting.of[TAKT_UNIT_TOKENS] - place->wanting);
        if (free - urgent - ahead[index] > kept)
            takt_wakes_add(award, place, level);
    }
}

/* ---- for people ------------------------------------------------------------------------------ */

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
