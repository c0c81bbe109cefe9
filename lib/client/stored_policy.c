/*
 * stored_policy.c: the stored policy for a program: reading, checking, replacing.  The stores
 * decide how it is kept (store/policy_record.h), and follow.c follows it.
 */
#include "client/stored_policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/fail.h"
#include "base/text.h"
#include "client/location.h"
#include "store/policy_record.h"

#define NAME "the stored policy" /* in messages about its lines */

typedef struct stored_text {
    takt_stored_policy stored; /* first */
    char *kept;                /* owns the text */
    takt_policy *policy;
} stored_text;

/* ---- a call of its own ----------------------------------------------------------------------- */

static void on_done(takt_store_call *call)
{
    *(bool *)call->data = true;
}

static int run_call(takt_store *store, uv_loop_t *loop, takt_store_call *call, takt_error *error)
{
    bool done = false;

    call->done = on_done;
    call->data = &done;
    takt_store_submit(store, call);
    while (!done)
        uv_run(loop, UV_RUN_ONCE);
    if (call->status < 0)
        takt_fail(error, call->status, "%s",
                  takt_is_of_store(call->status) && store->trouble ? store->trouble
                                                                   : takt_strerror(call->status));
    return call->status;
}

int takt_stored_policy_exchange(takt_op op, takt_policy_exchange *exchange,
                                const takt_policy *location, const takt_options *options,
                                takt_error *error)
{
    static const takt_options defaults = {0};
    static const takt_policy nowhere = {0};
    const takt_options *chosen = options ? options : &defaults;
    const takt_policy *from = location ? location : &nowhere;
    takt_store_options store_options = takt_location_options(chosen, from);
    takt_store_call call;
    takt_store *store;
    uv_loop_t loop;
    int code;

    if (uv_loop_init(&loop) != 0)
        return takt_fail(error, TAKT_E_SYSTEM, "no loop: %s", takt_strerror(TAKT_E_SYSTEM));
    takt_policy_call(&call, op, exchange);
    code = takt_store_open(&store, &loop, takt_location_url(chosen, from), &store_options, error);
    if (code == 0) {
        code = run_call(store, &loop, &call, error);
        takt_store_close(store, NULL, NULL);
    }
    uv_run(&loop, UV_RUN_DEFAULT); /* also closes what a failed opening has left */
    uv_loop_close(&loop);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the next field of a change, up to `end`, and cuts it to size. */
static void read_field(takt_reader *reader, char end, char *field, size_t size)
{
    const char *stop = memchr(reader->at, end, (size_t)(reader->end - reader->at));
    size_t length = stop ? (size_t)(stop - reader->at) : 0;

    reader->bad |= stop == NULL;
    snprintf(field, size, "%.*s", (int)length, reader->at);
    reader->at = stop ? stop + 1 : reader->at;
}

static int64_t read_number(takt_reader *reader)
{
    int64_t number = takt_read_int(reader, 0, TAKT_NEVER);

    takt_read_char(reader, '\t');
    return number;
}

static void read_change(takt_stored_policy *stored, takt_reader line)
{
    takt_change change = {0};

    change.version = read_number(&line);
    change.at_us = read_number(&line);
    change.revision = read_number(&line);
    change.size = read_number(&line);
    read_field(&line, '\t', change.who, sizeof change.who);
    read_field(&line, '\n', change.what, sizeof change.what);
    if (takt_read_done(&line) && stored->change_count < TAKT_CHANGES_MAX)
        stored->changes[stored->change_count++] = change;
}

/* Reads the changes, a line each, which an empty line ends.  Changes that cannot be read are left
 * out. */
static void read_history(takt_stored_policy *stored, takt_reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n') {
        const char *stop = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
        const char *next = stop ? stop + 1 : reader->end;
        read_change(stored, (takt_reader){reader->at, next, false});
        reader->at = next;
    }
    takt_read_char(reader, '\n');
}

static void read_policy(stored_text *read)
{
    takt_stored_policy *stored = &read->stored;
    takt_policy *policy;

    if (takt_policy_parse(&policy, NAME, stored->text, stored->size, &stored->trouble) < 0)
        return;
    if (takt_policy_follows(policy)) {
        takt_fail(&stored->trouble, TAKT_E_POLICY,
                  NAME " has no limits: it follows itself; apply one with limits");
        takt_policy_free(policy);
        return;
    }
    if (!policy->has_revision && stored->change_count > 0)
        takt_policy_renumber(policy, stored->changes[0].revision);
    policy->version = stored->version;
    stored->policy = read->policy = policy;
}

int takt_stored_policy_parse(takt_stored_policy **stored, takt_policy_exchange *exchange)
{
    stored_text *read = calloc(1, sizeof *read);
    takt_reader reader = {exchange->kept,
                          exchange->kept ? exchange->kept + exchange->kept_size : NULL, false};

    if (!read) {
        free(exchange->kept);
        exchange->kept = NULL;
        return TAKT_E_NOMEM;
    }
    read->kept = exchange->kept;
    exchange->kept = NULL;
    *stored = &read->stored;
    if (!read->kept)
        return 0;
    read->stored.version = exchange->version;
    read->stored.at_us = exchange->at_us;
    read_history(&read->stored, &reader);
    read->stored.text = reader.at;
    read->stored.size = (size_t)(reader.end - reader.at);
    if (reader.bad)
        takt_fail(&read->stored.trouble, TAKT_E_POLICY,
                  NAME "'s history cannot be read by this version of takt");
    else
        read_policy(read);
    return 0;
}

takt_policy *takt_stored_policy_take(takt_stored_policy *stored)
{
    stored_text *read = (stored_text *)stored;
    takt_policy *policy = read->policy;

    read->policy = NULL;
    stored->policy = NULL;
    return policy;
}

void takt_stored_policy_free(takt_stored_policy *stored)
{
    stored_text *read = (stored_text *)stored;

    if (!stored)
        return;
    takt_policy_free(read->policy);
    free(read->kept);
    free(read);
}

int takt_stored_policy_read(takt_stored_policy **stored, const takt_policy *location,
                            const takt_options *options, takt_error *error)
{
    takt_policy_exchange exchange = {0};
    int code;

    if (!stored)
        return takt_fail(error, TAKT_E_INVALID, "takt_stored_policy_read: `stored` is NULL");
    code = takt_stored_policy_exchange(TAKT_OP_POLICY, &exchange, location, options, error);
    if (code < 0)
        return code;
    code = takt_stored_policy_parse(stored, &exchange);
    return code == 0 ? 0 : takt_fail(error, code, "no memory");
}

/* ---- replacing ------------------------------------------------------------------------------- */

static bool is_same_text(const takt_stored_policy *seen, const takt_policy *policy)
{
    return seen->version > 0 && seen->size == policy->text_size &&
           memcmp(seen->text, policy->text, seen->size) == 0;
}

static int64_t last_revision(const takt_stored_policy *seen)
{
    return seen->change_count > 0 ? seen->changes[0].revision : 0;
}

int takt_stored_policy_check(const takt_stored_policy *seen, const takt_policy *policy,
                             takt_error *error)
{
    int64_t last;

    if (!seen || !policy)
        return takt_fail(error, TAKT_E_INVALID, "what was seen and a policy are required");
    if (policy->follows || !policy->text)
        return takt_fail(error, TAKT_E_POLICY,
                         policy->follows
                             ? "this policy follows the stored one itself: apply a file with limits"
                             : "this policy was built in code: apply one that was read from a "
                               "file or a text");
    last = last_revision(seen);
    if (seen->version == 0 || !policy->has_revision || policy->revision > last ||
        is_same_text(seen, policy))
        return 0;
    if (policy->revision == last && seen->policy &&
        takt_policy_compare(seen->policy, policy, NULL, NULL) == 0)
        return 0;
    return takt_fail(
        error, TAKT_E_POLICY,
        "revision: %" PRId64 " is not higher than %" PRId64
        ", that of the stored policy, which would stay in force; write revision: %" PRId64
        ", or remove it",
        policy->revision, last, last + 1);
}

/* A summary that grows, and the number of differences that no longer fit. */
typedef struct summary {
    char *text;
    size_t size, used;
    int left_out;
} summary;

static void add_difference(void *data, const takt_difference *difference)
{
    summary *made = data;
    const char *what = !difference->from ? "added" : !difference->to ? "removed" : "changed";
    size_t needed = strlen(difference->limit) + strlen(what) + 3;

    if (made->left_out > 0 || made->used + needed + sizeof ", and 4294967295 more" > made->size) {
        made->left_out++;
        return;
    }
    made->used += (size_t)snprintf(made->text + made->used, made->size - made->used, "%s%s %s",
                                   made->used > 0 ? ", " : "", difference->limit, what);
}

static void summarise(const takt_stored_policy *seen, const takt_policy *policy,
                      char what[TAKT_WHAT_SIZE])
{
    summary made = {what, TAKT_WHAT_SIZE, 0, 0};

    what[0] = '\0';
    if (seen->version > 0 && !seen->policy) {
        snprintf(what, TAKT_WHAT_SIZE, "in place of one that could not be read");
        return;
    }
    if (takt_policy_compare(seen->policy, policy, add_difference, &made) == 0)
        snprintf(what, TAKT_WHAT_SIZE, "no limit changed");
    if (made.left_out > 0)
        snprintf(what + made.used, TAKT_WHAT_SIZE - made.used, ", and %d more", made.left_out);
}

static void find_who(char *who, size_t size)
{
    char host[UV_MAXHOSTNAMESIZE] = "?";
    size_t host_size = sizeof host;
    uv_passwd_t user;
    bool known = uv_os_get_passwd(&user) == 0;

    (void)uv_os_gethostname(host, &host_size);
    snprintf(who, size, "%s@%s", known ? user.username : "?", host);
    if (known)
        uv_os_free_passwd(&user);
}

/* Replaces characters that would end a field or a line. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

static void describe_change(const takt_stored_policy *seen, const takt_policy *policy,
                            const char *who, char change[TAKT_CHANGE_SIZE])
{
    char by[TAKT_WHO_SIZE], what[TAKT_WHAT_SIZE];
    int64_t revision = policy->has_revision ? policy->revision : last_revision(seen) + 1;

    if (who)
        snprintf(by, sizeof by, "%s", who);
    else
        find_who(by, sizeof by);
    make_plain(by);
    summarise(seen, policy, what);
    _Static_assert(TAKT_CHANGE_SIZE > TAKT_WHO_SIZE + TAKT_WHAT_SIZE + 2 * 21 + 3, "room");
    snprintf(change, TAKT_CHANGE_SIZE, "%" PRId64 "\t%zu\t%s\t%s", revision, policy->text_size, by,
             what);
}

int takt_stored_policy_apply(const takt_stored_policy *seen, const takt_policy *policy,
                             const char *who, const takt_options *options, int64_t *version,
                             takt_error *error)
{
    int code = takt_stored_policy_check(seen, policy, error);
    takt_policy_exchange exchange;

    if (code < 0)
        return code;
    if (is_same_text(seen, policy)) {
        *version = seen->version;
        return 0;
    }
    exchange = (takt_policy_exchange){.seen_version = seen->version,
                                      .seen_at_us = seen->at_us,
                                      .text = policy->text,
                                      .size = policy->text_size};
    describe_change(seen, policy, who, exchange.change);
    code = takt_stored_policy_exchange(TAKT_OP_APPLY, &exchange, policy, options, error);
    if (code == 0)
        *version = exchange.version;
    if (code == TAKT_E_OVERTAKEN)
        takt_fail(error, code,
                  "somebody else has changed the stored policy meanwhile (version %" PRId64
                  "): see what it says with `takt policy`, then apply yours again",
                  exchange.version);
    return code;
}
