/*
 * sink.c: see sink.h.  One thread and epoll; replies to whole lines, and tells text from commands.
 */
#include "sink.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define ROOM            65536

typedef struct session {
    char text[ROOM];
    size_t size;
    bool in_text; /* after DATA */
} session;

static session *sessions[CONNECTIONS_MAX + 64]; /* by descriptor */

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static void say(int socket, const char *reply)
{
    must(write(socket, reply, strlen(reply)) == (ssize_t)strlen(reply), "sink: write");
}

static void hear_line(int socket, session *session, const char *line, size_t size)
{
    if (session->in_text) {
        if (size == 1 && line[0] == '.') {
            session->in_text = false;
            say(socket, "250 2.0.0 taken\r\n");
        }
    } else if (strncmp(line, "DATA", 4) == 0) {
        session->in_text = true;
        say(socket, "354 go on\r\n");
    } else if (strncmp(line, "EHLO", 4) == 0) {
        say(socket, "250-sink\r\n250 SIZE 100000000\r\n");
    } else {
        say(socket, "250 2.1.0 OK\r\n");
    }
}

static void hear(int socket)
{
    session *session = sessions[socket];
    ssize_t count = read(socket, session->text + session->size, ROOM - session->size);
    char *line = session->text, *end;

    if (count <= 0) {
        free(session);
        close(socket);
        return;
    }
    session->size += (size_t)count;
    while ((end = memchr(line, '\n', session->size - (size_t)(line - session->text))) != NULL) {
        hear_line(socket, session, line, (size_t)(end - line) - 1);
        line = end + 1;
    }
    session->size -= (size_t)(line - session->text);
    memmove(session->text, line, session->size);
}

static void serve(int listener)
{
    struct epoll_event events[64], wanted = {.events = EPOLLIN, .data.fd = listener};
    int poll = epoll_create1(0);

    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &wanted);
    for (;;) {
        int count = epoll_wait(poll, events, 64, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd != listener) {
                hear(events[i].data.fd);
                continue;
            }
            int socket = accept(listener, NULL, NULL);
            must(socket >= 0 && socket < CONNECTIONS_MAX + 64, "sink: accept");
            sessions[socket] = calloc(1, sizeof(session));
            must(sessions[socket] != NULL, "sink: calloc");
            wanted.data.fd = socket;
            epoll_ctl(poll, EPOLL_CTL_ADD, socket, &wanted);
            say(socket, "220 sink\r\n");
        }
    }
}

int sink_start(void)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof place;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(listener >= 0 && bind(listener, (struct sockaddr *)&place, size) == 0 &&
             listen(listener, 128) == 0 &&
             getsockname(listener, (struct sockaddr *)&place, &size) == 0,
         "sink: listen");
    pid_t child = fork();
    must(child >= 0, "sink: fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    close(listener);
    return ntohs(place.sin_port);
}
