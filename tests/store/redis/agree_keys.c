/*
 * agree_keys.c: a server's keys read back as a ledger's text, and whether they are as the scripts
 * mean to keep them.
 */
#include "agree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_PAGE 12                 /* entries */
#define TURNS    (INT64_C(1) << 49) /* of a priority, in the scores of a line */

/* ---- the line -------------------------------------------------------------------------------- */

/* A place as the text lists it. */
typedef struct listed {
    char text[512];
    int64_t score;
} listed;

typedef struct totals {
    int64_t waiting, workers, members, late;
    int64_t places[TAKT_PRIORITIES], standing[TAKT_PRIORITIES], wanting[TAKT_PRIORITIES];
    int64_t lacking[TAKT_PRIORITIES];
    int64_t asking[TAKT_PRIORITIES];
    int64_t weight[TAKT_PRIORITIES], shares[TAKT_PRIORITIES];
    int64_t last[TAKT_PRIORITIES]; /* the highest turn of those that stand */
    int64_t more[TAKT_MORE_MAX][TAKT_PRIORITIES];
    int64_t latest_us, min_us;
} totals;

/* The score of a member of the line; INT64_MIN if it has none. */
static int64_t score_of(const redisReply *line, const char *member)
{
    for (size_t i = 0; i + 1 < line->elements; i += 2)
        if (strcmp(line->element[i]->str, member) == 0)
            return (int64_t)strtod(line->element[i + 1]->str, NULL);
    return INT64_MIN;
}

/* The next place of a worker; *at moves on.  The totals count it, and the line is to agree. */
static void read_place(const char **at, const char *worker, int64_t seq, const redisReply *line,
                       totals *sums, listed *url)
{
    long long turn, wanting, need, waiting, again;
    long long weight = 1, left = 0;
    char member[32], weights[80] = "", marks[5] = "", further[TAKT_MORE_MAX * 64] = "", *told;
    int priority, taken = 0, units = 0;
    int64_t expires_us = -score_of(line, worker);
    bool aside;

    if (sscanf(*at, ";%d,%lld,%lld,%lld,%lld,%lld%n", &priority, &turn, &wanting, &need, &waiting,
               &again, &taken) != 6)
        agree_fail("a place that cannot be read");
    *at += taken;
    if (**at == '*' || **at == '-') {
        size_t size = strcspn(*at, ",;/");
        sscanf(*at, "*%lld+%lld", &weight, &left);
        snprintf(weights, sizeof weights, "%.*s", (int)size, *at);
        *at += size;
    }
    if (**at == ',' && sscanf(*at, ",%4[afpo]%n", marks, &taken) == 1)
        *at += taken;
    aside = strchr(marks, 'a') != NULL;
    for (size_t size = 0; **at == '/' && units < TAKT_MORE_MAX; *at += taken, units++) {
        long long wanted, needed;
        if (sscanf(*at, "/%lld,%lld%n", &wanted, &needed, &taken) != 2)
            agree_fail("a place whose further amounts cannot be read");
        size +=
            (size_t)snprintf(further + size, sizeof further - size, "/%lld,%lld", wanted, needed);
        sums->more[units][priority] += aside ? 0 : wanted;
    }
    told = strchr(marks, 'o'); /* which only the keys tell */
    if (told && (told == marks || told[-1] != 'p'))
        agree_fail("a place that was told of a lease and lacks no permit");
    if (told)
        *told = '\0';
    url->score = priority * TURNS + turn;
    snprintf(url->text, sizeof url->text,
             ";w%s,%" PRId64 ",%d,%lld,%lld,%lld,%lld,%lld,%" PRId64 "%s%s%s%s", worker, seq,
             priority, turn, wanting, need, waiting, again, expires_us, weights, *marks ? "," : "",
             marks, further);
    snprintf(member, sizeof member, "%s:%d", worker, priority);
    if (score_of(line, member) != (aside ? INT64_MIN : url->score))
        agree_fail("the order of the line is not that of its places");
    sums->waiting += waiting;
    sums->late += aside ? waiting : 0;
    sums->workers += strchr(marks, 'f') != NULL;
    sums->members += !aside;
    sums->places[priority]++;
    sums->standing[priority] += !aside;
    sums->wanting[priority] += aside ? 0 : wanting;
    sums->lacking[priority] += !aside && strchr(marks, 'p') != NULL;
    sums->asking[priority] += aside ? 0 : waiting;
    sums->weight[priority] += aside ? 0 : weight;
    sums->shares[priority] += aside ? 0 : takt_max(takt_min(left > 0 ? left : weight, waiting), 1);
    sums->last[priority] = takt_max(sums->last[priority], aside ? 0 : turn);
    sums->latest_us = expires_us > sums->latest_us ? expires_us : sums->latest_us;
    sums->min_us = expires_us < sums->min_us ? expires_us : sums->min_us;
}

/* How many units beside tokens the totals of a priority tell. */
static int count_units(const char *text)
{
    int units = 0;

    for (text = strchr(text, '/'); text && *text && *text != ';'; text++)
        units += *text == '/';
    return units;
}

/* What `text` says of places that owe turns, and may say still when none does: they are beyond the
 * last `turn`, and none is beyond what it says. */
static const char *owed_in(const char *text, int64_t last, int64_t turn, char *owed)
{
    int size = 0;
    long long most = 0;

    if (*text == '-' && (sscanf(text, "-%lld%n", &most, &size) != 1 || most <= turn))
        agree_fail("places that owe turns, which are past");
    if (last > takt_max(most, turn))
        agree_fail("a place that owes turns, of which the totals do not tell");
    sprintf(owed, "%.*s", size, text);
    return owed;
}

/* The totals that the line keeps are those of its places; `turn` is the last one. */
static void check_totals(const char *text, const totals *sums, int64_t turn)
{
    char expected[1024], owed[32];
    int units = count_units(text);
    long long min, kept;
    int n = snprintf(expected, sizeof expected, "%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                     sums->waiting, sums->workers, sums->latest_us);

    if (strncmp(text, expected, (size_t)n) != 0 ||
        sscanf(text + n, "%lld,%lld%n", &min, &kept, &n) != 2 || min > sums->min_us)
        agree_fail("the line's totals are not those of its places");
    text = strchr(text, ',');
    for (int i = 0; i < 4 && text; i++) /* behind KEPT */
        text = strpbrk(text + 1, ",;");
    n = sums->late > 0 ? snprintf(expected, sizeof expected, ",%" PRId64, sums->late) : 0;
    expected[n] = '\0';
    for (int i = 0; i < TAKT_PRIORITIES; i++) {
        if (sums->places[i] > 0)
            n += snprintf(expected + n, sizeof expected - (size_t)n,
                          ";%d,%" PRId64 ",%" PRId64 ",%" PRId64, i, sums->places[i],
                          sums->standing[i], sums->wanting[i]);
        if (sums->lacking[i] > 0)
            n += snprintf(expected + n, sizeof expected - (size_t)n, ",%" PRId64, sums->lacking[i]);
        if (sums->places[i] > 0 && units > 0)
            n += snprintf(expected + n, sizeof expected - (size_t)n, "/%" PRId64, sums->asking[i]);
        if (sums->weight[i] > sums->standing[i])
            n += snprintf(expected + n, sizeof expected - (size_t)n, "*%" PRId64 "+%" PRId64,
                          sums->weight[i], sums->shares[i]);
        if (sums->places[i] > 0 && text && strlen(text) >= (size_t)n)
            n += snprintf(expected + n, sizeof expected - (size_t)n, "%s",
                          owed_in(text + n, sums->last[i], turn, owed));
        for (int unit = 1; sums->places[i] > 0 && unit < units; unit++)
            n += snprintf(expected + n, sizeof expected - (size_t)n, "/%" PRId64,
                          sums->more[unit - 1][i]);
    }
    if (!text || strcmp(text, expected) != 0)
        agree_fail("the totals of the line's priorities are not those of its places");
}

static int by_score(const void *a, const void *b)
{
    int64_t left = ((const listed *)a)->score, right = ((const listed *)b)->score;

    return (left > right) - (left < right);
}

char *agree_keys_line(const char *text, char *at, const redisReply *places, const redisReply *line,
                      int64_t *latest_us)
{
    static listed list[AGREE_WORKERS * TAKT_PRIORITIES];
    totals sums = {.min_us = INT64_MAX};
    const char *all = NULL, *turn = text[0] == 't' ? text - 1 : strstr(text, ";t");
    size_t count = 0, workers = 0;

    for (size_t i = 0; i + 1 < places->elements; i += 2) {
        const char *worker = places->element[i]->str, *record = places->element[i + 1]->str;
        char *end;
        int64_t seq;
        if (strcmp(worker, "all") == 0) {
            all = record;
            continue;
        }
        workers++;
        seq = strtoll(record, &end, 10);
        for (const char *next = end; *next; count++)
            read_place(&next, worker, seq, line, &sums, &list[count]);
    }
    if ((all == NULL) != (count == 0) || line->elements != 2 * (workers + (size_t)sums.members))
        agree_fail("the line's keys are not those of its places");
    if (all)
        check_totals(all, &sums, turn ? strtoll(turn + 2, NULL, 10) : 0);
    *latest_us = sums.latest_us;
    qsort(list, count, sizeof *list, by_score);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, list[i].text);
    return at;
}

void agree_keys_log(const char *text, const redisReply *log)
{
    size_t pages = 0;

    for (const char *at = strchr(text, '#'); at; at = strchr(at + 1, '#')) {
        long long first, next;
        int book;
        if (sscanf(at, "#%d,%lld,%lld", &book, &first, &next) != 3)
            agree_fail("a log that cannot be read");
        for (long long page = first / LOG_PAGE; page * LOG_PAGE < next; page++, pages++) {
            char field[64];
            size_t i = 0;
            snprintf(field, sizeof field, "%d:%lld", book, page);
            while (i < log->elements && strcmp(log->element[i]->str, field) != 0)
                i++;
            if (i == log->elements)
                agree_fail("a page of a log is missing");
        }
    }
    if (log->elements != pages)
        agree_fail("there are pages that no log has");
}

/* ---- holders --------------------------------------------------------------------------------- */

/* A worker that holds permits, as the text lists it. */
typedef struct holder {
    unsigned long long worker;
    char text[128];
} holder;

static int by_worker(const void *a, const void *b)
{
    unsigned long long left = ((const holder *)a)->worker, right = ((const holder *)b)->worker;

    return (left > right) - (left < right);
}

int64_t agree_keys_leased(const char *text)
{
    const char *part = text[0] == 'n' ? text : strstr(text, ";n");
    long long leased = 0;

    if (part)
        sscanf(part + (*part == ';'), "n%*d,%lld", &leased);
    return leased;
}

/* The totals are those of the holders, the expiry of the key agrees with them, and it comes after
 * the last lease. */
static void check_held(const char *text, int64_t held, int64_t count, int64_t min_us,
                       int64_t leased_us, int64_t expires_at_ms)
{
    long long all_held, all_count, min, kept;

    if (!text || sscanf(text, "%lld,%lld,%lld,%lld", &all_held, &all_count, &min, &kept) != 4 ||
        all_held != held || all_count != count || min > min_us)
        agree_fail("the totals of what is held are not those of the holders");
    if (expires_at_ms != takt_ceil_div(kept, 1000) || kept < leased_us)
        agree_fail("what is held expires at another time than it should");
}

char *agree_keys_held(char *at, const redisReply *reply, int64_t leased_us, int64_t expires_at_ms)
{
    static holder list[AGREE_WORKERS];
    const char *all = NULL;
    int64_t sum = 0, min_us = INT64_MAX;
    size_t count = 0;

    if (reply->elements > 0 && expires_at_ms < 0)
        agree_fail("what is held never expires");
    if (reply->elements == 0 || leased_us == 0)
        return at;
    for (size_t i = 0; i + 1 < reply->elements; i += 2) {
        const char *worker = reply->element[i]->str, *record = reply->element[i + 1]->str;
        long long seq, held, expires;
        if (strcmp(worker, "all") == 0) {
            all = record;
            continue;
        }
        if (sscanf(record, "%lld,%lld,%lld", &seq, &held, &expires) != 3 || held < 1 ||
            expires > leased_us)
            agree_fail("a holder that cannot be");
        list[count].worker = strtoull(worker, NULL, 16);
        snprintf(list[count++].text, sizeof list->text, ";h%s,%s", worker, record);
        sum += held;
        min_us = expires < min_us ? expires : min_us;
    }
    check_held(all, sum, (int64_t)count, min_us, leased_us, expires_at_ms);
    qsort(list, count, sizeof *list, by_worker);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, list[i].text);
    return at;
}
