/*
 * redis.c: see kinds.h. One connection, on a loop that runs until all commands are answered or the
 * time is over: first everything in one pipeline, then, a moment later, the time again (to see
 * whether the server's clock moves) and the commands that change the connection. Connecting is
 * tried once, since an unreachable store is a finding.
 */
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#include "base/fail.h"
#include "base/time_text.h"
#include "doctor/kinds.h"
#include "doctor/redis_cluster.h"
#include "doctor/redis_facts.h"
#include "doctor/redis_rights.h"
#include "doctor/redis_sentinels.h"
#include "redis/connection.h"
#include "redis/reply_error.h"
#include "store/record.h"
#include "store/redis/key.h"
#include "store/redis/script.h"

#define WORDS_MAX   8
#define MOMENT_MS   20 /* between two readings of the clock */
#define SENTINEL_MS 1000
#define APART_US    INT64_C(1000000) /* a smaller difference of clocks is ignored */
#define ASKING_MAX  (TAKT_REDIS_TRIALS + 16)

struct visit;

/* A command and the function that reads its answer. */
struct asking {
    takt_redis_command command;
    struct visit *visit;
    void (*answered)(struct visit *visit, const takt_redis_trial *trial, const takt_reply *reply);
    const takt_redis_trial *trial; /* NULL: the command is not a trial */
};

struct visit {
    takt_checkup *checkup;
    uv_loop_t loop;
    uv_timer_t timer; /* the time-out, or the end of the moment */
    takt_redis_url url;
    takt_tls_trust *trust;
    takt_redis_connection *connection;
    char address[TAKT_REDIS_ADDRESS_SIZE]; /* the server, once it is found */
    char name[TAKT_REDIS_KEY_SIZE];
    struct asking askings[ASKING_MAX];
    int said, left; /* commands sent; commands not answered yet */
    /* called when all are answered; NULL: this was the last step */
    void (*next)(struct visit *visit);
    void (*begin)(struct visit *visit);
    bool over; /* the connection is being closed */
    bool done; /* ... because all commands were answered */

    takt_redis_facts facts;
    takt_redis_rights rights;
    int64_t first_us, last_us;            /* the server's time, twice; 0: not read */
    int64_t asked_at_us;                  /* by our clock */
    int64_t ahead_us;                     /* how far the server's clock is ahead of ours, roughly */
    uint64_t first_seen_ns, last_seen_ns; /* when the answers came */
    int loaded;                           /* scripts loaded */
};

static void on_timer(uv_timer_t *timer);

/* ---- the end --------------------------------------------------------------------------------- */

static void end(struct visit *visit)
{
    if (visit->over)
        return;
    visit->over = true;
    uv_close((uv_handle_t *)&visit->timer, NULL);
    takt_redis_connection_close(visit->connection);
}

static void on_closed(void *data)
{
    (void)data;
}

static void on_lost(void *data, int code, const char *text)
{
    struct visit *visit = data;

    if (!visit->over)
        takt_checkup_fail(visit->checkup, code, "server", "%s", text);
    end(visit);
}

/* ---- saying and hearing ---------------------------------------------------------------------- */

static void be_patient(struct visit *visit)
{
    uint64_t wait_ms = (uint64_t)(visit->checkup->timeout_us / 1000 + 1);

    /* each Sentinel is asked in turn before the server is, at most two in a second */
    if (visit->url.primary[0] != '\0')
        wait_ms += (uint64_t)visit->url.seed_count * (wait_ms + SENTINEL_MS);
    uv_update_time(&visit->loop);
    uv_timer_start(&visit->timer, on_timer, wait_ms, 0);
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    struct asking *asked = (struct asking *)command;
    struct visit *visit = asked->visit;

    (void)code;
    if (visit->over || reply == NULL) /* on_lost reports the loss */
        return;
    asked->answered(visit, asked->trial, reply);
    if (--visit->left > 0)
        return;
    if (visit->next != NULL) {
        visit->next(visit);
        return;
    }
    visit->done = true;
    end(visit);
}

/* Fills names and the script into the words of a command. */
static int split(const struct visit *visit, const char *words, char *text, size_t text_size,
                 const char *arguments[WORDS_MAX], size_t sizes[WORDS_MAX])
{
    int count = 0;

    while (*words != '\0' && count < WORDS_MAX) {
        size_t size = strcspn(words, " "), written = 0;
        if (*words == '$') {
            const takt_script *script = &takt_scripts[words[1] - '0'];
            arguments[count] = script->source;
            sizes[count++] = script->size;
        } else {
            const char *name = *words == '@' ? visit->name : "";
            size_t skipped = *words == '@' ? 1 : 0;
            written = strlen(name) + size - skipped;
            if (written > text_size)
                return 0;
            memcpy(text, name, strlen(name));
            memcpy(text + strlen(name), words + skipped, size - skipped);
            arguments[count] = text;
            sizes[count++] = written;
        }
        text += written;
        text_size -= written;
        words += size + (words[size] == ' ');
    }
    return count;
}

static void say(struct visit *visit, const char *words, const takt_redis_trial *trial,
                void (*answered)(struct visit *visit, const takt_redis_trial *trial,
                                 const takt_reply *reply))
{
    char text[3 * TAKT_REDIS_KEY_SIZE];
    const char *arguments[WORDS_MAX];
    size_t sizes[WORDS_MAX];
    struct asking *asked = &visit->askings[visit->said];
    int count = split(visit, words, text, sizeof text, arguments, sizes);

    *asked = (struct asking){
        .command = {.answered = on_answered}, .visit = visit, .answered = answered, .trial = trial};
    if (visit->said < ASKING_MAX - 1 &&
        takt_redis_connection_send(visit->connection, &asked->command, count, arguments, sizes)) {
        visit->said++;
        visit->left++;
    }
}

/* ---- questions ------------------------------------------------------------------------------- */

static void on_info(struct visit *visit, const takt_redis_trial *trial, const takt_reply *reply)
{
    (void)trial;
    if (reply->type == TAKT_REPLY_STRING)
        takt_redis_facts_info(&visit->facts, reply->text, reply->size);
}

static void on_config(struct visit *visit, const takt_redis_trial *trial, const takt_reply *reply)
{
    (void)trial;
    takt_redis_facts_config(&visit->facts, reply);
}

static void on_trial(struct visit *visit, const takt_redis_trial *trial, const takt_reply *reply)
{
    takt_redis_rights_note(&visit->rights, trial, reply);
}

/* ["SECONDS", "MICROSECONDS"] */
static void on_time(struct visit *visit, const takt_redis_trial *trial, const takt_reply *reply)
{
    int64_t now_us;

    (void)trial;
    if (reply->type != TAKT_REPLY_ARRAY || reply->count != 2 ||
        reply[1].type != TAKT_REPLY_STRING || reply[2].type != TAKT_REPLY_STRING)
        return;
    now_us = strtoll(reply[1].text, NULL, 10) * 1000000 + strtoll(reply[2].text, NULL, 10);
    if (visit->first_us == 0) {
        visit->first_us = now_us;
        visit->first_seen_ns = uv_hrtime();
    }
    visit->last_us = now_us;
    visit->last_seen_ns = uv_hrtime();
    visit->ahead_us = takt_redis_clock_ahead(visit->asked_at_us, now_us, takt_record_clock_us());
}

static void ask_time(struct visit *visit)
{
    visit->asked_at_us = takt_record_clock_us();
    say(visit, "TIME", NULL, on_time);
}

static void say_trials(struct visit *visit, bool last)
{
    for (int i = 0; i < takt_redis_trial_count; i++) {
        const takt_redis_trial *trial = &takt_redis_trials[i];
        if (trial->last == last && !(trial->loads && visit->url.preloaded))
            say(visit, trial->words, trial, on_trial);
    }
}

static void say_last(struct visit *visit)
{
    visit->next = NULL;
    be_patient(visit);
    ask_time(visit);
    if (visit->url.hints)
        say_trials(visit, true);
}

static void wait_a_moment(struct visit *visit)
{
    visit->next = say_last;
    uv_update_time(&visit->loop);
    uv_timer_start(&visit->timer, on_timer, MOMENT_MS, 0);
}

static void say_first(struct visit *visit)
{
    static const char *const infos[] = {"INFO server", "INFO memory", "INFO persistence",
                                        "INFO stats", "INFO replication"};
    static const char *const configs[] = {"CONFIG GET save", "CONFIG GET appendfsync",
                                          "CONFIG GET min-replicas-to-write"};

    visit->next = wait_a_moment;
    ask_time(visit);
    for (size_t i = 0; i < sizeof infos / sizeof infos[0]; i++)
        say(visit, infos[i], NULL, on_info);
    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++)
        say(visit, configs[i], NULL, on_config);
    say_trials(visit, false);
}

static void on_timer(uv_timer_t *timer)
{
    struct visit *visit = timer->data;

    if (visit->left == 0 && visit->next == say_last)
        say_last(visit);
    else
        takt_redis_connection_leave(visit->connection, true, TAKT_E_STORE_TIMEOUT,
                                    "it did not answer in time");
    if (!visit->over && visit->left == 0 && visit->next != say_last) /* there was no connection */
        on_lost(visit, TAKT_E_STORE_TIMEOUT, "no server was found in time");
}

/* ---- telling --------------------------------------------------------------------------------- */

static void tell_clock(const struct visit *visit)
{
    takt_checkup *checkup = visit->checkup;
    int64_t went_us = visit->last_us - visit->first_us;
    int64_t passed_us = (int64_t)((visit->last_seen_ns - visit->first_seen_ns) / 1000);
    int64_t apart_us = visit->ahead_us < 0 ? -visit->ahead_us : visit->ahead_us;
    char span[TAKT_SPAN_SIZE];

    if (visit->first_us == 0 || passed_us == 0)
        return; /* reported with the rights */
    if (went_us <= 0)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "clock",
                          "its clock stands still or runs backwards; this clock alone decides when "
                          "a slot is due, so waiters may wait for ever");
    else if (apart_us > APART_US)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "clock",
                          "it is %s %s the local clock; the server's clock alone decides when a "
                          "slot is due, so this matters for calendar windows only",
                          takt_format_rough_span(apart_us, span),
                          visit->ahead_us < 0 ? "behind" : "ahead of");
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "clock",
                          "it runs, and agrees with the local clock");
}

/* One call decides about all levels of nested limits, so their ledgers must share a slot. */
static void tell_namespace(takt_checkup *checkup)
{
    const char *name = strpbrk(checkup->name_space, "{}") ? "mail" : checkup->name_space;

    if (!takt_redis_key_shares_slot(checkup->name_space))
        takt_checkup_fail(checkup, TAKT_E_STORE_ACCESS, "namespace",
                          "it is a node of a cluster, and limits within others need a namespace in "
                          "braces there: write namespace: \"{%s}\" in the policies of all workers",
                          name);
}

static void tell(const struct visit *visit)
{
    takt_checkup *checkup = visit->checkup;

    takt_redis_facts_tell(&visit->facts, checkup, visit->address, visit->url.replicas);
    tell_clock(visit);
    takt_redis_rights_tell(&visit->rights, checkup, visit->url.hints);
    if (visit->url.primary[0] != '\0')
        takt_redis_sentinels_examine(checkup, &visit->url, visit->trust);
    if (strcmp(visit->facts.mode, "cluster") == 0 && checkup->nested)
        tell_namespace(checkup);
    if (strcmp(visit->facts.mode, "cluster") == 0 && visit->url.cluster)
        takt_redis_cluster_examine(checkup, &visit->url, visit->trust);
}

/* ---- the scripts ----------------------------------------------------------------------------- */

static void on_loaded(struct visit *visit, const takt_redis_trial *trial, const takt_reply *reply)
{
    takt_redis_trouble trouble;

    (void)trial;
    if (reply->type == TAKT_REPLY_STRING &&
        strcmp(reply->text, takt_scripts[visit->loaded].sha1) == 0) {
        visit->loaded++;
        return;
    }
    if (reply->type == TAKT_REPLY_ERROR)
        takt_redis_judge(&trouble, reply->text, reply->size);
    else
        trouble = (takt_redis_trouble){.code = TAKT_E_STORE,
                                       .text = "it gives a script another name than ours"};
    visit->left = 1; /* the following scripts would fail in the same way */
    visit->next = NULL;
    takt_checkup_fail(visit->checkup, trouble.code, "scripts", "%s%s%s%s", trouble.text,
                      trouble.word[0] ? " (" : "", trouble.word, trouble.word[0] ? ")" : "");
}

static void say_loads(struct visit *visit)
{
    char words[] = "SCRIPT LOAD $0";

    _Static_assert(TAKT_SCRIPTS <= 64, "a script is named by one character: 0 to 9 and on");
    for (int i = 0; i < TAKT_SCRIPTS; i++) {
        words[sizeof words - 2] = (char)('0' + i);
        say(visit, words, NULL, on_loaded);
    }
}

static void tell_loaded(const struct visit *visit)
{
    takt_checkup_tell(visit->checkup, TAKT_FINDING_GOOD, "scripts",
                      "the %d scripts of takt " TAKT_VERSION
                      " are loaded in %s, until it is restarted",
                      visit->loaded, visit->address);
}

/* ---- one visit ------------------------------------------------------------------------------- */

static void on_ready(void *data)
{
    struct visit *visit = data;

    takt_redis_url_address(takt_redis_connection_server(visit->connection), visit->address);
    be_patient(visit);
    visit->begin(visit);
}

static const takt_redis_connection_events connection_events = {on_ready, on_lost, NULL, on_closed};

/* Reads the URL, the password and the trusted certificates. */
static int prepare(struct visit *visit, const char *url, takt_error *error)
{
    char key[TAKT_CHECKUP_KEY_SIZE];
    int code = takt_redis_url_read(&visit->url, url, error);

    if (code == 0)
        code = takt_redis_url_find_password(&visit->url, error);
    if (code == 0 && visit->url.transport == TAKT_REDIS_TLS)
        code = takt_tls_trust_open(&visit->trust, &visit->url, error);
    takt_checkup_key(key);
    if (code == 0 &&
        takt_redis_key(visit->name, visit->checkup->name_space, TAKT_CHECKUP_LIMIT, key, "") == 0)
        code =
            takt_fail(error, TAKT_E_INVALID, "a namespace has 1 to %d bytes", TAKT_NAME_SIZE_MAX);
    return code;
}

/* Connects, runs the commands that `begin` sends, and reports. */
static void go(takt_checkup *checkup, void (*begin)(struct visit *visit),
               void (*told)(const struct visit *visit))
{
    struct visit *visit = calloc(1, sizeof *visit); /* too large for some stacks */
    takt_error error = {.text = "no memory"};
    int code = TAKT_E_NOMEM;

    if (visit == NULL || uv_loop_init(&visit->loop) != 0)
        goto fail;
    visit->checkup = checkup;
    visit->begin = begin;
    takt_redis_facts_init(&visit->facts);
    uv_timer_init(&visit->loop, &visit->timer);
    visit->timer.data = visit;
    code = prepare(visit, checkup->url, &error);
    if (code == 0 && takt_redis_url_lists_nodes(&visit->url))
        takt_redis_cluster_choose(checkup, &visit->url, visit->trust);
    if (code == 0) {
        visit->connection = takt_redis_connection_open(
            &visit->loop, &visit->url, visit->trust, NULL,
            (uint64_t)(checkup->timeout_us / 1000 + 1), &connection_events, visit);
        code = visit->connection != NULL ? 0 : TAKT_E_NOMEM;
    }
    if (code == 0)
        be_patient(visit); /* keeps the loop alive; the connection's own time-out is shorter */
    else
        uv_close((uv_handle_t *)&visit->timer, NULL);
    uv_run(&visit->loop, UV_RUN_DEFAULT);
    uv_loop_close(&visit->loop);
    if (visit->done && checkup->code == 0)
        told(visit);
    takt_tls_trust_close(visit->trust);
    takt_redis_url_close(&visit->url);
fail:
    if (code != 0)
        takt_checkup_fail(checkup, code, "server", "%s", error.text);
    free(visit);
}

void takt_doctor_redis(takt_checkup *checkup)
{
    go(checkup, say_first, tell);
}

void takt_doctor_redis_load_scripts(takt_checkup *checkup)
{
    go(checkup, say_loads, tell_loaded);
}
