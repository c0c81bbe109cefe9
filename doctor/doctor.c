/*
 * doctor.c: see takt/doctor.h. Decides the order of an examination: first the checks of the store's
 * kind, then, if they found no error, a trial of every operation. A new kind of store is a row in
 * the table.
 */
#include <string.h>

#include "doctor/checkup.h"
#include "doctor/kinds.h"
#include "doctor/trial.h"

#define TIMEOUT_US INT64_C(1000000) /* the default */

/* The check of a kind, and the loading of its scripts; NULL: none. */
struct kind {
    const takt_store_kind *store;
    void (*examine)(takt_checkup *checkup);
    void (*load_scripts)(takt_checkup *checkup);
};

static const struct kind kinds[] = {
    {&takt_store_file, takt_doctor_file, NULL},
    {&takt_store_memory, takt_doctor_memory, NULL},
    {&takt_store_redis, takt_doctor_redis, takt_doctor_redis_load_scripts},
    {&takt_store_rediss, takt_doctor_redis, takt_doctor_redis_load_scripts},
    {&takt_store_redis_sentinel, takt_doctor_redis, takt_doctor_redis_load_scripts},
    {&takt_store_rediss_sentinel, takt_doctor_redis, takt_doctor_redis_load_scripts},
    {&takt_store_unix, takt_doctor_redis, takt_doctor_redis_load_scripts},
    {&takt_store_agent, takt_doctor_agent, NULL},
};

const char *takt_finding_level_name(takt_finding_level level)
{
    static const char *const names[] = {"ok", "note", "warning", "error"};

    return level <= TAKT_FINDING_ERROR ? names[level] : "?";
}

/* The kind of store that the URL names; NULL after an error. */
static const struct kind *begin(takt_checkup *checkup, const char *url,
                                const takt_doctor_options *options, takt_finding_cb on_finding,
                                void *data)
{
    static const takt_doctor_options none;
    const takt_store_kind *store;
    takt_error error;
    size_t i = 0;

    options = options != NULL ? options : &none;
    *checkup =
        (takt_checkup){.url = url,
                       .name_space = options->name_space ? options->name_space : "default",
                       .timeout_us = options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US,
                       .nested = options->nested,
                       .on_finding = on_finding,
                       .data = data};
    checkup->code = takt_store_check_url(url, &error);
    if (checkup->code != 0) {
        takt_checkup_fail(checkup, checkup->code, "store", "%s", error.text);
        return NULL;
    }
    store = takt_store_kind_of(url, &checkup->rest, &error);
    while (kinds[i].store != store) /* every kind has a row */
        i++;
    return &kinds[i];
}

int takt_doctor(const char *url, const takt_doctor_options *options, takt_finding_cb on_finding,
                void *data)
{
    takt_checkup checkup;
    const struct kind *kind = begin(&checkup, url, options, on_finding, data);

    if (kind != NULL)
        kind->examine(&checkup);
    if (checkup.code == 0)
        takt_doctor_trial(&checkup);
    return checkup.code;
}

int takt_doctor_load_scripts(const char *url, const takt_doctor_options *options,
                             takt_finding_cb on_finding, void *data)
{
    takt_checkup checkup;
    const struct kind *kind = begin(&checkup, url, options, on_finding, data);

    if (kind != NULL && kind->load_scripts != NULL)
        kind->load_scripts(&checkup);
    else if (kind != NULL)
        takt_checkup_fail(
            &checkup, TAKT_E_INVALID, "scripts",
            "stores of the kind \"%s\" have no scripts: only Redis and Valkey run any",
            kind->store->scheme);
    return checkup.code;
}
