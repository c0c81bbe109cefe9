/*
 * Each allocation of a client fails once: a call that cannot begin returns an error, a call that
 * began is answered once, and closing leaves nothing behind. When there is memory again, all
 * waiters get their slots.
 */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include <takt/sync.h>
#include <takt/takt.h>
#include <uv.h>

#include "memory/failing.h"
#include "store/redis/cluster.h"
#include "store/rig.h"

#define PERMITS 24
#define CALLS   6
#define DENSE   1000
#define FEW     60 /* where a lost connection costs a pause */

static const char text[] =
    "limits:\n"
    "  - name: inner\n"
    "    rules: [{rate: 10000/s, algorithm: sliding-log}]\n"
    "    within: outer\n"
    "    overrides: [{key: k, rules: [{rate: 9/s}]}, {key: p*, unlimited: true}]\n"
    "  - name: outer\n"
    "    concurrency: 5\n"
    "    rules: [{rate: 20000/s, algorithm: fixed-window, timezone: Europe/Berlin}]\n"
    "  - name: measured\n"
    "    mode: shadow\n"
    "    rules: [{rate: 10000/s}]\n";

static uv_loop_t loop;
static takt_policy *policy;
static takt_client *client;

/* The calls under way in one run. */
typedef struct run {
    takt_call calls[CALLS];
    takt_permit permits[PERMITS], tried;
    int acquired, begun, answered;
    bool good;
} run;

static void came(takt_permit *permit, int status)
{
    run *self = permit->data;

    self->answered++;
    self->good = self->good && status == 0;
    if (status == 0)
        takt_release(permit);
}

static void said(takt_call *call, int status, const takt_standing *standing)
{
    run *self = call->data;

    (void)standing;
    self->answered++;
    self->good = self->good && (status == 0 || status == TAKT_E_NOMEM || status == TAKT_E_NO_SLOT);
}

static void tried(takt_call *call, int status, const takt_standing *standing)
{
    run *self = call->data;

    said(call, status, standing);
    if (status == 0)
        takt_release(&self->tried);
}

static void begun(run *self, int code)
{
    if (code == 0)
        self->begun++;
    else
        self->good = self->good && code == TAKT_E_NOMEM && failing_struck();
}

/* The next permits, two for each key. */
static void acquire_some(run *self, const char *limit)
{
    for (int i = 0; i < PERMITS / 2; i++) {
        takt_request request = TAKT_REQUEST(limit);
        takt_permit *permit = &self->permits[self->acquired++];
        char key[16];
        snprintf(key, sizeof key, "key-%d", i / 2);
        request.key = key;
        permit->data = self;
        begun(self, takt_acquire(client, permit, &request, came));
    }
}

static void begin_all(run *self)
{
    static const char *const limits[] = {"inner", "outer", "measured"};

    for (int i = 0; i < PERMITS; i++) {
        takt_request request = TAKT_REQUEST(limits[i % 3]);
        char key[16];
        snprintf(key, sizeof key, "key-%d", i / 6);
        request.key = key;
        self->permits[i].data = self;
        begun(self, takt_acquire(client, &self->permits[i], &request, came));
    }
    for (int i = 0; i < CALLS; i++)
        self->calls[i].data = self;
    begun(self, takt_peek(client, &self->calls[0], "inner", "", said));
    begun(self, takt_watch(client, &self->calls[1], "inner", "", 1000000, said));
    begun(self, takt_block(client, &self->calls[2], "inner", "blocked", 1000, "a reason", said));
    begun(self, takt_reset(client, &self->calls[3], "outer", "", said));
    begun(self, takt_penalize(client, &self->calls[4], "outer", "late", 1000, NULL, said));
    if (takt_lower(client, NULL, "outer", "detached", NULL, 1, NULL) != 0)
        self->good = self->good && failing_struck();
    self->tried.data = self;
    begun(self, takt_try_acquire(client, &self->calls[5], &self->tried, &TAKT_REQUEST("measured"),
                                 tried));
}

/* Memory is there again: what waits for it must not wait for ever. */
static void is_back(uv_timer_t *timer)
{
    (void)timer;
    (void)failing_stop();
}

static void closed(void *data)
{
    *(bool *)data = true;
}

static void use(run *self)
{
    uv_timer_t timer;
    bool is_closed = false;

    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, is_back, 5, 0);
    while (self->answered < self->begun)
        uv_run(&loop, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&timer, NULL);
    takt_close(client, closed, &is_closed);
    while (!is_closed)
        uv_run(&loop, UV_RUN_ONCE);
    self->good = self->good && self->answered == self->begun;
}

/* Each failed call failed with TAKT_E_NOMEM. */
static bool is_told(int code, const takt_error *error)
{
    if (code != TAKT_E_NOMEM || !failing_struck() || !error->text[0])
        cr_log_error("%s: %s", takt_error_name(code), error->text);
    return code == TAKT_E_NOMEM && failing_struck() && error->text[0];
}

static bool client_ends(void *store)
{
    run self = {.good = true};
    takt_options options = {.store = store, .name_space = "{memory}"};
    takt_error error = {0};
    int code = takt_policy_parse(&policy, "policy", text, sizeof text - 1, &error);

    if (code < 0)
        return is_told(code, &error);
    uv_loop_init(&loop);
    code = takt_open(&client, &loop, policy, &options, &error);
    if (code == 0) {
        begin_all(&self);
        use(&self);
    } else {
        self.good = is_told(code, &error);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    self.good = uv_loop_close(&loop) == 0 && self.good;
    takt_policy_free(policy);
    return self.good;
}

/* ---- modes that change ----------------------------------------------------------------------- */

#define MODES(outer)                                                                               \
    "limits:\n"                                                                                    \
    "  - {name: account, rules: [{rate: 10000/s}], within: domain}\n"                              \
    "  - {name: domain, mode: " outer ", rules: [{rate: 10000/s}], within: all}\n"                 \
    "  - {name: all, rules: [{rate: 10000/s}]}\n"

static void move(run *self, const takt_policy *to)
{
    takt_error error = {0};
    int code = takt_reload(client, to, &error);

    if (code != 0)
        self->good = self->good && is_told(code, &error);
}

/* Work waits while a level is put into shadow, and out of it. */
static bool moved_work_ends(void *unused)
{
    static const char in_shadow[] = MODES("shadow"), enforcing[] = MODES("enforce");
    run self = {.good = true};
    takt_options options = {.store = "memory:"};
    takt_error error = {0};
    takt_policy *other = NULL;
    int code = takt_policy_parse(&policy, "policy", in_shadow, sizeof in_shadow - 1, &error);

    (void)unused;
    if (code < 0)
        return is_told(code, &error);
    uv_loop_init(&loop);
    code = takt_policy_parse(&other, "policy", enforcing, sizeof enforcing - 1, &error);
    if (code == 0)
        code = takt_open(&client, &loop, policy, &options, &error);
    if (code == 0) {
        acquire_some(&self, "account");
        move(&self, other);
        acquire_some(&self, "account");
        move(&self, policy);
        use(&self);
    } else {
        self.good = is_told(code, &error);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    self.good = uv_loop_close(&loop) == 0 && self.good;
    takt_policy_free(policy);
    takt_policy_free(other);
    return self.good;
}

static void check_each(bool (*ends)(void *data), void *data, int64_t dense)
{
    int64_t n;

    alarm(120); /* a hang fails */
    n = failing_each(ends, data, dense);
    cr_expect_eq(n, 0, "with allocation %lld", (long long)n);
}

Test(out_of_memory, a_client_in_memory_goes_on)
{
    char store[] = "memory:";

    check_each(client_ends, store, DENSE);
}

Test(out_of_memory, a_client_of_a_file_goes_on)
{
    char directory[PATH_MAX], store[PATH_MAX + 32];

    rig_directory(directory);
    snprintf(store, sizeof store, "file:%s/store", directory);
    check_each(client_ends, store, DENSE);
    rig_remove(directory);
}

Test(out_of_memory, work_that_moves_goes_on)
{
    check_each(moved_work_ends, NULL, DENSE);
}

/* The node of its ledgers has to be found. */
Test(out_of_memory, a_client_of_a_cluster_goes_on)
{
    struct cluster cluster;

    cluster_start(&cluster, false, NULL);
    check_each(client_ends, cluster.url, FEW);
    cluster_stop(&cluster);
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool sync_ends(void *unused)
{
    takt_options options = {.store = "memory:"};
    takt_permit permit = {0};
    takt_sync *sync = NULL;
    takt_error error = {0};
    int code = takt_policy_parse(&policy, "policy", text, sizeof text - 1, &error);
    bool good;

    (void)unused;
    if (code < 0)
        return is_told(code, &error);
    code = takt_sync_open(&sync, policy, &options, &error);
    if (code < 0) {
        takt_policy_free(policy);
        return is_told(code, &error);
    }
    code = takt_sync_block(sync, "outer", "x", 0, "a reason", NULL);
    good = code == 0 || code == TAKT_E_NOMEM;
    (void)failing_stop();
    code = takt_sync_acquire(sync, &permit, &TAKT_REQUEST("inner"));
    good = good && code == 0;
    takt_sync_release(sync, &permit);
    takt_sync_close(sync);
    takt_policy_free(policy);
    return good;
}

Test(out_of_memory, a_client_of_threads_goes_on)
{
    check_each(sync_ends, NULL, DENSE);
}
