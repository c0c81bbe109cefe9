/*
 * alarm.c: what happens at a time of the loop's clock: one timer for all.
 */
#include "agent.h"

static bool is_earlier(const takt_node *a, const takt_node *b)
{
    return TAKT_HOLDER(a, takt_agent_alarm, node)->at_ms <
           TAKT_HOLDER(b, takt_agent_alarm, node)->at_ms;
}

static void on_alarm(uv_timer_t *timer);

static void set_timer(takt_agent *agent)
{
    uint64_t now_ms = uv_now(&agent->loop);

    if (!agent->alarms.heap.first) {
        uv_timer_stop(&agent->alarms.timer);
        return;
    }
    uint64_t at_ms = TAKT_HOLDER(agent->alarms.heap.first, takt_agent_alarm, node)->at_ms;
    uv_timer_start(&agent->alarms.timer, on_alarm, at_ms > now_ms ? at_ms - now_ms : 0, 0);
}

static void on_alarm(uv_timer_t *timer)
{
    takt_agent *agent = timer->data;

    while (agent->alarms.heap.first) {
        takt_agent_alarm *alarm = TAKT_HOLDER(agent->alarms.heap.first, takt_agent_alarm, node);
        if (alarm->at_ms > uv_now(&agent->loop))
            break;
        takt_agent_unset_alarm(agent, alarm);
        alarm->ring(agent, alarm);
    }
    set_timer(agent);
}

void takt_agent_set_alarm(takt_agent *agent, takt_agent_alarm *alarm, int64_t after_ms,
                          void (*ring)(takt_agent *agent, takt_agent_alarm *alarm))
{
    takt_agent_unset_alarm(agent, alarm);
    alarm->at_ms =
        uv_now(&agent->loop) + (uint64_t)after_ms + 1; /* the loop's clock may be behind */
    alarm->ring = ring;
    takt_heap_add(&agent->alarms.heap, &alarm->node);
    if (agent->alarms.heap.first == &alarm->node)
        set_timer(agent);
}

void takt_agent_unset_alarm(takt_agent *agent, takt_agent_alarm *alarm)
{
    if (alarm->at_ms > 0)
        takt_heap_remove(&agent->alarms.heap, &alarm->node);
    alarm->at_ms = 0;
}

void takt_agent_alarms_open(takt_agent *agent)
{
    takt_heap_init(&agent->alarms.heap, is_earlier);
    uv_timer_init(&agent->loop, &agent->alarms.timer);
    agent->alarms.timer.data = agent;
}
