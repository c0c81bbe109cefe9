/*
 * faults_connection.c: faults of connections: killed, cut in the middle of an answer, slow, split
 * into small pieces, frozen; and 500 connections lost together.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "faults/faults.h"
#include "faults/storm.h"

#define WORKERS  4
#define ANYWHERE 4

static void begin(struct fleet *fleet)
{
    server_start(&fleet->server, NULL);
    snprintf(fleet->url, sizeof fleet->url, "%s", fleet->server.url);
}

static void begin_by_proxy(struct fleet *fleet)
{
    begin(fleet);
    proxy_start(&fleet->proxy, fleet->server.socket);
    snprintf(fleet->url, sizeof fleet->url, "%s", fleet->proxy.url);
}

static void killed(struct fleet *fleet, const char *name)
{
    begin(fleet);
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(80); i++) {
        server_say(&fleet->server, "CLIENT KILL TYPE normal\r\nCLIENT KILL TYPE pubsub");
        fleet_pause(fleet, 100);
    }
    fleet_await_grants(fleet, 500);
    fleet_close(fleet, name);
}

static void cut(struct fleet *fleet, const char *name)
{
    int cuts = fleet_times(100);

    begin_by_proxy(fleet);
    fleet->proxy.shared->settings.cut_within = 20000;
    fleet_work(fleet, WORKERS, ANYWHERE);
    while (atomic_load(&fleet->proxy.shared->cuts) < cuts)
        fleet_await_grants(fleet, 20);
    fleet->proxy.shared->settings.cut_within = 0;
    proxy_change(&fleet->proxy);
    fleet_await_grants(fleet, 500);
    fleet_close(fleet, name);
}

static void slow(struct fleet *fleet, const char *name)
{
    struct proxy_settings *settings;

    begin_by_proxy(fleet);
    settings = &fleet->proxy.shared->settings;
    settings->slice = 200;
    fleet->options.timeout_us = NO_TIMEOUT_US; /* a call takes as long as its slices do */
    fleet_work(fleet, WORKERS, 0);
    fleet_await_grants(fleet, 1000);
    settings->slice = 0;
    settings->delay_us = 50000;
    proxy_change(&fleet->proxy);
    fleet_await_grants(fleet, 2000);
    fleet_close(fleet, name);
}

static void frozen(struct fleet *fleet, const char *name)
{
    struct proxy_settings *settings;

    begin_by_proxy(fleet);
    settings = &fleet->proxy.shared->settings;
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(3); i++) {
        struct told told;
        fleet_await_grants(fleet, 200);
        told = fleet_told(fleet);
        settings->frozen = true;
        proxy_change(&fleet->proxy);
        fleet_await_lost(fleet, told);
        settings->frozen = false;
        proxy_change(&fleet->proxy);
        fleet_await_back(fleet, told);
    }
    fleet_await_grants(fleet, 200);
    fleet_close(fleet, name);
}

const struct fault connection_faults[] = {
    {"connections killed each 100 ms", killed},
    {"connections cut in the middle of an answer", cut},
    {"connections slow and in slices", slow},
    {"connections frozen on their way", frozen},
    {"500 workers lose their server together", storm},
    {NULL, NULL},
};
