/*
 * batch.c: see batch.h.
 */
#include "store/redis/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/redis/redis.h"

#define HEAD          3 /* EVALSHA, the script's name, the number of keys */
#define ARGUMENTS     (1 + TAKT_INNER_MAX)
#define KEYS_MAX      (TAKT_BATCH_MAX * TAKT_SCRIPT_CALL_NAMES)
#define ARGUMENTS_MAX (TAKT_BATCH_MAX * ARGUMENTS)
#define TRIES_MAX     3  /* to load the script */
#define UNDER_WAY_MAX 8  /* batches: the last one is answered within the time-out */
#define APART_MS      20 /* between full ones: what a server takes for one */
#define WORDS_MAX     (HEAD + KEYS_MAX + 1 + ARGUMENTS_MAX)
#define REPLY_MAX                                                                                  \
    (1 + TAKT_AWARD_HEAD + TAKT_PERMITS_VALUES + TAKT_AWARD_RUN * TAKT_RUNS_MAX + TAKT_AWARD_TAG)

_Static_assert(1 + TAKT_CLAIMS_VALUES_MAX + REPLY_MAX <= TAKT_RESP_NODES_MAX, "replies fit");

/* Words, one behind the other. */
struct words {
    takt_resp_out text;
    size_t sizes[KEYS_MAX];
    int count;
};

/* A command while it is written: keys, the numbers of each claim's keys and arguments, arguments.
 */
struct writing {
    struct words keys, arguments;
    char counts[TAKT_BATCH_MAX * sizeof "99,9 "];
    size_t counts_size;
};

/* ---- the command ----------------------------------------------------------------------------- */

static bool add(struct words *words, const takt_script_call *call, int from, int until)
{
    for (int i = from; i < until; i++) {
        if (!takt_resp_put(&words->text, call->arguments[i], call->sizes[i]))
            return false;
        words->sizes[words->count++] = call->sizes[i];
    }
    return true;
}

/* Adds the keys and arguments that the claim would have in a command of its own. */
static bool add_claim(struct writing *writing, takt_redis_job *job)
{
    const takt_script_call *call = &job->store->script_call;
    int arguments = 1 + job->call->inner_count, keys;

    if (!takt_redis_job_write(job))
        return false;
    keys = call->count - HEAD - arguments;
    writing->counts_size += (size_t)snprintf(
        writing->counts + writing->counts_size, sizeof writing->counts - writing->counts_size,
        "%s%d,%d", writing->counts_size > 0 ? " " : "", keys, arguments);
    return add(&writing->keys, call, HEAD, HEAD + keys) &&
           add(&writing->arguments, call, HEAD + keys, call->count);
}

static int list(const struct words *words, const char **arguments, size_t *sizes)
{
    const char *at = words->text.bytes;

    for (int i = 0; i < words->count; i++) {
        arguments[i] = at;
        sizes[i] = words->sizes[i];
        at += sizes[i];
    }
    return words->count;
}

static bool send_command(takt_redis_job *first, const struct writing *writing)
{
    const takt_script *script = &takt_scripts[TAKT_SCRIPT_CLAIMS];
    const char *arguments[WORDS_MAX] = {"EVALSHA", script->sha1};
    size_t sizes[WORDS_MAX] = {strlen("EVALSHA"), sizeof script->sha1 - 1};
    char key_count[12];
    int count = HEAD;

    arguments[2] = key_count;
    sizes[2] = (size_t)snprintf(key_count, sizeof key_count, "%d", writing->keys.count);
    count += list(&writing->keys, arguments + count, sizes + count);
    arguments[count] = writing->counts;
    sizes[count++] = writing->counts_size;
    count += list(&writing->arguments, arguments + count, sizes + count);
    return takt_redis_connection_send(first->node->connection, &first->command, count, arguments,
                                      sizes);
}

static void on_timer(uv_timer_t *timer);

/* In how many milliseconds the gathered claims go; -1: not before an answer. */
static int64_t due_in_ms(const takt_redis_store *store)
{
    const takt_redis_batch *batch = &store->batch;
    int64_t passed_ms = (int64_t)(uv_now(store->loop) - batch->sent_ms);
    int count = 0;

    for (const takt_link *at = batch->gathered.next; at != &batch->gathered; at = at->next)
        if (++count == TAKT_BATCH_MAX)
            break;
    if (count > 0 && batch->under_way == 0)
        return 0;
    if (count < TAKT_BATCH_MAX || batch->under_way == UNDER_WAY_MAX)
        return -1;
    return passed_ms < APART_MS ? APART_MS - passed_ms : 0;
}

static void send_soon(takt_redis_store *store)
{
    int64_t due_ms = due_in_ms(store);

    if (due_ms >= 0)
        uv_timer_start(&store->batch.timer, on_timer, (uint64_t)due_ms, 0);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static takt_redis_job *next_job(takt_link *jobs)
{
    takt_redis_job *job = TAKT_HOLDER(jobs->next, takt_redis_job, pause.link);

    if (takt_list_empty(jobs))
        return NULL;
    takt_list_remove(&job->pause.link);
    return job;
}

static void send_alone(takt_link *jobs)
{
    takt_redis_job *job;

    while ((job = next_job(jobs)) != NULL) {
        job->sent = false;
        takt_redis_job_begin(job);
    }
}

static void begin(takt_redis_job *job)
{
    job->sent = false;
    if (!takt_redis_batch_take(job))
        takt_redis_job_begin(job);
}

/* Nothing was run, and the claims are sent again: by a server without the script, which is loaded
 * before, or alone, because the user has no permission for a key of one of them. */
static bool sends_again(takt_redis_job *first, takt_link *jobs, const takt_reply *reply)
{
    takt_redis_load *load = &first->node->loads[TAKT_SCRIPT_CLAIMS];
    takt_redis_trouble trouble;
    takt_redis_job *job;

    if (reply->type != TAKT_REPLY_ERROR)
        return false;
    takt_redis_judge(&trouble, reply->text, reply->size);
    if (trouble.names) {
        send_alone(jobs);
        return true;
    }
    if (trouble.reaction != TAKT_REDIS_LOAD_SCRIPT)
        return false;
    if (load->refused == 0 && (first->store->url.preloaded || first->tries > TRIES_MAX ||
                               !takt_redis_load_script(first->node, TAKT_SCRIPT_CLAIMS)))
        load->refused = trouble.code; /* on this connection claims are sent alone */
    while ((job = next_job(jobs)) != NULL)
        begin(job);
    return true;
}

static void fail_all(takt_link *jobs, int code)
{
    takt_redis_job *job;

    while ((job = next_job(jobs)) != NULL)
        takt_redis_job_finish(job, code);
}

/* Gives each job its own reply; `count` of them stand behind each other.  A job without a reply was
 * not run.  A reply that no script gives ends the connection, and with it the rest. */
static void share_out(takt_link *jobs, const takt_reply *reply, int count)
{
    takt_redis_job *job;

    for (; count > 0 && (job = next_job(jobs)) != NULL; count--) {
        takt_redis_node *node = job->node;
        const takt_reply *own = reply;
        if (count > 1)
            reply = takt_reply_after(own);
        takt_redis_job_answer(job, own);
        if (!takt_redis_node_ready(node))
            fail_all(jobs, TAKT_E_STORE);
    }
    while ((job = next_job(jobs)) != NULL)
        begin(job);
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    static const takt_reply nothing = {.type = TAKT_REPLY_NIL}; /* as no script answers */
    takt_redis_job *first = (takt_redis_job *)command, *job;
    takt_link jobs;

    takt_list_init(&jobs);
    takt_list_move(&jobs, &first->batched);
    first->store->batch.under_way--;
    send_soon(first->store);
    if (reply == NULL) {
        fail_all(&jobs, code);
    } else if (sends_again(first, &jobs, reply)) {
        return;
    } else if (reply->type == TAKT_REPLY_ARRAY && reply->count > 0) {
        share_out(&jobs, reply + 1, reply->count);
    } else {
        takt_redis_node *node = first->node;
        const takt_reply *refusal = reply->type == TAKT_REPLY_ERROR ? reply : &nothing;
        while (takt_redis_node_ready(node) && (job = next_job(&jobs)) != NULL)
            takt_redis_job_answer(job, refusal);
        fail_all(&jobs, TAKT_E_STORE);
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

static bool is_ready(const takt_redis_job *job, const takt_redis_node *node)
{
    return job->node == node && takt_redis_node_ready(node);
}

/* Its time-out counts from now: before, the server had others to answer. */
static void note_sent(takt_redis_job *job)
{
    takt_redis_store *store = job->store;

    job->sent = true;
    job->due_ns = takt_timeout_due(&store->timeout, uv_hrtime());
    takt_list_remove(&job->order);
    takt_list_append(&store->jobs, &job->order);
}

/* Sends up to TAKT_BATCH_MAX of the gathered jobs. */
static void send_some(takt_redis_store *store)
{
    takt_link *gathered = &store->batch.gathered, jobs;
    takt_redis_job *first = NULL, *job;
    struct writing writing = {.counts_size = 0};
    int count = 0;
    bool whole = true;

    takt_list_init(&jobs);
    while (whole && count < TAKT_BATCH_MAX && (job = next_job(gathered)) != NULL) {
        first = first != NULL ? first : job;
        takt_list_append(&jobs, &job->pause.link);
        whole = is_ready(job, first->node) && add_claim(&writing, job);
        count++;
    }
    if (whole) {
        first->command.answered = on_answered;
        whole = send_command(first, &writing);
    }
    if (!whole) {
        send_alone(&jobs);
    } else {
        store->batch.under_way++;
        store->batch.sent_ms = first->node->used_ms = uv_now(store->loop);
        for (takt_link *at = jobs.next; at != &jobs; at = at->next)
            note_sent(TAKT_HOLDER(at, takt_redis_job, pause.link));
        takt_list_init(&first->batched);
        takt_list_move(&first->batched, &jobs);
    }
    free(writing.keys.text.bytes);
    free(writing.arguments.text.bytes);
}

static void on_timer(uv_timer_t *timer)
{
    takt_redis_store *store = timer->data;

    while (due_in_ms(store) == 0)
        send_some(store);
    send_soon(store);
}

bool takt_redis_batch_take(takt_redis_job *job)
{
    takt_redis_store *store = job->store;
    const takt_redis_node *node = job->node;

    if (job->call->op != TAKT_OP_CLAIM || job->call->inner_count == 0 || node == NULL ||
        node->durable != NULL || node->loads[TAKT_SCRIPT_CLAIMS].refused != 0 ||
        store->cluster.splits.count > 0 || !is_ready(job, node))
        return false;
    takt_list_append(&store->batch.gathered, &job->pause.link);
    send_soon(store);
    return true;
}

void takt_redis_batch_open(takt_redis_store *store)
{
    takt_list_init(&store->batch.gathered);
    uv_timer_init(store->loop, &store->batch.timer);
    store->batch.timer.data = store;
}

void takt_redis_batch_close(takt_redis_store *store, uv_close_cb closed)
{
    uv_close((uv_handle_t *)&store->batch.timer, closed);
}
