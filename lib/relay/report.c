/*
 * report.c: reports to programs about their waiters. The reports of one turn of the loop are sent
 * together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/integers.h"
#include "redis/resp.h"
#include "relay/relay.h"
#include "scheduler/loss.h"
#include "scheduler/turns.h"

static void on_turn(uv_idle_t *turn)
{
    takt_report_now(turn->data);
}

/* Sends a message about a desk: KIND LIMIT KEY and two more words. */
static void send_about(const takt_desk *desk, const char *kind, const char *third,
                       size_t third_size, const char *fourth, size_t fourth_size)
{
    const takt_entry *entry = &desk->entry;
    const char *limit = entry->key, *key = limit + strlen(limit) + 1;
    const char *words[] = {kind, limit, key, third, fourth};
    const size_t sizes[] = {strlen(kind), strlen(limit), entry->size - strlen(limit) - 1,
                            third_size, fourth_size};

    takt_report_send(desk->relay, 5, words, sizes);
}

/* The waiters of a queue are counted when the answer to a claim that states them has come.  Those
 * that wait for their turn in the line are counted later; without a bound none are. */
static bool is_counted(const takt_desk *desk)
{
    const takt_queue *queue = takt_counter_find_queue(desk->counter);

    return queue == NULL || takt_turns_hold_up(queue) ||
           (!queue->claims.in_flight && queue->registry.list != CLAIMING &&
            queue->registry.list != TOUCHED &&
            (!takt_queue_has_bound(queue) ||
             queue->waiters.total - queue->waiters.counted <= queue->in_hand.count));
}

static void on_look(uv_prepare_t *look)
{
    takt_relays *relays = look->data;

    for (takt_link *at = relays->asking.next, *next; at != &relays->asking; at = next) {
        takt_desk *desk = TAKT_HOLDER(at, takt_desk, report);
        next = at->next;
        if (is_counted(desk))
            takt_report_ask(desk);
    }
    if (takt_list_empty(&relays->asking))
        uv_prepare_stop(look);
}

void takt_report_ask(takt_desk *desk)
{
    takt_relays *relays = desk->relay->relays;

    takt_list_remove(&desk->report);
    takt_list_append(&relays->reporting, &desk->report);
    uv_idle_start(&relays->turn, on_turn);
}

void takt_report_ask_later(takt_desk *desk)
{
    takt_relays *relays = desk->relay->relays;

    if (desk->slot_count > 0 || desk->failed != 0 || desk->lost)
        return; /* it reports in this turn; the claim is answered by that */
    takt_list_remove(&desk->report);
    takt_list_append(&relays->asking, &desk->report);
    uv_prepare_start(&relays->look, on_look);
}

void takt_report_begin(takt_relays *relays)
{
    takt_list_init(&relays->reporting);
    takt_list_init(&relays->asking);
    uv_idle_init(relays->client->loop, &relays->turn);
    uv_prepare_init(relays->client->loop, &relays->look);
    relays->turn.data = relays->look.data = relays;
    uv_unref((uv_handle_t *)&relays->look);
}

void takt_report_send(takt_relay *relay, int count, const char *const *words, const size_t *sizes)
{
    takt_resp_out out = {0};

    if (takt_resp_command(&out, count, words, sizes))
        relay->send(relay->data, out.bytes, out.size);
    else
        relay->send(relay->data, NULL, 0);
    free(out.bytes);
}

const takt_numbers *takt_report_newer(const takt_desk *desk, int ledger_no)
{
    const takt_queue *queue = takt_counter_find_queue(desk->counter);
    const takt_numbers *used;

    if (queue == NULL || ledger_no >= desk->counter->said.count)
        return NULL;
    used = ledger_no > 0 ? queue->nest->inner[ledger_no - 1].numbers : queue->numbers;
    return used->revision >= desk->numbers[ledger_no].revision &&
                   !takt_numbers_same(used, &desk->numbers[ledger_no])
               ? used
               : NULL;
}

static size_t write_newer(const takt_desk *desk, char text[TAKT_RELAY_NEWER_SIZE])
{
    takt_relay_newer newer = {.ledgers = 0};

    for (int ledger_no = 0; ledger_no < TAKT_LEVELS_MAX; ledger_no++) {
        const takt_numbers *numbers = takt_report_newer(desk, ledger_no);
        if (numbers == NULL)
            continue;
        newer.ledgers |= 1U << ledger_no;
        newer.of[ledger_no] = *numbers;
    }
    return takt_relay_write_newer(&newer, text);
}

/* Whether waiters take less of a unit. */
static bool takes_less(takt_relay_kind kind, takt_amounts least)
{
    takt_amounts taken = takt_amounts_of(kind.cost, kind.more);

    for (int unit = 0; unit < TAKT_UNITS; unit++)
        if (taken.of[unit] < least.of[unit])
            return true;
    return false;
}

/* When the next slot of any program can be; 0: not known for waiters like these. */
static int64_t next_slot(const takt_desk *desk, const takt_queue *queue)
{
    for (int i = 0; i < desk->want_count; i++)
        if (desk->wants[i].count > 0 &&
            (takes_less(desk->wants[i].kind, queue->claims.least) ||
             desk->wants[i].kind.priority < takt_queue_next_priority(queue)))
            return 0;
    return queue->awarded.next_slot_at_us == TAKT_NEVER ? 0 : queue->awarded.next_slot_at_us;
}

static void send_report(takt_desk *desk)
{
    const takt_queue *queue = takt_counter_find_queue(desk->counter);
    char text[TAKT_RELAY_TEXT_SIZE], numbers[TAKT_RELAY_NEWER_SIZE];
    takt_writer writer = {text, text + sizeof text, false};
    int64_t now_us = takt_timer_now();
    int64_t store_us = queue != NULL && queue->server->clock.known
                           ? takt_clock_store(&queue->server->clock, now_us)
                           : 0;

    takt_relay_write(&writer, desk->seq);
    takt_relay_write(&writer, now_us);
    takt_relay_write(&writer, store_us);
    takt_relay_write(&writer, queue != NULL ? takt_max(next_slot(desk, queue), 0) : 0);
    takt_relay_write(&writer, queue != NULL ? queue->awarded.blocked_until_us : 0);
    takt_relay_write(&writer, queue != NULL ? queue->awarded.waiting : 0);
    takt_relay_write(&writer, queue != NULL ? takt_loss_workers(queue) : 0);
    takt_relay_write_leaves(&writer, &desk->leaving);
    takt_relay_write(&writer, desk->lost);
    takt_relay_write(&writer, queue != NULL && desk->held_count > 0
                                  ? takt_max(queue->holding.leased_until_us, 0)
                                  : 0);
    takt_relay_write(&writer, desk->index);
    for (int i = 0; i < desk->slot_count; i++) {
        takt_relay_write(&writer, desk->slots[i].slot_us);
        takt_relay_write_kind(&writer, desk->slots[i].kind);
        takt_relay_write(&writer, desk->slots[i].fence);
    }
    desk->seq = 0;
    desk->slot_count = desk->leaving.count = 0;
    desk->lost = false;
    send_about(desk, "report", text, (size_t)(writer.at - text), numbers,
               write_newer(desk, numbers));
}

const char *takt_report_trouble(const takt_relays *relays, int status)
{
    const char *trouble =
        relays->draining ? "the agent is shutting down" : relays->client->store->trouble;

    return takt_is_of_store(status) && trouble != NULL ? trouble : takt_strerror(status);
}

static void send_failure(takt_desk *desk)
{
    const char *why = takt_report_trouble(desk->relay->relays, desk->failed);
    char code[16];
    size_t size = (size_t)snprintf(code, sizeof code, "%d", desk->failed);

    desk->failed = 0;
    desk->seq = 0;
    send_about(desk, "fail", code, size, why, strlen(why));
}

void takt_report_now(takt_relays *relays)
{
    uv_idle_stop(&relays->turn);
    while (!takt_list_empty(&relays->reporting)) {
        takt_desk *desk = TAKT_HOLDER(relays->reporting.next, takt_desk, report);
        takt_list_remove(&desk->report);
        if (desk->slot_count > 0 || desk->lost || desk->failed == 0)
            send_report(desk);
        if (desk->failed != 0)
            send_failure(desk);
    }
}
