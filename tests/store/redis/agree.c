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
#include "store/record.h"
#include "store/redis/award_reply.h"

#define STEPS      100000
#define RUN_STEPS  250 /* then another world is drawn */
#define AT_ONCE    50  /* calls in the pipeline */
#define REPLY_MAX  (11 + 7 * TAKT_RUNS_MAX)
#define FIELDS_MAX (2 + REPLY_MAX)

static uint64_t run_seed;   /* of the world that is run */
static int64_t step_number; /* in it */
static int64_t steps_agreed;

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

static void run_ours(agree_outcome *ran)
{
    takt_record_change change;

    memcpy(ran->before, ours.text, ours.size + 1);
    ran->expired_at_us = ours.expires_at_us;
    ours.scratch.pages = &ours.pages.pages;
    takt_record_run(&ours.scratch, ours.size > 0 ? ours.text : NULL, ours.size, ran->step.now_us,
                    &ran->step.call, &change);
    if (change.what == TAKT_RECORD_DROP)
        ours.size = 0;
    if (change.what == TAKT_RECORD_PUT) {
        memcpy(ours.text, change.text, change.size);
        ours.size = change.size;
    }
    /* scripts write a ledger with a line anew in any case, which tells where its text was touched
     */
    if (change.what == TAKT_RECORD_PUT || (change.expires_at_us > 0 && strstr(ours.text, ";w")))
        ours.expires_at_us = change.expires_at_us;
    ours.text[ours.size] = '\0';
    takt_memory_pages_settle(&ours.pages, change.what != TAKT_RECORD_KEEP);
    if (change.what == TAKT_RECORD_DROP)
        forget_pages();
    memcpy(ran->after, ours.text, ours.size + 1);
    ran->expires_at_us = ours.expires_at_us;
    ran->damaged = change.damaged;
}

/* Something is put behind the first part of the text, of that size. */
static void put_in(int64_t size, const char *more)
{
    size_t more_size = strlen(more);

    memmove(ours.text + size + more_size, ours.text + size, ours.size - (size_t)size + 1);
    memcpy(ours.text + size, more, more_size);
    ours.size += more_size;
}

/* Changes a byte of what the text says before it comes to the line, or puts something behind that.
 * In the line the two sides may find a fault at different times; so they may where the text tells
 * of a page or a timezone that is not there.  True: it did. */
static bool change_text(agree_world *world)
{
    static const char bytes[] = "0123456789;,/*+ grtbfs~!^xx";
    static const char *const tails[] = {"+", "+0", "+1", "+1000000000", "0", ";", ",1", "~"};
    const char *line = strstr(ours.text, ";t"), *places;
    int64_t size = line ? line - ours.text : (int64_t)ours.size;

    if (size == 0 || memchr(ours.text, '@', (size_t)size) || memchr(ours.text, 'l', (size_t)size))
        return false;
    if (takt_random_below(&world->random, 3) == 0)
        put_in(size, tails[takt_random_below(&world->random, sizeof tails / sizeof *tails)]);
    else
        ours.text[takt_random_below(&world->random, size)] =
            bytes[takt_random_below(&world->random, sizeof bytes - 1)];
    places = strstr(ours.text, ";w");
    agree_server_put(ours.text, places ? (size_t)(places - ours.text) : ours.size,
                     takt_ceil_div(ours.expires_at_us, 1000));
    return true;
}

/* The places are gone, as if these keys alone had been evicted. */
static bool lose_line(const char *places)
{
    if (places == NULL)
        return false;
    ours.size = (size_t)(places - ours.text);
    ours.text[ours.size] = '\0';
    agree_server_lose_line();
    return true;
}

/* Now and then somebody else writes to the ledger's keys.  True: now. */
static bool damage(agree_world *world)
{
    const char *places = strstr(ours.text, ";w");

    if (!world->damages || takt_random_below(&world->random, 5) > 0)
        return false;
    if (takt_random_below(&world->random, 3) == 0)
        return lose_line(places);
    return change_text(world);
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

static void differ(const agree_outcome *ran, const agree_answer *theirs, const char *what)
{
    print_call(&ran->step);
    printf("# touched %d\n", ran->touched);
    printf("# before  %s\n# ours    %s\n# theirs  %s\n", ran->before, ran->after, theirs->text);
    if (theirs->reply->type == REDIS_REPLY_ERROR)
        printf("# error   %s\n", theirs->reply->str);
    agree_fail(what);
}

void agree_fail(const char *what)
{
    printf("# step %" PRId64 " of agree --seed %" PRIu64 " --steps %d\nnot ok 1 - %s\n",
           step_number, run_seed, RUN_STEPS, what);
    exit(1);
}

static int award_fields(const takt_award *award, int64_t *fields)
{
    int n = 0;

    fields[n++] = award->stale;
    fields[n++] = award->outdated;
    fields[n++] = award->now_us;
    fields[n++] = award->claim_again_at_us;
    fields[n++] = award->next_slot_at_us;
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

static int standing_fields(const takt_standing *standing, int64_t *fields)
{
    int n = 0;

    fields[n++] = standing->now_us;
    fields[n++] = standing->limit;
    fields[n++] = standing->remaining;
    fields[n++] = standing->retry_after_us;
    fields[n++] = standing->reset_after_us;
    fields[n++] = standing->blocked_until_us;
    fields[n++] = standing->waiting;
    fields[n++] = standing->workers;
    return n;
}

/* What an answer says, as numbers. */
static int answer_fields(const takt_store_call *call, bool damaged, int64_t *fields)
{
    fields[0] = damaged;
    fields[1] = call->status;
    return 2 + (call->op == TAKT_OP_CLAIM ? award_fields(call->award, fields + 2)
                                          : standing_fields(&call->standing, fields + 2));
}

static bool same_newer(const takt_limit *a, const takt_limit *b)
{
    return takt_limit_same(a, b) && a->revision == b->revision &&
           a->lookahead_us == b->lookahead_us && a->max_waiting == b->max_waiting;
}

/* The server's answer, read as the library reads it. */
static bool read_answer(const redisReply *reply, takt_store_call *call, bool *damaged)
{
    takt_reply values[1 + REPLY_MAX] = {{.type = TAKT_REPLY_ARRAY, .count = (int)reply->elements}};

    if (reply->type != REDIS_REPLY_ARRAY || reply->elements > REPLY_MAX)
        return false;
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *value = reply->element[i];
        if (value->type == REDIS_REPLY_INTEGER)
            values[1 + i] = (takt_reply){.type = TAKT_REPLY_INTEGER, .integer = value->integer};
        else if (value->type == REDIS_REPLY_STRING)
            values[1 + i] =
                (takt_reply){.type = TAKT_REPLY_STRING, .text = value->str, .size = value->len};
        else
            return false;
    }
    return takt_award_reply(call, values, damaged);
}

static bool same_reply(const agree_outcome *ran, const redisReply *reply)
{
    int64_t fields[FIELDS_MAX] = {0}, theirs[FIELDS_MAX] = {0};
    int count = answer_fields(&ran->step.call, ran->damaged, fields), n;
    takt_store_call call = ran->step.call;
    takt_award award;
    bool damaged;

    call.award = &award;
    if (!read_answer(reply, &call, &damaged))
        return false;
    n = answer_fields(&call, damaged, theirs);
    if (n != count || memcmp(fields, theirs, (size_t)n * sizeof *fields) != 0) {
        print_fields("# ours   ", fields, count);
        print_fields("# theirs ", theirs, n);
        return false;
    }
    return call.op != TAKT_OP_CLAIM || !award.outdated ||
           same_newer(&ran->step.award.newer, &award.newer);
}

static void check(const agree_outcome *ran)
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
    static agree_outcome outcomes[AT_ONCE];

    run_seed = seed;
    step_number = 0;
    agree_world_draw(&world, seed);
    agree_server_clear();
    forget_pages();
    ours.size = 0;
    ours.text[0] = '\0';
    for (int done = 0; done < RUN_STEPS; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            int64_t before_us = world.now_us;
            outcomes[i].touched = damage(&world);
            agree_step_draw(&world, &outcomes[i].step);
            outcomes[i].later_us = world.now_us - before_us;
            run_ours(&outcomes[i]);
            agree_kinds_count(&outcomes[i]);
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
    bool all;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--steps") == 0)
            steps = strtoll(argv[i + 1], NULL, 10);
    }
    printf("# agree --seed %" PRIu64 " --steps %" PRId64 "\n", seed, steps);
    if (!agree_server_start()) {
        printf("1..0 # SKIP there is no redis-server\n");
        return 0;
    }
    printf("1..2\n");
    for (int64_t done = 0; done < steps; done += RUN_STEPS)
        run_world(seed++);
    takt_memory_pages_close(&ours.pages);
    takt_record_scratch_free(&ours.scratch);
    printf("ok 1 - %" PRId64 " steps agree\n", steps_agreed);
    all = agree_kinds_print();
    if (steps < STEPS)
        printf("ok 2 - every kind of step came # SKIP there are fewer than %d\n", STEPS);
    else
        printf("%sok 2 - every kind of step came\n", all ? "" : "not ");
    return steps < STEPS || all ? 0 : 1;
}
