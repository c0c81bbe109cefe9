/*
 * waiting.c: lanes, found by limit and key, and walked through in a ring where there is something
 * to do for them.
 */
#include "waiting.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A lane and what the client keeps for it, about. */
#define LANE_SIZE 1024

static int compare(const void *left, const void *right)
{
    const lane *one = left, *other = right;
    int by_limit = strcmp(one->limit, other->limit);

    if (by_limit || !one->key || !other->key)
        return by_limit ? by_limit : (one->key != NULL) - (other->key != NULL);
    return strcmp(one->key, other->key);
}

static lane *make(const char *limit, const char *key)
{
    lane *made = calloc(1, sizeof(*made));
    size_t limit_size = strlen(limit) + 1, key_size = key ? strlen(key) + 1 : 0;

    if (!made || !(made->limit = malloc(limit_size + key_size))) {
        free(made);
        return NULL;
    }
    memcpy(made->limit, limit, limit_size);
    if (key)
        made->key = memcpy(made->limit + limit_size, key, key_size);
    return made;
}

static void free_lane(lane *lane)
{
    for (int i = 0; i < WAITING_URGENCIES; i++)
        refs_free(&lane->away[i]);
    free(lane->limit);
    free(lane);
}

lane *waiting_get(waiting *waiting, const char *limit, const char *key)
{
    lane sought = {.limit = (char *)(uintptr_t)limit, .key = key};
    lane **found = tfind(&sought, &waiting->tree, compare);

    if (found)
        return *found;
    lane *made = make(limit, key);
    if (!made || !tsearch(made, &waiting->tree, compare)) {
        if (made)
            free_lane(made);
        return NULL;
    }
    waiting->size += LANE_SIZE;
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

    return lane->held < waiting->lane_max && left > 0 &&
           (lane->held == 0 || lane->size + size <= left);
}

void waiting_hold(waiting *waiting, job *job)
{
    job->lane->held++;
    job->lane->size += waiting_size(job->size);
    waiting->size += waiting_size(job->size);
}

void waiting_let_go(waiting *waiting, job *job)
{
    job->lane->held--;
    job->lane->size -= waiting_size(job->size);
    waiting->size -= waiting_size(job->size);
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
    waiting->size -= LANE_SIZE;
    free_lane(lane);
}

bool waiting_put_away(waiting *waiting, lane *lane, int urgency, source_ref ref)
{
    if (!refs_put(&lane->away[urgency], ref))
        return false;
    lane->members++;
    lane->away_count++;
    waiting->away_count++;
    note(waiting, lane);
    return true;
}

bool waiting_take_away(waiting *waiting, lane *lane, source_ref *ref)
{
    for (int i = 0; i < WAITING_URGENCIES; i++) {
        if (lane->away[i].count == 0)
            continue;
        *ref = refs_take(&lane->away[i]);
        lane->away_count--;
        waiting->away_count--;
        lane->members--; /* it goes on as one that is fetched */
        note(waiting, lane);
        return true;
    }
    return false;
}
