/*
 * lines.c: see lines.h.
 */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#define BOUND_MIN 64
#define BOUND_MAX 4096
#define BOUND_SPAN_US                                                                              \
    500000 /* twice the default lookahead: a claim finds all that it can be given */

/* ---- lines and wishes ------------------------------------------------------------------------ */

static void set_bound(takt_agent *agent, takt_agent_line *line, const takt_request *request)
{
    const takt_policy *policy = takt_agent_policy_of(agent, request->limit);
    int64_t tokens = 0, period_us = 0;

    line->policy_changes = agent->limits.changes;
    line->bound = BOUND_MIN;
    takt_policy_rate(policy, request->limit, request->key, &tokens, &period_us);
    if (period_us > 0 && tokens > 0) {
        double bound = (double)tokens * BOUND_SPAN_US / (double)period_us;
        line->bound = bound > BOUND_MAX   ? BOUND_MAX
                      : bound < BOUND_MIN ? BOUND_MIN
                                          : (int64_t)bound;
    }
    /* The ledger decides which waiters exceed max_waiting, so it must know all of them. */
    if (takt_policy_bounds_waiting(policy, request->limit, request->key))
        line->bound = INT64_MAX;
}

static takt_agent_line *get_line(takt_agent *agent, const char *text, size_t size,
                                 const takt_request *request)
{
    takt_entry *found = takt_table_find(&agent->waiters.lines, text, size);
    takt_agent_line *line =
        found ? TAKT_HOLDER(found, takt_agent_line, entry) : calloc(1, sizeof(*line) + size);

    if (!found && line) {
        takt_list_init(&line->flows);
        memcpy(line->text, text, size);
        line->entry.key = line->text;
        line->entry.size = size;
        set_bound(agent, line, request);
        takt_table_add(&agent->waiters.lines, &line->entry);
    }
    if (line)
        line->references++;
    return line;
}

static void put_line(takt_agent *agent, takt_agent_line *line)
{
    if (--line->references > 0)
        return;
    takt_table_remove(&agent->waiters.lines, &line->entry);
    free(line);
}

/* A text of the wish, for its place in the table; -1 in front of one that is not there. */
static char *add_text(char *at, const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;

    *at++ = text ? '+' : '-';
    if (text)
        memcpy(at, text, size);
    return at + size;
}

static char *add_number(char *at, int64_t number)
{
    memcpy(at, &number, sizeof(number));
    return at + sizeof(number);
}

#define TEXT_MAX                                                                                   \
    ((TAKT_LEVELS_MAX + 1) * (TAKT_KEY_SIZE_MAX + 2) +                                             \
     TAKT_AMOUNTS_MAX * (TAKT_UNIT_SIZE_MAX + 12) + TAKT_TENANT_SIZE_MAX + 64)

/* Writes the key of a wish. Its first *line_size bytes are the key of its line. */
static size_t write_text(const takt_request *request, char *text, size_t *line_size)
{
    char *at = add_text(add_text(add_text(text, request->limit), request->key), request->tenant);

    at = add_number(at, request->priority);
    *line_size = (size_t)(at - text);
    at = add_number(at, request->cost);
    for (int i = 0; i < TAKT_LEVELS_MAX - 1; i++)
        at = add_text(at, request->within_keys[i]);
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        at = add_text(at, request->amounts[i].unit);
        at = add_number(at, request->amounts[i].amount);
    }
    return (size_t)(at - text);
}

/* Returns the text at *at, and moves *at behind it. */
static const char *take_text(const char **at)
{
    const char *text = **at == '+' ? *at + 1 : NULL;

    *at += 1 + (text ? strlen(text) + 1 : 0);
    return text;
}

/* The request with the texts of the wish. */
static void read_text(takt_agent_wish *wish, const takt_request *request)
{
    const char *at = wish->text;

    wish->request = *request;
    wish->request.limit = take_text(&at);
    wish->request.key = take_text(&at);
    wish->request.tenant = take_text(&at);
    at += 2 * sizeof(int64_t);
    for (int i = 0; i < TAKT_LEVELS_MAX - 1; i++)
        wish->request.within_keys[i] = take_text(&at);
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        wish->request.amounts[i].unit = take_text(&at);
        at += sizeof(int64_t);
    }
    wish->cost = 0;
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++)
        wish->cost += request->amounts[i].unit ? request->amounts[i].amount : 0;
    wish->cost = wish->cost > 0 ? wish->cost : request->cost;
}

takt_agent_wish *takt_agent_wish_get(takt_agent *agent, const takt_request *request)
{
    char text[TEXT_MAX];
    size_t line_size, size = write_text(request, text, &line_size);
    takt_entry *found = takt_table_find(&agent->waiters.wishes, text, size);
    takt_agent_wish *wish = found ? TAKT_HOLDER(found, takt_agent_wish, entry) : NULL;

    if (!wish) {
        takt_agent_line *line = get_line(agent, text, line_size, request);
        wish = line ? calloc(1, sizeof(*wish) + size) : NULL;
        if (line && !wish)
            put_line(agent, line);
        if (!wish)
            return NULL;
        wish->agent = agent;
        wish->line = line;
        takt_list_init(&wish->seats);
        takt_list_init(&wish->asked);
        takt_list_init(&wish->waiters);
        memcpy(wish->text, text, size);
        read_text(wish, request);
        wish->entry.key = wish->text;
        wish->entry.size = size;
        takt_table_add(&agent->waiters.wishes, &wish->entry);
    }
    wish->references++;
    return wish;
}

void takt_agent_wish_put(takt_agent_wish *wish)
{
    if (--wish->references > 0)
        return;
    takt_table_remove(&wish->agent->waiters.wishes, &wish->entry);
    put_line(wish->agent, wish->line);
    free(wish);
}

/* ---- flows and seats ------------------------------------------------------------------------ */

static takt_agent_flow *get_flow(takt_agent *agent, takt_agent_line *line,
                                 takt_agent_connection *connection)
{
    takt_agent_flow of = {.of = {connection, line}}, *flow;
    takt_entry *found = takt_table_find(&agent->waiters.flows, &of.of, sizeof(of.of));

    flow = found ? TAKT_HOLDER(found, takt_agent_flow, entry) : calloc(1, sizeof(*flow));
    if (!flow)
        return NULL;
    if (!found) {
        flow->of = of.of;
        takt_list_init(&flow->in_line);
        takt_list_init(&flow->seats);
        flow->entry.key = &flow->of;
        flow->entry.size = sizeof(flow->of);
        takt_table_add(&agent->waiters.flows, &flow->entry);
        line->flow_count++;
    }
    flow->references++;
    return flow;
}

static void put_flow(takt_agent *agent, takt_agent_flow *flow)
{
    if (--flow->references > 0)
        return;
    takt_table_remove(&agent->waiters.flows, &flow->entry);
    flow->of.line->flow_count--;
    free(flow);
}

static takt_agent_seat *get_seat(takt_agent_wish *wish, takt_agent_connection *connection)
{
    takt_agent *agent = wish->agent;
    takt_agent_seat of = {.of = {connection, wish}}, *seat;
    takt_entry *found = takt_table_find(&agent->waiters.seats, &of.of, sizeof(of.of));

    if (found)
        return TAKT_HOLDER(found, takt_agent_seat, entry);
    seat = calloc(1, sizeof(*seat));
    if (!seat)
        return NULL;
    seat->flow = get_flow(agent, wish->line, connection);
    if (!seat->flow) {
        free(seat);
        return NULL;
    }
    seat->of = of.of;
    seat->process = takt_process_enter(takt_agent_client_of(agent, wish->request.limit), connection,
                                       &wish->request);
    takt_list_init(&seat->in_flow);
    takt_list_init(&seat->waiters);
    takt_list_init(&seat->asked);
    seat->entry.key = &seat->of;
    seat->entry.size = sizeof(seat->of);
    takt_table_add(&agent->waiters.seats, &seat->entry);
    takt_list_append(&wish->seats, &seat->in_wish);
    return seat;
}

/* The counts of a seat have changed: whether it takes part in the turns of its connection, and that
 * in those of the line. */
static void set_turns(takt_agent_seat *seat)
{
    takt_agent_flow *flow = seat->flow;
    takt_agent_line *line = flow->of.line;
    bool has_turns = seat->waiting > seat->asked_count;

    if (!has_turns) {
        takt_list_remove(&seat->in_flow);
    } else if (takt_list_empty(&seat->in_flow)) {
        takt_list_append(&flow->seats, &seat->in_flow);
        if (takt_list_empty(&line->flows))
            line->quantum = 0;
        if (seat->of.wish->cost > line->quantum)
            line->quantum = seat->of.wish->cost;
    }
    if (takt_list_empty(&flow->seats)) {
        takt_list_remove(&flow->in_line);
        flow->deficit = 0;
        flow->in_turn = false;
    } else if (takt_list_empty(&flow->in_line)) {
        takt_list_append(&line->flows, &flow->in_line);
    }
}

static void free_seat(takt_agent *agent, takt_agent_seat *seat)
{
    takt_list_remove(&seat->in_wish);
    takt_table_remove(&agent->waiters.seats, &seat->entry);
    takt_process_leave(seat->process);
    put_flow(agent, seat->flow);
    free(seat);
}

/* ---- waiters --------------------------------------------------------------------------------- */

bool takt_agent_lines_enter(takt_agent_wish *wish, takt_agent_connection *connection,
                            takt_agent_waiter *waiter)
{
    takt_agent_seat *seat = get_seat(wish, connection);

    if (!seat)
        return false;
    waiter->seat = seat;
    takt_list_append(&seat->waiters, &waiter->in_seat);
    takt_list_append(&wish->waiters, &waiter->in_wish);
    wish->references++;
    seat->waiting++;
    set_turns(seat);
    return true;
}

/* The permit waits in the client no longer. */
static void take_back(takt_agent_permit *permit)
{
    takt_agent_wish *wish = permit->wish;

    takt_list_remove(&permit->in_wish);
    takt_list_remove(&permit->in_seat);
    permit->seat->asked_count--;
    wish->asked_count--;
    wish->line->asked_count--;
    wish->line->asked -= wish->cost;
}

/* Cancels a permit that waits in the client for no waiter, the last one first. The caller has a
 * reference of its own. */
static void give_up_one(takt_agent_seat *seat)
{
    takt_agent_permit *permit = TAKT_HOLDER(seat->asked.previous, takt_agent_permit, in_seat);

    take_back(permit);
    takt_release(&permit->permit);
    free(permit);
    seat->of.wish->references--;
}

void takt_agent_lines_leave(takt_agent_waiter *waiter)
{
    takt_agent_seat *seat = waiter->seat;
    takt_agent_wish *wish = seat->of.wish;
    takt_agent_line *line = wish->line;
    takt_agent *agent = wish->agent;

    takt_list_remove(&waiter->in_seat);
    takt_list_remove(&waiter->in_wish);
    seat->waiting--;
    if (seat->asked_count > seat->waiting)
        give_up_one(seat);
    set_turns(seat);
    if (seat->waiting == 0)
        free_seat(agent, seat);
    line->references++; /* also when the wish goes */
    takt_agent_wish_put(wish);
    if (!agent->draining && !agent->ended)
        takt_agent_line_ask(agent, line); /* others have the space */
    put_line(agent, line);
}

/* The next waiter of the wish. Its connection is the last one then. */
static takt_agent_waiter *next_waiter(takt_agent_wish *wish)
{
    takt_agent_seat *seat = TAKT_HOLDER(wish->seats.next, takt_agent_seat, in_wish);

    takt_list_remove(&seat->in_wish);
    takt_list_append(&wish->seats, &seat->in_wish);
    return TAKT_HOLDER(seat->waiters.next, takt_agent_waiter, in_seat);
}

/* The waiter that fails with a permit: the oldest with the first permit, otherwise the newest. */
static takt_agent_waiter *failing_waiter(const takt_agent_wish *wish, bool is_first)
{
    return TAKT_HOLDER(is_first ? wish->waiters.next : wish->waiters.previous, takt_agent_waiter,
                       in_wish);
}

/* ---- permits in the client ------------------------------------------------------------------- */

/* A permit that a seat asked for went to a waiter of another one, which gives one of its own for
 * it, or else the turn that it has not had yet. */
static void exchange(takt_agent_seat *gave, takt_agent_seat *got)
{
    int64_t cost = gave->of.wish->cost;
    takt_agent_permit *permit;

    if (gave == got)
        return;
    if (got->asked_count > 0) {
        permit = TAKT_HOLDER(got->asked.previous, takt_agent_permit, in_seat);
        takt_list_remove(&permit->in_seat);
        takt_list_append(&gave->asked, &permit->in_seat);
        permit->seat = gave;
        got->asked_count--;
        gave->asked_count++;
    } else {
        gave->flow->deficit += cost;
        got->flow->deficit -= cost;
    }
    set_turns(gave);
    set_turns(got);
}

static void on_permit(takt_permit *of_client, int status)
{
    takt_agent_permit *permit = TAKT_HOLDER(of_client, takt_agent_permit, permit);
    takt_agent_wish *wish = permit->wish;
    takt_agent_line *line = wish->line;
    takt_agent *agent = wish->agent;
    bool is_first = wish->asked_count > 1 && wish->asked.next == &permit->in_wish;
    takt_agent_waiter *waiter = status == 0 ? next_waiter(wish) : failing_waiter(wish, is_first);

    take_back(permit);
    exchange(permit->seat, waiter->seat);
    line->references++; /* also when the wish goes */
    if (status == 0) {
        agent->callbacks.granted(waiter, permit);
    } else {
        int64_t retry_after_us = of_client->retry_after_us;
        takt_release(of_client);
        free(permit);
        agent->callbacks.refused(waiter, status, retry_after_us);
        takt_agent_wish_put(wish);
    }
    put_line(agent, line);
}

/* Puts one permit into the client's queue; or else a waiter fails with the reason, and the seat may
 * be gone. */
static void ask_one(takt_agent_seat *seat)
{
    takt_agent_wish *wish = seat->of.wish;
    takt_client *client = takt_agent_client_of(wish->agent, wish->request.limit);
    takt_agent_permit *permit = calloc(1, sizeof(*permit));
    int code =
        permit ? takt_acquire(client, &permit->permit, &wish->request, on_permit) : TAKT_E_NOMEM;

    if (code != 0) {
        free(permit);
        wish->agent->callbacks.refused(failing_waiter(wish, false), code, 0);
        return;
    }
    permit->wish = wish;
    permit->seat = seat;
    takt_list_init(&permit->in_connection);
    takt_list_append(&wish->asked, &permit->in_wish);
    takt_list_append(&seat->asked, &permit->in_seat);
    wish->references++;
    seat->asked_count++;
    wish->asked_count++;
    wish->line->asked_count++;
    wish->line->asked += wish->cost;
    takt_list_remove(&seat->in_flow); /* the other wishes of the connection come first */
    takt_list_append(&seat->flow->seats, &seat->in_flow);
    set_turns(seat);
}

/* Whether the client may have more of the line's permits. A claim for many connections needs at
 * least one waiter of each, or it would not be given all of its shares. */
static bool has_space(const takt_agent_line *line)
{
    return line->asked < line->bound || line->asked_count < line->flow_count;
}

/* The next seat of a flow. */
static takt_agent_seat *next_seat(const takt_agent_flow *flow)
{
    return TAKT_HOLDER(flow->seats.next, takt_agent_seat, in_flow);
}

/* It is the turn of a connection: it queues as many waiters as its credit allows. */
static void take_turn(takt_agent_line *line, takt_agent_flow *flow)
{
    if (!flow->in_turn)
        flow->deficit += line->quantum;
    flow->in_turn = true;
    while (!takt_list_empty(&flow->seats) && flow->deficit >= next_seat(flow)->of.wish->cost &&
           has_space(line)) {
        flow->deficit -= next_seat(flow)->of.wish->cost;
        ask_one(next_seat(flow));
    }
    if (takt_list_empty(&flow->seats) || flow->deficit >= next_seat(flow)->of.wish->cost)
        return; /* it waits for nothing more, or for space */
    takt_list_remove(&flow->in_line);
    takt_list_append(&line->flows, &flow->in_line);
    flow->in_turn = false;
}

void takt_agent_line_ask(takt_agent *agent, takt_agent_line *line)
{
    if (line->asks)
        return; /* a waiter has left in its turn */
    line->asks = true;
    line->references++;
    while (!takt_list_empty(&line->flows) && has_space(line)) {
        takt_agent_flow *flow = TAKT_HOLDER(line->flows.next, takt_agent_flow, in_line);
        flow->references++;
        if (line->policy_changes != agent->limits.changes)
            set_bound(agent, line, &next_seat(flow)->of.wish->request);
        take_turn(line, flow);
        put_flow(agent, flow);
    }
    line->asks = false;
    put_line(agent, line);
}
