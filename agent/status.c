/*
 * status.c: figures of the agent: for people (INFO), for probes and scrapers over HTTP, in a file,
 * and for the service manager. Limits are looked at regularly if anybody reads their figures.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "agent.h"
#include "kit/limit_metrics.h"
#include "kit/message.h"
#include "kit/openmetrics.h"
#include "kit/status_page.h"
#include "kit/wall_clock.h"
#include "lines.h"
#include "reply.h"

#define LOOK_MS    5000
#define WATCH_US   INT64_C(15000000) /* of a rate, which each look extends */
#define KEYS_MAX   100               /* keys with waiters here that are looked at */
#define LIMITS_MAX 1000

/* A limit or key that is looked at. */
typedef struct row {
    takt_call call;
    struct takt_agent_watch *watch;
    char limit[TAKT_NAME_SIZE_MAX + 1];
    char *key; /* NULL: the limit as a whole */
    bool looking, known, wanted;
    takt_standing standing;
    double rate; /* negative: unknown */
} row;

typedef struct takt_agent_watch {
    takt_agent *agent;
    row **rows;
    size_t count;
    uv_work_t writing;
    bool writes;
    int failed, told;
    char *text;
    size_t size;
} takt_agent_watch;

/* ---- looking at limits ----------------------------------------------------------------------- */

static void on_look(takt_call *call, int status, const takt_standing *standing)
{
    row *row = TAKT_HOLDER(call, struct row, call);
    const takt_standing *last = &row->standing;

    row->looking = false;
    row->rate = -1;
    if (status == 0 && row->known && standing->watched_since_us == last->watched_since_us &&
        standing->now_us > last->now_us)
        row->rate = (double)(standing->taken - last->taken) * 1e6 /
                    (double)(standing->now_us - last->now_us);
    row->known = status == 0;
    if (status == 0)
        row->standing = *standing;
}

/* Returns whether it is a row that nobody has wanted yet. */
static bool want_row(takt_agent_watch *watch, const char *limit, const char *key)
{
    row *made, **rows;
    bool first;

    for (size_t i = 0; i < watch->count; i++)
        if (strcmp(watch->rows[i]->limit, limit) == 0 &&
            strcmp(watch->rows[i]->key ? watch->rows[i]->key : "", key ? key : "") == 0) {
            first = !watch->rows[i]->wanted;
            watch->rows[i]->wanted = true;
            return first;
        }
    rows = realloc(watch->rows, (watch->count + 1) * sizeof(*rows));
    if (!rows)
        return false;
    watch->rows = rows;
    made = calloc(1, sizeof(*made));
    if (!made)
        return false;
    made->watch = watch;
    made->rate = -1;
    made->wanted = true;
    snprintf(made->limit, sizeof(made->limit), "%s", limit);
    made->key = key ? strdup(key) : NULL;
    rows[watch->count++] = made;
    return true;
}

static void want_limits(takt_agent_watch *watch, const takt_policy *policy)
{
    for (size_t i = 0; i < takt_policy_count(policy) && i < LIMITS_MAX; i++)
        want_row(watch, takt_policy_name(policy, i), NULL);
}

/* Of a watch, the keys that are wanted. */
typedef struct keys {
    takt_agent_watch *watch;
    int count;
} keys;

/* The numbers of limits that only programs have are unknown here. */
static void want_program_key(void *data, const char *limit, const char *key)
{
    keys *keys = data;
    const takt_policy *policy = takt_get_policy(keys->watch->agent->limits.own.client);

    if (!key[0] || keys->count == KEYS_MAX || !takt_policy_has(policy, limit) ||
        takt_policy_key_hash(policy, limit))
        return;
    keys->count += want_row(keys->watch, limit, key);
}

/* Keys for which somebody waits on the connections that came first, or programs wait. */
static void want_keys(takt_agent_watch *watch)
{
    takt_agent *agent = watch->agent;
    keys keys = {watch, 0};
    int looked = 0;

    for (takt_link *at = agent->connections.all.next;
         at != &agent->connections.all && keys.count < KEYS_MAX && looked < 1000;
         at = at->next, looked++) {
        takt_agent_connection *connection = TAKT_HOLDER(at, takt_agent_connection, link);
        if (takt_list_empty(&connection->waiters))
            continue;
        takt_agent_waiter *waiter =
            TAKT_HOLDER(connection->waiters.next, takt_agent_waiter, in_connection);
        const takt_request *request = &waiter->seat->of.wish->request;
        if (request->key &&
            !takt_policy_key_hash(takt_agent_policy_of(agent, request->limit), request->limit)) {
            keys.count += want_row(watch, request->limit, request->key);
        }
    }
    takt_relays_waiting(agent->relays, want_program_key, &keys);
}

static void drop_unwanted(takt_agent_watch *watch)
{
    size_t kept = 0;

    for (size_t i = 0; i < watch->count; i++) {
        row *row = watch->rows[i];
        if (row->wanted || row->looking) {
            watch->rows[kept++] = row;
            continue;
        }
        free(row->key);
        free(row);
    }
    watch->count = kept;
}

static void look(takt_agent_watch *watch)
{
    takt_agent *agent = watch->agent;

    for (size_t i = 0; i < watch->count; i++)
        watch->rows[i]->wanted = false;
    want_limits(watch, takt_get_policy(agent->limits.own.client));
    if (agent->limits.brought.policy)
        want_limits(watch, agent->limits.brought.policy);
    want_keys(watch);
    drop_unwanted(watch);
    for (size_t i = 0; i < watch->count; i++) {
        row *row = watch->rows[i];
        if (!row->looking)
            row->looking = takt_watch(takt_agent_client_of(agent, row->limit), &row->call,
                                      row->limit, row->key, WATCH_US, on_look) == 0;
    }
}

/* ---- metrics --------------------------------------------------------------------------------- */

static bool facts_of(const void *data, size_t index, takt_limit_facts *facts)
{
    const takt_agent_watch *watch = data;
    const row *row = watch->rows[index];

    *facts = (takt_limit_facts){
        .limit = row->limit, .key = row->key, .standing = &row->standing, .rate = row->rate};
    takt_policy_rate(takt_agent_policy_of(watch->agent, row->limit), row->limit, row->key,
                     &facts->quota_tokens, &facts->quota_us);
    return row->known;
}

static takt_stats stats_of(const takt_agent *agent)
{
    takt_stats stats = {0}, more = {0};

    if (agent->limits.own.client)
        takt_get_stats(agent->limits.own.client, &stats);
    if (agent->limits.brought.client)
        takt_get_stats(agent->limits.brought.client, &more);
    stats.acquires += more.acquires;
    stats.grants += more.grants;
    stats.store_calls += more.store_calls;
    stats.store_answers += more.store_answers;
    stats.store_us += more.store_us;
    return stats;
}

static const char *trouble_of(const takt_agent *agent)
{
    return agent->draining ? "draining" : agent->store.lost ? agent->store.trouble : NULL;
}

static void write_agent(FILE *out, const takt_agent *agent)
{
    const takt_agent_figures *figures = &agent->figures;

    takt_openmetrics_head(out, "takt_agent", "info", NULL, "Version of the agent.");
    fputs("takt_agent_info{", out);
    takt_openmetrics_label(out, "version", takt_version());
    fputs("} 1\n", out);
    takt_openmetrics_head(out, "takt_agent_start_time_seconds", "gauge", "seconds",
                          "Start time of the agent, since the Unix epoch.");
    fputs("takt_agent_start_time_seconds ", out);
    takt_openmetrics_seconds(out, agent->status.started_at_us);
    putc('\n', out);
    takt_openmetrics_number(out, "takt_agent_ready", false, "1: the agent is ready; otherwise 0.",
                            trouble_of(agent) == NULL);
    takt_openmetrics_number(out, "takt_agent_connections", false, "Connections now.",
                            agent->connections.count);
    takt_openmetrics_number(out, "takt_agent_waiting", false, "Waiters of all connections now.",
                            takt_agent_waiting(agent));
    takt_openmetrics_number(out, "takt_agent_held", false,
                            "Permits with a fencing number that are held now.",
                            takt_agent_held(agent));
    takt_openmetrics_number(out, "takt_agent_accepted", true, "Connections accepted.",
                            figures->connections);
    takt_openmetrics_number(out, "takt_agent_commands", true, "Commands of all connections.",
                            figures->commands);
    takt_openmetrics_number(out, "takt_agent_acquires", true, "Permits that processes asked for.",
                            figures->acquires);
    takt_openmetrics_number(out, "takt_agent_grants", true, "Permits that processes got.",
                            figures->grants);
    takt_openmetrics_number(out, "takt_agent_refusals", true, "Waiters that got none.",
                            figures->refusals);
    takt_openmetrics_number(out, "takt_agent_gone", true, "Waiters whose connection ended.",
                            figures->gone);
    takt_openmetrics_number(out, "takt_agent_returned", true,
                            "Permits that were free because their connection ended.",
                            figures->returned);
    takt_openmetrics_number(out, "takt_agent_slow_readers", true,
                            "Connections ended because they did not read their answers.",
                            figures->slow);
}

static char *metrics(void *data, size_t *size)
{
    takt_agent_watch *watch = data;
    takt_stats stats = stats_of(watch->agent);
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    if (!out)
        return NULL;
    write_agent(out, watch->agent);
    takt_openmetrics_client(out, &stats);
    takt_limit_metrics_write(out, watch->count, facts_of, watch);
    fputs("# EOF\n", out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}

static char *page(void *data, const char *path, int *code, size_t *size, const char **type)
{
    takt_agent_watch *watch = data;

    return takt_status_page(path, trouble_of(watch->agent), metrics, watch, code, size, type);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void write_file(uv_work_t *request)
{
    takt_agent_watch *watch = request->data;

    watch->failed =
        takt_openmetrics_write_file(watch->agent->options.metrics_file, watch->text, watch->size);
}

static void on_written(uv_work_t *request, int canceled)
{
    takt_agent_watch *watch = request->data;

    (void)canceled;
    watch->writes = false;
    free(watch->text);
    if (watch->failed && watch->failed != watch->told)
        takt_message("cannot write metrics to %s: %s", watch->agent->options.metrics_file,
                     strerror(watch->failed));
    watch->told = watch->failed;
}

static void begin_file(takt_agent_watch *watch)
{
    if (watch->writes || !(watch->text = metrics(watch, &watch->size)))
        return;
    watch->writing.data = watch;
    watch->writes =
        uv_queue_work(&watch->agent->loop, &watch->writing, write_file, on_written) == 0;
    if (!watch->writes)
        free(watch->text);
}

static int write_now(takt_agent_watch *watch)
{
    size_t size;
    char *text = metrics(watch, &size);
    int failed =
        text ? takt_openmetrics_write_file(watch->agent->options.metrics_file, text, size) : ENOMEM;

    free(text);
    return failed;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void on_slow(uv_timer_t *timer)
{
    takt_agent *agent = timer->data;

    if (agent->options.metrics_file)
        begin_file(agent->status.watch);
    if ((agent->options.metrics_file || agent->options.status) && !agent->draining)
        look(agent->status.watch);
    takt_agent_status_tell(agent, NULL);
}

void takt_agent_status_tell(takt_agent *agent, const char *state)
{
    char text[512];
    const char *trouble = trouble_of(agent);

    if (state)
        takt_notify_tell(&agent->status.notify, state);
    snprintf(text, sizeof(text), "STATUS=%zu connections, %zu waiting, %zu held%s%.60s",
             agent->connections.count, takt_agent_waiting(agent), takt_agent_held(agent),
             trouble ? "; " : "", trouble ? trouble : "");
    takt_notify_tell(&agent->status.notify, text);
}

int takt_agent_status_open(takt_agent *agent)
{
    const takt_agent_options *options = &agent->options;
    takt_agent_watch *watch = calloc(1, sizeof(*watch));
    takt_status_site site = {
        .address = options->status, .what = "its status", .page = page, .data = watch};
    takt_error error = {0};
    int failed;

    agent->status.watch = watch;
    if (!watch) {
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
        return EX_OSERR;
    }
    watch->agent = agent;
    takt_notify_open(&agent->status.notify, &agent->loop);
    agent->status.started_at_us = takt_wall_clock_now();
    if (options->metrics_file && (failed = write_now(watch)) != 0) {
        takt_message("%s: %s", options->metrics_file, strerror(failed));
        return EX_CANTCREAT;
    }
    if (options->status &&
        takt_status_server_open(&agent->status.server, &agent->loop, &site, &error) != 0) {
        takt_message("%s", error.text);
        return error.code == TAKT_E_INVALID ? EX_USAGE : EX_OSERR;
    }
    uv_timer_start(&agent->slow, on_slow, 0, LOOK_MS);
    return 0;
}

void takt_agent_status_last(takt_agent *agent)
{
    if (agent->status.watch && agent->options.metrics_file && !agent->status.watch->writes)
        (void)write_now(agent->status.watch);
}

void takt_agent_status_close(takt_agent *agent)
{
    takt_agent_watch *watch = agent->status.watch;

    if (!watch)
        return;
    for (size_t i = 0; i < watch->count; i++) {
        free(watch->rows[i]->key);
        free(watch->rows[i]);
    }
    free(watch->rows);
    free(watch);
    agent->status.watch = NULL;
}

/* ---- INFO ------------------------------------------------------------------------------------ */

void takt_agent_info(takt_agent_connection *connection, const takt_reply *words, int count)
{
    const takt_agent *agent = connection->agent;
    takt_stats stats = stats_of(agent);
    char *text;
    int size;

    (void)words, (void)count;
    /* some clients wait for `loading` to be 0 before they send a command */
    size = asprintf(
        &text,
        "# Server\r\nserver:takt\r\ntakt_version:%s\r\nredis_mode:standalone\r\nprocess_id:%ld\r\n"
        "loading:0\r\nrole:master\r\n\r\n"
        "# Agent\r\nconnected_clients:%zu\r\nwaiting:%zu\r\nheld:%zu\r\nacquires:%" PRIu64
        "\r\ngrants:%" PRIu64 "\r\nrefusals:%" PRIu64 "\r\nready:%d\r\n\r\n"
        "# Store\r\nstore_calls:%" PRId64 "\r\nstore_answers:%" PRId64 "\r\nstore_us:%" PRId64
        "\r\n",
        takt_version(), (long)uv_os_getpid(), agent->connections.count, takt_agent_waiting(agent),
        takt_agent_held(agent), agent->figures.acquires, agent->figures.grants,
        agent->figures.refusals, trouble_of(agent) == NULL, stats.store_calls, stats.store_answers,
        stats.store_us);
    if (size < 0) {
        takt_agent_reply_error(connection, "ERR", "no memory");
        return;
    }
    takt_agent_reply_text(connection, text, (size_t)size);
    free(text);
}
