/*
 * agree.c: the scripts and lib/core agree.  Random calls, by many workers with old and new policies
 * and a clock that jumps, go through store/record.c and through a real server; after each the
 * answers must be equal, and so must be the ledgers, byte by byte.
 *
 * Usage: agree [--seed N] [--steps N]
 * Prints its seed; the same seed takes the same course.  Exits with 77 where there is no server.
 */
#include "agree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_pages.h"
#include "core/ledger_text.h"
#include "store/record.h"

#define STEPS      100000
#define RUN_STEPS  250 /* then another world is drawn */
#define AT_ONCE    50  /* calls in the pipeline */
#define FIELDS_MAX (11 + 7 * TAKT_RUNS_MAX)

enum { DAMAGED = 1, STALE = 2, OUTDATED = 4, TAKEN = 8 };

static uint64_t run_seed;   /* of the world that is run */
static int64_t step_number; /* in it */
static int64_t steps_agreed;

/* ---- the ledger of lib/core -------------------------------------------------------------------
 */

/* Our side: a record's text. */
static struct {
    takt_record_scratch scratch;
    takt_memory_pages pages;
    char text[AGREE_TEXT_MAX];
    size_t size;
    int64_t expires_at_us;
    bool damaged;
} ours;

static void forget_pages(void)
{
    takt_memory_pages_close(&ours.pages);
    takt_memory_pages_init(&ours.pages);
}

static void run_ours(agree_step *step)
{
    takt_record_change change;

    ours.scratch.pages = &ours.pages.pages;
    takt_record_run(&ours.scratch, ours.size > 0 ? ours.text : NULL, ours.size, step->now_us,
                    &step->call, &change);
    ours.damaged = change.damaged;
    if (change.what == TAKT_RECORD_DROP)
        ours.size = 0;
    if (change.what == TAKT_RECORD_PUT) {
        memcpy(ours.text, change.text, change.size);
        ours.size = change.size;
        ours.expires_at_us = change.expires_at_us;
    }
    ours.text[ours.size] = '\0';
    takt_memory_pages_settle(&ours.pages, change.what != TAKT_RECORD_KEEP);
    if (change.what == TAKT_RECORD_DROP)
        forget_pages();
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static void print_fields(const char *who, const int64_t *fields, int count)
{
    printf("%s", who);
    for (int i = 0; i < count; i++)
        printf(" %" PRId64, fields[i]);
    printf("\n");
}

static void print_call(const agree_step *step)
{
    static const char *const names[] = {"claim", "try", "peek", "block", "unblock", "reset"};
    const takt_store_call *call = &step->call;

    printf("call    %s at %" PRId64 " revision %" PRId64 " lookahead %" PRId64
           " max_waiting %" PRId64,
           names[call->op], step->now_us, call->limit->revision, call->limit->lookahead_us,
           call->limit->max_waiting);
    if (call->op == TAKT_OP_CLAIM) {
        printf(" worker %" PRIx64 " seq %" PRId64 " waiting %" PRId64, step->claim.worker,
               step->claim.seq, step->claim.waiting);
        for (int i = 0; i < step->claim.want_count; i++) {
            const takt_want *want = &step->claim.wants[i];
            printf(" (%" PRId64 " times %d, priority %d, latest %" PRId64 ")", want->count,
                   want->cost, want->priority, want->latest_us);
        }
    }
    printf(" cost %" PRId64 " for %" PRId64 "\n", call->cost, call->for_us);
}

static void differ(const agree_step *step, const char *before, const agree_answer *theirs,
                   const char *what)
{
    agree_tell_where();
    print_call(step);
    printf("before  %s\nours    %s\ntheirs  %s\n", before, ours.text, theirs->text);
    if (theirs->reply->type == REDIS_REPLY_ERROR)
        printf("error   %s\n", theirs->reply->str);
    printf("1 failed: %s\n", what);
    exit(1);
}

void agree_tell_where(void)
{
    printf("step %" PRId64 " of agree --seed %" PRIu64 " --steps %d\n", step_number, run_seed,
           RUN_STEPS);
}

static int64_t told(int64_t us)
{
    return us == TAKT_NEVER ? -1 : us;
}

/* An award as the reply's numbers, without the text. */
static int award_fields(const takt_award *award, int64_t *fields)
{
    int n = 0;

    fields[n++] = (ours.damaged ? DAMAGED : 0) | (award->stale ? STALE : 0) |
                  (award->outdated ? OUTDATED : 0);
    fields[n++] = award->now_us;
    fields[n++] = told(award->claim_again_at_us);
    fields[n++] = told(award->next_slot_at_us);
    fields[n++] = award->blocked_until_us;
    fields[n++] = award->waiting;
    fields[n++] = award->workers;
    fields[n++] = award->refused;
    fields[n++] = award->in_line;
    fields[n++] = award->least_urgent;
    for (int i = 0; i < award->run_count; i++) {
        const takt_run *run = &award->runs[i];
        fields[n++] = run->first.us;
        fields[n++] = run->first.parts;
        fields[n++] = run->step.us;
        fields[n++] = run->step.parts;
        fields[n++] = run->whole;
        fields[n++] = run->count;
        fields[n++] = run->cost;
    }
    return n;
}

static int standing_fields(const takt_store_call *call, int64_t *fields)
{
    const takt_standing *standing = &call->standing;
    int n = 0;

    fields[n++] =
        (ours.damaged ? DAMAGED : 0) | (call->op == TAKT_OP_TRY && call->status == 0 ? TAKEN : 0);
    fields[n++] = standing->now_us;
    fields[n++] = standing->limit;
    fields[n++] = standing->remaining;
    fields[n++] = told(standing->retry_after_us);
    fields[n++] = standing->reset_after_us;
    fields[n++] = standing->blocked_until_us;
    fields[n++] = standing->waiting;
    fields[n++] = standing->workers;
    return n;
}

/* The numbers that the server says are newer are those that our ledger says are. */
static bool same_newer(const agree_step *step, const redisReply *text)
{
    takt_ledger ledger = {.line = NULL};
    takt_limit kept = {.rule_count = 0};
    const takt_limit *newer = &step->award.newer;

    if (!step->award.outdated)
        return text->len == 0;
    return takt_ledger_decode(&ledger, step->call.limit, &kept, step->now_us, text->str,
                              text->len) == 0 &&
           ledger.limit == &kept && takt_limit_same(&kept, newer) &&
           kept.revision == newer->revision && kept.lookahead_us == newer->lookahead_us &&
           kept.max_waiting == newer->max_waiting;
}

static bool same_reply(const agree_step *step, const redisReply *reply)
{
    bool claim = step->call.op == TAKT_OP_CLAIM;
    int64_t fields[FIELDS_MAX], theirs[FIELDS_MAX] = {0};
    int count = claim ? award_fields(&step->award, fields) : standing_fields(&step->call, fields);
    int n = 0;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements > FIELDS_MAX)
        return false;
    for (size_t i = 0; i < reply->elements; i++) {
        if (claim && i == 10) {
            if (reply->element[i]->type != REDIS_REPLY_STRING ||
                !same_newer(step, reply->element[i]))
                return false;
        } else if (reply->element[i]->type != REDIS_REPLY_INTEGER) {
            return false;
        } else {
            theirs[n++] = reply->element[i]->integer;
        }
    }
    if (n == count && memcmp(fields, theirs, (size_t)n * sizeof *fields) == 0)
        return true;
    print_fields("ours   ", fields, count);
    print_fields("theirs ", theirs, n);
    return false;
}

static void check(agree_step *step)
{
    static char before[AGREE_TEXT_MAX];
    static agree_answer theirs;
    int64_t expires_at_ms;

    step_number++;
    memcpy(before, ours.text, ours.size + 1);
    run_ours(step);
    agree_server_answer(&theirs);
    if (!same_reply(step, theirs.reply))
        differ(step, before, &theirs, "the answers differ");
    if (theirs.size != ours.size || memcmp(theirs.text, ours.text, ours.size) != 0)
        differ(step, before, &theirs, "the ledgers differ");
    expires_at_ms = ours.size > 0 ? takt_ceil_div(ours.expires_at_us, 1000) : -2;
    if (theirs.expires_at_ms != expires_at_ms)
        printf("expires at %" PRId64 " ms, theirs at %" PRId64 " ms\n", expires_at_ms,
               theirs.expires_at_ms),
            differ(step, before, &theirs, "the ledger expires at another time");
    agree_answer_free(&theirs);
    steps_agreed++;
}

/* One world's calls, some at once: no call depends on an answer. */
static void run_world(uint64_t seed)
{
    static agree_world world;
    static agree_step steps[AT_ONCE];

    run_seed = seed;
    step_number = 0;
    agree_world_draw(&world, seed);
    agree_server_clear();
    forget_pages();
    ours.size = 0;
    ours.text[0] = '\0';
    for (int done = 0; done < RUN_STEPS; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            agree_step_draw(&world, &steps[i]);
            agree_server_send(&steps[i]);
        }
        for (int i = 0; i < AT_ONCE; i++)
            check(&steps[i]);
    }
}

int main(int argc, char **argv)
{
    uint64_t seed = 1;
    int64_t steps = STEPS;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--steps") == 0)
            steps = strtoll(argv[i + 1], NULL, 10);
    }
    printf("seed %" PRIu64 "\n", seed);
    agree_server_start();
    for (int64_t done = 0; done < steps; done += RUN_STEPS)
        run_world(seed++);
    takt_memory_pages_close(&ours.pages);
    takt_record_scratch_free(&ours.scratch);
    printf("%" PRId64 " steps agree: 1 passed, 0 failed\n", steps_agreed);
    return 0;
}
