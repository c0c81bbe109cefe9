/*
 * load.c: loads a policy from a file or a text. source.c checks the bytes, outline.c notes the line
 * of every value, document.c reads the values as texts, and policy.c adds the limits. This file
 * inserts file and line before the errors of fields.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "policy/document.h"
#include "policy/outline.h"
#include "policy/policy.h"
#include "policy/source.h"

typedef struct policy_reading {
    takt_source source;
    takt_outline *outline;
    takt_document *document;
    takt_policy *policy;
} policy_reading;

/* Inserts file and line before an error that begins with a path. `within` is the parent of that
 * path. */
static int locate(const policy_reading *reading, int code, const char *within, takt_error *error)
{
    if (code != TAKT_E_POLICY)
        return code;
    takt_fail_prefix(error, "%s", within);
    const char *end = strstr(error->text, ": ");
    takt_mark found = takt_outline_find(reading->outline, error->text,
                                        end != NULL ? (size_t)(end - error->text) : 0);
    takt_fail_prefix(error, "%s:%zu: ", reading->source.name, found.line);
    return code;
}

/* A field whose text the outline keeps. */
static const char **field_of(takt_limit_text *limit, const char *field)
{
    return strcmp(field, "learn") == 0    ? &limit->learn
           : strcmp(field, "settle") == 0 ? &limit->settle
                                          : &limit->weights;
}

static int read_limits(policy_reading *reading, takt_error *error)
{
    const takt_document *document = reading->document;
    if (document->limit_count == 0)
        return locate(
            reading,
            takt_fail(error, TAKT_E_POLICY, "limits: are missing; write at least one limit"), "",
            error);
    size_t text_count, at = 0;
    const takt_outline_text *texts = takt_outline_texts(reading->outline, &text_count);
    for (unsigned i = 0; i < document->limit_count; i++) {
        char within[32];
        takt_limit_text limit = document->limits[i];
        for (; at < text_count && texts[at].entry == i; at++)
            *field_of(&limit, texts[at].key) = texts[at].text;
        int code = takt_policy_add(reading->policy, &limit, error);
        if (code == 0)
            continue;
        snprintf(within, sizeof within, "limits[%u].", i);
        return locate(reading, code, within, error);
    }
    return locate(reading, takt_policy_check(reading->policy, error), "", error);
}

/* Reads a policy with `policy: store`, which has no limits of its own. */
static int read_following(policy_reading *reading, takt_error *error)
{
    const takt_document *document = reading->document;
    char quoted[TAKT_QUOTE_SIZE];
    if (strcmp(document->policy, "store") != 0)
        return locate(
            reading,
            takt_fail(error, TAKT_E_POLICY,
                      "policy: %s: write store if the limits are in the store, or remove the field",
                      takt_quote(document->policy, quoted)),
            "", error);
    if (document->limit_count > 0 || document->revision != NULL)
        return locate(reading,
                      takt_fail(error, TAKT_E_POLICY,
                                "%s: with `policy: store` the store has them; remove them here and "
                                "use `takt apply FILE`",
                                document->limit_count > 0 ? "limits" : "revision"),
                      "", error);
    return takt_policy_follow(reading->policy, error);
}

static int read_all(policy_reading *reading, takt_error *error)
{
    int code = takt_source_check(&reading->source, error);
    if (code == 0)
        code = takt_outline_read(&reading->outline, &reading->source, &takt_document_schema, error);
    if (code == 0)
        code = takt_document_load(&reading->document, &reading->source, error);
    if (code == 0)
        code = takt_policy_new(&reading->policy, error);
    if (code != 0)
        return code;
    const takt_document *document = reading->document;
    if (document->store != NULL)
        code = locate(reading, takt_policy_set_store(reading->policy, document->store, error), "",
                      error);
    if (code == 0 && document->name_space != NULL)
        code =
            locate(reading, takt_policy_set_namespace(reading->policy, document->name_space, error),
                   "", error);
    if (code == 0 && document->revision != NULL)
        code = locate(reading, takt_policy_set_revision(reading->policy, document->revision, error),
                      "", error);
    if (code != 0)
        return code;
    return document->policy != NULL ? read_following(reading, error) : read_limits(reading, error);
}

/* Keeps the source text of a policy, because the policy may be put into a store. */
static int keep_text(takt_policy *policy, const char *text, size_t size, takt_error *error)
{
    policy->text = malloc(size + 1);
    if (policy->text == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    memcpy(policy->text, text, size);
    policy->text[size] = '\0';
    policy->text_size = size;
    return 0;
}

int takt_policy_parse(takt_policy **policy, const char *name, const char *text, size_t size,
                      takt_error *error)
{
    takt_error told = {0}; /* locate() reads the error, even if the caller wants none */
    policy_reading reading = {0};
    if (policy == NULL || name == NULL || (text == NULL && size > 0))
        return takt_fail(error, TAKT_E_INVALID, "no policy, no name or no text given");
    takt_source_init(&reading.source, name, text != NULL ? text : "", size);
    int code = read_all(&reading, &told);
    if (code == 0)
        code = keep_text(reading.policy, reading.source.text, reading.source.size, &told);
    takt_outline_free(reading.outline);
    takt_document_free(reading.document);
    if (code != 0) {
        takt_policy_free(reading.policy);
        if (error != NULL)
            *error = told;
        return code;
    }
    *policy = reading.policy;
    return 0;
}

int takt_policy_load(takt_policy **policy, const char *path, takt_error *error)
{
    char *text = NULL;
    size_t size = 0;
    if (policy == NULL || path == NULL)
        return takt_fail(error, TAKT_E_INVALID, "no policy or no path given");
    int code = takt_source_read(path, &text, &size, error);
    if (code == 0)
        code = takt_policy_parse(policy, path, text, size, error);
    free(text);
    return code;
}
