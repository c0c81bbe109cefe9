/*
 * Limits with `key_hash` through a client: all calls with one key use one ledger, whose key is the
 * hash. A client that cannot hash fails instead of using the plain key.
 */
#include "client/calls.h"
#include "crypto/key_hash.h"
#include "crypto/openssl.h"

#define SECRET "0123456789abcdef"
#define ANN    "ann@example.org"
#define POLICY                                                                                     \
    "limits:\n"                                                                                    \
    "  - {name: mail, rules: [{rate: 1/h, burst: 9}], within: sender, key_hash: true}\n"           \
    "  - {name: sender, rules: [{rate: 1/h, burst: 9}], within: all, key_hash: true}\n"            \
    "  - {name: all, rules: [{rate: 1/h, burst: 9}]}\n"
#define PLAIN "limits:\n  - {name: mail, rules: [{rate: 1/h, burst: 9}]}\n"

static takt_policy *parse(const char *text)
{
    takt_policy *made;
    takt_error error = {0};

    cr_assert_eq(takt_policy_parse(&made, "p", text, strlen(text), &error), 0, "%s", error.text);
    return made;
}

static int try_open(const char *text, const char *secret, takt_error *error)
{
    takt_options options = {.store = "memory:", .key_secret = secret};

    unsetenv("TAKT_KEY_SECRET");
    unsetenv("TAKT_KEY_SECRET_FILE");
    policy = parse(text);
    cr_assert_eq(uv_loop_init(&loop), 0);
    return takt_open(&client, &loop, policy, &options, error);
}

static void begin(const char *text, const char *secret)
{
    takt_error error = {0};

    cr_assert_eq(try_open(text, secret, &error), 0, "%s", error.text);
}

static const char *hash_of(const char *limit, const char *key)
{
    static char hash[TAKT_KEY_HASH_SIZE];
    takt_key_secret secret;

    cr_assert_eq(takt_key_secret_find(&secret, SECRET, NULL), 0);
    cr_assert_eq(takt_key_hash(&secret, limit, key, hash), 0);
    return hash;
}

static int64_t remaining(const char *limit, const char *key)
{
    run_call(takt_peek(client, &(takt_call){0}, limit, key, note_call));
    cr_assert_eq(last.status, 0);
    return last.standing.remaining;
}

static takt_request for_ann(void)
{
    takt_request request = TAKT_REQUEST("mail");

    request.key = ANN;
    request.within_keys[0] = ANN;
    request.within_keys[1] = ANN;
    return request;
}

Test(key_hash, acquires_by_the_hashes_of_all_levels)
{
    static seen job;

    begin(POLICY, SECRET);
    cr_assert_eq(acquire(&job, for_ann()), 0);
    run_until(1);
    cr_expect_eq(job.status, 0);
    cr_expect_eq(remaining("mail", hash_of("mail", ANN)), 8);
    cr_expect_eq(remaining("sender", hash_of("sender", ANN)), 8);
    cr_expect_eq(remaining("sender", hash_of("mail", ANN)), 9, "each limit has hashes of its own");
    cr_expect_eq(remaining("all", ANN), 8, "each limit decides for itself");
    cr_expect_eq(remaining("mail", ANN), 8, "the plain key means the same ledger");
    cr_expect_eq(remaining("mail", NULL), 9, "the limit as a whole is another one");
    takt_release(&job.permit);
    close_client();
}

Test(key_hash, every_call_meets_the_same_ledger)
{
    static takt_permit permit;
    takt_request request = for_ann();

    begin(POLICY, SECRET);
    request.cost = 2;
    run_call(takt_try_acquire(client, &(takt_call){0}, &permit, &request, note_call));
    cr_expect_eq(last.status, 0);
    cr_expect_eq(remaining("mail", hash_of("mail", ANN)), 7);
    cr_assert_eq(takt_settle(&permit, &request, TAKT_USED(4)), 0);
    takt_release(&permit);
    cr_expect_eq(remaining("mail", hash_of("mail", ANN)), 5);
    run_call(takt_lower(client, &(takt_call){0}, "mail", ANN, NULL, 2, note_call));
    cr_expect_eq(remaining("mail", hash_of("mail", ANN)), 2);
    run_call(takt_block(client, &(takt_call){0}, "mail", ANN, 60000000, NULL, note_call));
    remaining("mail", hash_of("mail", ANN));
    cr_expect_gt(last.standing.blocked_until_us, 0);
    run_call(takt_unblock(client, &(takt_call){0}, "mail", ANN, note_call));
    remaining("mail", hash_of("mail", ANN));
    cr_expect_eq(last.standing.blocked_until_us, 0);
    run_call(takt_reset(client, &(takt_call){0}, "mail", ANN, note_call));
    cr_expect_eq(remaining("mail", hash_of("mail", ANN)), 9);
    close_client();
}

Test(key_hash, needs_a_secret)
{
    takt_error error = {0};
    takt_policy *hashed;

    cr_expect_eq(try_open(POLICY, NULL, &error), TAKT_E_POLICY);
    cr_expect_not_null(strstr(error.text, "TAKT_KEY_SECRET"), "%s", error.text);
    cr_assert_eq(uv_loop_close(&loop), 0);
    takt_policy_free(policy);

    begin(PLAIN, NULL);
    hashed = parse(POLICY);
    cr_expect_eq(takt_reload(client, hashed, &error), TAKT_E_POLICY);
    cr_expect_eq(takt_get_policy(client), policy, "the policy is the one before");
    close_client();
    takt_policy_free(hashed);
}

Test(key_hash, begins_with_a_reload)
{
    takt_error error = {0};
    takt_policy *hashed;

    begin(PLAIN, SECRET);
    hashed = parse(POLICY);
    run_call(takt_lower(client, &(takt_call){0}, "mail", ANN, NULL, 2, note_call));
    cr_assert_eq(takt_reload(client, hashed, &error), 0, "%s", error.text);
    cr_expect_eq(remaining("mail", ANN), 9, "a ledger of its own");
    close_client();
    takt_policy_free(hashed);
}

static unsigned char *no_memory(const EVP_MD *digest, const void *key, int key_size,
                                const unsigned char *data, size_t size, unsigned char *made,
                                unsigned *made_size)
{
    (void)digest, (void)key, (void)key_size, (void)data, (void)size, (void)made, (void)made_size;
    return NULL;
}

Test(key_hash, asks_for_nothing_without_memory)
{
    static seen job;

    begin(POLICY, SECRET);
    takt_openssl.HMAC = no_memory;
    cr_expect_eq(acquire(&job, for_ann()), TAKT_E_NOMEM);
    cr_expect_eq(takt_peek(client, &(takt_call){0}, "mail", ANN, note_call), TAKT_E_NOMEM);
    close_client();
    cr_expect_eq(job.calls, 0);
}
