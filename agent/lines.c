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

    line->policy_changes = agent->policy_changes;
    line->bound = BOUND_MIN;
    takt_policy_rate(policy, request->limit, request->key, &tokens, &period_us);
    if (period_us > 0 && tokens > 0) {
        double bound = (double)tokens * BOUND_SPAN_US / (double)period_us;
        line->bound = bound > BOUND_MAX   ? BOUND_MAX
                      : bound < BOUND_MIN ? BOUND_MIN
                                          : (int64_t)bound;
    }
    /* Who is too many is for the ledger to decide: it must know of all. */
    if (takt_policy_bounds_waiting(policy, request->limit, request->key))
        line->bound = INT64_MAX;
}

static takt_agent_line *get_line(takt_agent *agent, const char *text, size_t size,
                                 const takt_request *request)
{
    takt_entry *found = takt_table_find(&agent->lines, text, size);
    takt_agent_line *line =
        found ? TAKT_HOLDER(found, takt_agent_line, entry) : calloc(1, sizeof(*line) + size);

    if (!found && line) {
        takt_list_init(&line->wishes);
        memcpy(line->text, text, size);
        line->entry.key = line->text;
        line->entry.size = size;
        set_bound(agent, line, request);
        takt_table_add(&agent->lines, &line->entry);
    }
    if (line)
        line->references++;
    return line;
}

static void put_line(takt_agent *agent, takt_agent_line *line)
{
    if (--line->references > 0)
        return;
    takt_table_remove(&agent->lines, &line->entry);
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
     TAKT_AMOUNTS_MAX * (TAKT_UNIT_SIZE_MAX + 12) + 64)

/* Writes what the wish is known by; its first *line_size bytes are those of its line. */
static size_t write_text(const takt_request *request, char *text, size_t *line_size)
{
    char *at = add_text(add_text(text, request->limit), request->key);

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

/* The text at *at, which is moved to the next one. */
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
    takt_entry *found = takt_table_find(&agent->wishes, text, size);
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
        takt_list_init(&wish->in_line);
        takt_list_init(&wish->seats);
        takt_list_init(&wish->asked);
        takt_list_init(&wish->waiters);
        memcpy(wish->text, text, size);
        read_text(wish, request);
        wish->entry.key = wish->text;
        wish->entry.size = size;
        takt_table_add(&agent->wishes, &wish->entry);
    }
    wish->references++;
    return wish;
}

void takt_agent_wish_put(takt_agent_wish *wish)
{
    if (--wish->references > 0)
        return;
    takt_table_remove(&wish->agent->wishes, &wish->entry);
    takt_list_remove(&wish->in_line);
    put_line(wish->agent, wish->line);
    free(wish);
}

/* ---- waiters --------------------------------------------------------------------------------- */

static takt_agent_seat *get_seat(takt_agent_wish *wish, takt_agent_connection *connection)
{
    takt_agent *agent = wish->agent;
    takt_agent_seat of = {.of = {connection, wish}}, *seat;
    takt_entry *found = takt_table_find(&agent->seats, &of.of, sizeof(of.of));

    if (found)
        return TAKT_HOLDER(found, takt_agent_seat, entry);
    seat = calloc(1, sizeof(*seat));
    if (!seat)
        return NULL;
    seat->of = of.of;
    takt_list_init(&seat->waiters);
    seat->entry.key = &seat->of;
    seat->entry.size = sizeof(seat->of);
    takt_table_add(&agent->seats, &seat->entry);
    takt_list_append(&wish->seats, &seat->in_wish);
    wish->seat_count++;
    return seat;
}

bool takt_agent_lines_enter(takt_agent_wish *wish, takt_agent_connection *connection,
                            takt_agent_waiter *waiter)
{
    takt_agent_seat *seat = get_seat(wish, connection);
    takt_agent_line *line = wish->line;

    if (!seat)
        return false;
    waiter->seat = seat;
    takt_list_append(&seat->waiters, &waiter->in_seat);
    takt_list_append(&wish->waiters, &waiter->in_wish);
    wish->references++;
    wish->waiting++;
    if (takt_list_empty(&line->wishes))
        line->quantum = 0;
    if (wish->cost > line->quantum)
        line->quantum = wish->cost;
    if (takt_list_empty(&wish->in_line))
        takt_list_append(&line->wishes, &wish->in_line);
    return true;
}

/* A permit that waits in the client for nobody is given up, the last one first. */
static void give_up_one(takt_agent_wish *wish)
{
    takt_agent_permit *permit = TAKT_HOLDER(wish->asked.previous, takt_agent_permit, in_wish);

    takt_list_remove(&permit->in_wish);
    wish->asked_count--;
    wish->line->asked -= wish->cost;
    takt_release(&permit->permit);
    free(permit);
    takt_agent_wish_put(wish);
}

void takt_agent_lines_leave(takt_agent_waiter *waiter)
{
    takt_agent_seat *seat = waiter->seat;
    takt_agent_wish *wish = seat->of.wish;

    takt_list_remove(&waiter->in_seat);
    takt_list_remove(&waiter->in_wish);
    if (takt_list_empty(&seat->waiters)) {
        takt_list_remove(&seat->in_wish);
        takt_table_remove(&wish->agent->seats, &seat->entry);
        free(seat);
        wish->seat_count--;
    }
    wish->waiting--;
    if (wish->asked_count > wish->waiting)
        give_up_one(wish);
    if (wish->asked_count == wish->waiting)
        takt_list_remove(&wish->in_line);
    takt_agent_wish_put(wish);
}

/* The next waiter of the wish. Its connection is the last one then. */
static takt_agent_waiter *next_waiter(takt_agent_wish *wish)
{
    takt_agent_seat *seat;

    if (takt_list_empty(&wish->seats))
        return NULL;
    seat = TAKT_HOLDER(wish->seats.next, takt_agent_seat, in_wish);
    takt_list_remove(&seat->in_wish);
    takt_list_append(&wish->seats, &seat->in_wish);
    return TAKT_HOLDER(seat->waiters.next, takt_agent_waiter, in_seat);
}

/* The waiter that fails with a permit: who came first with the first one, else who came last. */
static takt_agent_waiter *failing_waiter(const takt_agent_wish *wish, bool is_first)
{
    if (takt_list_empty(&wish->waiters))
        return NULL;
    return TAKT_HOLDER(is_first ? wish->waiters.next : wish->waiters.previous, takt_agent_waiter,
                       in_wish);
}

/* ---- permits in the client ------------------------------------------------------------------- */

static void on_permit(takt_permit *of_client, int status)
{
    takt_agent_permit *permit = TAKT_HOLDER(of_client, takt_agent_permit, permit);
    takt_agent_wish *wish = permit->wish;
    takt_agent_line *line = wish->line;
    takt_agent *agent = wish->agent;
    bool is_first = wish->asked_count > 1 && wish->asked.next == &permit->in_wish;
    takt_agent_waiter *waiter = status == 0 ? next_waiter(wish) : failing_waiter(wish, is_first);

    takt_list_remove(&permit->in_wish);
    wish->asked_count--;
    line->asked -= wish->cost;
    line->references++; /* also when the wish goes */
    if (waiter && status == 0) {
        agent->granted(waiter, permit);
    } else {
        int64_t retry_after_us = of_client->retry_after_us;
        takt_release(of_client);
        free(permit);
        if (waiter)
            agent->refused(waiter, status, retry_after_us);
        takt_agent_wish_put(wish);
    }
    takt_agent_line_ask(agent, line);
    put_line(agent, line);
}

/* Puts one permit into the client's queue; or else a waiter fails with the reason. */
static void ask_one(takt_agent_wish *wish)
{
    takt_client *client = takt_agent_client_of(wish->agent, wish->request.limit);
    takt_agent_permit *permit = calloc(1, sizeof(*permit));
    int code =
        permit ? takt_acquire(client, &permit->permit, &wish->request, on_permit) : TAKT_E_NOMEM;

    if (code != 0) {
        free(permit);
        wish->agent->refused(failing_waiter(wish, false), code, 0);
        return;
    }
    permit->wish = wish;
    takt_list_init(&permit->in_connection);
    takt_list_append(&wish->asked, &permit->in_wish);
    wish->references++;
    wish->asked_count++;
    wish->line->asked += wish->cost;
}

/* The turn of a wish: it may put in what it has credit for. */
static void take_turn(takt_agent_line *line, takt_agent_wish *wish)
{
    if (!wish->in_turn)
        wish->deficit += line->quantum * (int64_t)wish->seat_count;
    wish->in_turn = true;
    while (wish->deficit >= wish->cost && wish->waiting > wish->asked_count &&
           line->asked < line->bound) {
        wish->deficit -= wish->cost;
        ask_one(wish);
    }
    if (wish->waiting == wish->asked_count) {
        takt_list_remove(&wish->in_line);
        wish->deficit = 0;
        wish->in_turn = false;
    } else if (wish->deficit < wish->cost) {
        takt_list_remove(&wish->in_line);
        takt_list_append(&line->wishes, &wish->in_line);
        wish->in_turn = false;
    }
}

void takt_agent_line_ask(takt_agent *agent, takt_agent_line *line)
{
    line->references++;
    while (!takt_list_empty(&line->wishes) && line->asked < line->bound) {
        takt_agent_wish *wish = TAKT_HOLDER(line->wishes.next, takt_agent_wish, in_line);
        wish->references++;
        if (line->policy_changes != agent->policy_changes)
            set_bound(agent, line, &wish->request);
        take_turn(line, wish);
        takt_agent_wish_put(wish);
    }
    put_line(agent, line);
}
