/*
 * misspelt.c: see misspelt.h.
 */
#include "misspelt.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <takt/worker.h>

#include "kit/text.h"

#define TOLD_MAX 16

static const char *const known[] = {"limit",  "key",      "cost",           "priority",
                                    "tenant", "deadline", "idempotency_key"};

#define KNOWN_COUNT (sizeof known / sizeof known[0])

const char *takt_misspelt_meant(const char *name)
{
    takt_suggestion meant;

    takt_suggest_begin(&meant, name);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        if (strcmp(name, known[i]) == 0)
            return NULL;
        if ((name[0] | 0x20) == known[i][0])
            takt_suggest_offer(&meant, known[i]);
    }
    return meant.best && meant.distance <= 1 ? meant.best : NULL;
}

static bool is_new(json_t **told, const char *name)
{
    if (!*told)
        *told = json_object();
    return json_object_size(*told) < TOLD_MAX && !json_object_get(*told, name) &&
           json_object_set_new_nocheck(*told, name, json_true()) == 0;
}

void takt_misspelt_tell(json_t **told, json_t *fields, const char *id)
{
    char shown[TAKT_QUOTE_SIZE], shown_id[TAKT_QUOTE_SIZE];
    const char *name;
    json_t *field;

    json_object_foreach(fields, name, field)
    {
        const char *meant = takt_misspelt_meant(name);
        if (meant && !json_object_get(fields, meant) && is_new(told, name))
            takt_worker_say("job %s: takt does not know the field %s; did you mean \"%s\"?",
                            takt_quote(id, shown_id), takt_quote(name, shown), meant);
    }
}
