/*
 * doctor.c: see takt/doctor.h.  Decides in what order a store is looked at: first its kind says
 * what it sees, then, unless that was an error already, every operation is tried.
 */
#include "store/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

#include "base/random.h"

#define TIMEOUT_US INT64_C(1000000) /* where the options say nothing */

const char *takt_finding_level_name(takt_finding_level level)
{
    static const char *const names[] = {"ok", "note", "warning", "error"};

    return level <= TAKT_FINDING_ERROR ? names[level] : "?";
}

static void tell(takt_checkup *checkup, takt_finding_level level, const char *subject,
                 const char *format, va_list arguments)
{
    char text[2 * TAKT_ERROR_TEXT_SIZE];
    takt_finding finding = {level, subject, text};

    vsnprintf(text, sizeof text, format, arguments);
    checkup->on_finding(checkup->data, &finding);
}

void takt_checkup_tell(takt_checkup *checkup, takt_finding_level level, const char *subject,
                       const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(checkup, level, subject, format, arguments);
    va_end(arguments);
}

void takt_checkup_fail(takt_checkup *checkup, int code, const char *subject, const char *format,
                       ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(checkup, TAKT_FINDING_ERROR, subject, format, arguments);
    va_end(arguments);
    if (checkup->code == 0)
        checkup->code = code;
}

void takt_checkup_key(char key[TAKT_CHECKUP_KEY_SIZE])
{
    uint64_t state = uv_hrtime() ^ (uint64_t)(uintptr_t)key;

    (void)uv_random(NULL, NULL, &state, sizeof state, 0, NULL); /* else the clock and an address */
    snprintf(key, TAKT_CHECKUP_KEY_SIZE, "%016llx", (unsigned long long)takt_random(&state));
}

const char *takt_checkup_span(int64_t span_us, char text[TAKT_CHECKUP_SPAN_SIZE])
{
    static const struct {
        int64_t us;
        const char *unit;
    } units[] = {{INT64_C(86400000000), "days"}, {INT64_C(3600000000), "h"}, {60000000, "min"}};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (span_us >= 2 * units[i].us) {
            snprintf(text, TAKT_CHECKUP_SPAN_SIZE, "%lld %s", (long long)(span_us / units[i].us),
                     units[i].unit);
            return text;
        }
    if (span_us >= 1000000)
        snprintf(text, TAKT_CHECKUP_SPAN_SIZE, "%lld s", (long long)(span_us / 1000000));
    else if (span_us >= 1000)
        snprintf(text, TAKT_CHECKUP_SPAN_SIZE, "%lld ms", (long long)(span_us / 1000));
    else
        snprintf(text, TAKT_CHECKUP_SPAN_SIZE, "%lld us", (long long)span_us);
    return text;
}

const char *takt_checkup_bytes(int64_t bytes, char text[TAKT_CHECKUP_SPAN_SIZE])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    for (; bytes >= 10240 && unit < sizeof units / sizeof units[0] - 1; unit++)
        bytes /= 1024;
    snprintf(text, TAKT_CHECKUP_SPAN_SIZE, "%lld %s", (long long)bytes, units[unit]);
    return text;
}

/* The kind of store that the URL names, NULL after an error. */
static const takt_store_kind *begin(takt_checkup *checkup, const char *url, const char **rest,
                                    const takt_doctor_options *options, takt_finding_cb on_finding,
                                    void *data)
{
    static const takt_doctor_options none;
    takt_error error;

    options = options != NULL ? options : &none;
    *checkup =
        (takt_checkup){.name_space = options->name_space ? options->name_space : "default",
                       .timeout_us = options->timeout_us > 0 ? options->timeout_us : TIMEOUT_US,
                       .on_finding = on_finding,
                       .data = data};
    checkup->code = takt_store_check_url(url, &error);
    if (checkup->code != 0) {
        takt_checkup_fail(checkup, checkup->code, "store", "%s", error.text);
        return NULL;
    }
    return takt_store_kind_of(url, rest, &error);
}

int takt_doctor(const char *url, const takt_doctor_options *options, takt_finding_cb on_finding,
                void *data)
{
    takt_checkup checkup;
    const char *rest;
    const takt_store_kind *kind = begin(&checkup, url, &rest, options, on_finding, data);

    if (kind != NULL)
        kind->examine(&checkup, rest);
    if (checkup.code == 0)
        takt_checkup_use(&checkup, url);
    return checkup.code;
}

int takt_doctor_load_scripts(const char *url, const takt_doctor_options *options,
                             takt_finding_cb on_finding, void *data)
{
    takt_checkup checkup;
    const char *rest;
    const takt_store_kind *kind = begin(&checkup, url, &rest, options, on_finding, data);

    if (kind != NULL && kind->load_scripts != NULL)
        kind->load_scripts(&checkup, rest);
    else if (kind != NULL)
        takt_checkup_fail(
            &checkup, TAKT_E_INVALID, "scripts",
            "stores of the kind \"%s\" have no scripts: only Redis and Valkey run any",
            kind->scheme);
    return checkup.code;
}
