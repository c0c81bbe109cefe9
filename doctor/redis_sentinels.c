/*
 * redis_sentinels.c: see redis_sentinels.h. A Sentinel that does not answer is a warning, since
 * takt asks the others.
 */
#include "doctor/redis_sentinels.h"

#include <stdlib.h>
#include <string.h>

#include "doctor/redis_ask.h"

struct watch {
    const takt_redis_url *url;
    int answered; /* Sentinels that have named the primary */
    int refused;  /* ... that this user may not ask */
    /* As the Sentinels say: least and largest quorum, other Sentinels, replicas, whether one takes
     * the primary for down. */
    int64_t quorum_least, quorum_most, others, replicas;
    bool down;
};

static bool is(const takt_reply *text, const char *word)
{
    return text->type == TAKT_REPLY_STRING && text->size == strlen(word) &&
           memcmp(text->text, word, text->size) == 0;
}

static void learn(struct watch *watch, const takt_reply *name, const takt_reply *value)
{
    int64_t number = strtoll(value->text, NULL, 10);

    if (is(name, "quorum")) {
        if (watch->answered == 0 || number < watch->quorum_least)
            watch->quorum_least = number;
        if (number > watch->quorum_most)
            watch->quorum_most = number;
    } else if (is(name, "num-other-sentinels") && number > watch->others) {
        watch->others = number;
    } else if (is(name, "num-slaves") && number > watch->replicas) {
        watch->replicas = number;
    } else if (is(name, "flags")) {
        watch->down |= memmem(value->text, value->size, "_down", 5) != NULL;
    }
}

/* [NAME, VALUE, ...] */
static void on_primary(void *data, const takt_reply *reply)
{
    struct watch *watch = data;

    if (reply->type == TAKT_REPLY_ERROR && reply->size >= 6 &&
        memcmp(reply->text, "NOPERM", 6) == 0)
        watch->refused++;
    if (reply->type != TAKT_REPLY_ARRAY)
        return;
    for (int i = 1; i + 1 <= reply->count; i += 2)
        if (reply[i].type == TAKT_REPLY_STRING && reply[i + 1].type == TAKT_REPLY_STRING)
            learn(watch, &reply[i], &reply[i + 1]);
    watch->answered++;
}

static void ask(takt_checkup *checkup, struct watch *watch, takt_redis_url *sentinel,
                takt_tls_trust *trust)
{
    const takt_redis_url *url = watch->url;
    const takt_redis_question question = {{"SENTINEL", "MASTER", url->primary}, on_primary};
    takt_error error;

    for (int i = 0; i < url->seed_count; i++) {
        takt_redis_ask_at(sentinel, url, &url->seeds[i]);
        sentinel->db = 0;
        memcpy(sentinel->user, url->sentinel_user, sizeof sentinel->user);
        memcpy(sentinel->password, url->sentinel_password, sizeof sentinel->password);
        sentinel->authenticates = url->sentinel_password[0] != '\0';
        if (takt_redis_ask(sentinel, trust, checkup->timeout_us, &question, 1, watch, &error) < 0)
            takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "sentinel",
                              "%s:%d is of no use: %s; takt asks the others", url->seeds[i].host,
                              url->seeds[i].port, error.text);
    }
}

static void tell(takt_checkup *checkup, const struct watch *watch)
{
    long long known = (long long)watch->others + 1;

    if (watch->refused > 0)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "sentinel",
                          "the user at the Sentinels may not run SENTINEL MASTER, which tells the "
                          "quorum; check there that redis-cli SENTINEL CKQUORUM %s says OK",
                          watch->url->primary);
    if (watch->answered == 0)
        return;
    if (watch->quorum_most > known)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "sentinel",
                          "their quorum is %lld, and they know %lld Sentinels: they can promote "
                          "nobody; run on each: SENTINEL SET %s quorum %lld",
                          (long long)watch->quorum_most, known, watch->url->primary, known / 2 + 1);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "sentinel",
                          "%d of the %d Sentinels in the URL answer; they know %lld Sentinels and "
                          "%lld replicas of %s; their quorum is %lld, and a promotion needs the "
                          "votes of %lld",
                          watch->answered, watch->url->seed_count, known,
                          (long long)watch->replicas, watch->url->primary,
                          (long long)watch->quorum_most, known / 2 + 1);
    if (watch->quorum_least != watch->quorum_most)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "sentinel",
                          "they do not agree about the quorum: %lld to %lld",
                          (long long)watch->quorum_least, (long long)watch->quorum_most);
    if (known < 3)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "sentinel",
                          "with fewer than three Sentinels nobody is promoted once one is lost");
    if (known > watch->url->seed_count)
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "sentinel",
                          "the URL lists %d of %lld Sentinels: list all, since takt asks only "
                          "listed ones",
                          watch->url->seed_count, known);
    if (watch->down)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "sentinel",
                          "one of them takes the primary for down");
}

void takt_redis_sentinels_examine(takt_checkup *checkup, const takt_redis_url *url,
                                  takt_tls_trust *trust)
{
    struct watch watch = {.url = url};
    takt_redis_url *sentinel = malloc(sizeof *sentinel); /* too large for some stacks */

    if (sentinel == NULL) {
        takt_checkup_fail(checkup, TAKT_E_NOMEM, "sentinel", "no memory");
        return;
    }
    ask(checkup, &watch, sentinel, trust);
    tell(checkup, &watch);
    takt_redis_url_close(sentinel);
    free(sentinel);
}
