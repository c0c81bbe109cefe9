/*
 * wait_notice.c: see wait_notice.h.
 *
 * The position is an estimate. A new waiter is last in line; from then on takt_watch counts the
 * tokens that the others take. Their costs and priorities are unknown.
 */
#include "kit/wait_notice.h"

#include <stdio.h>
#include <string.h>

#include "kit/outer_limit.h"
#include "kit/text.h"
#include "kit/wall_clock.h"

#define FROM_MS  2000 /* a shorter wait has no notice */
#define EVERY_MS 1000
#define WATCH_US INT64_C(5000000) /* longer than the time between two ticks */

static void write_about(char *text, size_t size, double wait_us)
{
    char span[TAKT_SPAN_SIZE];

    if (wait_us > 0 && wait_us < 9e18)
        snprintf(text, size, ", about %s", takt_format_rough_span((int64_t)wait_us, span));
}

const char *takt_wait_notice_text(const takt_standing *standing, int64_t position, int64_t cost,
                                  int64_t quota_tokens, int64_t quota_us,
                                  char text[TAKT_WAIT_NOTICE_SIZE])
{
    char moment[TAKT_WALL_CLOCK_TEXT_SIZE], about[TAKT_SPAN_SIZE + 16] = "";
    int64_t before = (position > 1 ? position - 1 : 0) * cost;

    if (standing->blocked_until_us > standing->now_us) {
        snprintf(text, TAKT_WAIT_NOTICE_SIZE, "blocked until %s%s%s",
                 takt_wall_clock_text(standing->blocked_until_us, moment),
                 standing->reason[0] ? ": " : "", standing->reason);
        return text;
    }
    if (standing->concurrency > 0 && standing->held >= standing->concurrency) {
        snprintf(text, TAKT_WAIT_NOTICE_SIZE, "%lld of %lld permits held, position %lld",
                 (long long)standing->held, (long long)standing->concurrency, (long long)position);
        return text;
    }
    if (quota_tokens > 0 && standing->rate_percent > 0)
        write_about(about, sizeof(about),
                    (double)standing->retry_after_us + (double)before * (double)quota_us * 100 /
                                                           (double)quota_tokens /
                                                           (double)standing->rate_percent);
    snprintf(text, TAKT_WAIT_NOTICE_SIZE, "position %lld%s", (long long)position, about);
    return text;
}

/* A new waiter is last. Then each token taken moves it forward. A count that has restarted says
 * nothing about the time before. */
static void move_on(takt_wait_notice *notice, const takt_standing *standing)
{
    int64_t last = standing->waiting - notice->count + 1, gone = 0;

    if (notice->position == 0 || notice->watched_since_us != standing->watched_since_us)
        notice->taken = standing->taken;
    else if (standing->taken > notice->taken)
        gone = (standing->taken - notice->taken) / notice->cost;
    notice->watched_since_us = standing->watched_since_us;
    notice->taken += gone * notice->cost;
    notice->position = notice->position == 0 ? last : notice->position - gone;
    if (notice->position > last)
        notice->position = last;
    if (notice->position < 1)
        notice->position = 1;
}

/* What an outer limit has in the way comes after its name. Its line has other waiters too, so a
 * position there says nothing. */
static void find_outer(takt_wait_notice *notice, const takt_standing *standing)
{
    char text[TAKT_WAIT_NOTICE_SIZE];

    if (standing->blocked_until_us > standing->now_us)
        takt_wait_notice_text(standing, 0, 0, 0, 0, text);
    else
        snprintf(text, sizeof(text), "%lld of %lld permits held", (long long)standing->held,
                 (long long)standing->concurrency);
    snprintf(notice->found, sizeof(notice->found), "%s: %.*s", notice->asked,
             (int)sizeof(notice->found) - TAKT_NAME_SIZE_MAX - 3, text);
}

static void on_look(takt_call *call, int status, const takt_standing *standing);

/* Asks the next level that may delay work; false: there is none. */
static bool look_further(takt_wait_notice *notice)
{
    int level = notice->level;
    const char *at = takt_outer_limit(takt_get_policy(notice->client), notice->asked, &level), *key;

    if (!at)
        return false;
    snprintf(notice->asked, sizeof(notice->asked), "%s", at);
    notice->level = level;
    key = notice->within_keys[level - 1];
    return takt_peek(notice->client, &notice->call, at, key && key[0] ? key : NULL, on_look) == 0;
}

static void on_look(takt_call *call, int status, const takt_standing *standing)
{
    takt_wait_notice *notice = call->data;

    bool answered = status == 0 && standing;

    notice->looking = false;
    if (notice->outdated || (notice->level == 0 && !answered))
        return;
    if (notice->level == 0) {
        move_on(notice, standing);
        takt_wait_notice_text(standing, notice->position, notice->cost, notice->quota_tokens,
                              notice->quota_us, notice->found);
    } else if (answered && takt_holds_up(standing)) {
        find_outer(notice, standing);
    }
    notice->looking = answered && !takt_holds_up(standing) && look_further(notice);
    if (!notice->looking)
        memcpy(notice->text, notice->found, sizeof(notice->text));
}

static const char *key_of(const takt_wait_notice_waiter *waiter)
{
    return waiter->request->key ? waiter->request->key : "";
}

static bool is_other(const takt_wait_notice *notice, const takt_wait_notice_waiter *waiter)
{
    return strcmp(notice->limit, waiter->request->limit) != 0 ||
           strcmp(notice->key, key_of(waiter)) != 0;
}

static void begin(takt_wait_notice *notice, const takt_wait_notice_waiter *waiter)
{
    notice->outdated = true;
    notice->text[0] = '\0';
    notice->position = 0;
    snprintf(notice->limit, sizeof(notice->limit), "%s", waiter->request->limit);
    snprintf(notice->key, sizeof(notice->key), "%s", key_of(waiter));
    memcpy(notice->within_keys, waiter->request->within_keys, sizeof(notice->within_keys));
}

static void look(takt_wait_notice *notice, takt_client *client)
{
    const char *key = notice->key[0] ? notice->key : NULL;

    notice->outdated = false;
    notice->client = client;
    snprintf(notice->asked, sizeof(notice->asked), "%s", notice->limit);
    notice->level = 0;
    notice->call.data = notice;
    notice->quota_tokens = notice->quota_us = 0;
    takt_policy_rate(takt_get_policy(client), notice->limit, key, &notice->quota_tokens,
                     &notice->quota_us);
    notice->looking = takt_watch(client, &notice->call, notice->limit, key, WATCH_US, on_look) == 0;
}

const char *takt_wait_notice_tick(takt_wait_notice *notice, takt_client *client,
                                  const takt_wait_notice_waiter *waiter, uint64_t starts,
                                  bool store_lost, uint64_t now_ms)
{
    bool goes = !notice->waiting || starts != notice->starts;
    const takt_amount *first;

    notice->waiting = waiter != NULL;
    notice->starts = starts;
    if (!waiter)
        return "";
    first = &waiter->request->amounts[0];
    if (goes)
        notice->since_ms = now_ms;
    if (goes || is_other(notice, waiter))
        begin(notice, waiter);
    if (now_ms - notice->since_ms < FROM_MS)
        return "";
    if (store_lost)
        return TAKT_WAIT_NOTICE_STORE;
    notice->cost = first->unit ? first->amount : waiter->request->cost;
    notice->count = waiter->count;
    if (!notice->looking && (!notice->text[0] || now_ms - notice->looked_at_ms >= EVERY_MS)) {
        notice->looked_at_ms = now_ms;
        look(notice, client);
    }
    return notice->text;
}
