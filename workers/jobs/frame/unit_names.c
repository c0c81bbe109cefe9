/*
 * unit_names.c: see unit_names.h.
 */
#include "unit_names.h"

#include <stdlib.h>
#include <string.h>

struct takt_unit_name {
    takt_unit_name *next;
    char name[];
};

static const char *keep(takt_unit_name **names, const char *name)
{
    takt_unit_name *at = *names;
    size_t size = strlen(name) + 1;

    while (at && strcmp(at->name, name) != 0)
        at = at->next;
    if (at)
        return at->name;
    at = malloc(sizeof(*at) + size);
    if (!at)
        return NULL;
    memcpy(at->name, name, size);
    at->next = *names;
    *names = at;
    return at->name;
}

bool takt_unit_names_keep(takt_unit_name **names, const takt_amount *from,
                          takt_amount to[TAKT_AMOUNTS_MAX])
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX; i++) {
        to[i] = from[i];
        if (from[i].unit && !(to[i].unit = keep(names, from[i].unit)))
            return false;
    }
    return true;
}

void takt_unit_names_free(takt_unit_name *names)
{
    while (names) {
        takt_unit_name *next = names->next;
        free(names);
        names = next;
    }
}
