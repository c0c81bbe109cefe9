/*
 * waiting.c: lanes, found by limit and key, and walked through in a ring where there is something
 * to do for them.
 */
#include "waiting.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What a lane takes up, and what the client keeps for its key while one of its jobs waits, about.
 */
#define LANE_SIZE (sizeof(struct lane) + sizeof(waiting_away) + 96)
#define KEY_SIZE  1500

static int compare(const void *left, const void *right)
{
    const lane *one = left, *other = right;
    int by_limit = strcmp(one->limit, other->limit);

    if (by_limit || !one->key || !other->key)
        return by_limit ? by_limit : (one->key != NULL) - (other->key != NULL);
    return strcmp(one->key, other->key);
}

static int compare_shares(const void *left, const void *right)
{
    const waiting_share *one = left, *other = right;

    return strcmp(one->limit, other->limit);
}

/* The share of a limit, made where there is none. */
static waiting_share *get_share(waiting *waiting, const char *limit)
{
    waiting_share sought = {.limit = (char *)(uintptr_t)limit};
    waiting_share **found = tfind(&sought, &waiting->shares, compare_shares);
    waiting_share *made;

    if (found)
        return *found;
    made = calloc(1, sizeof(*made));
    if (made && (made->limit = strdup(limit)) != NULL &&
        tsearch(made, &waiting->shares, compare_shares))
        return made;
    if (made)
        free(made->limit);
    free(made);
    return NULL;
}

static void leave_share(waiting *waiting, waiting_share *share)
{
    if (--share->lanes > 0)
        return;
    tdelete(share, &waiting->shares, compare_shares);
    free(share->limit);
    free(share);
}

static lane *make(waiting *waiting, const char *limit, const char *key)
{
    size_t size = key ? strlen(key) + 1 : 0;
    lane *made = calloc(1, sizeof(*made) + size);

    if (!made || !(made->share = get_share(waiting, limit))) {
        free(made);
        return NULL;
    }
    made->share->lanes++;
    made->limit = made->share->limit;
    if (key)
        made->key = memcpy(made + 1, key, size);
    return made;
}

static void free_lane(waiting *waiting, lane *lane)
{
    leave_share(waiting, lane->share);
    free(lane);
}

lane *waiting_get(waiting *waiting, const char *limit, const char *key)
{
    lane sought = {.limit = limit, .key = key};
    lane **found = tfind(&sought, &waiting->tree, compare);

    if (found)
        return *found;
    lane *made = make(waiting, limit, key);
    if (!made || !tsearch(made, &waiting->tree, compare)) {
        if (made)
            free_lane(waiting, made);
        return NULL;
    }
    waiting->lanes_size += LANE_SIZE;
    return made;
}

static void enter_ring(waiting *waiting, lane *lane)
{
    struct lane *first = waiting->busy;

    if (first) {
        lane->next = first;
        lane->previous = first->previous;
        lane->previous->next = first->previous = lane;
    } else {
        waiting->busy = lane->next = lane->previous = lane;
    }
    waiting->busy_count++;
}

static void leave_ring(waiting *waiting, lane *lane)
{
    if (waiting->busy == lane)
        waiting->busy = lane->next == lane ? NULL : lane->next;
    lane->previous->next = lane->next;
    lane->next->previous = lane->previous;
    lane->next = lane->previous = NULL;
    waiting->busy_count--;
}

/* A lane has changed: it is in the ring where there is something to do for it. */
static void note(waiting *waiting, lane *lane)
{
    bool is_busy = lane->line.count > 0 || lane->away_count > 0;

    if (is_busy && !lane->next)
        enter_ring(waiting, lane);
    else if (!is_busy && lane->next)
        leave_ring(waiting, lane);
}

void waiting_line_up(waiting *waiting, job *job, bool first)
{
    job_list_insert(&job->lane->line, job, first);
    note(waiting, job->lane);
}

void waiting_step_out(waiting *waiting, job *job)
{
    job_list_remove(&job->lane->line, job);
    note(waiting, job->lane);
}

size_t waiting_size(size_t text_size)
{
    return sizeof(job) + text_size + 32; /* what malloc keeps beside it, about */
}

bool waiting_has_room(const waiting *waiting, const lane *lane, size_t size)
{
    size_t left = waiting->size < waiting->size_max ? waiting->size_max - waiting->size : 0;

    return lane->held < waiting->lane_max &&
           (lane->share->size == 0 ? left > 0 : lane->share->size + size + KEY_SIZE <= left);
}

static void add_size(waiting *waiting, lane *lane, size_t size)
{
    lane->size += size;
    lane->share->size += size;
    waiting->size += size;
}

static void take_size(waiting *waiting, lane *lane, size_t size)
{
    lane->size -= size;
    lane->share->size -= size;
    waiting->size -= size;
}

void waiting_hold(waiting *waiting, job *job)
{
    if (job->lane->size == 0)
        add_size(waiting, job->lane, KEY_SIZE);
    job->lane->held++;
    add_size(waiting, job->lane, waiting_size(job->size));
}

void waiting_let_go(waiting *waiting, job *job)
{
    job->lane->held--;
    take_size(waiting, job->lane, waiting_size(job->size));
    if (job->lane->size == KEY_SIZE)
        take_size(waiting, job->lane, KEY_SIZE);
}

void waiting_join(lane *lane)
{
    lane->members++;
}

void waiting_leave(waiting *waiting, lane *lane)
{
    if (--lane->members > 0)
        return;
    tdelete(lane, &waiting->tree, compare);
    waiting->lanes_size -= LANE_SIZE;
    free_lane(waiting, lane);
}

/* Those of that urgency, made where there are none. */
static waiting_away *get_away(lane *lane, int urgency)
{
    waiting_away **at = &lane->away;

    while (*at && (*at)->urgency < urgency)
        at = &(*at)->next;
    if (*at && (*at)->urgency == urgency)
        return *at;
    waiting_away *made = calloc(1, sizeof(*made));
    if (made) {
        made->next = *at;
        made->urgency = urgency;
        *at = made;
    }
    return made;
}

/* The most urgent ones, where there are none left. */
static void drop_empty(lane *lane)
{
    while (lane->away && lane->away->refs.count == 0) {
        waiting_away *first = lane->away;
        lane->away = first->next;
        free(first);
    }
}

bool waiting_put_away(waiting *waiting, lane *lane, int urgency, source_ref ref)
{
    waiting_away *away = get_away(lane, urgency);

    if (!away || !refs_put(&away->refs, ref)) {
        drop_empty(lane);
        return false;
    }
    lane->members++;
    lane->away_count++;
    waiting->away_count++;
    note(waiting, lane);
    return true;
}

bool waiting_take_away(waiting *waiting, lane *lane, source_ref *ref)
{
    drop_empty(lane);
    if (!lane->away)
        return false;
    *ref = refs_take(&lane->away->refs);
    drop_empty(lane);
    lane->away_count--;
    waiting->away_count--;
    lane->members--; /* it goes on as one that is fetched */
    note(waiting, lane);
    return true;
}
