/*
 * fetches.c: asks for the texts of jobs that were put away, and counts these jobs in their lanes
 * until the texts arrive.
 */
#include <stdlib.h>

#include "worker.h"

/* A text that was asked for and has not arrived. */
struct takt_fetched {
    takt_fetched *next;
    takt_job_ref ref;
    takt_lane *lane;
};

void takt_fetches_begin(takt_worker *worker, takt_lane *lane, takt_job_ref ref)
{
    takt_fetched *made = malloc(sizeof(*made));

    takt_lanes_join(lane);
    if (!made) { /* tried again later */
        takt_lanes_put_away(&worker->lanes, lane, TAKT_PRIORITY_DEFAULT, ref);
        takt_lanes_leave(&worker->lanes, lane);
        return;
    }
    *made = (takt_fetched){worker->fetches.first, ref, lane};
    worker->fetches.first = made;
    worker->fetches.count++;
    lane->held++;
    takt_job_source_fetch(worker->source, ref);
}

bool takt_fetches_end(takt_worker *worker, takt_job_ref ref, takt_report_limit **figures)
{
    takt_fetched **at = &worker->fetches.first;

    while (*at && ((*at)->ref.major != ref.major || (*at)->ref.minor != ref.minor))
        at = &(*at)->next;
    takt_fetched *found = *at;
    if (!found)
        return false;
    *at = found->next;
    worker->fetches.count--;
    found->lane->held--;
    *figures = found->lane->figures;
    takt_report_put_away(worker->report, *figures, false);
    takt_lanes_leave(&worker->lanes, found->lane);
    free(found);
    return true;
}

void takt_fetches_drop(takt_worker *worker)
{
    while (worker->fetches.first) {
        takt_job_ref ref = worker->fetches.first->ref;
        takt_report_limit *figures;
        takt_fetches_end(worker, ref, &figures);
        takt_job_source_give_back(worker->source, ref);
        takt_report_given_back(worker->report, figures, TAKT_REPORT_NOWHERE, NULL);
    }
}
