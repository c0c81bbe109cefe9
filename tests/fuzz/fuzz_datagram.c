/*
 * Any bytes as a message to a client of this host: limits and keys of received messages have valid
 * sizes, and only known kinds are received. A message of our own arrives as it was sent.
 */
#include "fuzz.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "store/waker.h"

#define WORKER (((uint64_t)getpid() << 20) | 1)

static uv_loop_t loop;
static uv_async_t alive; /* so that the loop runs: a waker alone does not keep it */
static takt_waker waker;

/* The expected message: other processes of this host may send messages as well. */
static struct {
    char kind;
    const char *limit, *key;
    int heard;
} expected;

static void hear(char kind, const char *limit, const char *key)
{
    require(strlen(limit) <= TAKT_NAME_SIZE_MAX && strlen(key) <= TAKT_KEY_SIZE_MAX);
    if (kind == expected.kind && strcmp(limit, expected.limit) == 0 &&
        strcmp(key, expected.key) == 0)
        expected.heard++;
}

static void on_wake(void *data, const char *limit, const char *key)
{
    (void)data;
    hear('w', limit, key);
}

static void on_hint(void *data, const char *limit, const char *key)
{
    (void)data;
    hear('n', limit, key);
}

static void answer(const char *name, const char *key, int wakes)
{
    static takt_award award;
    takt_limit limit = {.numbers.concurrency = 1};
    takt_claim claim = {.worker = WORKER};
    takt_store_call call = {
        .limit = &limit, .numbers = &limit.numbers, .key = key, .claim = &claim, .award = &award};

    snprintf(limit.name, sizeof limit.name, "%s", name);
    award.wake_count = wakes;
    award.wakes[0] = WORKER;
    takt_waker_answered(&waker, &call);
}

static int open_once(void)
{
    takt_store_options options = {.on_wake = on_wake, .on_hint = on_hint};

    require(uv_loop_init(&loop) == 0);
    require(uv_async_init(&loop, &alive, NULL) == 0);
    takt_waker_init(&waker, &loop, &options);
    answer("first", "", 0);
    require(waker.socket >= 0);
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static void send_bytes(int from, const void *data, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int name = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "takt/%" PRIx64, WORKER);

    while (sendto(from, data, size, MSG_DONTWAIT, (struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)name)) < 0) {
        require(errno == EAGAIN || errno == EINTR);
        uv_run(&loop, UV_RUN_NOWAIT); /* it is full of other processes' messages */
    }
}

/* All that has come. */
static void hear_all(void)
{
    char byte;

    do
        uv_run(&loop, UV_RUN_NOWAIT);
    while (recv(waker.socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0);
}

/* Any bytes: they are heard if they are a message, KIND LIMIT NUL KEY. */
static void check_any(int from, const char *bytes, size_t size)
{
    size_t limit_size = size > 1 ? strnlen(bytes + 1, size - 1) : 0;
    bool has_key = size > 1 && limit_size < size - 1;
    char *key = has_key ? fuzz_copy(bytes + 2 + limit_size, size - 2 - limit_size) : NULL;
    bool is_message = has_key && (bytes[0] == 'w' || bytes[0] == 'n') &&
                      limit_size <= TAKT_NAME_SIZE_MAX && strlen(key) <= TAKT_KEY_SIZE_MAX;

    expected.kind = size > 0 ? bytes[0] : '\0';
    expected.limit = has_key ? bytes + 1 : "";
    expected.key = has_key ? key : "";
    expected.heard = 0;
    send_bytes(from, bytes, size);
    hear_all();
    if (is_message)
        require(expected.heard == 1);
    else if (size > 0 && bytes[0] == 'w') /* no other process sends wakes */
        require(expected.heard == 0);
    free(key);
}

static void check_own(const char *bytes, size_t size)
{
    char limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];
    size_t first = strnlen(bytes, size);

    snprintf(limit, sizeof limit, "%s", bytes);
    snprintf(key, sizeof key, "%s", first < size ? bytes + first + 1 : "");
    expected.kind = 'w';
    expected.limit = limit;
    expected.key = key;
    expected.heard = 0;
    for (int i = 0; i < 100 && expected.heard == 0; i++) { /* one may be lost */
        answer(limit, key, 1);
        hear_all();
    }
    require(expected.heard == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int from = -1;
    char *bytes = fuzz_copy(data, size);

    if (from < 0)
        require((from = open_once()) >= 0);
    check_any(from, bytes, size);
    check_own(bytes, size);
    free(bytes);
    return 0;
}
