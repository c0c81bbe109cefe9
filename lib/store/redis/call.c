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

#define TRIES_MAX        32 /* a limit, in case scripts are flushed all the time */
#define REDIRECTIONS_MAX 5  /* without a pause */

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
    else if (status == TAKT_E_STORE || status == TAKT_E_STORE_TIMEOUT)
        takt_redis_cluster_doubt(&store->cluster); /* its node may have lost its ledgers */
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

bool takt_redis_load_script(takt_redis_node *node, int script)
{
    takt_redis_load *load = &node->loads[script];
    const char *arguments[] = {"SCRIPT", "LOAD", takt_scripts[script].source};
    size_t sizes[] = {6, 4, takt_scripts[script].size};

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
    if (!takt_redis_load_script(job->node, (int)job->call->op)) {
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

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code);

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
    job->command.answered = on_answered;
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
              "the ledger of the limit %s and the key %s was unreadable: a new one began, "
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

/* The keys that the script asks for, having done nothing. 0: the reply asks for no keys. */
static int keys_wished(const takt_reply *reply)
{
    static const int all = TAKT_KEYS_TEXT | TAKT_KEYS_LINE | TAKT_KEYS_HELD | TAKT_KEYS_LOG;
    bool wish = reply->type == TAKT_REPLY_ARRAY && reply->count == 2 &&
                reply[1].type == TAKT_REPLY_INTEGER && reply[1].integer == TAKT_FLAG_KEYS &&
                reply[2].type == TAKT_REPLY_INTEGER && reply[2].integer > 0 &&
                reply[2].integer <= all;

    return wish ? (int)reply[2].integer : 0;
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
                           "a ledger there uses a timezone that this host does "
                           "not know: update its tzdata",
                           "");
    takt_redis_job_finish(job, TAKT_E_STORE);
}

static int slot_of(const takt_redis_job *job)
{
    char name[TAKT_REDIS_KEY_SIZE];
    const takt_store_call *call = job->call;

    return takt_redis_slot(name, takt_redis_key(name, job->store->name_space, call->limit->name,
                                                call->key, call->exchange ? ":policy" : ""));
}

/* The job pauses because its slot is split. The workers of nested work are its subjects, of which a
 * process has many. */
static void pause_split(takt_redis_job *job)
{
    const takt_claim *claim = job->call->inner_count == 0 ? job->call->claim : NULL;

    job->code = TAKT_E_STORE;
    job->sent = false;
    takt_redis_cluster_pause_split(&job->store->cluster, &job->pause, slot_of(job),
                                   claim ? claim->workers : 0);
}

/* The script asks for keys. If they were on two nodes at the last call, the job pauses first. */
static void send_with_keys(takt_redis_job *job, int keys)
{
    bool was_split = job->split != 0 && (keys & ~job->split) == 0;

    job->keys = keys;
    job->split = 0;
    if (was_split)
        pause_split(job);
    else
        takt_redis_job_send(job);
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
    if (!call->exchange && (keys_wished(reply) & ~job->keys) != 0) {
        send_with_keys(job, job->keys | keys_wished(reply));
        return;
    }
    if (call->exchange ? !takt_policy_reply(call, reply)
                       : !takt_award_reply(call, reply, &damaged)) {
        static const char text[] = "it sent an answer that no script of takt gives";
        takt_redis_set_trouble(store, job->node, text, "");
        takt_redis_node *node = job->node;
        takt_redis_job_finish(job, TAKT_E_STORE);
        takt_redis_connection_leave(node->connection, true, TAKT_E_STORE, text);
        return;
    }
    if (store->cluster.splits.count > 0)
        takt_redis_cluster_whole(&store->cluster, slot_of(job));
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
    job->redirections = 0;
    set_node(job, takt_redis_node_of(job->store, job->call->limit->name, job->call->key));
}

static void pause_job(takt_redis_job *job, int code)
{
    job->code = code;
    job->sent = job->ask = false;
    takt_redis_cluster_pause(&job->store->cluster, &job->pause);
}

void takt_redis_job_begin(takt_redis_job *job)
{
    takt_redis_cluster *cluster = &job->store->cluster;

    if (cluster->splits.count > 0 && takt_redis_cluster_holds(cluster, &job->pause, slot_of(job)))
        job->code = TAKT_E_STORE;
    else
        takt_redis_job_go(job);
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
    if (++job->redirections <= REDIRECTIONS_MAX) {
        takt_redis_job_go(job);
        return true;
    }
    takt_redis_set_trouble(job->store, node, "the nodes of the cluster redirect to each other", "");
    pause_job(job, TAKT_E_STORE);
    return true;
}

/* TRYAGAIN: the node has only some of the keys. The next call names the fewest ones: it is sent at
 * once if these may be enough, which they are not for a worker in line. A later call is for the
 * same node, with ASKING if that was sent: the node that a slot moves to will have it, or says who
 * has. */
static void on_split(takt_redis_job *job)
{
    const takt_claim *claim = job->call->claim;
    bool at_once = job->pause.count == 0 && (job->keys & (TAKT_KEYS_LINE | TAKT_KEYS_LOG)) != 0 &&
                   !(claim && claim->in_line);

    job->split = job->keys;
    job->keys = job->call->exchange ? 0 : TAKT_KEYS_TEXT;
    if (at_once)
        takt_redis_job_send(job);
    else
        pause_split(job);
}

/* The user may use other namespaces at best. */
static void tell_forbidden(takt_redis_job *job, const char *word)
{
    takt_redis_store *store = job->store;
    char prefix[TAKT_REDIS_KEY_SIZE] = "";
    takt_error made;

    (void)takt_redis_key(prefix, store->name_space, "", "", "");
    prefix[strcspn(prefix, "/")] = '\0';
    takt_fail(
        &made, TAKT_E_STORE_ACCESS,
        "our user has no permission for the keys or channels of the namespace \"%s\": grant it "
        "~%s/* and &%s/*, with ACL SETUSER there, or use a namespace that it may use",
        store->name_space, prefix, prefix);
    takt_redis_set_trouble(store, job->node, made.text, word);
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
        if (strcmp(trouble.word, "TRYAGAIN") == 0)
            on_split(job);
        else
            pause_job(job, trouble.code);
        return;
    }
    if (trouble.reaction == TAKT_REDIS_LOAD_SCRIPT) {
        send_again(job, &trouble);
        return;
    }
    if (trouble.names)
        tell_forbidden(job, trouble.word);
    else
        takt_redis_set_trouble(store, node, trouble.text, trouble.word);
    takt_redis_job_finish(job, trouble.code);
    if (trouble.reaction == TAKT_REDIS_RECONNECT)
        takt_redis_connection_leave(node->connection, false, trouble.code, trouble.text);
}

void takt_redis_job_answer(takt_redis_job *job, const takt_reply *reply)
{
    if (reply->type == TAKT_REPLY_ERROR)
        on_error(job, reply);
    else
        on_result(job, reply);
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    takt_redis_job *job = (takt_redis_job *)command;
    bool refused = reply != NULL && reply->type == TAKT_REPLY_ERROR;

    if (job->step == TAKT_REDIS_RUN) {
        if (reply == NULL)
            takt_redis_job_finish(job, code);
        else
            takt_redis_job_answer(job, reply);
        return;
    }
    /* the call itself was done before its hint, so a failed hint does not matter */
    if (!refused || job->step == TAKT_REDIS_PUBLISH || !publish(job, TAKT_REDIS_PUBLISH))
        takt_redis_job_finish(job, 0);
}

static void on_asked(takt_redis_command *command, const takt_reply *reply, int code)
{
    /* the script's own answer has the result */
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

bool takt_redis_job_write(takt_redis_job *job)
{
    takt_script_call *script_call = &job->store->script_call;

    job->command.answered = on_answered;
    job->step = TAKT_REDIS_RUN;
    job->tries++;
    script_call->about_us = takt_record_clock_us();
    script_call->keys = job->keys;
    if (!takt_script_call_write(script_call, job->store->name_space, job->call))
        return false;
    job->keys = script_call->keys;
    return true;
}

void takt_redis_job_send(takt_redis_job *job)
{
    takt_redis_store *store = job->store;
    const takt_script_call *script_call = &store->script_call;
    takt_durable *durable = is_award(job->call) ? job->node->durable : NULL;

    takt_list_remove(&job->pause.link);
    job->node->used_ms = uv_now(store->loop);
    if (durable != NULL && takt_durable_holds_back(durable, job))
        return;
    job->sent = true;
    if (!takt_redis_job_write(job)) {
        takt_redis_job_finish(job, TAKT_E_INVALID);
        return;
    }
    if ((job->ask && !say_asking(job)) ||
        !takt_redis_connection_send(job->node->connection, &job->command, script_call->count,
                                    script_call->arguments, script_call->sizes))
        takt_redis_job_finish(job, TAKT_E_NOMEM);
    else if (durable != NULL)
        takt_durable_follow(durable, job);
}
