/*
 * document.c: the fields of a policy file, and the call of libcyaml that reads them. libcyaml would
 * read "10/s" as the number 10 and "maybe" as true, so every field is a text. libcyaml accepts an
 * empty file and often names a wrong line. Therefore outline.c checks the file first, and users
 * should never see an error from this file. limit_text.c decides what the texts mean.
 */
#include "policy/document.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define OPTIONAL_TEXT(key, type, member)                                                           \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0,         \
                           CYAML_UNLIMITED)

/* A list that is optional here. Later checks, which know the lines, report a missing list. */
#define OPTIONAL_LIST(key, type, member, count, entry)                                             \
    CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, count, \
                               entry, 0, CYAML_UNLIMITED)

/* libcyaml has no field that is a text or a mapping of texts, so it skips this one: the outline
 * keeps its text. */
#define TEXT_OR_PAIRS(key) CYAML_FIELD_IGNORE(key, CYAML_FLAG_OPTIONAL)

static const cyaml_schema_field_t rule_fields[] = {
    OPTIONAL_TEXT("rate", takt_rule_text, rate),
    OPTIONAL_TEXT("burst", takt_rule_text, burst),
    OPTIONAL_TEXT("algorithm", takt_rule_text, algorithm),
    OPTIONAL_TEXT("align", takt_rule_text, align),
    OPTIONAL_TEXT("timezone", takt_rule_text, timezone),
    OPTIONAL_TEXT("queue", takt_rule_text, queue),
    OPTIONAL_TEXT("counts", takt_rule_text, counts),
    OPTIONAL_TEXT("default_amount", takt_rule_text, default_amount),
    OPTIONAL_TEXT("guard", takt_rule_text, guard),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t rule_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, takt_rule_text, rule_fields),
};

static const cyaml_schema_field_t adapt_fields[] = {
    OPTIONAL_TEXT("backoff", takt_adapt_text, backoff),
    OPTIONAL_TEXT("recover", takt_adapt_text, recover),
    OPTIONAL_TEXT("floor", takt_adapt_text, floor),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t override_fields[] = {
    OPTIONAL_TEXT("key", takt_override_text, key),
    OPTIONAL_TEXT("unlimited", takt_override_text, unlimited),
    OPTIONAL_LIST("rules", takt_override_text, rules, rule_count, &rule_schema),
    OPTIONAL_TEXT("lookahead", takt_override_text, lookahead),
    OPTIONAL_TEXT("headroom", takt_override_text, headroom),
    OPTIONAL_TEXT("max_waiting", takt_override_text, max_waiting),
    OPTIONAL_TEXT("when_full", takt_override_text, when_full),
    OPTIONAL_TEXT("concurrency", takt_override_text, concurrency),
    OPTIONAL_TEXT("lease", takt_override_text, lease),
    CYAML_FIELD_MAPPING_PTR("adapt", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, takt_override_text,
                            adapt, adapt_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t override_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, takt_override_text, override_fields),
};

static const cyaml_schema_field_t limit_fields[] = {
    OPTIONAL_TEXT("name", takt_limit_text, name),
    OPTIONAL_LIST("rules", takt_limit_text, rules, rule_count, &rule_schema),
    OPTIONAL_TEXT("lookahead", takt_limit_text, lookahead),
    OPTIONAL_TEXT("headroom", takt_limit_text, headroom),
    OPTIONAL_TEXT("within", takt_limit_text, within),
    OPTIONAL_TEXT("max_waiting", takt_limit_text, max_waiting),
    OPTIONAL_TEXT("when_full", takt_limit_text, when_full),
    OPTIONAL_TEXT("priority", takt_limit_text, priority),
    OPTIONAL_TEXT("concurrency", takt_limit_text, concurrency),
    OPTIONAL_TEXT("lease", takt_limit_text, lease),
    CYAML_FIELD_MAPPING_PTR("adapt", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, takt_limit_text,
                            adapt, adapt_fields),
    OPTIONAL_TEXT("on_store_failure", takt_limit_text, on_store_failure),
    OPTIONAL_TEXT("mode", takt_limit_text, mode),
    OPTIONAL_TEXT("fair", takt_limit_text, fair),
    TEXT_OR_PAIRS("weights"),
    OPTIONAL_TEXT("default_weight", takt_limit_text, default_weight),
    TEXT_OR_PAIRS("learn"),
    TEXT_OR_PAIRS("settle"),
    OPTIONAL_TEXT("key_hash", takt_limit_text, key_hash),
    OPTIONAL_LIST("overrides", takt_limit_text, overrides, override_count, &override_schema),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t limit_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, takt_limit_text, limit_fields),
};

static const cyaml_schema_field_t document_fields[] = {
    OPTIONAL_TEXT("store", takt_document, store),
    OPTIONAL_TEXT("namespace", takt_document, name_space),
    OPTIONAL_TEXT("revision", takt_document, revision),
    OPTIONAL_TEXT("policy", takt_document, policy),
    OPTIONAL_LIST("limits", takt_document, limits, limit_count, &limit_schema),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t takt_document_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, takt_document, document_fields),
};

/* Keeps the first message. Later messages only name the callers. */
__attribute__((format(printf, 3, 0))) static void
keep_message(cyaml_log_t level, void *context, const char *format, va_list arguments)
{
    takt_error *kept = context;
    if (level < CYAML_LOG_ERROR || kept->text[0] != '\0')
        return;
    vsnprintf(kept->text, sizeof kept->text, format, arguments);
    kept->text[strcspn(kept->text, "\n")] = '\0';
}

static cyaml_config_t config_with(takt_error *kept)
{
    return (cyaml_config_t){
        .log_fn = keep_message,
        .log_ctx = kept,
        .mem_fn = cyaml_mem,
        .log_level = CYAML_LOG_ERROR,
        .flags = CYAML_CFG_NO_ALIAS,
    };
}

/* libyaml has already accepted the source. If it stops now, memory is missing; libcyaml does not
 * report that. */
static bool is_memory(cyaml_err_t code)
{
    return code == CYAML_ERR_OOM || code == CYAML_ERR_LIBYAML_PARSER_INIT ||
           code == CYAML_ERR_LIBYAML_PARSER;
}

int takt_document_load(takt_document **document, const takt_source *source, takt_error *error)
{
    takt_error kept = {0};
    cyaml_config_t config = config_with(&kept);
    cyaml_data_t *loaded = NULL;
    cyaml_err_t code = cyaml_load_data((const uint8_t *)source->text, source->size, &config,
                                       &takt_document_schema, &loaded, NULL);
    if (code == CYAML_OK && loaded != NULL) {
        *document = loaded;
        return 0;
    }
    if (is_memory(code))
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    return takt_fail(error, TAKT_E_POLICY, "%s:1: libcyaml cannot read it: %s: %s", source->name,
                     cyaml_strerror(code), kept.text);
}

void takt_document_free(takt_document *document)
{
    takt_error kept = {0};
    cyaml_config_t config = config_with(&kept);
    if (document != NULL)
        cyaml_free(&config, &takt_document_schema, document, 0);
}
