/*
 * Any bytes as the commands of a client of the agent, over a real connection, so within the agent's
 * own bounds. The first byte chooses the form: raw in pieces of that size, or (from 128 on) as
 * commands, a line each, with spaces between words.
 *
 * The agent's answers are well-formed RESP2 or RESP3. A command has one answer, unless it waits or
 * is behind one that waits. A stream that is no command ends with an error and the connection.
 * Another connection is served all the time, and a connection leaves nothing behind.
 */
#include "fuzz.h"

#include <ctype.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/run.h"

#define COMMANDED   128
#define WORDS_MAX   512  /* as in the agent */
#define WORDS_SENT  1024 /* at most */
#define DEFINED_MAX 32   /* limits of programs; then a new agent, since each change copies them */
#define DEPTH_MAX   8
#define TURNS       4 /* of the loop, from a command's bytes to the store's answer and the reply */

static const char policy[] = "limits:\n"
                             "  - name: fast\n"
                             "    rules: [{rate: 1000000/s, burst: 1000000}]\n"
                             "  - name: slow\n"
                             "    rules: [{rate: 1/h, counts: tokens}]\n"
                             "  - name: one\n"
                             "    concurrency: 1\n"
                             "    max_waiting: 2\n";

static takt_agent agent;
static char folder[] = "/tmp/takt-fuzz-XXXXXX", path[sizeof folder + 8];
static int other = -1; /* the connection that must not suffer */

static void turn(void)
{
    for (int i = 0; i < TURNS; i++)
        uv_run(&agent.loop, UV_RUN_NOWAIT);
}

static int connect_to_agent(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    require(fd >= 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    require(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    turn();
    return fd;
}

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void open_agent(void)
{
    char policy_path[FUZZ_PATH_SIZE];
    int file = fuzz_file(policy, strlen(policy), policy_path);
    takt_agent_options options = {.listen = path, .policy = policy_path, .store = "memory:"};

    require(takt_agent_open(&agent, &options) == 0);
    takt_signals_close(&agent.signals); /* the fuzzer has its own */
    close(file);
    other = connect_to_agent();
}

static void renew_agent(void)
{
    static bool opened;

    if (opened && agent.limits.definition_count + agent.limits.brought.former.count < DEFINED_MAX)
        return;
    if (opened) {
        close(other);
        takt_agent_close(&agent);
    } else {
        require(mkdtemp(folder) != NULL);
        snprintf(path, sizeof path, "%s/agent", folder);
        atexit(remove_folder);
        opened = true;
    }
    open_agent();
}

/* ---- what the agent sends -------------------------------------------------------------------- */

typedef struct received {
    char *bytes;
    size_t size;
    int count, pushes;
    bool ended, refused; /* the connection; its stream */
} received;

/* Whether the connection has ended, or has sent everything for now. */
static bool is_quiet(const takt_agent_connection *connection)
{
    return agent.connections.count < 2 ||
           (takt_list_empty(&connection->to_do) && connection->out.size == 0);
}

/* Reads answers until the connection is quiet. */
static void gather(int fd, const takt_agent_connection *connection, received *answers)
{
    static char room[65536];
    ssize_t size;

    do {
        turn();
        size = read(fd, room, sizeof room);
        if (size <= 0)
            continue;
        answers->bytes = realloc(answers->bytes, answers->size + (size_t)size + 1);
        require(answers->bytes != NULL);
        memcpy(answers->bytes + answers->size, room, (size_t)size);
        answers->size += (size_t)size;
        answers->bytes[answers->size] = '\0';
    } while (size > 0 || (size < 0 && errno == EAGAIN && !is_quiet(connection)));
    answers->ended = size == 0 || errno == ECONNRESET;
    require(answers->ended || errno == EAGAIN);
}

/* The number of a line, and what follows it. */
static const char *read_line(const char *at, const char *end, long *number)
{
    const char *line_end = memchr(at, '\r', (size_t)(end - at));

    require(line_end != NULL && line_end + 1 < end && line_end[1] == '\n');
    require(memchr(at, '\n', (size_t)(line_end - at)) == NULL);
    *number = strtol(at + 1, NULL, 10);
    return line_end + 2;
}

/* Passes a whole value. */
static const char *pass(const char *at, const char *end, int depth)
{
    char type = *at;
    long number;

    require(at < end && depth < DEPTH_MAX);
    at = read_line(at, end, &number);
    switch (type) {
    case '+':
    case '-':
    case ':':
    case '_':
        return at;
    case '$':
        require(number >= -1 && number <= end - at);
        if (number < 0)
            return at;
        require(end - at >= number + 2 && at[number] == '\r' && at[number + 1] == '\n');
        return at + number + 2;
    case '*':
    case '>':
    case '%':
        require(number >= 0);
        for (long i = 0; i < (type == '%' ? 2 * number : number); i++)
            at = pass(at, end, depth + 1);
        return at;
    default:
        require(false); /* no type that the agent sends */
        return end;
    }
}

static void check_answers(received *answers)
{
    static const char refusal[] = "-ERR Protocol error: ";
    const char *at = answers->bytes, *end = at ? at + answers->size : at;

    while (at != end) {
        require(!answers->refused); /* commands after it are not executed */
        answers->refused =
            (size_t)(end - at) > strlen(refusal) && memcmp(at, refusal, strlen(refusal)) == 0;
        *(*at == '>' ? &answers->pushes : &answers->count) += 1;
        at = pass(at, end, 0);
    }
    require(!answers->refused || answers->ended);
}

/* ---- what a client sends --------------------------------------------------------------------- */

static void send_bytes(int fd, const char *bytes, size_t size, size_t piece)
{
    for (size_t at = 0; at < size; at += piece) {
        size_t now = size - at < piece ? size - at : piece;
        ssize_t sent = write(fd, bytes + at, now);
        turn();
        if (sent < 0 && errno == EPIPE)
            return;
        require(sent == (ssize_t)now);
    }
}

/* Appends the words of a line as a command, and returns their number. */
static int put_line(takt_resp_out *out, char *line)
{
    const char *words[WORDS_SENT];
    size_t sizes[WORDS_SENT];
    int count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(line, " ", &rest); word && count < WORDS_SENT;
         word = strtok_r(NULL, " ", &rest)) {
        words[count] = word;
        sizes[count++] = strlen(word);
    }
    if (count > 0)
        require(takt_resp_command(out, count, words, sizes));
    return count;
}

/* Sends each line, up to one with too many words; returns the number of commands before it. */
static int send_lines(int fd, const uint8_t *data, size_t size, bool *is_too_large)
{
    takt_resp_out out = {0};
    int count = 0;

    while (size > 0 && !*is_too_large) {
        char *line = fuzz_cut(&data, &size, '\n');
        int words = put_line(&out, line);
        *is_too_large = words > WORDS_MAX;
        count += words > 0 && !*is_too_large;
        free(line);
    }
    if (out.size > 0)
        send_bytes(fd, out.bytes, out.size, out.size);
    free(out.bytes);
    return count;
}

/* Whether a whole line is here that begins neither an array nor a string. */
static bool is_no_command(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] != '*' && data[0] != '$' && memchr(data, '\n', size) != NULL;
}

/* ---- a connection from its begin to its end -------------------------------------------------- */

static takt_agent_connection *newest(void)
{
    return TAKT_HOLDER(agent.connections.all.previous, takt_agent_connection, link);
}

static void check_other(void)
{
    char answer[16];

    require(write(other, "*1\r\n$4\r\nPING\r\n", 14) == 14);
    turn();
    require(read(other, answer, sizeof answer) == 7 && memcmp(answer, "+PONG\r\n", 7) == 0);
}

/* Only permits that were detached outlive their connection. */
static void check_nothing_left(void)
{
    takt_entry *entry;

    require(agent.connections.count == 1 && agent.waiters.count == 0);
    require(takt_table_any(&agent.waiters.seats) == NULL &&
            takt_table_any(&agent.waiters.tags) == NULL);
    while ((entry = takt_table_any(&agent.permits.tokens)) != NULL) {
        takt_agent_permit *permit = TAKT_HOLDER(entry, takt_agent_permit, named);
        require(permit->connection == NULL && permit->end.at_ms > 0);
        takt_agent_permit_release(&agent, permit);
    }
    turn();
    require(agent.permits.held == 0 && takt_table_any(&agent.waiters.wishes) == NULL);
    require(takt_table_any(&agent.waiters.lines) == NULL && agent.alarms.heap.first == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_commanded = size > 0 && data[0] >= COMMANDED, is_too_large = false;
    received answers = {0};
    int commands = 0, fd;

    if (size == 0)
        return 0;
    renew_agent();
    fd = connect_to_agent();
    require(agent.connections.count == 2);
    takt_agent_connection *connection = newest();

    if (is_commanded)
        commands = send_lines(fd, data + 1, size - 1, &is_too_large);
    else
        send_bytes(fd, (const char *)data + 1, size - 1, (size_t)data[0] % COMMANDED + 1);
    gather(fd, connection, &answers);
    check_answers(&answers);
    require(agent.connections.count == (answers.ended ? 1 : 2));
    require(!is_commanded || !answers.refused || is_too_large);
    require(is_commanded || !is_no_command(data + 1, size - 1) || answers.refused);
    if (is_commanded && !answers.ended && !connection->relay) {
        bool waits = connection->waits > 0 || connection->call;
        require(waits ? answers.count < commands : answers.count == commands && !is_too_large);
    }
    check_other();
    close(fd);
    turn();
    check_nothing_left();
    free(answers.bytes);
    return 0;
}
