/*
 * call.c: one call of a Redis store, from its first EVALSHA to its answer.
 *
 * A server without the script answers NOSCRIPT and does nothing: the script is loaded and the call
 * is sent again, after it in the pipeline. A node of a cluster that does not have the ledger has
 * done nothing either: the call goes where the node says, or pauses. A call is never repeated for
 * another reason. If the connection is lost, the script may have run or not, so the call fails; the
 * caller's next claim states again what is wanted.
 */
#include "store/redis/redis.h"

#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "store/record.h"
#include "store/redis/award_reply.h"
#include "store/redis/policy_reply.h"
#include "store/redis/protocol.h"

#define TRIES_MAX 32 /* a limit, in case scripts are flushed all the time */
#define TURNS_MAX 5  /* redirections without a pause */

void takt_redis_set_trouble(takt_redis_store *store, const takt_redis_node *node, const char *text,
                            const char *word)
{
    char address[TAKT_REDIS_ADDRESS_SIZE];
    takt_error made;

    takt_redis_url_address(node != NULL && node->connection != NULL
                               ? takt_redis_connection_server(node->connection)
                               : &store->url,
                           address);
    takt_fail(&made, TAKT_E_STORE, "%s: %s%s%s%s", address, text, word[0] ? " (" : "", word,
              word[0] ? ")" : "");
    memcpy(store->text, made.text, sizeof store->text);
    store->store.trouble = store->text;
}

void takt_redis_job_finish(takt_redis_job *job, int status)
{
    takt_store_call *call = job->call;
    takt_redis_store *store = job->store;

    takt_list_remove(&job->order);
    takt_list_remove(&job->pause.link);
    takt_list_append(&store->idle, &job->pause.link);
    if (takt_list_empty(&store->jobs) && takt_list_empty(&store->failed))
        uv_unref((uv_handle_t *)&store->timer); /* the timer may fire once more for nothing */
    if (status == 0 || status == TAKT_E_NO_SLOT)
        store->store.trouble = NULL;
    call->status = status;
    call->done(call);
}

/* A call that gives tokens or permits. */
static bool is_award(const takt_store_call *call)
{
    return call->op == TAKT_OP_CLAIM || call->op == TAKT_OP_TRY;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static void on_loaded(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis_load *load = (takt_redis_load *)command;
    takt_redis_trouble trouble;

    (void)code;
    load->under_way = false;
    if (reply == NULL || reply->type != TAKT_REPLY_ERROR)
        return;
    takt_redis_judge(&trouble, reply->text, reply->size);
    load->refused = trouble.code;
    load->refused_text = trouble.text;
}

/* Loads the script, unless that is under way. False: no memory. */
static bool load_script(takt_redis_node *node, takt_op op)
{
    takt_redis_load *load = &node->loads[op];
    const char *arguments[] = {"SCRIPT", "LOAD", takt_scripts[op].source};
    size_t sizes[] = {6, 4, takt_scripts[op].size};

    if (load->under_way)
        return true;
    load->command.answered = on_loaded;
    load->under_way =
        takt_redis_connection_send(node->connection, &load->command, 3, arguments, sizes);
    return load->under_way;
}

/* The server does not have the script. */
static void send_again(takt_redis_job *job, const takt_redis_trouble *trouble)
{
    takt_redis_store *store = job->store;
    takt_redis_load *load = &job->node->loads[job->call->op];

    if (store->url.preloaded || load->refused != 0 || job->tries >= TRIES_MAX) {
        bool refused = !store->url.preloaded && load->refused != 0;
        takt_redis_set_trouble(store, job->node, refused ? load->refused_text : trouble->text,
                               trouble->word);
        takt_redis_job_finish(job, refused ? load->refused : trouble->code);
        return;
    }
    if (!load_script(job->node, job->call->op)) {
        takt_redis_job_finish(job, TAKT_E_NOMEM);
        return;
    }
    takt_redis_job_send(job);
}

/* ---- hints ----------------------------------------------------------------------------------- */

static bool is_news(const takt_store_call *call)
{
    return takt_store_is_news(call) || (call->op == TAKT_OP_APPLY && call->status == 0);
}

/* Publishes a hint to the ledger's listeners; to the policy's if the limit has no name. The call is
 * answered only after the hint was sent, so that a program may close the store right after it. */
static bool publish(takt_redis_job *job, takt_redis_step step)
{
    takt_redis_store *store = job->store;
    char name[TAKT_REDIS_KEY_SIZE];
    size_t size =
        takt_redis_key(name, store->name_space, job->call->limit->name, job->call->key, "");
    const char *word = step == TAKT_REDIS_SPUBLISH ? "SPUBLISH" : "PUBLISH";
    char sign[TAKT_REDIS_SIGN_SIZE];
    const char *arguments[] = {word, name, sign};

    takt_redis_sign(store, sign);
    size_t sizes[] = {strlen(word), size, strlen(sign)};
    job->step = step;
    return takt_redis_connection_send(job->node->connection, &job->command, 3, arguments, sizes);
}

void takt_redis_job_conclude(takt_redis_job *job)
{
    if (!is_news(job->call) || !publish(job, TAKT_REDIS_SPUBLISH))
        takt_redis_job_finish(job, job->call->status);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void tell_damage(takt_redis_store *store, const takt_store_call *call)
{
    char limit[TAKT_QUOTE_SIZE], key[TAKT_QUOTE_SIZE];
    takt_error made;

    if (store->options.on_event == NULL)
        return;
    takt_fail(&made, TAKT_E_STORE,
              "the ledger of the limit %s and the key %s could not be read: it was begun anew, "
              "blocked for a period",
              takt_quote(call->limit->name, limit), takt_quote(call->key, key));
    store->options.on_event(
        store->options.data,
        &(takt_event){TAKT_EVENT_LEDGER_DAMAGED, TAKT_E_STORE, made.text, NULL, NULL});
}

static bool is_zone_wish(const takt_reply *reply)
{
    return reply->type == TAKT_REPLY_ARRAY && reply->count == 2 &&
           reply[1].type == TAKT_REPLY_INTEGER && reply[1].integer == TAKT_FLAG_ZONE &&
           reply[2].type == TAKT_REPLY_STRING;
}

/* The number of keys that the script asks for, having done nothing: the ledger's numbers are newer
 * than ours and have permits, or one key is not enough. 0: the reply asks for no keys. */
static int keys_wished(const takt_reply *reply)
{
    if (reply->type != TAKT_REPLY_ARRAY || reply->count != 1 || reply[1].type != TAKT_REPLY_INTEGER)
        return 0;
    return reply[1].integer == TAKT_FLAG_PERMITS ? TAKT_SCRIPT_CALL_WITH_PERMITS
           : reply[1].integer == TAKT_FLAG_KEYS  ? TAKT_SCRIPT_CALL_WHOLE
                                                 : 0;
}

/* The ledger's text names a timezone that our limit does not name, and the script has done nothing:
 * sends the call again with that zone. */
static void send_with_zone(takt_redis_job *job, const takt_reply *name)
{
    if (job->tries < TRIES_MAX &&
        takt_zone_list_add(&job->store->script_call.zones, name->text, name->size)) {
        takt_redis_job_send(job);
        return;
    }
    takt_redis_set_trouble(job->store, job->node,
                           "a ledger there goes by the clocks of a timezone that this host does "
                           "not know: bring its tzdata up to date",
                           "");
    takt_redis_job_finish(job, TAKT_E_STORE);
}

/* The script has run. */
static void on_result(takt_redis_job *job, const takt_reply *reply)
{
    takt_redis_store *store = job->store;
    takt_store_call *call = job->call;
    bool damaged = false;

    if (is_zone_wish(reply)) {
        send_with_zone(job, reply + 2);
        return;
    }
    if (!call->exchange && keys_wished(reply) > job->keys) {
        job->keys = keys_wished(reply);
        takt_redis_job_send(job);
        return;
    }
    if (call->exchange ? !takt_policy_reply(call, reply)
                       : !takt_award_reply(call, reply, &damaged)) {
        static const char text[] = "it answered with something that no script of takt answers";
        takt_redis_set_trouble(store, job->node, text, "");
        takt_redis_node *node = job->node;
        takt_redis_job_finish(job, TAKT_E_STORE);
        takt_redis_connection_leave(node->connection, true, TAKT_E_STORE, text);
        return;
    }
    if (damaged)
        tell_damage(store, call);
    if (call->op == TAKT_OP_CLAIM || call->op == TAKT_OP_POLICY)
        takt_redis_listen(store, call);
    if (job->node->durable != NULL && is_award(call))
        job->step = TAKT_REDIS_ACKNOWLEDGE; /* the WAIT behind it is answered next */
    else
        takt_redis_job_conclude(job);
}

/* ---- other nodes ----------------------------------------------------------------------------- */

static void set_node(takt_redis_job *job, takt_redis_node *node)
{
    job->node = node;
    job->call->server =
        node != NULL ? node->number : takt_redis_cluster_nowhere(&job->store->cluster);
}

void takt_redis_job_aim(takt_redis_job *job)
{
    job->ask = false;
    job->turns = 0;
    set_node(job, takt_redis_node_of(job->store, job->call->limit->name, job->call->key));
}

static void pause_job(takt_redis_job *job, int code)
{
    job->code = code;
    job->sent = false;
    takt_redis_cluster_pause(&job->store->cluster, &job->pause);
}

void takt_redis_job_go(takt_redis_job *job)
{
    takt_redis_node *node = job->node;

    if (node == NULL) {
        takt_redis_set_trouble(job->store, NULL, "no node of the cluster has the ledger", "");
        pause_job(job, TAKT_E_STORE);
        return;
    }
    takt_list_remove(&job->pause.link);
    if (takt_redis_node_ready(node) && takt_list_empty(&node->waiting))
        takt_redis_job_send(job);
    else
        takt_list_append(&node->waiting, &job->pause.link);
}

/* Follows MOVED and ASK. False: it is neither. */
static bool follow(takt_redis_job *job, const takt_reply *reply)
{
    takt_redis_redirection redirection;
    takt_redis_node *node;

    if (!takt_redis_redirection_read(&redirection, reply->text, reply->size, &job->node->address))
        return false;
    node = takt_redis_cluster_redirect(&job->store->cluster, &redirection);
    if (node == NULL) {
        takt_redis_job_finish(job, TAKT_E_NOMEM);
        return true;
    }
    job->sent = false;
    job->ask = redirection.ask;
    set_node(job, node);
    if (++job->turns <= TURNS_MAX) {
        takt_redis_job_go(job);
        return true;
    }
    takt_redis_set_trouble(job->store, node, "the nodes of the cluster name each other for a slot",
                           "");
    pause_job(job, TAKT_E_STORE);
    return true;
}

/* The server has answered with an error. */
static void on_error(takt_redis_job *job, const takt_reply *reply)
{
    takt_redis_store *store = job->store;
    takt_redis_node *node = job->node;
    takt_redis_trouble trouble;

    if (store->url.cluster && follow(job, reply))
        return;
    takt_redis_judge(&trouble, reply->text, reply->size);
    if (store->url.cluster && takt_redis_passes(&trouble, store->cluster.found)) {
        takt_redis_set_trouble(store, node, trouble.text, trouble.word);
        pause_job(job, trouble.code);
        return;
    }
    if (trouble.reaction == TAKT_REDIS_LOAD_SCRIPT) {
        send_again(job, &trouble);
        return;
    }
    takt_redis_set_trouble(store, node, trouble.text, trouble.word);
    takt_redis_job_finish(job, trouble.code);
    if (trouble.reaction == TAKT_REDIS_RECONNECT)
        takt_redis_connection_leave(node->connection, false, trouble.code, trouble.text);
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis_job *job = (takt_redis_job *)command;
    bool refused = reply != NULL && reply->type == TAKT_REPLY_ERROR;

    if (job->step == TAKT_REDIS_RUN) {
        if (reply == NULL)
            takt_redis_job_finish(job, code);
        else if (refused)
            on_error(job, reply);
        else
            on_result(job, reply);
        return;
    }
    /* the call itself was done before its hint, so a failed hint does not matter */
    if (!refused || job->step == TAKT_REDIS_PUBLISH || !publish(job, TAKT_REDIS_PUBLISH))
        takt_redis_job_finish(job, 0);
}

static void on_asked(takt_redis_command *command, const takt_reply *reply, int code)
{
    /* the script's own answer tells */
    (void)command;
    (void)reply;
    (void)code;
}

/* Makes a node serve the next command, although its slot is still on its way. */
static bool say_asking(takt_redis_job *job)
{
    static const char *const word[] = {"ASKING"};
    static const size_t size[] = {6};

    job->asking.answered = on_asked;
    return takt_redis_connection_send(job->node->connection, &job->asking, 1, word, size);
}

void takt_redis_job_send(takt_redis_job *job)
{
    takt_redis_store *store = job->store;
    takt_script_call *script_call = &store->script_call;
    takt_durable *durable = is_award(job->call) ? job->node->durable : NULL;

    takt_list_remove(&job->pause.link);
    job->node->used_ms = uv_now(store->loop);
    job->sent = true;
    if (durable != NULL && takt_durable_holds_back(durable, job))
        return;
    job->command.answered = on_answered;
    job->step = TAKT_REDIS_RUN;
    job->tries++;
    script_call->about_us = takt_record_clock_us();
    script_call->keys = job->keys;
    if (!takt_script_call_write(script_call, store->name_space, job->call)) {
        takt_redis_job_finish(job, TAKT_E_INVALID);
        return;
    }
    job->keys = script_call->keys;
    if ((job->ask && !say_asking(job)) ||
        !takt_redis_connection_send(job->node->connection, &job->command, script_call->count,
                                    script_call->arguments, script_call->sizes))
        takt_redis_job_finish(job, TAKT_E_NOMEM);
    else if (durable != NULL && !takt_durable_follow(durable, job))
        takt_redis_connection_leave(job->node->connection, true, TAKT_E_NOMEM,
                                    "no memory to wait for its replicas");
}
