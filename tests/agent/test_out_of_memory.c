/*
 * Each allocation of the agent fails once, and then all from it on: opening ends with a message; a
 * command is answered, or its connection ends; a program with the store `agent:` gets its permits
 * when there is memory again. Then the agent serves new connections, and closing leaves nothing.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/run.h"
#include "memory/failing.h"

#define DENSE   400
#define TURNS   100 /* of the loop, until there is memory again */
#define PERMITS 6
#define STEP    11

static char folder[] = "/tmp/takt-test-XXXXXX", path[sizeof folder + 8],
            policy_path[sizeof folder + 12], url[sizeof path + 8];
static takt_agent agent;

static void begin(void)
{
    FILE *file;

    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/agent", folder);
    snprintf(url, sizeof url, "agent:%s", path);
    snprintf(policy_path, sizeof policy_path, "%s/takt.yaml", folder);
    file = fopen(policy_path, "w");
    cr_assert_not_null(file);
    fputs("limits:\n"
          "  - name: fast\n"
          "    rules: [{rate: 1000000/s, burst: 1000}]\n"
          "  - name: one\n"
          "    concurrency: 1\n"
          "  - name: inner\n"
          "    rules: [{rate: 1000000/s, burst: 1000}]\n"
          "    within: fast\n",
          file);
    fclose(file);
}

static void end(void)
{
    unlink(policy_path);
    unlink(path);
    rmdir(folder);
}

TestSuite(agent_out_of_memory, .init = begin, .fini = end, .timeout = 240);

/* Opens the agent; if it lacked memory, once more with memory. */
static bool open_agent(void)
{
    takt_agent_options options = {.listen = path, .policy = policy_path, .store = "memory:"};

    if (takt_agent_open(&agent, &options) == 0)
        return true;
    if (!failing_struck())
        return false;
    (void)failing_stop();
    return takt_agent_open(&agent, &options) == 0;
}

static void turn(int *turns)
{
    uv_run(&agent.loop, UV_RUN_NOWAIT);
    if (++*turns == TURNS)
        (void)failing_stop();
}

/* ---- commands -------------------------------------------------------------------------------- */

static int connect_to_agent(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0, "%s",
                 strerror(errno));
    return fd;
}

static void send_line(int fd, const char *line)
{
    char words[256], command[512], *rest = NULL;
    int used = 0, count = 0;

    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest), count++)
        used += snprintf(command + used, sizeof command - (size_t)used, "$%zu\r\n%s\r\n",
                         strlen(word), word);
    dprintf(fd, "*%d\r\n%.*s", count, used, command);
}

/* The size of the message of its own accord that the text begins with: on a slow machine a permit
 * may come before it is cancelled.  0: it is not complete. */
static size_t message_size(const char *text)
{
    const char *at = strstr(text, "\r\n");

    for (int left = atoi(text + 1); at && left > 0; left--) {
        long skipped = at[2] == '$' ? atol(at + 3) + 2 : 0;
        const char *end = strstr(at + 2, "\r\n");
        at = end && skipped <= (long)strlen(end + 2) ? end + skipped : NULL;
    }
    return at ? (size_t)(at + 2 - text) : 0;
}

/* Sends the command, and waits until the connection has answered with something that begins so or
 * has ended: false. */
static bool is_answered(int fd, const char *line, const char *wanted, int *turns)
{
    char answer[8192];
    ssize_t size;

    if (line)
        send_line(fd, line);
    for (;;) {
        turn(turns);
        size = recv(fd, answer, sizeof answer - 1, MSG_PEEK);
        if (size == 0 || (size < 0 && errno != EAGAIN))
            return false;
        if (size < 0)
            continue;
        answer[size] = '\0';
        if (answer[0] == '>') {
            (void)recv(fd, answer, message_size(answer), 0);
            continue;
        }
        if (wanted && strncmp(answer, wanted, strlen(wanted)) != 0 && answer[0] != '-') {
            cr_log_error("%s: %s", line, answer);
            abort();
        }
        return recv(fd, answer, (size_t)size, 0) > 0;
    }
}

static bool does_commands(void *unused)
{
    static const struct {
        const char *line, *answer;
    } commands[] = {
        {"HELLO 3 SETNAME me", "%7"},
        {"DEFINE own RATE 1000/s BURST 9", "+OK"},
        {"ACQUIRE own:k", "*4"},
        {"TRY own STANDING", "*2"},
        {"ACQUIRE fast", "*4"},
        {"ACQUIRE one DETACH 1h", "*4"},
        {"ACQUIRE one WAIT 1", ""},
        {"ACQUIRE one TAG a-tag", "+QUEUED"},
        {"CANCEL a-tag", ":"},
        {"PEEK fast", "%"},
        {"BLOCK fast:b 1h REASON why", "%"},
        {"RELEASE 0123456789abcdef COST 5", ":0"},
        {"ACQUIRE fast COST 5000", "-COST"},
        {"POLICY", "%"},
        {"INFO", "$"},
    };
    int turns = 0, fd, count = (int)(sizeof commands / sizeof commands[0]), at = 0;
    bool good;

    (void)unused;
    if (!open_agent())
        return false;
    fd = connect_to_agent();
    while (at < count && is_answered(fd, commands[at].line, commands[at].answer, &turns))
        at++;
    good = at == count || failing_struck();
    close(fd);
    while (turns < TURNS)
        turn(&turns);
    fd = connect_to_agent();
    good = good && is_answered(fd, "PING", "+PONG", &turns) &&
           is_answered(fd, "ACQUIRE fast", "*4", &turns);
    close(fd);
    takt_agent_close(&agent);
    return good;
}

Test(agent_out_of_memory, a_command_is_answered_or_its_connection_ends)
{
    int64_t failed = failing_each(does_commands, NULL, DENSE);

    cr_assert_eq(failed, 0, "allocation %lld", (long long)failed);
}

/* ---- a program ------------------------------------------------------------------------------- */

typedef struct program {
    uv_loop_t loop;
    takt_policy *policy;
    takt_client *client;
    takt_permit permits[PERMITS];
    takt_call call;
    int answered;
    bool called, closed, good;
} program;

static void came(takt_permit *permit, int status)
{
    program *self = permit->data;

    self->answered++;
    if (status != 0)
        cr_log_error("a permit: %s", takt_error_name(status));
    self->good = self->good && status == 0;
    takt_release(permit);
}

static void said(takt_call *call, int status, const takt_standing *standing)
{
    program *self = call->data;

    (void)standing;
    self->called = true;
    self->good = self->good && (status == 0 || failing_struck());
}

static void closed(void *data)
{
    ((program *)data)->closed = true;
}

static int earlier(int a_ms, int b_ms)
{
    return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* A turn of both loops; with memory, they wait for events as usual. */
static void both(program *self, int *turns)
{
    struct pollfd of[] = {{.fd = uv_backend_fd(&self->loop), .events = POLLIN},
                          {.fd = uv_backend_fd(&agent.loop), .events = POLLIN}};

    if (*turns >= TURNS)
        poll(of, 2, earlier(uv_backend_timeout(&self->loop), uv_backend_timeout(&agent.loop)));
    uv_run(&self->loop, UV_RUN_NOWAIT);
    turn(turns);
}

/* Opens the program's client; if it lacked memory, once more with memory. */
static void open_program(program *self)
{
    takt_options options = {.store = url};

    cr_assert_eq(uv_loop_init(&self->loop), 0);
    if (takt_policy_load(&self->policy, policy_path, NULL) != 0) {
        (void)failing_stop();
        cr_assert_eq(takt_policy_load(&self->policy, policy_path, NULL), 0);
    }
    if (takt_open(&self->client, &self->loop, self->policy, &options, NULL) != 0) {
        (void)failing_stop();
        uv_run(&self->loop, UV_RUN_DEFAULT);
        cr_assert_eq(takt_open(&self->client, &self->loop, self->policy, &options, NULL), 0);
    }
}

static void use(program *self, int *turns)
{
    static const char *const limits[] = {"fast", "one", "inner"};
    int begun = 0, code;

    for (int i = 0; i < PERMITS; i++) {
        self->permits[i].data = self;
        code = takt_acquire(self->client, &self->permits[i], &TAKT_REQUEST(limits[i % 3]), came);
        begun += code == 0;
        self->good = self->good && (code == 0 || (code == TAKT_E_NOMEM && failing_struck()));
    }
    self->call.data = self;
    code = takt_peek(self->client, &self->call, "one", "", said);
    self->called = code != 0;
    self->good = self->good && (code == 0 || failing_struck());
    while (self->answered < begun || !self->called)
        both(self, turns);
    while (*turns < TURNS)
        both(self, turns);
}

static bool serves_a_program(void)
{
    program self = {.good = true};
    int turns = 0;

    if (!open_agent())
        return false;
    open_program(&self);
    use(&self, &turns);
    takt_close(self.client, closed, &self);
    while (!self.closed)
        both(&self, &turns);
    uv_run(&self.loop, UV_RUN_DEFAULT);
    uv_loop_close(&self.loop);
    takt_policy_free(self.policy);
    takt_agent_close(&agent);
    return self.good;
}

Test(agent_out_of_memory, a_program_gets_its_permits_when_there_is_memory_again)
{
    /* some of them: what a program lacked may be stated again only at its keepalive */
    for (int onwards = 0; onwards < 2; onwards++)
        for (int64_t n = 1 + onwards * 5;; n += STEP) {
            failing_start(n, onwards);
            cr_assert(serves_a_program(), "allocation %lld, onwards %d", (long long)n, onwards);
            if (failing_stop() < n)
                break;
        }
}
