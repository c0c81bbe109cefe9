/*
 * Any bytes as the record in which a store keeps the policy, or (the first byte) as a server's
 * answer about it: its values are within bounds, and a policy stored after it keeps its whole
 * history.
 */
#include "fuzz.h"

#include "client/stored_policy.h"
#include "store/policy_record.h"
#include "store/redis/policy_reply.h"

#define NOW    INT64_C(1763692800000000)
#define POLICY "limits: [{name: a, rules: [{rate: 1/s}]}]\n"
#define CHANGE "7\t43\tann@host\tmail changed"

static takt_record_scratch scratch;

static void check_live(const takt_stored_policy *stored)
{
    require(stored->change_count >= 0 && stored->change_count <= TAKT_CHANGES_MAX);
    for (int i = 0; i < stored->change_count; i++) {
        require(stored->changes[i].version >= 0 && stored->changes[i].size >= 0);
        require(memchr(stored->changes[i].who, '\0', TAKT_WHO_SIZE) != NULL);
        require(memchr(stored->changes[i].what, '\0', TAKT_WHAT_SIZE) != NULL);
    }
    if (stored->version == 0)
        return;
    require(stored->at_us > 0 && stored->text != NULL);
    require((stored->policy == NULL) == (stored->trouble.text[0] != '\0'));
    for (const char *at = stored->trouble.text; *at; at++)
        require((unsigned char)*at >= 0x20 && *at != 0x7f);
}

/* What an exchange has brought. */
static takt_stored_policy *read_live(takt_policy_exchange *exchange)
{
    takt_stored_policy *stored;

    require(takt_stored_policy_parse(&stored, exchange) == 0 && exchange->kept == NULL);
    check_live(stored);
    return stored;
}

static takt_stored_policy *look(const char *record, size_t size)
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

/* The old history follows the new change, as far as there is space. */
static void check_applied(const takt_stored_policy *before, const takt_stored_policy *after)
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
    takt_stored_policy *stored = look(record, size), *after;
    size_t new_size;
    char *new_record;

    require(stored->version <= TAKT_EXACT_MAX && stored->at_us <= TAKT_EXACT_MAX);
    require(apply(record, size, stored->version + 1, stored->at_us, &new_size) == NULL);
    new_record = apply(record, size, stored->version, stored->at_us, &new_size);
    require(new_record != NULL);
    after = look(new_record, new_size);
    if (stored->version < TAKT_EXACT_MAX && stored->at_us < TAKT_EXACT_MAX)
        check_applied(stored, after);
    free(new_record);
    takt_stored_policy_free(after);
    takt_stored_policy_free(stored);
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
        takt_stored_policy_free(read_live(&exchange));
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
