/*
 * Any text as the arrivals of `takt simulate --arrivals`; the first byte chooses the limit, and
 * whether arrivals may wait. A line is refused with its number, or each arrival gets a decision, in
 * order, and the grants keep the limit.
 */
#include "fuzz.h"

#include <ctype.h>
#include <stdbool.h>
#include <sysexits.h>

#include "simulate/simulate.h"

#define SECOND  INT64_C(1000000)
#define TRACKED 256
#define MOST    15 /* tokens in any second: burst 5, and 10/s */

static const char policy_text[] =
    "limits:\n"
    "- {name: a, rules: [{rate: 10/s, burst: 5}]}\n"
    "- {name: b, rules: [{rate: 3/min, algorithm: sliding-log}], max_waiting: 3}\n"
    "- {name: c, rules: [{rate: 7/s, algorithm: fixed-window}, {rate: 100/h, burst: 9}],"
    " max_waiting: 2, when_full: drop-oldest}\n";

/* The output, kept instead of shown. */
typedef struct capture {
    FILE *shown, *into;
    char *text;
    size_t size;
} capture;

static void begin_capture(capture *self, FILE **stream)
{
    *self = (capture){.shown = *stream};
    self->into = open_memstream(&self->text, &self->size);
    require(self->into != NULL);
    *stream = self->into;
}

static void end_capture(capture *self, FILE **stream)
{
    *stream = self->shown;
    require(fclose(self->into) == 0);
}

/* Lines that say something. */
static int count_arrivals(const char *text, size_t size)
{
    const char *end = text + size;
    int count = 0;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        char *line = fuzz_copy(text, length);
        line[strcspn(line, "#")] = '\0';
        count += line[strspn(line, " \t\r\n\v\f")] != '\0';
        free(line);
        text = newline ? newline + 1 : end;
    }
    return count;
}

/* The number of a member, in microseconds; -1: null. */
static int64_t member(const char *object, const char *name)
{
    const char *at = strstr(object, name);
    int64_t us = -1;

    require(at != NULL);
    at += strlen(name);
    if (strncmp(at, "null", 4) != 0)
        require(takt_cli_read_decimal(at, strspn(at, "0123456789."), &us) == 0);
    return us;
}

static void check_decisions(char *text, int expected, bool is_first_limit)
{
    int64_t slots[TRACKED], costs[TRACKED], last_us = 0;
    int count = 0, granted = 0;
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        int64_t at_us = member(line, "{\"at\":"), slot_us = member(line, ",\"slot\":");
        require(at_us >= last_us && (slot_us < 0 || slot_us >= at_us));
        require((slot_us >= 0) == (strstr(line, "\"granted\":true") != NULL));
        last_us = at_us;
        count++;
        if (slot_us >= 0 && granted < TRACKED) {
            slots[granted] = slot_us;
            costs[granted++] = member(line, ",\"cost\":") / SECOND;
        }
    }
    require(count == expected);
    for (int i = 0; is_first_limit && i < granted; i++) {
        int64_t taken = 0;
        for (int j = 0; j < granted; j++)
            if (slots[j] >= slots[i] && slots[j] < slots[i] + SECOND)
                taken += costs[j];
        require(taken <= MOST);
    }
}

static void check_message(const char *text, const char *path)
{
    char begin[FUZZ_PATH_SIZE + 16];

    snprintf(begin, sizeof begin, "takt: %s:", path);
    require(strncmp(text, begin, strlen(begin)) == 0 &&
            isdigit((unsigned char)text[strlen(begin)]));
    for (; *text; text++)
        require(((unsigned char)*text >= 0x20 && *text != 0x7f) || (*text == '\n' && !text[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static takt_policy *policy;
    takt_cli_settings settings = {.json = true};
    takt_cli_simulate_plan plan = {.settings = &settings};
    char path[FUZZ_PATH_SIZE];
    capture output, messages;
    int status, file;

    if (size == 0)
        return 0;
    if (policy == NULL)
        require(takt_policy_parse(&policy, "fuzz", policy_text, strlen(policy_text), NULL) == 0);
    plan.limit = takt_policy_limit(policy, takt_policy_name(policy, data[0] % 3));
    plan.try_only = data[0] & 4;
    plan.start_us = data[0] & 8 ? INT64_C(1763692800) * SECOND : 0;
    file = fuzz_file(data + 1, size - 1, path);
    plan.arrivals = path;
    begin_capture(&output, &stdout);
    begin_capture(&messages, &stderr);
    status = takt_cli_simulate_arrivals(&plan);
    end_capture(&messages, &stderr);
    end_capture(&output, &stdout);
    require(status == 0 || status == EX_USAGE);
    if (status == 0)
        check_decisions(output.text, count_arrivals((const char *)data + 1, size - 1),
                        data[0] % 3 == 0);
    else
        check_message(messages.text, path);
    free(output.text);
    free(messages.text);
    close(file);
    return 0;
}
