/*
 * faults_server.c: faults of a server: killed, data lost, frozen, out of memory, scripts flushed,
 * or replaced by another server.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <takt/takt.h>

#include "faults/faults.h"

#define WORKERS  4
#define ANYWHERE 4

static const char *const durable[] = {"--appendonly", "yes", "--appendfsync", "always", NULL};

static void begin(struct fleet *fleet, const char *const *options)
{
    server_start(&fleet->server, options);
    snprintf(fleet->url, sizeof fleet->url, "%s", fleet->server.url);
}

static void begin_tcp(struct fleet *fleet, const char *const *options)
{
    server_directory(&fleet->server);
    server_start_tcp(&fleet->server, false, options);
    snprintf(fleet->url, sizeof fleet->url, "redis://127.0.0.1:%d", fleet->server.port);
}

static void expect_code(const struct fleet *fleet, int code)
{
    for (int i = 0; i < fleet->count; i++)
        if (fleet->notes->workers[i].code != code)
            fleet_fail("worker %d was told %s, not %s", i,
                       takt_error_name(fleet->notes->workers[i].code), takt_error_name(code));
}

static void say(const struct fleet *fleet, const char *words)
{
    const char *answer = server_say(&fleet->server, words);

    if (answer[0] == '-')
        fleet_fail("%s: %s", words, answer);
}

/* ---- gone ------------------------------------------------------------------------------------ */

static void refused(struct fleet *fleet, const char *name)
{
    struct told told;

    begin(fleet, NULL);
    server_kill(&fleet->server, SIGKILL);
    told = fleet_told(fleet); /* nothing yet */
    fleet->options.timeout_us = NO_TIMEOUT_US;
    fleet_work(fleet, WORKERS, ANYWHERE);
    fleet_await_lost(fleet, told);
    expect_code(fleet, TAKT_E_STORE);
    server_restart(&fleet->server, NULL);
    fleet_await_back(fleet, told);
    fleet_await_grants(fleet, 500);
    fleet_close(fleet, name);
}

static void restarted_with_its_data(struct fleet *fleet, const char *name)
{
    begin(fleet, durable);
    fleet->options.timeout_us = NO_TIMEOUT_US;
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(6); i++) {
        struct told told;
        fleet_await_grants(fleet, 500);
        told = fleet_told(fleet);
        server_kill(&fleet->server, SIGKILL);
        fleet_await_lost(fleet, told);
        expect_code(fleet, TAKT_E_STORE);
        server_restart(&fleet->server, durable);
        fleet_await_back(fleet, told);
    }
    fleet_await_grants(fleet, 500);
    fleet_close(fleet, name);
}

/* Away for longer than workers have slots in hand. */
static void restarted_without_its_data(struct fleet *fleet, const char *name)
{
    begin(fleet, NULL);
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(5); i++) {
        struct told told;
        fleet_await_grants(fleet, 500);
        told = fleet_told(fleet);
        server_kill(&fleet->server, SIGKILL);
        fleet_await_lost(fleet, told);
        fleet_pause(fleet, LOOKAHEAD_US / 1000 + 1);
        server_restart(&fleet->server, NULL);
        fleet->allowance.losses++;
        fleet_await_back(fleet, told);
    }
    fleet_await_grants(fleet, 500);
    fleet_close(fleet, name);
}

/* Lost in an instant, so that workers still have slots from before. */
static void flushed(struct fleet *fleet, const char *name)
{
    begin(fleet, NULL);
    fleet->allowance.ahead_us = LOOKAHEAD_US;
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(10); i++) {
        fleet_await_grants(fleet, 300);
        say(fleet, "FLUSHALL");
        fleet->allowance.losses++;
    }
    fleet_await_grants(fleet, 300);
    fleet_close(fleet, name);
}

/* ---- there, but of no use -------------------------------------------------------------------- */

static void frozen(struct fleet *fleet, const char *name)
{
    struct told told;

    begin_tcp(fleet, NULL);
    fleet_work(fleet, WORKERS, ANYWHERE);
    fleet_await_grants(fleet, 300);
    told = fleet_told(fleet);
    kill(fleet->server.process, SIGSTOP);
    fleet_await_lost(fleet, told);
    expect_code(fleet, TAKT_E_STORE_TIMEOUT);
    fleet_pause(fleet, 5000);
    kill(fleet->server.process, SIGCONT);
    fleet_await_back(fleet, told);
    fleet_await_grants(fleet, 300);
    fleet_close(fleet, name);
}

static void paused(struct fleet *fleet, const char *name)
{
    begin(fleet, NULL);
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(4); i++) {
        fleet_await_grants(fleet, 200);
        say(fleet, i % 2 == 0 ? "CLIENT PAUSE 300 WRITE" : "CLIENT PAUSE 300 ALL");
    }
    for (int i = 0; i < fleet_times(2); i++) { /* far longer than calls wait */
        struct told told;
        fleet_await_grants(fleet, 200);
        told = fleet_told(fleet);
        say(fleet, i % 2 == 0 ? "CLIENT PAUSE 4000 WRITE" : "CLIENT PAUSE 4000 ALL");
        fleet_await_lost(fleet, told);
        expect_code(fleet, TAKT_E_STORE_TIMEOUT);
    }
    fleet_await_grants(fleet, 200);
    fleet_close(fleet, name);
}

static void full(struct fleet *fleet, const char *name)
{
    static const char *const options[] = {"--maxmemory-policy", "noeviction", NULL};

    begin(fleet, options);
    fleet->options.timeout_us = NO_TIMEOUT_US;
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(5); i++) {
        struct told told;
        fleet_await_grants(fleet, 300);
        told = fleet_told(fleet);
        say(fleet, "CONFIG SET maxmemory 1000000");
        fleet_await_lost(fleet, told);
        expect_code(fleet, TAKT_E_STORE_SPACE);
        say(fleet, "CONFIG SET maxmemory 0");
        fleet_await_back(fleet, told);
    }
    fleet_await_grants(fleet, 300);
    fleet_close(fleet, name);
}

static void without_scripts(struct fleet *fleet, const char *name)
{
    begin(fleet, NULL);
    fleet_work(fleet, WORKERS, 16);
    for (int i = 0; i < fleet_times(100); i++) {
        say(fleet, "SCRIPT FLUSH");
        fleet_await_grants(fleet, 2);
    }
    fleet_await_grants(fleet, 500);
    for (int i = 0; i < fleet->count; i++)
        if (fleet->notes->workers[i].lost > 0 && /* on a busy machine an answer may be late */
            fleet->notes->workers[i].code != TAKT_E_STORE_TIMEOUT)
            fleet_fail("a server without the scripts is not a lost one");
    fleet_close(fleet, name);
}

/* ---- another one in its place ---------------------------------------------------------------- */

/* Workers reach it through the proxy, like a name whose address moves. While it is still a replica
 * it refuses to write. */
static void promoted(struct fleet *fleet, const char *name)
{
    static char port[16];
    static const char *const follow[] = {"--replicaof", "127.0.0.1", port, NULL};
    char *target;
    struct told told;

    begin_tcp(fleet, NULL);
    snprintf(port, sizeof port, "%d", fleet->server.port);
    server_directory(&fleet->replica);
    server_start_tcp(&fleet->replica, false, follow);
    proxy_start(&fleet->proxy, port);
    snprintf(fleet->url, sizeof fleet->url, "%s", fleet->proxy.url);
    server_say(&fleet->server, "WAIT 1 60000"); /* the replica follows */
    fleet_work(fleet, WORKERS, ANYWHERE);
    fleet_await_grants(fleet, 1000);
    server_say(&fleet->replica, "REPLICAOF 127.0.0.1 1"); /* it receives no more messages */
    fleet_await_grants(fleet, 500);

    told = fleet_told(fleet);
    target = fleet->proxy.shared->settings.target;
    snprintf(target, sizeof fleet->proxy.shared->settings.target, "%d", fleet->replica.port);
    server_kill(&fleet->server, SIGKILL);
    fleet->allowance = (struct allowance){1, LOOKAHEAD_US};
    fleet_await_lost(fleet, told);
    server_say(&fleet->replica, "REPLICAOF NO ONE");
    fleet_await_back(fleet, told);
    fleet_await_grants(fleet, 1000);
    fleet_close(fleet, name);
}

/* ---- workers --------------------------------------------------------------------------------- */

static void workers_killed(struct fleet *fleet, const char *name)
{
    begin(fleet, NULL);
    fleet_work(fleet, WORKERS, 8);
    fleet_await_grants(fleet, 100);
    for (int i = 0; i < fleet_times(20); i++) {
        fleet_await_grants(fleet, 2);
        fleet_kill_worker(fleet, i % WORKERS);
        fleet_start_worker(fleet, i % WORKERS);
    }
    fleet_await_grants(fleet, 500);
    fleet_close(fleet, name);
}

/* What the dead held is free again after their lease. */
static void all_killed(struct fleet *fleet, const char *name)
{
    begin(fleet, NULL);
    fleet_work(fleet, WORKERS, ANYWHERE);
    for (int i = 0; i < fleet_times(2); i++) {
        fleet_await_permits(fleet);
        for (int worker = 0; worker < WORKERS; worker++)
            fleet_kill_worker(fleet, worker);
        for (int worker = 0; worker < WORKERS; worker++)
            fleet_start_worker(fleet, worker);
    }
    fleet_await_permits(fleet);
    fleet_close(fleet, name);
}

const struct fault server_faults[] = {
    {"refused", refused},
    {"killed, restarted with its data", restarted_with_its_data},
    {"killed, restarted without its data", restarted_without_its_data},
    {"data lost at once", flushed},
    {"frozen for 5 s", frozen},
    {"clients paused", paused},
    {"memory full", full},
    {"scripts flushed again and again", without_scripts},
    {"a replica promoted", promoted},
    {"one worker killed after the other", workers_killed},
    {"all workers killed at once", all_killed},
    {NULL, NULL},
};
