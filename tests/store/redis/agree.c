/*
 * agree.c: the scripts and lib/core agree.  Random calls, by many workers with old and new policies
 * and a clock that jumps, go through store/record.c and through a real server; after each the
 * answers must be equal, and so must be the ledgers, byte by byte.
 *
 * Usage: agree [--seed N] [--steps N]
 * Prints its seed, and TAP.  The same seed takes the same course.
 */
#include "agree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_pages.h"
#include "base/random.h"
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

/* A step and what lib/core made of it. */
typedef struct outcome {
    agree_step step;
    char before[AGREE_TEXT_MAX], after[AGREE_TEXT_MAX];
    int64_t expires_at_us;
    bool damaged;
} outcome;

/* ---- the ledger of lib/core ------------------------------------------------------------------ */

/* Our side: a record's text. */
static struct {
    takt_record_scratch scratch;
    takt_memory_pages pages;
    char text[AGREE_TEXT_MAX];
    size_t size;
    int64_t expires_at_us;
} ours;

static void forget_pages(void)
{
    takt_memory_pages_close(&ours.pages);
    takt_memory_pages_init(&ours.pages);
}

static void run_ours(outcome *ran)
{
    takt_record_change change;

    memcpy(ran->before, ours.text, ours.size + 1);
    ours.scratch.pages = &ours.pages.pages;
    takt_record_run(&ours.scratch, ours.size > 0 ? ours.text : NULL, ours.size, ran->step.now_us,
                    &ran->step.call, &change);
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
    memcpy(ran->after, ours.text, ours.size + 1);
    ran->expires_at_us = ours.expires_at_us;
    ran->damaged = change.damaged;
}

/* Changes a byte of the text, here and there.  Where that makes it tell of a place, a page or a
 * timezone that is not there, the two sides may see that at different times: those are left out. */
static void damage(agree_world *world)
{
    static const char bytes[] = "0123456789;,/*+ grtbfs~!^xx";

    if (ours.size == 0 || strpbrk(ours.text, "w#@l"))
        return;
    ours.text[takt_random_below(&world->random, (int64_t)ours.size)] =
        bytes[takt_random_below(&world->random, sizeof bytes - 1)];
    agree_server_put(ours.text, ours.size, takt_ceil_div(ours.expires_at_us, 1000));
}

/* ---- comparing ------------------------------------------------------------------------------- */

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

    printf("# call    %s at %" PRId64 " revision %" PRId64 " lookahead %" PRId64
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

static void differ(const outcome *ran, const agree_answer *theirs, const char *what)
{
    print_call(&ran->step);
    printf("# before  %s\n# ours    %s\n# theirs  %s\n", ran->before, ran->after, theirs->text);
    if (theirs->reply->type == REDIS_REPLY_ERROR)
        printf("# error   %s\n", theirs->reply->str);
    agree_fail(what);
}

void agree_fail(const char *what)
{
    printf("# step %" PRId64 " of agree --seed %" PRIu64 " --steps %d\nnot ok 1 - agree: %s\n",
           step_number, run_seed, RUN_STEPS, what);
    exit(1);
}

static int64_t told(int64_t us)
{
    return us == TAKT_NEVER ? -1 : us;
}

/* An award as the reply's numbers, without the text. */
static int award_fields(const outcome *ran, int64_t *fields)
{
    const takt_award *award = &ran->step.award;
    int n = 0;

    fields[n++] = (ran->damaged ? DAMAGED : 0) | (award->stale ? STALE : 0) |
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

static int standing_fields(const outcome *ran, int64_t *fields)
{
    const takt_store_call *call = &ran->step.call;
    const takt_standing *standing = &call->standing;
    int n = 0;

    fields[n++] =
        (ran->damaged ? DAMAGED : 0) | (call->op == TAKT_OP_TRY && call->status == 0 ? TAKEN : 0);
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

static bool same_reply(const outcome *ran, const redisReply *reply)
{
    bool claim = ran->step.call.op == TAKT_OP_CLAIM;
    int64_t fields[FIELDS_MAX], theirs[FIELDS_MAX] = {0};
    int count = claim ? award_fields(ran, fields) : standing_fields(ran, fields);
    int n = 0;

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements > FIELDS_MAX)
        return false;
    for (size_t i = 0; i < reply->elements; i++) {
        if (claim && i == 10) {
            if (reply->element[i]->type != REDIS_REPLY_STRING ||
                !same_newer(&ran->step, reply->element[i]))
                return false;
        } else if (reply->element[i]->type != REDIS_REPLY_INTEGER) {
            return false;
        } else {
            theirs[n++] = reply->element[i]->integer;
        }
    }
    if (n == count && memcmp(fields, theirs, (size_t)n * sizeof *fields) == 0)
        return true;
    print_fields("# ours   ", fields, count);
    print_fields("# theirs ", theirs, n);
    return false;
}

static void check(const outcome *ran)
{
    static agree_answer theirs;
    int64_t expires_at_ms = ran->after[0] ? takt_ceil_div(ran->expires_at_us, 1000) : -2;

    step_number++;
    agree_server_answer(&theirs);
    if (!same_reply(ran, theirs.reply))
        differ(ran, &theirs, "the answers differ");
    if (strcmp(theirs.text, ran->after) != 0)
        differ(ran, &theirs, "the ledgers differ");
    if (theirs.expires_at_ms != expires_at_ms)
        differ(ran, &theirs, "the ledger expires at another time");
    agree_answer_free(&theirs);
    steps_agreed++;
}

/* One world's calls, some at once: no call depends on an answer. */
static void run_world(uint64_t seed)
{
    static agree_world world;
    static outcome outcomes[AT_ONCE];

    run_seed = seed;
    step_number = 0;
    agree_world_draw(&world, seed);
    agree_server_clear();
    forget_pages();
    ours.size = 0;
    ours.text[0] = '\0';
    for (int done = 0; done < RUN_STEPS; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            if (world.damages && takt_random_below(&world.random, 5) == 0)
                damage(&world);
            agree_step_draw(&world, &outcomes[i].step);
            run_ours(&outcomes[i]);
            agree_server_send(&outcomes[i].step);
        }
        for (int i = 0; i < AT_ONCE; i++)
            check(&outcomes[i]);
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
    printf("1..1\n# agree --seed %" PRIu64 " --steps %" PRId64 "\n", seed, steps);
    if (!agree_server_start()) {
        printf("ok 1 - agree # SKIP there is no redis-server\n");
        return 0;
    }
    for (int64_t done = 0; done < steps; done += RUN_STEPS)
        run_world(seed++);
    takt_memory_pages_close(&ours.pages);
    takt_record_scratch_free(&ours.scratch);
    printf("ok 1 - agree: %" PRId64 " steps\n", steps_agreed);
    return 0;
}
