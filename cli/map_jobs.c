/*
 * Leads one line through its life: it waits for a permit, runs as a process, and is tried again as
 * often as was allowed.  Each attempt takes a permit of its own.  Each process leads a session of
 * its own, so that a Ctrl-C at the terminal reaches takt alone and the running jobs can end in
 * peace.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "map.h"
#include "message.h"

static void put_back(takt_cli_job *job)
{
    takt_cli_mapping *map = job->map;

    free(job->text);
    job->text = NULL;
    job->state = JOB_IDLE;
    job->next_idle = map->idle;
    map->idle = job;
    map->busy--;
}

/* It was read and will not be done. */
static void leave(takt_cli_job *job)
{
    takt_cli_report_left(job->map, job->text, job->size, job->number);
    put_back(job);
}

/* A command whose output nobody reads any more fails, and so would all the others. */
static bool nobody_reads_output(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/* With the command's name the same for all lines, what is missing for one is missing for all. */
static bool cannot_ever_start(const takt_cli_job *job)
{
    return (job->start_failed == ENOENT || job->start_failed == EACCES ||
            job->start_failed == ENOTDIR) &&
           !strstr(job->map->command[0], "{}");
}

static void ask(takt_cli_job *job);

/* The attempt is over. */
static void decide(takt_cli_job *job)
{
    takt_cli_mapping *map = job->map;

    if (job->status == 0) {
        map->done++;
        put_back(job);
    } else if (cannot_ever_start(job)) {
        if (!map->stopping)
            takt_cli_progress_say(&map->progress, "cannot run %s: %s", map->command[0],
                                  strerror(job->start_failed));
        takt_cli_map_stop(map, job->status);
        leave(job);
    } else if (nobody_reads_output()) {
        if (!map->stopping)
            takt_cli_progress_say(
                &map->progress, "nobody reads standard output any more: no more jobs are started");
        takt_cli_map_stop(map, 128 + SIGPIPE);
        leave(job);
    } else if (map->stopping && (map->hurried || job->attempt <= map->retries)) {
        leave(job);
    } else if (job->attempt <= map->retries) {
        map->retried++;
        ask(job);
    } else {
        takt_cli_report_failed(map, job);
        put_back(job);
    }
    takt_cli_map_go_on(map);
}

static void end(takt_cli_job *job, int status)
{
    job->status = status;
    job->state = JOB_IDLE;
    job->map->running--;
    takt_release(&job->permit);
    takt_cli_report_end(job->map, job);
    decide(job);
}

static void on_end(takt_process_group *process, int status, int signal)
{
    takt_cli_job *job = process->data;

    job->signal = signal;
    end(job, signal ? 128 + signal : status);
}

/* A copy of `word` with each "{}" replaced by the line.  NULL without memory. */
static char *fill_in(const char *word, const takt_cli_job *job)
{
    size_t count = 0;

    for (const char *at = word; (at = strstr(at, "{}")) != NULL; at += 2)
        count++;
    char *filled = malloc(strlen(word) + count * job->size + 1), *end = filled;
    if (!filled)
        return NULL;
    for (const char *at = word, *next; *at; at = next) {
        const char *braces = strstr(at, "{}");
        size_t size = braces ? (size_t)(braces - at) : strlen(at);
        memcpy(end, at, size);
        end += size;
        next = at + size;
        if (braces) {
            memcpy(end, job->text, job->size);
            end += job->size;
            next += 2;
        }
    }
    *end = '\0';
    return filled;
}

static void free_words(char **words)
{
    for (char **word = words; words && *word; word++)
        free(*word);
    free(words);
}

/* The command's words for this line; NULL without memory. */
static char **words_of(const takt_cli_job *job)
{
    char **command = job->map->command, **words;
    size_t count = 0;

    while (command[count])
        count++;
    words = calloc(count + 2, sizeof(*words));
    if (!words)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!(words[i] = fill_in(command[i], job)))
            goto free_all;
    if (!job->map->has_braces && !(words[count] = strdup(job->text)))
        goto free_all;
    return words;
free_all:
    free_words(words);
    return NULL;
}

static int start_process(takt_cli_job *job)
{
    char **words = words_of(job);
    if (!words)
        return ENOMEM;
    job->process.data = job;
    int failed = takt_process_group_start(&job->map->processes, &job->process, words, on_end);
    free_words(words);
    return failed;
}

static void start(takt_cli_job *job)
{
    takt_cli_mapping *map = job->map;
    int64_t now_us = takt_cli_now_us();

    job->state = JOB_RUNNING;
    job->status = job->signal = 0;
    map->running++;
    takt_cli_report_start(map, job, now_us);
    takt_cli_tell_fence(&job->permit);
    job->start_failed = start_process(job);
    if (job->start_failed)
        end(job, job->start_failed == ENOENT ? 127 : 126);
}

/* Without a permit nothing was tried, so the line is not failed but left. */
static void refuse(takt_cli_job *job, int code)
{
    takt_cli_mapping *map = job->map;

    if (!map->stopping)
        takt_cli_map_stop(map, takt_cli_refusal(&map->session, &map->target, code, map->wish.cost));
    leave(job);
}

static void on_permit(takt_permit *permit, int status)
{
    takt_cli_job *job = permit->data;

    job->state = JOB_IDLE;
    job->map->waiting--;
    if (status == 0) {
        start(job);
    } else {
        refuse(job, status);
        takt_cli_map_go_on(job->map);
    }
}

static void ask(takt_cli_job *job)
{
    takt_cli_mapping *map = job->map;

    job->attempt++;
    job->permit.data = job;
    int failed = takt_acquire(map->session.client, &job->permit, &map->request, on_permit);
    if (failed) {
        refuse(job, failed);
        return;
    }
    job->state = JOB_WAITING;
    map->waiting++;
}

int takt_cli_jobs_open(takt_cli_mapping *map)
{
    map->jobs = calloc(map->jobs_max, sizeof(*map->jobs));
    map->left_numbers = calloc(map->jobs_max, sizeof(*map->left_numbers));
    if (!map->jobs || !map->left_numbers) {
        takt_cli_say("%s", strerror(ENOMEM));
        return EX_OSERR;
    }
    for (unsigned i = map->jobs_max; i > 0; i--) {
        map->jobs[i - 1].map = map;
        map->jobs[i - 1].next_idle = map->idle;
        map->idle = &map->jobs[i - 1];
    }
    for (char **word = map->command; *word; word++)
        map->has_braces = map->has_braces || strstr(*word, "{}");
    return 0;
}

void takt_cli_jobs_free(takt_cli_mapping *map)
{
    free(map->jobs);
    free(map->left_numbers);
}

void takt_cli_job_begin(takt_cli_mapping *map, const takt_text_line *line)
{
    takt_cli_job *job = map->idle;

    char *text = malloc(line->size + 1);
    if (!text) {
        takt_cli_progress_say(&map->progress, "%s", strerror(ENOMEM));
        takt_cli_map_stop(map, EX_OSERR);
        takt_cli_report_left(map, line->text, line->size, line->number);
        return;
    }
    memcpy(text, line->text, line->size);
    text[line->size] = '\0';
    map->idle = job->next_idle;
    map->busy++;
    job->text = text;
    job->size = line->size;
    job->number = line->number;
    job->attempt = 0;
    ask(job);
}

static int by_number(const void *a, const void *b)
{
    const takt_cli_job *first = *(takt_cli_job *const *)a, *second = *(takt_cli_job *const *)b;

    return first->number < second->number ? -1 : first->number > second->number;
}

void takt_cli_jobs_abandon(takt_cli_mapping *map)
{
    takt_cli_job *waiting[TAKT_CLI_JOBS_MAX];
    size_t count = 0;

    for (unsigned i = 0; i < map->jobs_max; i++)
        if (map->jobs[i].state == JOB_WAITING)
            waiting[count++] = &map->jobs[i];
    qsort(waiting, count, sizeof(takt_cli_job *), by_number);
    for (size_t i = 0; i < count; i++) {
        takt_release(&waiting[i]->permit);
        map->waiting--;
        leave(waiting[i]);
    }
}
