/*
 * jobs.c: the calls that the store "agent:" has, and how they come back: on the loop's next turn.
 */
#include <stdlib.h>

#include "store/agent/agent.h"

static takt_agent_job *job_of(takt_link *link)
{
    return TAKT_HOLDER(link, takt_agent_job, link);
}

static void on_turn(uv_idle_t *turn)
{
    takt_agent_store *store = turn->data;
    takt_link answered, failed;

    takt_list_init(&answered);
    takt_list_init(&failed);
    takt_list_move(&answered,
                   &store->jobs.answered); /* calls that done() submits wait for a turn */
    takt_list_move(&failed, &store->jobs.without_job);
    uv_idle_stop(turn);
    while (!takt_list_empty(&failed)) {
        takt_store_call *call = TAKT_HOLDER(failed.next, takt_store_call, link);
        takt_list_remove(&call->link);
        call->done(call);
    }
    while (!takt_list_empty(&answered)) {
        takt_agent_job *job = job_of(answered.next);
        takt_store_call *call = job->call;
        takt_list_remove(&job->link);
        free(job);
        call->done(call);
    }
    store->jobs.turned(store);
}

void takt_agent_store_answer(takt_agent_store *store, takt_agent_job *job, int status)
{
    takt_list_remove(&job->order);
    takt_list_remove(&job->link);
    job->call->status = status;
    if (status == 0 || status == TAKT_E_NO_SLOT)
        store->store.trouble = NULL;
    takt_list_append(&store->jobs.answered, &job->link);
    takt_agent_store_turn(store);
}

void takt_agent_store_turn(takt_agent_store *store)
{
    uv_idle_start(&store->jobs.turn, on_turn);
}

takt_agent_job *takt_agent_store_job_of(const takt_agent_store *store, const takt_store_call *call,
                                        int64_t number)
{
    for (takt_link *at = store->jobs.all.next; at != &store->jobs.all; at = at->next) {
        takt_agent_job *job = TAKT_HOLDER(at, takt_agent_job, order);
        if (call != NULL ? job->call == call : job->number == number)
            return job;
    }
    return NULL;
}
