/*
 * listen.c: the sockets of the agent: those that a service manager hands over, or else a Unix
 * socket of its own; and a port of the loopback if one is asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "agent.h"
#include "kit/message.h"
#include "kit/unix_socket.h"

#define BACKLOG       1024
#define AGAIN_MS      100
#define FIRST_HANDED  3 /* the number of the first socket that a service manager hands over */
#define LISTENERS_MAX 8
#define PATH_SIZE     108

static void accept_all(takt_agent *agent, takt_agent_alarm *alarm);

/* libuv accepts no more until the connection is taken over. */
static void accept_one(takt_agent *agent, int index)
{
    takt_agent_listening *listening = &agent->listening;

    if (!takt_agent_connection_accept(agent, &listening->sockets[index].stream,
                                      listening->is_unix[index]))
        takt_agent_set_alarm(agent, &listening->again, AGAIN_MS, accept_all);
}

static void accept_all(takt_agent *agent, takt_agent_alarm *alarm)
{
    (void)alarm;
    for (int i = 0; i < agent->listening.count; i++)
        accept_one(agent, i);
}

static void on_connection(uv_stream_t *listener, int failed)
{
    takt_agent *agent = listener->data;

    if (failed)
        return;
    for (int i = 0; i < agent->listening.count; i++)
        if (&agent->listening.sockets[i].stream == listener)
            accept_one(agent, i);
}

static int fail(const char *where, const char *why)
{
    takt_message("cannot listen at %s: %s", where, why);
    return EX_OSERR;
}

/* A new handle of a listener. It is closed at the end, also after an error. */
static uv_stream_t *add_listener(takt_agent *agent, bool is_unix)
{
    int at = agent->listening.count;

    if (at == LISTENERS_MAX ||
        (is_unix ? uv_pipe_init(&agent->loop, &agent->listening.sockets[at].pipe, 0)
                 : uv_tcp_init(&agent->loop, &agent->listening.sockets[at].tcp)) != 0)
        return NULL;
    agent->listening.is_unix[at] = is_unix;
    agent->listening.count++;
    agent->listening.open++;
    agent->listening.sockets[at].stream.data = agent;
    return &agent->listening.sockets[at].stream;
}

/* ---- a socket of its own --------------------------------------------------------------------- */

static bool default_path(char path[PATH_SIZE])
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    int size = folder && *folder && geteuid() != 0 ? snprintf(path, PATH_SIZE, "%s/takt", folder)
                                                   : snprintf(path, PATH_SIZE, "/run/takt");

    if (size >= PATH_SIZE - 12)
        return false;
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return false;
    strcat(path, "/agent.sock");
    return true;
}

/* The group's number; -1: there is no such group. */
static gid_t group_of(const char *name)
{
    const struct group *group = getgrnam(name);

    return group ? group->gr_gid : (gid_t)-1;
}

/* Binds with a umask, so that no other user can connect before the group is set. */
static int bind_path(uv_stream_t *listener, const char *path, const char *group)
{
    mode_t before = umask(0177);
    int failed = uv_pipe_bind((uv_pipe_t *)listener, path);

    umask(before);
    if (!failed && group && chown(path, (uid_t)-1, group_of(group)) != 0)
        failed = -errno;
    if (!failed && chmod(path, 0660) != 0)
        failed = -errno;
    return failed ? failed : uv_listen(listener, BACKLOG, on_connection);
}

static bool has_folder(const char *path)
{
    char folder[PATH_SIZE];
    const char *name = strrchr(path, '/');

    if (!name || name == path)
        return true;
    snprintf(folder, sizeof(folder), "%.*s", (int)(name - path), path);
    return access(folder, F_OK) == 0 || errno != ENOENT;
}

/* The path from the root: each connection looks up the socket's mode by the path that the system
 * names. A path that is cut is still too long. */
static bool make_absolute(const char *listen, char *path, size_t size)
{
    char folder[PATH_MAX] = "";
    bool is_relative = *listen && *listen != '/';

    if (is_relative && (!getcwd(folder, sizeof(folder)) || folder[0] != '/'))
        return false;
    snprintf(path, size, "%s%s%s", folder, is_relative ? "/" : "", listen);
    return true;
}

#define UNIX "unix:" /* may come before the path, as in a store's URL */

static int listen_at_path(takt_agent *agent)
{
    const takt_agent_options *options = &agent->options;
    const char *named = options->listen;
    char path[PATH_MAX + PATH_SIZE];
    const char *why;
    uv_stream_t *listener;
    int failed;

    if (options->group && group_of(options->group) == (gid_t)-1) {
        takt_message("--group %s: there is no such group", options->group);
        return EX_USAGE;
    }
    if (named && strncmp(named, UNIX, strlen(UNIX)) == 0)
        named += strlen(UNIX);
    if (!named && !default_path(path))
        return fail("/run/takt/agent.sock",
                    "its folder cannot be made; name a socket with --listen");
    if (named && !make_absolute(named, path, sizeof(path)))
        return fail(named, "the working directory has no path; write the whole path");
    failed = takt_unix_socket_clear(path, &why);
    if (failed) {
        fail(path, why);
        return failed == TAKT_E_INVALID ? EX_USAGE : EX_OSERR;
    }
    agent->listening.path = strdup(path);
    listener = agent->listening.path ? add_listener(agent, true) : NULL;
    if (!listener)
        return fail(path, strerror(ENOMEM));
    failed = bind_path(listener, path, options->group);
    if (failed == UV_EACCES && !has_folder(path)) /* libuv makes no difference */
        return fail(path, "there is no such folder; make it, or name another with --listen");
    return failed ? fail(path, uv_strerror(failed)) : 0;
}

/* ---- others ---------------------------------------------------------------------------------- */

/* The sockets of systemd's protocol (sd_listen_fds(3)); 0: none. */
static int inherited_count(void)
{
    const char *count = getenv("LISTEN_FDS"), *pid = getenv("LISTEN_PID");
    int number = count && pid && atol(pid) == (long)getpid() ? atoi(count) : 0;

    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    return number;
}

/* Whether a TCP socket can be reached from this host alone. */
static bool is_on_loopback(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {.any.sa_family = AF_UNSPEC};
    socklen_t size = sizeof(address);

    if (getsockname(fd, &address.any, &size) != 0)
        return false;
    return (address.any.sa_family == AF_INET && ntohl(address.v4.sin_addr.s_addr) >> 24 == 127) ||
           (address.any.sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&address.v6.sin6_addr));
}

static int take_over(takt_agent *agent, int fd)
{
    int domain = AF_UNIX;
    socklen_t size = sizeof(domain);
    uv_stream_t *listener;
    int failed;

    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    if (domain != AF_UNIX && !agent->options.password) {
        takt_message(
            "a TCP socket needs a password: set $TAKT_AGENT_PASSWORD, or --password-file FILE");
        return EX_USAGE;
    }
    if (domain != AF_UNIX && !is_on_loopback(fd)) {
        takt_message("a TCP socket of the service manager listens on another address than the "
                     "loopback: write ListenStream=127.0.0.1:PORT");
        return EX_USAGE;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    listener = add_listener(agent, domain == AF_UNIX);
    if (!listener)
        return fail("the sockets of the service manager", "there are too many");
    failed = domain == AF_UNIX ? uv_pipe_open((uv_pipe_t *)listener, fd)
                               : uv_tcp_open((uv_tcp_t *)listener, fd);
    if (!failed)
        failed = uv_listen(listener, BACKLOG, on_connection);
    return failed ? fail("a socket of the service manager", uv_strerror(failed)) : 0;
}

static int listen_on_port(takt_agent *agent)
{
    struct sockaddr_in address;
    char where[32];
    uv_stream_t *listener = add_listener(agent, false);
    int failed;

    snprintf(where, sizeof(where), "127.0.0.1:%d", agent->options.port);
    if (!listener)
        return fail(where, strerror(ENOMEM));
    uv_ip4_addr("127.0.0.1", agent->options.port, &address);
    failed = uv_tcp_bind((uv_tcp_t *)listener, (const struct sockaddr *)&address, 0);
    if (!failed)
        failed = uv_listen(listener, BACKLOG, on_connection);
    return failed ? fail(where, uv_strerror(failed)) : 0;
}

int takt_agent_listen(takt_agent *agent)
{
    int inherited = inherited_count(), status = 0;

    for (int i = 0; status == 0 && i < inherited; i++)
        status = take_over(agent, FIRST_HANDED + i);
    if (status == 0 && inherited == 0)
        status = listen_at_path(agent);
    if (status == 0 && agent->options.port)
        status = listen_on_port(agent);
    return status;
}

static void on_closed(uv_handle_t *handle)
{
    takt_agent *agent = handle->data;

    agent->listening.open--;
}

void takt_agent_listen_no_more(takt_agent *agent)
{
    takt_agent_unset_alarm(agent, &agent->listening.again);
    for (int i = 0; i < agent->listening.count; i++)
        if (!uv_is_closing((uv_handle_t *)&agent->listening.sockets[i]))
            uv_close((uv_handle_t *)&agent->listening.sockets[i], on_closed);
    free(agent->listening.path); /* libuv removes the file */
    agent->listening.path = NULL;
}
