/*
 * file_job.c: see file_job.h.
 */
#include "store/file_job.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "store/policy_record.h"

static void copy_claim(takt_claim *copy, const takt_claim *claim)
{
    memcpy(copy, claim,
           offsetof(takt_claim, wants) + (size_t)claim->want_count * sizeof claim->wants[0]);
}

/* False: no memory. */
static bool copy_inner(takt_file_job *job, const takt_store_call *call)
{
    job->own.inner = job->own_inner;
    job->own.inner_count = call->inner_count;
    if (call->inner_count > 0 && job->inner == NULL)
        job->inner = calloc(TAKT_INNER_MAX, sizeof *job->inner);
    if (call->inner_count > 0 && job->inner == NULL)
        return false;
    for (int i = 0; i < call->inner_count; i++) {
        takt_file_inner *copy = &job->inner[i];
        memcpy(copy->limit.name, call->inner[i].limit->name, sizeof copy->limit.name);
        copy->limit.numbers = *call->inner[i].numbers;
        memcpy(copy->key, call->inner[i].key, strlen(call->inner[i].key) + 1);
        job->own_inner[i] =
            (takt_store_inner){&copy->limit, &copy->limit.numbers, copy->key, call->inner[i].units};
    }
    return true;
}

bool takt_file_job_fill(takt_file_job *job, takt_store_call *call)
{
    job->call = call;
    job->damaged = false;
    memcpy(job->limit.name, call->limit->name, sizeof job->limit.name);
    job->limit.numbers = *call->numbers;
    memcpy(job->key, call->key, strlen(call->key) + 1);
    if (call->claim)
        copy_claim(&job->claim, call->claim);
    job->own.op = call->op;
    job->own.limit = &job->limit;
    job->own.numbers = &job->limit.numbers;
    job->own.key = job->key;
    job->own.claim = call->claim ? &job->claim : NULL;
    job->own.award = &job->award;
    job->own.cost = call->cost;
    memcpy(job->own.more, call->more, sizeof job->own.more);
    job->own.for_us = call->for_us;
    strcpy(job->reason, call->reason ? call->reason : ""); /* its length was checked */
    job->own.reason = job->reason;
    job->own.slot_us = call->slot_us;
    job->own.requests = call->requests;
    job->own.actual = call->actual;
    memcpy(job->own.actual_more, call->actual_more, sizeof job->own.actual_more);
    if (call->tenant)
        strcpy(job->tenant, call->tenant);
    job->own.tenant = call->tenant ? job->tenant : NULL;
    job->own.tenant_weight = call->tenant_weight;
    job->own.priority = call->priority;
    job->own.status = job->own.ledger_no = 0;
    job->exchange = call->exchange ? takt_policy_exchange_copy(call->exchange) : NULL;
    job->own.exchange = job->exchange;
    if (call->tenants)
        job->own.tenants = malloc(TAKT_TENANTS_MAX * sizeof *job->own.tenants);
    return copy_inner(job, call) && (job->exchange || !call->exchange) &&
           (job->own.tenants || !call->tenants);
}

static void copy_award(takt_award *award, const takt_award *copy)
{
    size_t runs = (size_t)copy->run_count * sizeof copy->runs[0];

    memcpy(award, copy, offsetof(takt_award, runs));
    memcpy(award->runs, copy->runs, runs);
    for (int ledger_no = 0; ledger_no < TAKT_LEVELS_MAX; ledger_no++)
        if (copy->outdated >> ledger_no & 1)
            award->newer[ledger_no] = copy->newer[ledger_no];
}

/* Gives the policy that was read to the caller. */
static void copy_policy(takt_policy_exchange *exchange, takt_policy_exchange *copy)
{
    exchange->version = copy->version;
    exchange->at_us = copy->at_us;
    exchange->kept = copy->kept;
    exchange->kept_size = copy->kept_size;
    copy->kept = NULL;
}

static void copy_standing(takt_store_call *call, const takt_store_call *copy)
{
    call->standing = copy->standing;
    call->ledger_no = copy->ledger_no;
    call->standing.tenants = call->tenants;
    if (copy->tenants && copy->status == 0)
        memcpy(call->tenants, copy->tenants,
               (size_t)copy->standing.tenant_count * sizeof *call->tenants);
}

void takt_file_job_finish(takt_file_job *job)
{
    takt_store_call *call = job->call;

    call->status = job->own.status;
    if (job->exchange)
        copy_policy(call->exchange, job->exchange);
    else if (call->op != TAKT_OP_CLAIM)
        copy_standing(call, &job->own);
    if (call->claim && (call->status == 0 || call->status == TAKT_E_NO_SLOT))
        copy_award(call->award, &job->award);
}

void takt_file_job_put_back(takt_file_job *job)
{
    takt_policy_exchange_free(job->exchange);
    job->exchange = NULL;
    free(job->own.tenants);
    job->own.tenants = NULL;
}

void takt_file_job_free(takt_file_job *job)
{
    takt_file_job_put_back(job);
    free(job->inner);
    free(job);
}
