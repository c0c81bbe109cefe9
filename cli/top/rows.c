/*
 * Looks at limits, and computes rates from the tokens taken between looks. The window of a rate is
 * long enough for about ten tokens, five seconds to a minute.
 */
#include <stdlib.h>
#include <string.h>

#include "common/standing.h"
#include "kit/outer_limit.h"
#include "top.h"

#define WINDOW_MIN_US INT64_C(5000000)
#define WINDOW_MAX_US INT64_C(60000000)
#define WATCH_MIN_US  INT64_C(10000000)
#define TOKENS        10 /* tokens in a window */

static bool reserve(takt_cli_rows *rows)
{
    takt_cli_row **all;
    size_t capacity = rows->capacity ? 2 * rows->capacity : 16;

    if (rows->count < rows->capacity)
        return true;
    all = realloc(rows->all, capacity * sizeof(*all));
    if (!all)
        return false;
    rows->all = all;
    rows->capacity = capacity;
    return true;
}

bool takt_cli_rows_add(takt_cli_rows *rows, const takt_cli_target *target)
{
    takt_cli_row *row = reserve(rows) ? calloc(1, sizeof(*row)) : NULL;

    if (!row)
        return false;
    row->rows = rows;
    row->target = *target;
    if (!target->key)
        row->target.text = row->target.limit;
    row->look.data = row->steer.data = row;
    row->status = 1;
    row->subject = "tenant";
    row->rate = -1;
    for (int i = 0; i < TAKT_CLI_TOP_HISTORY; i++)
        row->history[i] = -1;
    rows->all[rows->count++] = row;
    return true;
}

static bool has_row(const takt_cli_rows *rows, const char *limit)
{
    for (size_t i = 0; i < rows->count; i++)
        if (!rows->all[i]->target.key && strcmp(rows->all[i]->target.limit, limit) == 0)
            return true;
    return false;
}

bool takt_cli_rows_add_policy(takt_cli_rows *rows)
{
    const takt_policy *policy = takt_get_policy(rows->session->client);

    for (size_t i = 0; i < takt_policy_count(policy); i++) {
        takt_cli_target target = {.key = NULL};
        if (has_row(rows, takt_policy_name(policy, i)))
            continue;
        strcpy(target.limit, takt_policy_name(policy, i)); /* names have a maximum length */
        if (!takt_cli_rows_add(rows, &target))
            return false;
    }
    return true;
}

static void free_row(takt_cli_row *row)
{
    free(row->own_text);
    free(row->tenants);
    free(row);
}

void takt_cli_rows_forget(takt_cli_rows *rows, size_t first)
{
    size_t kept = first;

    for (size_t i = first; i < rows->count; i++) {
        takt_cli_row *row = rows->all[i];
        row->gone = row->looking;
        if (row->looking)
            rows->all[kept++] = row;
        else
            free_row(row);
    }
    rows->count = kept;
}

/* A row that a peek kept when it was to be removed. */
static void remove_gone(takt_cli_rows *rows, takt_cli_row *row)
{
    size_t at = 0;

    while (rows->all[at] != row)
        at++;
    memmove(&rows->all[at], &rows->all[at + 1], (rows->count - at - 1) * sizeof(takt_cli_row *));
    rows->count--;
    free_row(row);
}

void takt_cli_rows_free(takt_cli_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free_row(rows->all[i]);
    free(rows->all);
    rows->all = NULL;
    rows->count = rows->capacity = 0;
}

static int64_t window_of(const takt_cli_row *row)
{
    int64_t us = row->quota_tokens > 0 ? row->quota_us / row->quota_tokens : 0;

    if (us > WINDOW_MAX_US / TOKENS)
        return WINDOW_MAX_US;
    return us * TOKENS > WINDOW_MIN_US ? us * TOKENS : WINDOW_MIN_US;
}

static void add_sample(takt_cli_row *row, int64_t at_us, int64_t taken)
{
    row->samples[row->sample_count].at_us = at_us;
    row->samples[row->sample_count].taken = taken;
    row->sample_count++;
}

static void drop_samples(takt_cli_row *row, unsigned count)
{
    row->sample_count -= count;
    memmove(row->samples, row->samples + count, row->sample_count * sizeof(row->samples[0]));
}

/* The count began at this look or, for another watcher, at an earlier one. */
static void begin_samples(takt_cli_row *row, int64_t window_us)
{
    const takt_standing *now = &row->standing;

    row->sample_count = 0;
    if (now->now_us - now->watched_since_us <= window_us)
        add_sample(row, now->watched_since_us, 0);
}

/* Computes the rate from the last look; `since_us` is that of the look before. */
static void tell_rate(takt_cli_row *row, int64_t since_us)
{
    const takt_standing *now = &row->standing;
    int64_t window_us = window_of(row), span_us, last_us;
    unsigned outside = 0;

    last_us = row->sample_count > 0 ? row->samples[row->sample_count - 1].at_us : INT64_MAX;
    if (now->watched_since_us != since_us || now->now_us < last_us)
        begin_samples(row, window_us);
    while (outside + 1 < row->sample_count &&
           row->samples[outside + 1].at_us <= now->now_us - window_us)
        outside++;
    drop_samples(row, outside);
    row->rate = -1;
    if (row->sample_count > 0) {
        span_us = now->now_us - row->samples[0].at_us;
        if (span_us > 0)
            row->rate = (double)(now->taken - row->samples[0].taken) * 1e6 / (double)span_us;
        if (span_us > 0 && row->rate < 0) /* tokens taken before are not in the count */
            row->rate = 0;
        last_us = row->samples[row->sample_count - 1].at_us;
        if (now->now_us - last_us < window_us / (TAKT_CLI_TOP_SAMPLES / 2))
            return;
    }
    if (row->sample_count == TAKT_CLI_TOP_SAMPLES)
        drop_samples(row, 1);
    add_sample(row, now->now_us, now->taken);
}

/* Stretches without a look are unknown. */
static void note_history(takt_cli_row *row)
{
    int64_t stretch = row->standing.now_us / TAKT_CLI_TOP_STRETCH_US, from = row->stretch + 1;
    int16_t percent = (int16_t)takt_cli_table_percent(row);

    if (stretch - from >= TAKT_CLI_TOP_HISTORY || stretch < row->stretch)
        from = stretch - TAKT_CLI_TOP_HISTORY + 1;
    for (int64_t i = from; i <= stretch; i++)
        row->history[i % TAKT_CLI_TOP_HISTORY] = -1;
    row->stretch = stretch;
    if (percent > row->history[stretch % TAKT_CLI_TOP_HISTORY])
        row->history[stretch % TAKT_CLI_TOP_HISTORY] = percent;
}

static void note_latency(takt_cli_rows *rows, uint64_t asked_ns)
{
    rows->latencies_us[rows->latency_count++ % TAKT_CLI_TOP_SAMPLES] =
        (int64_t)((uv_hrtime() - asked_ns) / 1000);
}

static int by_size(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;

    return first < second ? -1 : first > second;
}

int64_t takt_cli_rows_latency(const takt_cli_rows *rows)
{
    int64_t sorted[TAKT_CLI_TOP_SAMPLES];
    unsigned count =
        rows->latency_count < TAKT_CLI_TOP_SAMPLES ? rows->latency_count : TAKT_CLI_TOP_SAMPLES;

    if (count == 0)
        return -1;
    memcpy(sorted, rows->latencies_us, count * sizeof(sorted[0]));
    qsort(sorted, count, sizeof(sorted[0]), by_size);
    return sorted[count / 2];
}

/* Rows are also shown when the client is closed. */
static void learn_from_policy(takt_cli_row *row)
{
    const takt_policy *policy = takt_get_policy(row->rows->session->client);
    const char *outer = row->target.limit;

    takt_policy_rate(policy, row->target.limit, row->target.key, &row->quota_tokens,
                     &row->quota_us);
    row->subject = takt_cli_standing_subject(policy, row->target.limit);
    row->outer_count = 0;
    while (row->outer_count < TAKT_LEVELS_MAX - 1 &&
           (outer = takt_outer_limit(policy, outer, NULL)))
        snprintf(row->outer[row->outer_count++], sizeof(row->outer[0]), "%s", outer);
}

static void on_look(takt_call *call, int status, const takt_standing *standing)
{
    takt_cli_row *row = call->data;
    takt_cli_rows *rows = row->rows;
    int64_t since_us = row->seen ? row->standing.watched_since_us : 0;

    row->looking = false;
    rows->under_way--;
    if (rows->closed)
        return;
    if (standing && takt_cli_standing_keep(standing, &row->standing, &row->tenants) != 0) {
        status = TAKT_E_NOMEM;
        standing = NULL;
    }
    row->status = status;
    if (row->gone) {
        remove_gone(rows, row);
    } else if (standing) {
        row->seen = true;
        note_latency(rows, row->asked_ns);
        learn_from_policy(row);
        tell_rate(row, since_us);
        note_history(row);
    }
    if (rows->under_way == 0)
        rows->looked(rows->data);
}

/* Nothing was taken lately, and the limit is as if it had never been used. */
static bool is_at_rest(const takt_cli_row *row)
{
    const takt_standing *now = &row->standing;

    return row->seen && now->reset_after_us == 0 && now->waiting == 0 && now->held == 0 &&
           now->rate_percent == 100 && (row->rate == 0 || now->watched_since_us == 0);
}

static bool is_counted(const takt_cli_row *row)
{
    return row->rows->interval_us > 0 && !(row->rows->forgets && row->listed && is_at_rest(row));
}

void takt_cli_rows_look(takt_cli_rows *rows, size_t first, size_t count)
{
    int64_t for_us = 3 * rows->interval_us;

    for_us = for_us < WATCH_MIN_US ? WATCH_MIN_US : for_us;
    for (size_t i = first; i < rows->count && i < first + count; i++) {
        takt_cli_row *row = rows->all[i];
        if (row->looking)
            continue;
        row->asked_ns = uv_hrtime();
        int code = is_counted(row) ? takt_watch(rows->session->client, &row->look,
                                                row->target.limit, row->target.key, for_us, on_look)
                                   : takt_peek(rows->session->client, &row->look, row->target.limit,
                                               row->target.key, on_look);
        if (code == 0) {
            row->looking = true;
            rows->under_way++;
        } else {
            row->status = code;
        }
    }
    if (rows->under_way == 0)
        rows->looked(rows->data);
}
