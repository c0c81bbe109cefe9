/*
 * list.c: lists the ledgers of a namespace in a server, on a connection and a loop of its own: SCAN
 * for their names, GET for their texts; in a cluster one node after the other. A ledger that
 * disappears or moves meanwhile is left out; one that SCAN returns twice is listed twice.
 */
#include "store/redis/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/fail.h"
#include "redis/client.h"
#include "redis/slot_map.h"
#include "store/redis/key.h"

#define PORTION   "500"
#define SCANS_MAX 200 /* a server with many other keys is not searched to the end */

typedef struct listing listing;

/* GET of one ledger. */
typedef struct getting {
    takt_redis_command command;
    listing *listing;
    char limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];
} getting;

struct listing {
    takt_redis *redis;
    takt_redis_command scan;
    takt_redis_command question; /* CLUSTER SLOTS */
    takt_redis_slot_map map;     /* of a cluster */
    bool mapped;                 /* it is known whether it is one */
    char pattern[TAKT_REDIS_KEY_SIZE];
    char cursor[24];
    getting *gettings; /* the commands of the current batch */
    int under_way, scans;
    size_t left; /* ledgers that may still be read */
    takt_list_found found;
    void *data;
    bool closed;
    int code;
    takt_error *error;
};

static void end(listing *list, int code, const char *text)
{
    if (list->closed)
        return;
    list->closed = true;
    list->code = code != 0 ? takt_fail(list->error, code, "%s", text) : 0;
    takt_redis_close(list->redis);
}

static void refuse(listing *list, const takt_reply *reply)
{
    takt_error error = {0};
    int code = takt_redis_refused(list->redis, reply, &error);

    end(list, code != 0 ? code : TAKT_E_STORE, error.text);
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads a percent-encoded part up to `stop`. Returns the position after it; NULL: malformed. */
static const char *read_part(const char *at, char stop, char *part, size_t max)
{
    size_t size = 0;

    for (; *at != '\0' && *at != stop; at++) {
        int byte = (unsigned char)*at;
        if (*at == '%') {
            if (hex_of(at[1]) < 0 || hex_of(at[2]) < 0)
                return NULL;
            byte = hex_of(at[1]) << 4 | hex_of(at[2]);
            at += 2;
        }
        if (size == max || byte == 0)
            return NULL;
        part[size++] = (char)byte;
    }
    part[size] = '\0';
    return *at == stop ? at + 1 : NULL;
}

/* Reads "LIMIT/KEY" up to `stop`, which the name ends with. */
static bool read_ledger(const char *at, char stop, char limit[TAKT_NAME_SIZE_MAX + 1],
                        char key[TAKT_KEY_SIZE_MAX + 1])
{
    at = at ? read_part(at, '/', limit, TAKT_NAME_SIZE_MAX) : NULL;
    if (!at || limit[0] == '\0' || strchr(at, ':')) /* ":REST" */
        return false;
    at = read_part(at, stop, key, TAKT_KEY_SIZE_MAX);
    return at && (stop == '\0' || *at == '\0');
}

bool takt_redis_list_read_name(const char *name, char limit[TAKT_NAME_SIZE_MAX + 1],
                               char key[TAKT_KEY_SIZE_MAX + 1])
{
    char name_space[TAKT_NAME_SIZE_MAX + 1];
    const char *at = strncmp(name, TAKT_REDIS_KEY_PREFIX, strlen(TAKT_REDIS_KEY_PREFIX)) == 0
                         ? name + strlen(TAKT_REDIS_KEY_PREFIX)
                         : NULL;

    if (at && strstr(at, "}/")) { /* the namespace's ledgers share a slot */
        at = read_part(at, '}', name_space, TAKT_NAME_SIZE_MAX);
        return read_ledger(at ? at + 1 : NULL, '\0', limit, key);
    }
    return read_ledger(at ? read_part(at, '/', name_space, TAKT_NAME_SIZE_MAX) : NULL, '}', limit,
                       key);
}

static void scan(listing *list);

static void go_on(listing *list)
{
    if (list->closed || list->under_way > 0)
        return;
    if (strcmp(list->cursor, "0") == 0 || list->left == 0 || ++list->scans == SCANS_MAX)
        end(list, 0, NULL);
    else
        scan(list);
}

/* The ledger has moved, or is moving, to another node. */
static bool is_redirection(const takt_reply *reply)
{
    return strncmp(reply->text, "MOVED ", 6) == 0 || strncmp(reply->text, "ASK ", 4) == 0;
}

static void on_got(takt_redis_command *command, const takt_reply *reply, int code)
{
    getting *get = command->data;
    listing *list = get->listing;

    (void)code; /* on_lost reports it */
    list->under_way--;
    if (list->closed || reply == NULL)
        return;
    if (reply->type == TAKT_REPLY_STRING)
        list->found(list->data, get->limit, get->key, reply->text, reply->size);
    else if (reply->type == TAKT_REPLY_ERROR && !is_redirection(reply)) {
        refuse(list, reply);
        return;
    }
    go_on(list);
}

static void get(listing *list, getting *get, const char *name, size_t size)
{
    const char *arguments[] = {"GET", name};
    size_t sizes[] = {3, size};

    get->listing = list;
    get->command.answered = on_got;
    get->command.data = get;
    if (takt_redis_send(list->redis, &get->command, 2, arguments, sizes) == 0)
        list->under_way++;
}

static bool is_scanned(const takt_reply *reply)
{
    return reply->type == TAKT_REPLY_ARRAY && reply->count == 2 &&
           reply[1].type == TAKT_REPLY_STRING && reply[1].size < sizeof(((listing *)0)->cursor) &&
           reply[2].type == TAKT_REPLY_ARRAY;
}

static void get_all(listing *list, const takt_reply *names)
{
    int used = 0;

    free(list->gettings);
    list->gettings = calloc((size_t)names->count + 1, sizeof *list->gettings);
    if (list->gettings == NULL) {
        end(list, TAKT_E_NOMEM, "no memory");
        return;
    }
    for (int i = 1; i <= names->count && list->left > 0; i++) {
        getting *next = &list->gettings[used];
        if (names[i].type != TAKT_REPLY_STRING ||
            !takt_redis_list_read_name(names[i].text, next->limit, next->key))
            continue;
        get(list, next, names[i].text, names[i].size);
        used++;
        list->left--;
    }
}

static void on_scanned(takt_redis_command *command, const takt_reply *reply, int code)
{
    listing *list = command->data;

    (void)code;
    if (list->closed || reply == NULL)
        return;
    if (reply->type == TAKT_REPLY_ERROR) {
        refuse(list, reply);
        return;
    }
    if (!is_scanned(reply)) {
        end(list, TAKT_E_STORE, "the server answered SCAN with something else");
        return;
    }
    memcpy(list->cursor, reply[1].text, reply[1].size + 1);
    get_all(list, &reply[2]);
    go_on(list);
}

static void scan(listing *list)
{
    const char *arguments[] = {"SCAN", list->cursor, "MATCH", list->pattern, "COUNT", PORTION};

    list->scan.answered = on_scanned;
    list->scan.data = list;
    (void)takt_redis_send(list->redis, &list->scan, 6, arguments, NULL);
}

/* A server outside a cluster, or a user without the right to ask: there is one server. */
static void on_located(takt_redis_command *command, const takt_reply *reply, int code)
{
    listing *list = command->data;
    const takt_redis_url *server = takt_redis_server(list->redis);
    takt_redis_address here = {.port = server->port};

    (void)code;
    if (list->closed || reply == NULL)
        return;
    list->mapped = true;
    memcpy(here.host, server->host, sizeof here.host);
    if (takt_redis_slot_map_read(&list->map, reply, &here) == 0 && list->map.shard_count > 0)
        end(list, 0, NULL);
    else
        scan(list);
}

static void on_ready(void *data)
{
    static const char *const words[] = {"CLUSTER", "SLOTS"};
    listing *list = data;
    const takt_redis_url *server = takt_redis_server(list->redis);

    if (list->mapped || !server->cluster || server->primary[0] != '\0') {
        scan(list);
        return;
    }
    list->question.answered = on_located;
    list->question.data = list;
    (void)takt_redis_send(list->redis, &list->question, 2, words, NULL);
}

static void on_lost(void *data, int code, const char *text)
{
    end(data, code, text);
}

/* The pattern of ledgers' own keys, which end with the brace; with a shared slot that of all their
 * keys. */
static bool write_pattern(char pattern[TAKT_REDIS_KEY_SIZE], const char *name_space)
{
    size_t size = takt_redis_key(pattern, name_space, "", "", "");

    if (size == 0)
        return false;
    if (takt_redis_key_shares_slot(name_space))
        memcpy(pattern + size - 1, "*", 2); /* "takt:{NAMESPACE}//" */
    else
        memcpy(pattern + size - 2, "*}", 3); /* "takt:{NAMESPACE//}" */
    return true;
}

/* Visits the server of the URL, or that node of its cluster. */
static int visit(listing *list, const char *url, int64_t timeout_us, const takt_redis_address *at,
                 takt_error *error)
{
    takt_redis_options options = {
        .timeout_us = timeout_us, .at = at, .on_ready = on_ready, .on_lost = on_lost, .data = list};
    uv_loop_t loop;
    int code;

    list->error = error;
    if (uv_loop_init(&loop) != 0)
        return takt_fail(error, TAKT_E_SYSTEM, "cannot make a loop");
    strcpy(list->cursor, "0");
    list->scans = list->under_way = 0;
    list->closed = false;
    code = takt_redis_open(&list->redis, &loop, url, &options, error);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return code != 0 ? code : list->code;
}

/* Visits the server of the URL, or of the nodes that it lists the first one that answers. */
static int visit_first(listing *list, const char *text, int64_t timeout_us, takt_error *error)
{
    takt_redis_url url;
    int code = takt_redis_url_read(&url, text, error);

    if (code == 0)
        code = visit(list, text, timeout_us, NULL, error);
    if (takt_redis_url_lists_nodes(&url))
        for (int i = 1; i < url.seed_count && code != 0; i++)
            code = visit(list, text, timeout_us, &url.seeds[i], error);
    takt_redis_url_close(&url);
    return code;
}

/* Visits all nodes. One that does not answer is reported in `error`, unless none does. */
static int visit_nodes(listing *list, const char *url, int64_t timeout_us, takt_error *error)
{
    takt_error failed = {0}, last = {0};
    int answered = 0;

    for (int i = 0; i < list->map.shard_count && list->left > 0; i++) {
        if (visit(list, url, timeout_us, &list->map.shards[i].primary, &last) == 0)
            answered++;
        else if (failed.code == 0)
            failed = last;
    }
    if (failed.code != 0 && error != NULL)
        *error = failed;
    return answered > 0 ? 0 : failed.code;
}

int takt_redis_list(const char *scheme, const char *rest, const takt_store_options *options,
                    size_t max, takt_list_found found, void *data, takt_error *error)
{
    listing list = {.left = max, .found = found, .data = data};
    size_t size = strlen(scheme) + strlen(rest) + 1;
    char *url = malloc(size);
    int code;

    if (url == NULL || !write_pattern(list.pattern, options->name_space)) {
        free(url);
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    snprintf(url, size, "%s%s", scheme, rest);
    code = visit_first(&list, url, options->timeout_us, error);
    if (code == 0)
        code = visit_nodes(&list, url, options->timeout_us, error);
    takt_redis_slot_map_close(&list.map);
    free(list.gettings);
    free(url);
    return code;
}
