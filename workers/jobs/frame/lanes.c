/*
 * lanes.c: finds lanes by limit, key and tenant, and keeps a ring of the lanes that have work.
 */
#include "lanes.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The approximate memory of a lane, including the client's part for its key while a job waits. */
#define LANE_SIZE (sizeof(takt_lane) + sizeof(takt_lane_away) + 96)
#define KEY_SIZE  2300

/* No text comes before every text. */
static int compare_texts(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) : (one != NULL) - (other != NULL);
}

static int compare(const void *left, const void *right)
{
    const takt_lane *one = left, *other = right;
    int order = strcmp(one->limit, other->limit);

    if (order == 0)
        order = compare_texts(one->key, other->key);
    return order != 0 ? order : compare_texts(one->tenant, other->tenant);
}

static int compare_shares(const void *left, const void *right)
{
    const takt_lane_share *one = left, *other = right;

    return strcmp(one->limit, other->limit);
}

/* The share of a limit; creates it at the first call. */
static takt_lane_share *get_share(takt_lanes *lanes, const char *limit)
{
    takt_lane_share sought = {.limit = (char *)(uintptr_t)limit};
    takt_lane_share **found = tfind(&sought, &lanes->shares, compare_shares);
    takt_lane_share *made;

    if (found)
        return *found;
    made = calloc(1, sizeof(*made));
    if (made && (made->limit = strdup(limit)) != NULL &&
        tsearch(made, &lanes->shares, compare_shares))
        return made;
    if (made)
        free(made->limit);
    free(made);
    return NULL;
}

static void leave_share(takt_lanes *lanes, takt_lane_share *share)
{
    if (--share->lanes > 0)
        return;
    tdelete(share, &lanes->shares, compare_shares);
    free(share->limit);
    free(share);
}

static takt_lane *make(takt_lanes *lanes, const char *limit, const char *key, const char *tenant)
{
    size_t size = key ? strlen(key) + 1 : 0, tenant_size = tenant ? strlen(tenant) + 1 : 0;
    takt_lane *made = calloc(1, sizeof(*made) + size + tenant_size);

    if (!made || !(made->share = get_share(lanes, limit))) {
        free(made);
        return NULL;
    }
    made->share->lanes++;
    made->limit = made->share->limit;
    if (key)
        made->key = memcpy(made + 1, key, size);
    if (tenant)
        made->tenant = memcpy((char *)(made + 1) + size, tenant, tenant_size);
    return made;
}

static void free_lane(takt_lanes *lanes, takt_lane *lane)
{
    leave_share(lanes, lane->share);
    free(lane);
}

takt_lane *takt_lanes_get(takt_lanes *lanes, const char *limit, const char *key, const char *tenant)
{
    takt_lane sought = {.limit = limit, .key = key, .tenant = tenant};
    takt_lane **found = tfind(&sought, &lanes->tree, compare);

    if (found)
        return *found;
    takt_lane *made = make(lanes, limit, key, tenant);
    if (!made || !tsearch(made, &lanes->tree, compare)) {
        if (made)
            free_lane(lanes, made);
        return NULL;
    }
    lanes->lanes_size += LANE_SIZE;
    return made;
}

static void enter_ring(takt_lanes *lanes, takt_lane *lane)
{
    takt_lane *first = lanes->busy;

    if (first) {
        lane->next = first;
        lane->previous = first->previous;
        lane->previous->next = first->previous = lane;
    } else {
        lanes->busy = lane->next = lane->previous = lane;
    }
    lanes->busy_count++;
}

static void leave_ring(takt_lanes *lanes, takt_lane *lane)
{
    if (lanes->busy == lane)
        lanes->busy = lane->next == lane ? NULL : lane->next;
    lane->previous->next = lane->next;
    lane->next->previous = lane->previous;
    lane->next = lane->previous = NULL;
    lanes->busy_count--;
}

/* A lane has changed: puts it into the ring if it has work, else takes it out. */
static void note(takt_lanes *lanes, takt_lane *lane)
{
    bool is_busy = lane->line.count > 0 || lane->away_count > 0;

    if (is_busy && !lane->next)
        enter_ring(lanes, lane);
    else if (!is_busy && lane->next)
        leave_ring(lanes, lane);
}

void takt_lanes_line_up(takt_lanes *lanes, takt_job *job, bool first)
{
    takt_job_list_insert(&job->lane->line, job, first);
    note(lanes, job->lane);
}

void takt_lanes_step_out(takt_lanes *lanes, takt_job *job)
{
    takt_job_list_remove(&job->lane->line, job);
    note(lanes, job->lane);
}

size_t takt_lanes_size(size_t text_size)
{
    return sizeof(takt_job) + text_size + 32; /* about malloc's own overhead */
}

bool takt_lanes_has_room(const takt_lanes *lanes, const takt_lane *lane, size_t size)
{
    size_t left = lanes->size < lanes->size_max ? lanes->size_max - lanes->size : 0;

    return lane->held < lanes->lane_max &&
           (lane->share->size == 0 ? left > 0 : lane->share->size + size + KEY_SIZE <= left);
}

static void add_size(takt_lanes *lanes, takt_lane *lane, size_t size)
{
    lane->size += size;
    lane->share->size += size;
    lanes->size += size;
}

static void take_size(takt_lanes *lanes, takt_lane *lane, size_t size)
{
    lane->size -= size;
    lane->share->size -= size;
    lanes->size -= size;
}

void takt_lanes_hold(takt_lanes *lanes, takt_job *job)
{
    if (job->lane->size == 0)
        add_size(lanes, job->lane, KEY_SIZE);
    job->lane->held++;
    add_size(lanes, job->lane, takt_lanes_size(job->size));
}

void takt_lanes_let_go(takt_lanes *lanes, takt_job *job)
{
    job->lane->held--;
    take_size(lanes, job->lane, takt_lanes_size(job->size));
    if (job->lane->size == KEY_SIZE)
        take_size(lanes, job->lane, KEY_SIZE);
}

void takt_lanes_join(takt_lane *lane)
{
    lane->members++;
}

void takt_lanes_leave(takt_lanes *lanes, takt_lane *lane)
{
    if (--lane->members > 0)
        return;
    tdelete(lane, &lanes->tree, compare);
    lanes->lanes_size -= LANE_SIZE;
    free_lane(lanes, lane);
}

/* The jobs of that urgency; created at the first call. */
static takt_lane_away *get_away(takt_lane *lane, int urgency)
{
    takt_lane_away **at = &lane->away;

    while (*at && (*at)->urgency < urgency)
        at = &(*at)->next;
    if (*at && (*at)->urgency == urgency)
        return *at;
    takt_lane_away *made = calloc(1, sizeof(*made));
    if (made) {
        made->next = *at;
        made->urgency = urgency;
        *at = made;
    }
    return made;
}

/* Frees the most urgent groups that are empty. */
static void drop_empty(takt_lane *lane)
{
    while (lane->away && lane->away->refs.count == 0) {
        takt_lane_away *first = lane->away;
        lane->away = first->next;
        free(first);
    }
}

bool takt_lanes_put_away(takt_lanes *lanes, takt_lane *lane, int urgency, takt_job_ref ref)
{
    takt_lane_away *away = get_away(lane, urgency);

    if (!away || !takt_job_refs_put(&away->refs, ref)) {
        drop_empty(lane);
        return false;
    }
    lane->members++;
    lane->away_count++;
    lanes->away_count++;
    note(lanes, lane);
    return true;
}

bool takt_lanes_take_away(takt_lanes *lanes, takt_lane *lane, takt_job_ref *ref)
{
    drop_empty(lane);
    if (!lane->away)
        return false;
    *ref = takt_job_refs_take(&lane->away->refs);
    drop_empty(lane);
    lane->away_count--;
    lanes->away_count--;
    lane->members--; /* counted again as a fetch */
    note(lanes, lane);
    return true;
}
