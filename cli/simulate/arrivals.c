/*
 * `takt simulate --arrivals`: reads arrivals line by line and prints the decision on each.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <takt/takt.h>

#include "kit/message.h"
#include "simulate.h"

#define WORDS_MAX 4
#define COST_SIZE (TAKT_AMOUNTS_MAX * (TAKT_UNIT_SIZE_MAX + 16))

typedef struct cli_reading {
    const char *name; /* of the file, for messages */
    FILE *file;
    int64_t line;
    int64_t last_us;
    char units[TAKT_AMOUNTS_MAX][TAKT_UNIT_SIZE_MAX + 1]; /* that arrivals name */
    char *text;
    size_t capacity;
} cli_reading;

/* ---- reading --------------------------------------------------------------------------------- */

/* "arrivals.txt:3: ..." */
__attribute__((format(printf, 2, 3))) static int refuse_line(const cli_reading *reading,
                                                             const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    takt_message("%s:%lld: %s", reading->name, (long long)reading->line, text);
    return EX_USAGE;
}

static int read_whole(const cli_reading *reading, const char *what, const char *word, long max,
                      int32_t *value)
{
    char shown[TAKT_QUOTE_SIZE];
    long number = strlen(word) < 9 ? strtol(word, NULL, 10) : max + 1;

    if (strspn(word, "0123456789") != strlen(word) || number > max)
        return refuse_line(reading, "%s: %s is a whole number from 0 to %ld",
                           takt_quote(word, shown), what, max);
    *value = (int32_t)number;
    return 0;
}

/* The unit of that name, which decisions refer to; NULL: lines name too many. */
static const char *keep_unit(cli_reading *reading, const char *name, size_t size)
{
    for (int i = 0; i < TAKT_AMOUNTS_MAX && size <= TAKT_UNIT_SIZE_MAX; i++) {
        if (reading->units[i][0] == '\0')
            memcpy(reading->units[i], name, size);
        if (strncmp(reading->units[i], name, size) == 0 && reading->units[i][size] == '\0')
            return reading->units[i];
    }
    return NULL;
}

/* "3", or "tokens=1500,calls=2". */
static int read_cost(cli_reading *reading, char *word, takt_arrival *arrival)
{
    char *rest, shown[TAKT_QUOTE_SIZE];
    int count = 0;

    if (!strchr(word, '='))
        return read_whole(reading, "the cost", word, TAKT_COST_MAX, &arrival->cost);
    for (char *part = strtok_r(word, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        size_t size = strcspn(part, "=");
        const char *unit = keep_unit(reading, part, size);
        int32_t amount = 0;
        if (size == 0 || part[size] != '=' || !unit || count == TAKT_AMOUNTS_MAX)
            return refuse_line(reading,
                               "%s: a cost is a number, or up to %d amounts like "
                               "tokens=1500,calls=2",
                               takt_quote(part, shown), TAKT_AMOUNTS_MAX);
        takt_quote(unit, shown);
        if (read_whole(reading, shown, part + size + 1, TAKT_COST_MAX, &amount) != 0)
            return EX_USAGE;
        arrival->amounts[count++] = (takt_amount){unit, amount};
    }
    return 0;
}

static int read_seconds(const cli_reading *reading, const char *what, const char *word, int64_t *us)
{
    char shown[TAKT_QUOTE_SIZE];

    if (takt_cli_read_decimal(word, strlen(word), us) == 0)
        return 0;
    return refuse_line(reading, "%s: %s in seconds, from 0, with at most six decimals, like 9.5",
                       takt_quote(word, shown), what);
}

/* Takes a line apart; words beyond those known count, but are not kept. */
static int split(char *text, char *words[WORDS_MAX])
{
    char *rest;
    int count = 0;

    text[strcspn(text, "#")] = '\0';
    for (char *word = strtok_r(text, " \t\r\n\v\f", &rest); word;
         word = strtok_r(NULL, " \t\r\n\v\f", &rest), count++)
        if (count < WORDS_MAX)
            words[count] = word;
    return count;
}

static int read_arrival(cli_reading *reading, char *words[WORDS_MAX], int count,
                        takt_arrival *arrival)
{
    char before[TAKT_CLI_DECIMAL_SIZE];
    int status =
        read_seconds(reading, "a line begins with the time of arrival,", words[0], &arrival->at_us);

    if (status == 0 && count > 1)
        status = read_cost(reading, words[1], arrival);
    if (status == 0 && count > 2)
        status =
            read_whole(reading, "the priority", words[2], TAKT_PRIORITY_MAX, &arrival->priority);
    if (status == 0 && count > 3)
        status = read_seconds(reading, "the longest wait is", words[3], &arrival->max_wait_us);
    if (status == 0 && count > WORDS_MAX)
        status = refuse_line(
            reading, "there are %d words; write SECONDS [COST [PRIORITY [MAX_WAIT_SECONDS]]]",
            count);
    if (status == 0 && arrival->at_us < reading->last_us)
        status = refuse_line(reading,
                             "%s comes before %s of an earlier line; write arrivals in their order",
                             words[0], takt_cli_decimal(reading->last_us, before));
    if (status == 0)
        reading->last_us = arrival->at_us;
    return status;
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void print_seconds(const char *name, int64_t us, bool is_known)
{
    char text[TAKT_CLI_DECIMAL_SIZE];

    printf(",\"%s\":%s", name, is_known ? takt_cli_decimal(us, text) : "null");
}

/* "3"; of amounts "tokens=1500,calls=2", or {"tokens":1500,"calls":2}. */
static const char *cost_of(const takt_arrival *arrival, bool json, char text[COST_SIZE])
{
    int size = 0;

    if (!arrival->amounts[0].unit)
        snprintf(text, COST_SIZE, "%d", (int)arrival->cost);
    for (int i = 0; i < TAKT_AMOUNTS_MAX && arrival->amounts[i].unit; i++)
        size +=
            snprintf(text + size, COST_SIZE - (size_t)size, json ? "%s\"%s\":%lld" : "%s%s=%lld",
                     i > 0  ? ","
                     : json ? "{"
                            : "",
                     arrival->amounts[i].unit, (long long)arrival->amounts[i].amount);
    if (json && size > 0)
        strcpy(text + size, "}");
    return text;
}

static void print_json(const takt_decision *decision, void *data)
{
    char text[TAKT_CLI_DECIMAL_SIZE], cost[COST_SIZE];

    (void)data;
    printf("{\"at\":%s,\"cost\":%s,\"granted\":%s", takt_cli_decimal(decision->arrival.at_us, text),
           cost_of(&decision->arrival, true, cost), decision->granted ? "true" : "false");
    print_seconds("slot", decision->slot_us, decision->granted);
    print_seconds("wait", decision->slot_us - decision->arrival.at_us, decision->granted);
    printf(",\"remaining\":%lld", (long long)decision->remaining);
    print_seconds("retry_after", decision->retry_after_us, decision->retry_after_us >= 0);
    print_seconds("reset_after", decision->reset_after_us, true);
    printf("}\n");
}

static void print_line(const takt_decision *decision, void *data)
{
    char at[TAKT_CLI_DECIMAL_SIZE], slot[TAKT_CLI_DECIMAL_SIZE], other[TAKT_CLI_DECIMAL_SIZE];
    char cost[COST_SIZE];

    (void)data;
    cost_of(&decision->arrival, false, cost);
    takt_cli_decimal(decision->arrival.at_us, at);
    if (decision->granted)
        printf("%14s %7s %14s %14s %10lld %14s\n", at, cost,
               takt_cli_decimal(decision->slot_us, slot),
               takt_cli_decimal(decision->slot_us - decision->arrival.at_us, other),
               (long long)decision->remaining, "");
    else
        printf("%14s %7s %14s %14s %10lld %14s\n", at, cost, "refused", "",
               (long long)decision->remaining,
               decision->retry_after_us < 0 ? "never"
                                            : takt_cli_decimal(decision->retry_after_us, other));
}

/* ---- both ------------------------------------------------------------------------------------ */

static int feed(cli_reading *reading, takt_oracle *oracle, const takt_limit *limit)
{
    takt_error error = {0};
    char *words[WORDS_MAX];
    int failed = 0;

    while (failed == 0 && getline(&reading->text, &reading->capacity, reading->file) >= 0) {
        takt_arrival arrival = {.cost = 1, .priority = TAKT_PRIORITY_DEFAULT, .max_wait_us = -1};
        int count = split(reading->text, words);
        int status;
        reading->line++;
        if (count == 0)
            continue;
        status = read_arrival(reading, words, count, &arrival);
        if (status)
            return status;
        failed = takt_oracle_arrive(oracle, &arrival);
        if (failed == TAKT_E_INVALID && takt_oracle_check(limit, &arrival, &error) != 0)
            return refuse_line(reading, "%s", error.text);
    }
    if (failed == 0 && !feof(reading->file)) { /* without memory, too, a line is missing */
        int status = errno == ENOMEM ? EX_OSERR : EX_NOINPUT;
        takt_message("cannot read %s: %s", reading->name, strerror(errno));
        return status;
    }
    if (failed == 0)
        failed = takt_oracle_end(oracle);
    if (failed)
        takt_message("%s", takt_strerror(failed));
    return failed ? EX_OSERR : 0;
}

int takt_cli_simulate_arrivals(const takt_cli_simulate_plan *plan)
{
    bool from_standard_input = strcmp(plan->arrivals, "-") == 0;
    cli_reading reading = {.name = plan->arrivals, .file = stdin};
    takt_oracle *oracle;
    takt_error error = {0};
    int status;

    if (!from_standard_input)
        reading.file = fopen(plan->arrivals, "r");
    if (!reading.file) {
        takt_message("cannot read %s: %s", plan->arrivals, strerror(errno));
        return EX_NOINPUT;
    }
    status = takt_oracle_open(&oracle, plan->limit, plan->start_us, plan->try_only,
                              plan->settings->json ? print_json : print_line, NULL);
    if (status == 0) {
        if (!plan->settings->json)
            printf("%14s %7s %14s %14s %10s %14s\n", "at", "cost", "slot", "wait", "remaining",
                   "retry after");
        status = feed(&reading, oracle, plan->limit);
        takt_oracle_close(oracle);
    } else if (status == TAKT_E_INVALID) { /* the moment of --start was checked */
        takt_oracle_check(plan->limit, NULL, &error);
        takt_message("%s", error.text);
        status = EX_USAGE;
    } else {
        takt_message("%s", takt_strerror(status));
        status = EX_OSERR;
    }
    free(reading.text);
    if (!from_standard_input)
        fclose(reading.file);
    int written = takt_message_end_output();
    return status ? status : written;
}
