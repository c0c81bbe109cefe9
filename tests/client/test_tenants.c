/*
 * Tenants through the public interface: whose slot comes next, weights, hashed names, permits,
 * tries and blocks, and policies that change while tenants wait.
 */
#include "client/client.h"
#include "core/tenants.h"
#include "crypto/key_hash.h"
#include "scheduler/nest.h"
#include "scheduler/registry.h"

#include "client/calls.h"
#include "store/redis/server.h"

#define MANY 200
#define FEW  5
#define LIMIT_OF(name, more)                                                                       \
    "  - {name: " name ", rules: [{rate: 1000/s}], lookahead: 10ms" more "}\n"
#define FAIR    ", fair: tenant"
#define WEIGHTS ", weights: {acme: 3}"
/* Shares are those of a worker that is not stopped for longer than its lookahead. */
#define CALM_WEIGHTS "  - {name: mail, rules: [{rate: 200/s}], lookahead: 1s" FAIR WEIGHTS "}\n"

static takt_policy *next[4];
static int next_count;

static takt_policy *parse(const char *limits)
{
    char text[1024];
    takt_policy *made;
    takt_error error = {0};

    snprintf(text, sizeof text, "limits:\n%s", limits);
    cr_assert_eq(takt_policy_parse(&made, "p", text, strlen(text), &error), 0, "%s", error.text);
    return made;
}

static void begin_at(const char *store, const char *limits)
{
    takt_options options = {
        .store = store, .on_event = note_event, .key_secret = "0123456789abcdef"};
    takt_error error = {0};

    policy = parse(limits);
    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

static void begin(const char *limits)
{
    begin_at("memory:", limits);
}

static void reload(const char *limits)
{
    takt_error error = {0};

    next[next_count] = parse(limits);
    cr_assert_eq(takt_reload(client, next[next_count++], &error), 0, "%s", error.text);
}

static void end(void)
{
    close_client();
    while (next_count > 0)
        takt_policy_free(next[--next_count]);
}

static void acquire_for(seen *jobs, int count, const char *limit, const char *tenant)
{
    takt_request request = TAKT_REQUEST(limit);

    request.tenant = tenant;
    for (int i = 0; i < count; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
}

static void release(seen *jobs, int count)
{
    for (int i = 0; i < count; i++) {
        cr_expect_eq(jobs[i].status, 0);
        takt_release(&jobs[i].permit);
    }
}

/* How many of the jobs have slots in that span. */
static int slots_within(const seen *jobs, int count, int64_t from_us, int64_t until_us)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        found += jobs[i].permit.slot_at_us > from_us && jobs[i].permit.slot_at_us <= until_us;
    return found;
}

/* A few jobs of one tenant take turns with the many that came before. */
Test(tenants, few_do_not_wait_for_many)
{
    static seen many[MANY], few[FEW];
    int64_t before_us = 0;

    begin(LIMIT_OF("mail", FAIR));
    acquire_for(many, MANY, "mail", "many");
    run_until(20);
    for (int i = 0; i < MANY; i++)
        before_us = many[i].permit.slot_at_us > before_us ? many[i].permit.slot_at_us : before_us;
    acquire_for(few, FEW, "mail", "few");
    run_until(MANY + FEW);
    cr_expect_leq(slots_within(many, MANY, before_us, few[FEW - 1].permit.slot_at_us), 60,
                  "those of a lookahead, and one for each of the few");
    release(many, MANY);
    release(few, FEW);
    end();
}

Test(tenants, without_fair_the_first_come_first)
{
    static seen many[MANY], few[FEW];

    begin(LIMIT_OF("mail", ""));
    acquire_for(many, MANY, "mail", "many");
    acquire_for(few, FEW, "mail", "few");
    run_until(MANY + FEW);
    cr_expect_eq(few[0].order, MANY + 1);
    release(many, MANY);
    release(few, FEW);
    end();
}

/* The fleet on virtual time has the exact shares. */
Test(tenants, weights_are_shares)
{
    static seen acme[MANY], other[MANY], none[MANY];
    takt_call call = {0};
    int64_t until_us;

    begin(CALM_WEIGHTS);
    run_call(takt_block(client, &call, "mail", NULL, 60000000, NULL, note_call));
    acquire_for(acme, MANY, "mail", "acme");
    acquire_for(other, MANY, "mail", "other");
    acquire_for(none, MANY, "mail", NULL);
    do
        run_call(takt_peek(client, &call, "mail", NULL, note_call));
    while (last.standing.waiting < 3 * MANY);
    run_call(takt_unblock(client, &call, "mail", NULL, note_call));
    while (acme[150].calls == 0) /* all three wait until then */
        uv_run(&loop, UV_RUN_ONCE);
    until_us = acme[150].permit.slot_at_us;
    cr_expect_leq(slots_within(other, MANY, 0, until_us), 100, "a third of 150, and some turns");
    cr_expect_leq(slots_within(none, MANY, 0, until_us), 100);
    cr_expect_geq(slots_within(none, MANY, 0, until_us), 10, "nobody is left out");
    for (int i = 0; i < MANY; i++) {
        takt_release(&acme[i].permit);
        takt_release(&other[i].permit);
        takt_release(&none[i].permit);
    }
    end();
}

static const takt_store_kind *kind;
static takt_store_call settled;
static char payer[TAKT_TENANT_SIZE_MAX + 1];

/* Notes calls that settle, on their way to the store. */
static void note_settled(takt_store *store, takt_store_call *call)
{
    if (call->op == TAKT_OP_SETTLE) {
        settled = *call;
        strcpy(payer, call->tenant ? call->tenant : "nobody");
    }
    kind->submit(store, call);
}

Test(tenants, one_pays_for_what_its_work_has_used)
{
    static seen jobs[2], many[MANY];
    takt_request request = TAKT_REQUEST("mail");
    takt_amount used = {NULL, 25};
    takt_store_kind spy;

    begin(LIMIT_OF("mail", FAIR WEIGHTS) LIMIT_OF("plain", ""));
    kind = client->store->kind;
    spy = *kind;
    spy.submit = note_settled;
    client->store->kind = &spy;
    request.priority = 3;
    request.tenant = "acme";
    cr_assert_eq(acquire(&jobs[0], request), 0);
    run_until(1);
    cr_assert_eq(takt_settle(&jobs[0].permit, &request, &used, 1), 0);
    cr_expect_str_eq(payer, "acme");
    cr_expect_eq(settled.tenant_weight, 3);
    cr_expect_eq(settled.priority, 3);
    cr_expect_eq(settled.actual - settled.cost, 24);
    request.limit = "plain";
    cr_assert_eq(acquire(&jobs[1], request), 0);
    run_until(2);
    cr_assert_eq(takt_settle(&jobs[1].permit, &request, &used, 1), 0);
    cr_expect_str_eq(payer, "nobody", "a limit without fair has none");
    release(jobs, 2);
    acquire_for(many, MANY, "mail", "gone");
    run_until(2 + 20);
    for (int i = 0; i < MANY; i++)
        if (many[i].order == 0)
            cr_assert_eq(takt_cancel(&many[i].permit), 0);
    while (strcmp(payer, "gone") != 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(settled.actual, 0, "and it gets back slots that it does not use");
    for (int i = 0; i < MANY; i++)
        takt_release(&many[i].permit);
    client->store->kind = kind;
    end();
}

static const takt_queue *queue_of(const char *limit, const char *tenant)
{
    return takt_registry_find_tenant(&client->scheduler, takt_policy_find(policy, limit), "",
                                     tenant);
}

/* Of three jobs two start, and one of these has used six tokens more than it took.  Returns what
 * that adds to the tag of the one that waits, which is of that tenant. */
static int64_t settled_tag(takt_request request, const char *tenant)
{
    static seen jobs[3];
    takt_amount used = {NULL, 1 + 6};
    const takt_turn *turn;
    int64_t tag;

    for (int i = 0; i < 3; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
    run_until(2);
    turn = jobs[2].permit.queue->turn;
    cr_assert_not_null(turn);
    cr_expect_str_eq(turn->tenant, tenant);
    tag = turn->tag;
    cr_assert_eq(takt_settle(&jobs[0].permit, &request, &used, 1), 0);
    while (client->calls.in_flight > 0)
        uv_run(&loop, UV_RUN_ONCE);
    tag = turn->tag - tag;
    cr_assert_eq(takt_cancel(&jobs[2].permit), 0);
    release(jobs, 2);
    return tag;
}

/* Without `fair` the inner keys are the tenants of the outermost limit. */
Test(tenants, an_inner_key_pays_for_what_its_work_has_used)
{
    takt_request request = TAKT_REQUEST("account");

    begin("  - {name: vendor, rules: [{rate: 1/h, burst: 2}]}\n"
          "  - {name: account, rules: [{rate: 100/s, burst: 100}], within: vendor}\n");
    request.key = "a";
    cr_expect_eq(settled_tag(request, "a"), 6 * TAKT_TENANT_STEP);
    end();
}

/* The ledger says what settled work adds to the tag of its tenant, by its weight. */
Test(tenants, whose_work_has_used_more_has_its_turn_later)
{
    takt_request request = TAKT_REQUEST("slow");

    begin("  - {name: slow, rules: [{rate: 1/h, burst: 2}]" FAIR WEIGHTS "}\n");
    request.tenant = "acme";
    cr_expect_eq(settled_tag(request, "acme"), 2 * TAKT_TENANT_STEP);
    end();
}

static const takt_queue *any_queue_of(const char *limit, const char *tenant);

/* If the innermost limit alone has `fair`, each tenant of a key has a queue; the subject is the
 * key. */
Test(tenants, of_an_inner_limit_wait_for_one_slot_of_all_levels)
{
    static seen many[MANY], few[FEW];
    takt_queue *queue = NULL;
    int32_t weight;

    begin(LIMIT_OF("account", FAIR WEIGHTS ", within: vendor") LIMIT_OF("vendor", ""));
    acquire_for(many, MANY, "account", "many");
    acquire_for(few, FEW, "account", "acme");
    cr_expect_null(queue_of("account", "acme"));
    do
        queue = takt_registry_next(&client->scheduler, "vendor", "", queue);
    while (queue && strcmp(queue->nest->tenant, "acme") != 0);
    cr_assert_not_null(queue);
    cr_expect_str_eq(queue->turn->tenant, "account");
    cr_expect_eq(queue->turn->weight, 1);
    cr_expect_str_eq(takt_nest_tenant(queue, 0, &weight), "acme");
    cr_expect_eq(weight, 3);
    reload(LIMIT_OF("account", FAIR ", weights: {acme: 5}, within: vendor") LIMIT_OF("vendor", ""));
    cr_expect_eq(queue->nest->weight, 5);
    run_until(MANY + FEW);
    for (int i = 0; i < FEW; i++)
        cr_expect_lt(few[i].order, MANY, "few do not wait for many");
    release(many, MANY);
    release(few, FEW);
    end();
}

/* Either limit is the scarce one. */
static void few_beside_many(const char *limits)
{
    static seen many[MANY], few[FEW];
    struct server server;
    char url[300];

    server_start(&server, NULL);
    snprintf(url, sizeof url, "unix:%s", server.socket);
    begin_at(url, limits);
    acquire_for(many, MANY, "account", "many");
    acquire_for(few, FEW, "account", "few");
    run_until(MANY + FEW);
    for (int i = 0; i < FEW; i++)
        cr_expect_lt(few[i].order, MANY, "few do not wait for many");
    release(many, MANY);
    release(few, FEW);
    end();
    server_stop(&server);
}

Test(tenants, of_a_scarce_inner_limit_take_turns_over_redis)
{
    few_beside_many(LIMIT_OF(
        "account",
        FAIR ", within: vendor") "  - {name: vendor, rules: [{rate: 2000/s}], lookahead: 10ms}\n");
}

Test(tenants, of_an_inner_limit_within_a_scarce_one_take_turns_over_redis)
{
    few_beside_many(
        "  - {name: account, rules: [{rate: 2000/s}], fair: tenant, within: vendor}\n" LIMIT_OF(
            "vendor", ""));
}

Test(tenants, of_two_limits_take_turns_over_redis)
{
    few_beside_many(LIMIT_OF("account", FAIR ", within: vendor") LIMIT_OF("vendor", FAIR));
}

Test(tenants, of_two_levels_are_those_of_the_outermost_limit)
{
    static seen jobs[2];
    const takt_queue *queue;
    int32_t weight;

    begin(LIMIT_OF("account", FAIR WEIGHTS ", within: vendor") LIMIT_OF("vendor", FAIR WEIGHTS));
    acquire_for(jobs, 2, "account", "acme");
    queue = any_queue_of("vendor", "acme");
    cr_assert_not_null(queue);
    cr_expect_str_eq(takt_nest_tenant(queue, 0, &weight), "acme");
    cr_expect_eq(weight, 3);
    run_until(2);
    release(jobs, 2);
    end();
}

/* Also of work that is nested. */
static const takt_queue *any_queue_of(const char *limit, const char *tenant)
{
    takt_queue *queue = NULL;

    while ((queue = takt_registry_next(&client->scheduler, limit, "", queue)))
        if (strcmp(queue->turn->tenant, tenant) == 0)
            return queue;
    return NULL;
}

static void acquire_of(seen *jobs, int count, const char *limit, const char *key)
{
    takt_request request = TAKT_REQUEST(limit);

    request.key = key;
    request.tenant = "nobody asks for it";
    for (int i = 0; i < count; i++)
        cr_assert_eq(acquire(&jobs[i], request), 0);
}

/* With `fair: key` the accounts inside are the tenants of the limit around them. */
Test(tenants, keys_of_the_limit_inside_are_tenants)
{
    static const char long_key[] =
        "X234567890123456789012345678901234567890123456789012345678901234"
        "and more",
                      shown[] = "X2345678901234567890123456789012345678901234567~";
    static seen many[MANY], few[FEW], other[2];
    takt_queue *queue;
    int count = 0;

    begin(LIMIT_OF("account", ", within: vendor") LIMIT_OF("vendor", ", fair: key" WEIGHTS));
    acquire_of(many, MANY, "account", "many");
    acquire_of(few, FEW, "account", "acme");
    acquire_of(other, 1, "vendor", NULL);
    acquire_of(other + 1, 1, "account", long_key);
    cr_expect_not_null(queue_of("vendor", "nobody asks for it"), "the work of vendor itself");
    cr_assert_not_null(any_queue_of("vendor", "many"));
    cr_expect_eq(any_queue_of("vendor", "acme")->turn->weight, 3);
    for (queue = NULL; (queue = takt_registry_next(&client->scheduler, "vendor", "", queue));)
        count += strncmp(queue->turn->tenant, shown, sizeof shown - 1) == 0 &&
                 strlen(queue->turn->tenant) == TAKT_TENANT_SIZE_MAX;
    cr_expect_eq(count, 1);
    run_until(MANY + FEW + 2);
    for (int i = 0; i < FEW; i++)
        cr_expect_lt(few[i].order, MANY, "few do not wait for many");
    release(many, MANY);
    release(few, FEW);
    release(other, 2);
    end();
}

Test(tenants, names_are_hashed_with_the_keys)
{
    static seen jobs[1];
    char hash[TAKT_KEY_HASH_SIZE];
    const takt_queue *queue;
    takt_key_secret secret;

    begin(LIMIT_OF("mail", FAIR WEIGHTS ", key_hash: true"));
    acquire_for(jobs, 1, "mail", "acme");
    cr_assert_eq(takt_key_secret_find(&secret, "0123456789abcdef", NULL), 0);
    cr_assert_eq(takt_key_hash(&secret, "mail", "acme", hash), 0);
    cr_expect_null(queue_of("mail", "acme"));
    queue = queue_of("mail", hash);
    cr_assert_not_null(queue);
    cr_expect_eq(queue->turn->weight, 3, "the weight is that of the clear name");
    reload(LIMIT_OF("mail", FAIR ", weights: {acme: 5}, key_hash: true"));
    cr_expect_eq(queue->turn->weight, 3, "nobody knows the name of a hash");
    run_until(1);
    release(jobs, 1);
    acquire_for(jobs, 1, "mail", "acme");
    cr_expect_eq(queue->turn->weight, 5, "until the next acquire");
    run_until(2);
    release(jobs, 1);
    end();
}

static char payers[2][TAKT_TENANT_SIZE_MAX + 1]; /* at `all`, at `mail` */

static void note_payers(takt_store *store, takt_store_call *call)
{
    if (call->op == TAKT_OP_SETTLE)
        strcpy(payers[strcmp(call->limit->name, "mail") == 0], call->tenant);
    kind->submit(store, call);
}

static void expect_payer(const char *tenant)
{
    for (int i = 0; i < 2; i++) {
        cr_expect_str_eq(payers[i], tenant);
        payers[i][0] = '\0';
    }
}

/* A name has another hash in each limit.  All levels have that of the outermost one, which the
 * decision names, also that of a try. */
Test(tenants, of_levels_in_shadow_pay_under_the_name_that_was_asked_for)
{
    static takt_permit tried;
    static seen jobs[1];
    char hash[TAKT_KEY_HASH_SIZE];
    takt_request request = TAKT_REQUEST("mail");
    takt_amount used = {NULL, 25};
    takt_key_secret secret;
    takt_store_kind spy;
    takt_call call = {0};

    begin("  - {name: all, rules: [{rate: 1000/s}]" FAIR ", key_hash: true, mode: shadow}\n"
          "  - {name: mail, rules: [{rate: 1000/s}]" FAIR ", key_hash: true, mode: shadow, within: "
          "all}\n");
    cr_assert_eq(takt_key_secret_find(&secret, "0123456789abcdef", NULL), 0);
    cr_assert_eq(takt_key_hash(&secret, "all", "acme", hash), 0);
    kind = client->store->kind;
    spy = *kind;
    spy.submit = note_payers;
    client->store->kind = &spy;
    request.tenant = "acme";
    run_call(takt_try_acquire(client, &call, &tried, &request, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(takt_settle(&tried, &request, &used, 1), 0);
    expect_payer(hash);
    cr_assert_eq(acquire(&jobs[0], request), 0);
    run_until(1);
    cr_assert_eq(takt_settle(&jobs[0].permit, &request, &used, 1), 0);
    expect_payer(hash);
    takt_release(&tried);
    takt_release(&jobs[0].permit);
    client->store->kind = kind;
    end();
}

/* Work that runs holds its permits of both levels, whichever of these has `fair` since; also if its
 * queue is the one of the new work. */
Test(tenants, a_policy_that_gives_or_takes_fair_loses_no_permits)
{
    static const char *const fair[][2] = {{"", ""}, {"", FAIR}, {FAIR, FAIR}, {FAIR, ""}, {"", ""}};
    static seen jobs[10];
    takt_call call = {0};
    char text[300];

    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text,
                 "  - {name: hall, concurrency: 20%s}\n"
                 "  - {name: door, concurrency: 20, within: hall%s}\n",
                 fair[i][0], fair[i][1]);
        if (i == 0)
            begin(text);
        else
            reload(text);
        acquire_for(&jobs[2 * i], 1, "door", NULL);
        acquire_for(&jobs[2 * i + 1], 1, "door", "acme");
        run_until(2 * i + 2);
        for (int j = 0; j < 2 * i + 2; j++)
            cr_expect(takt_is_held(&jobs[j].permit), "%d with policy %d", j, i);
        run_call(takt_peek(client, &call, "door", NULL, note_call));
        cr_expect_eq(last.standing.held, 2 * i + 2, "%d", (int)last.standing.held);
        run_call(takt_peek(client, &call, "hall", NULL, note_call));
        cr_expect_eq(last.standing.held, 2 * i + 2, "%d", (int)last.standing.held);
    }
    release(jobs, 10);
    do
        run_call(takt_peek(client, &call, "hall", NULL, note_call));
    while (last.standing.held > 0);
    run_call(takt_peek(client, &call, "door", NULL, note_call));
    cr_expect_eq(last.standing.held, 0);
    cr_expect_eq(events_seen & 1 << TAKT_EVENT_PERMIT_LOST, 0);
    end();
}

/* Permits go from tenant to tenant, and a try takes one for its own. */
Test(tenants, permits_are_held_by_tenants)
{
    static seen first[1], second[1];
    takt_request request = TAKT_REQUEST("slots");
    takt_permit permit = {0}, other = {0};

    begin("  - {name: slots, concurrency: 2, fair: tenant}\n");
    request.tenant = "acme";
    run_call(takt_try_acquire(client, &(takt_call){0}, &permit, &request, note_call));
    cr_assert_eq(last.status, 0);
    request.tenant = "beta";
    run_call(takt_try_acquire(client, &(takt_call){0}, &other, &request, note_call));
    cr_assert_eq(last.status, 0);
    acquire_for(first, 1, "slots", "acme");
    acquire_for(second, 1, "slots", NULL);
    takt_release(&other);
    run_until(1);
    takt_release(&permit);
    run_until(2);
    run_call(takt_peek(client, &(takt_call){0}, "slots", NULL, note_call));
    cr_expect_eq(last.standing.held, 2);
    release(first, 1);
    release(second, 1);
    end();
}

/* A block of this client drops the slots that all of its tenants have in hand. */
Test(tenants, a_block_is_for_all_tenants)
{
    static seen jobs[40], others[40];
    int64_t until_us;

    begin(LIMIT_OF("mail", FAIR));
    acquire_for(jobs, 40, "mail", "a");
    acquire_for(others, 40, "mail", "b");
    run_until(10);
    run_call(takt_block(client, &(takt_call){0}, "mail", NULL, 30000, NULL, note_call));
    until_us = last.standing.blocked_until_us;
    run_until(80);
    cr_expect_eq(slots_within(jobs, 40, last.standing.now_us, until_us - 1), 0);
    cr_expect_eq(slots_within(others, 40, last.standing.now_us, until_us - 1), 0);
    release(jobs, 40);
    release(others, 40);
    end();
}

/* Those that wait when `fair` comes or goes are served all the same. */
Test(tenants, policies_change_while_they_wait)
{
    static seen before[FEW], fair[FEW], after[FEW], named[FEW];

    begin(LIMIT_OF("mail", ""));
    acquire_for(before, FEW, "mail", "acme");
    reload(LIMIT_OF("mail", FAIR WEIGHTS));
    acquire_for(fair, FEW, "mail", "acme");
    cr_expect_eq(queue_of("mail", "acme")->turn->weight, 3);
    run_until(2);
    reload(LIMIT_OF("mail", ""));
    acquire_for(after, FEW, "mail", "beta");
    cr_expect_null(queue_of("mail", "beta"));
    acquire_for(named, FEW, "mail", NULL);
    run_until(4 * FEW);
    release(before, FEW);
    release(fair, FEW);
    release(after, FEW);
    release(named, FEW);
    end();
}

/* A limit in shadow measures its tenants, and delays nobody. */
Test(tenants, a_shadow_limit_has_them_too)
{
    static seen jobs[3];
    takt_shadow shadow;

    begin("  - {name: mail, rules: [{rate: 1/h}], mode: shadow, fair: tenant}\n");
    acquire_for(jobs, 2, "mail", "acme");
    acquire_for(&jobs[2], 1, "mail", "beta");
    run_until(3);
    release(jobs, 3);
    cr_assert_eq(takt_get_shadow(client, "mail", &shadow), 0);
    cr_expect_eq(shadow.acquires, 3);
    cr_expect_not_null(queue_of("mail", "acme"));
    end();
}

/* A fair limit whose tenant is unlimited by key starts at once, as without `fair`. */
Test(tenants, keys_with_overrides_have_them_too)
{
    static seen jobs[2];
    takt_request request = TAKT_REQUEST("mail");

    begin("  - {name: mail, rules: [{rate: 1/h}], fair: tenant, overrides: [{key: free, unlimited: "
          "true}, {key: quick, rules: [{rate: 1000/s}]}]}\n");
    request.tenant = "acme";
    request.key = "free";
    cr_assert_eq(acquire(&jobs[0], request), 0);
    request.key = "quick";
    cr_assert_eq(acquire(&jobs[1], request), 0);
    run_until(2);
    release(jobs, 2);
    end();
}
