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
#include "scheduler/registry.h"

static void on_turn(uv_idle_t *turn)
{
    takt_report_now(turn->data);
}

static const takt_queue *queue_of(const takt_desk *desk)
{
    const takt_counter *counter = desk->counter;

    return takt_registry_find_tenant(&counter->relays->client->scheduler, counter->limit,
                                     counter->key + counter->name_size + 1,
                                     takt_counter_tenant(counter));
}

/* Of the word KEY, which also names the tenant. */
static size_t key_size(const takt_counter *counter)
{
    return counter->entry.size - counter->name_size - 1;
}

/* The waiters of a queue are counted when the answer to a claim that states them has come. */
static bool is_counted(const takt_desk *desk)
{
    const takt_queue *queue = queue_of(desk);

    return queue == NULL || (!queue->claims.in_flight && queue->registry.list != CLAIMING &&
                             queue->registry.list != TOUCHED &&
                             queue->waiters.total - queue->waiters.counted <= queue->in_hand.count);
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

bool takt_report_is_newer(const takt_desk *desk)
{
    const takt_queue *queue = queue_of(desk);

    return queue != NULL && queue->numbers->revision >= desk->numbers.revision &&
           !takt_numbers_same(queue->numbers, &desk->numbers);
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
        if (desk->wants[i].count > 0 && (takes_less(desk->wants[i].kind, queue->claims.least) ||
                                         desk->wants[i].kind.priority <
                                             takt_queue_next_priority(queue)))
            return 0;
    return queue->awarded.next_slot_at_us == TAKT_NEVER ? 0 : queue->awarded.next_slot_at_us;
}

static void send_report(takt_desk *desk)
{
    const takt_counter *counter = desk->counter;
    const char *key = counter->key + counter->name_size + 1;
    const takt_queue *queue = queue_of(desk);
    char text[TAKT_RELAY_TEXT_SIZE], numbers[TAKT_RELAY_TEXT_SIZE];
    takt_writer writer = {text, text + sizeof text, false};
    int64_t now_us = takt_timer_now();
    int64_t store_us = queue != NULL && queue->server->clock.known
                           ? takt_clock_store(&queue->server->clock, now_us)
                           : 0;
    const char *words[] = {"report", counter->key, key, text, numbers};
    size_t sizes[] = {6, counter->name_size, key_size(counter), 0, 0};

    takt_relay_write(&writer, desk->seq);
    takt_relay_write(&writer, now_us);
    takt_relay_write(&writer, store_us);
    takt_relay_write(&writer, queue != NULL ? takt_max(next_slot(desk, queue), 0) : 0);
    takt_relay_write(&writer, queue != NULL ? queue->awarded.blocked_until_us : 0);
    takt_relay_write(&writer, queue != NULL ? queue->awarded.waiting : 0);
    takt_relay_write(&writer, queue != NULL ? takt_loss_workers(queue) : 0);
    takt_relay_write(&writer, desk->refused);
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
    sizes[3] = (size_t)(writer.at - text);
    if (takt_report_is_newer(desk))
        sizes[4] = takt_relay_write_numbers(queue->numbers, numbers);
    desk->seq = desk->refused = 0;
    desk->slot_count = 0;
    desk->lost = false;
    takt_report_send(desk->relay, 5, words, sizes);
}

const char *takt_report_trouble(const takt_relays *relays, int status)
{
    const char *trouble =
        relays->draining ? "the agent is shutting down" : relays->client->store->trouble;

    return takt_is_of_store(status) && trouble != NULL ? trouble : takt_strerror(status);
}

static void send_failure(takt_desk *desk)
{
    const takt_counter *counter = desk->counter;
    const char *key = counter->key + counter->name_size + 1;
    const char *why = takt_report_trouble(counter->relays, desk->failed);
    char code[16];
    const char *words[] = {"fail", counter->key, key, code, why};
    size_t sizes[] = {4, counter->name_size, key_size(counter), 0, strlen(why)};

    sizes[3] = (size_t)snprintf(code, sizeof code, "%d", desk->failed);
    desk->failed = 0;
    desk->seq = 0;
    takt_report_send(desk->relay, 5, words, sizes);
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
