/*
 * Any bytes as the record in which a store keeps the policy, or (the first byte) as a server's
 * answer about it: what is read of it is within its bounds, and a policy that is put in its place
 * is told with all that the history had.
 */
#include "fuzz.h"

#include "client/stored_policy.h"
#include "store/policy_record.h"
#include "store/redis/policy_reply.h"

#define NOW    INT64_C(1763692800000000)
#define POLICY "limits: [{name: a, rules: [{rate: 1/s}]}]\n"
#define CHANGE "7\t43\tann@host\tmail changed"

static takt_record_scratch scratch;

static void check_live(const takt_live *live)
{
    require(live->change_count >= 0 && live->change_count <= TAKT_CHANGES_MAX);
    for (int i = 0; i < live->change_count; i++) {
        require(live->changes[i].version >= 0 && live->changes[i].size >= 0);
        require(memchr(live->changes[i].who, '\0', TAKT_WHO_SIZE) != NULL);
        require(memchr(live->changes[i].what, '\0', TAKT_WHAT_SIZE) != NULL);
    }
    if (live->version == 0)
        return;
    require(live->at_us > 0 && live->text != NULL);
    require((live->policy == NULL) == (live->trouble.text[0] != '\0'));
    for (const char *at = live->trouble.text; *at; at++)
        require((unsigned char)*at >= 0x20 && *at != 0x7f);
}

/* What an exchange has brought. */
static takt_live *read_live(takt_policy_exchange *exchange)
{
    takt_live *live;

    require(takt_stored_policy_read(&live, exchange) == 0 && exchange->kept == NULL);
    check_live(live);
    return live;
}

static takt_live *look(const char *record, size_t size)
{
    takt_policy_exchange exchange = {0};
    takt_record_change change;
    takt_store_call call;

    takt_policy_call(&call, TAKT_OP_POLICY, &exchange);
    takt_record_run(&scratch, record, size, NOW, &call, &change);
    require(call.status == 0 && change.what == TAKT_RECORD_KEEP);
    require((exchange.version == 0) == (exchange.kept == NULL));
    return read_live(&exchange);
}

/* Puts the policy in the place of the one that was seen; the new record, to be freed, or NULL. */
static char *apply(const char *record, size_t size, int64_t seen_version, int64_t seen_at_us,
                   size_t *new_size)
{
    takt_policy_exchange exchange = {.seen_version = seen_version,
                                     .seen_at_us = seen_at_us,
                                     .text = POLICY,
                                     .size = strlen(POLICY),
                                     .change = CHANGE};
    takt_record_change change;
    takt_store_call call;

    takt_policy_call(&call, TAKT_OP_APPLY, &exchange);
    takt_record_run(&scratch, record, size, NOW, &call, &change);
    require(call.status == 0 || call.status == TAKT_E_OVERTAKEN);
    require((call.status == 0) == (change.what == TAKT_RECORD_PUT));
    if (call.status != 0)
        return NULL;
    require(exchange.version == seen_version + 1 && exchange.at_us > seen_at_us);
    *new_size = change.size;
    return fuzz_copy(change.text, change.size);
}

/* The history of what was there follows the new change, as far as there is room. */
static void check_applied(const takt_live *before, const takt_live *after)
{
    require(after->version == before->version + 1 && after->at_us > before->at_us);
    require(after->policy != NULL && after->size == strlen(POLICY));
    require(memcmp(after->text, POLICY, strlen(POLICY)) == 0);
    require(after->change_count >= 1 && after->changes[0].version == after->version);
    require(after->changes[0].revision == 7 && strcmp(after->changes[0].who, "ann@host") == 0);
    for (int i = 1; i < after->change_count; i++)
        require(memcmp(&after->changes[i], &before->changes[i - 1], sizeof(takt_change)) == 0);
}

static void check_record(const char *record, size_t size)
{
    takt_live *live = look(record, size), *after;
    size_t new_size;
    char *new_record;

    require(live->version <= TAKT_EXACT_MAX && live->at_us <= TAKT_EXACT_MAX);
    require(apply(record, size, live->version + 1, live->at_us, &new_size) == NULL);
    new_record = apply(record, size, live->version, live->at_us, &new_size);
    require(new_record != NULL);
    after = look(new_record, new_size);
    if (live->version < TAKT_EXACT_MAX && live->at_us < TAKT_EXACT_MAX)
        check_applied(live, after);
    free(new_record);
    takt_live_free(after);
    takt_live_free(live);
}

static void check_reply(takt_op op, const char *bytes, size_t size)
{
    static takt_resp *resp;
    const takt_reply *reply = NULL;
    takt_policy_exchange exchange = {0};
    takt_store_call call;
    const char *why;

    if (resp == NULL)
        require((resp = takt_resp_new(NULL)) != NULL);
    require(takt_resp_restart(resp));
    if (takt_resp_feed(resp, bytes, size, &why) != 0 || takt_resp_next(resp, &reply, &why) != 1)
        return;
    takt_policy_call(&call, op, &exchange);
    if (!takt_policy_reply(&call, reply)) {
        require(exchange.kept == NULL);
        return;
    }
    require(exchange.version >= 0 && exchange.version <= TAKT_EXACT_MAX);
    require((exchange.version == 0) == (exchange.at_us == 0));
    require(op == TAKT_OP_APPLY || (exchange.version == 0) == (exchange.kept == NULL));
    require(call.status == 0 || (op == TAKT_OP_APPLY && call.status == TAKT_E_OVERTAKEN));
    if (op == TAKT_OP_POLICY)
        takt_live_free(read_live(&exchange));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes;

    if (size == 0)
        return 0;
    bytes = fuzz_copy(data + 1, size - 1);
    if (data[0] % 4 < 2)
        check_record(bytes, size - 1);
    else
        check_reply(data[0] % 4 == 2 ? TAKT_OP_POLICY : TAKT_OP_APPLY, bytes, size - 1);
    free(bytes);
    return 0;
}
