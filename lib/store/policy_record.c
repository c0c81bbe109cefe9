/*
 * policy_record.c: see policy_record.h. redis/lua/policy.lua and apply.lua make the same decisions.
 */
#include "store/policy_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define HEAD_SIZE 64 /* bytes of the first line, or of the start of a change */

/* A parsed record. */
typedef struct stored_policy {
    int64_t version, at_us; /* 0: no record, or an unreadable one */
    const char *kept;
    size_t size;
} stored_policy;

void takt_policy_call(takt_store_call *call, takt_op op, takt_policy_exchange *exchange)
{
    static const takt_limit none = {.name = ""}; /* a name that no limit has */

    *call = (takt_store_call){
        .op = op, .limit = &none, .numbers = &none.numbers, .key = "", .exchange = exchange};
}

static stored_policy read_record(const char *text, size_t size)
{
    takt_reader reader = {text, text ? text + size : NULL, text == NULL};
    stored_policy stored = {0};

    takt_read_text(&reader, "p1 ");
    stored.version = takt_read_int(&reader, 1, TAKT_EXACT_MAX);
    takt_read_char(&reader, ' ');
    stored.at_us = takt_read_int(&reader, 1, TAKT_EXACT_MAX);
    takt_read_char(&reader, '\n');
    if (reader.bad)
        return (stored_policy){0};
    stored.kept = reader.at;
    stored.size = (size_t)(reader.end - reader.at);
    return stored;
}

static void tell(const stored_policy *stored, takt_store_call *call)
{
    takt_policy_exchange *exchange = call->exchange;

    free(exchange->kept); /* left by an aborted transaction */
    exchange->kept = NULL;
    exchange->version = stored->version;
    exchange->at_us = stored->at_us;
    call->status = 0;
    if (stored->version == 0 ||
        (stored->version == exchange->seen_version && stored->at_us == exchange->seen_at_us))
        return;
    exchange->kept = malloc(stored->size + 1);
    if (exchange->kept == NULL) {
        call->status = TAKT_E_NOMEM;
        return;
    }
    memcpy(exchange->kept, stored->kept, stored->size);
    exchange->kept[stored->size] = '\0';
    exchange->kept_size = stored->size;
}

/* The size of the first lines, up to an empty line; an incomplete last line is left out. */
static size_t lines_size(const stored_policy *stored, int lines)
{
    const char *at = stored->kept, *end = at ? at + stored->size : NULL, *line_end;

    while (at < end && *at != '\n' && lines-- > 0 &&
           (line_end = memchr(at, '\n', (size_t)(end - at))) != NULL)
        at = line_end + 1;
    return (size_t)(at - stored->kept);
}

static void write_bytes(takt_writer *writer, const char *bytes, size_t size)
{
    memcpy(writer->at, bytes, size); /* the room was checked */
    writer->at += size;
}

static void write_pair(takt_writer *writer, int64_t version, char between, int64_t at_us, char end)
{
    takt_write_int(writer, version);
    takt_write_char(writer, between);
    takt_write_int(writer, at_us);
    takt_write_char(writer, end);
}

static void apply(takt_record_scratch *scratch, const stored_policy *stored, int64_t now_us,
                  takt_store_call *call, takt_record_change *change)
{
    takt_policy_exchange *exchange = call->exchange;
    size_t history = lines_size(stored, TAKT_CHANGES_KEPT - 1);
    size_t size = 2 * HEAD_SIZE + TAKT_CHANGE_SIZE + history + exchange->size;
    takt_writer writer;

    if (!takt_record_scratch_text(scratch, size)) {
        call->status = TAKT_E_NOMEM;
        return;
    }
    exchange->version = stored->version + 1;
    exchange->at_us = now_us > stored->at_us ? now_us : stored->at_us + 1;
    writer = (takt_writer){scratch->text, scratch->text + size, false};
    takt_write_text(&writer, "p1 ");
    write_pair(&writer, exchange->version, ' ', exchange->at_us, '\n');
    write_pair(&writer, exchange->version, '\t', exchange->at_us, '\t');
    takt_write_text(&writer, exchange->change);
    takt_write_char(&writer, '\n');
    write_bytes(&writer, stored->kept ? stored->kept : "", history);
    takt_write_char(&writer, '\n');
    write_bytes(&writer, exchange->text, exchange->size);
    change->what = TAKT_RECORD_PUT;
    change->text = scratch->text;
    change->size = (size_t)(writer.at - scratch->text);
    change->expires_at_us = TAKT_NEVER;
    call->status = 0;
}

void takt_policy_record_run(takt_record_scratch *scratch, const char *text, size_t size,
                            int64_t now_us, takt_store_call *call, takt_record_change *change)
{
    stored_policy stored = read_record(text, size);
    takt_policy_exchange *exchange = call->exchange;

    if (call->op == TAKT_OP_POLICY) {
        tell(&stored, call);
    } else if (stored.version != exchange->seen_version || stored.at_us != exchange->seen_at_us) {
        exchange->version = stored.version;
        exchange->at_us = stored.at_us;
        call->status = TAKT_E_OVERTAKEN;
    } else {
        apply(scratch, &stored, now_us, call, change);
    }
}

takt_policy_exchange *takt_policy_exchange_copy(const takt_policy_exchange *exchange)
{
    takt_policy_exchange *copy = malloc(sizeof *copy + exchange->size);

    if (copy == NULL)
        return NULL;
    *copy = *exchange;
    copy->kept = NULL;
    if (exchange->size > 0)
        copy->text = memcpy(copy + 1, exchange->text, exchange->size);
    return copy;
}

void takt_policy_exchange_free(takt_policy_exchange *exchange)
{
    if (exchange == NULL)
        return;
    free(exchange->kept);
    free(exchange);
}
