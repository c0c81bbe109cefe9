/*
 * Each attempt takes a permit of its own. Each process leads a session of its own, so that Ctrl-C
 * at the terminal reaches only takt and the running jobs can finish.
 */
#include "jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "kit/message.h"
#include "kit/wall_clock.h"

typedef enum job_state { JOB_IDLE, JOB_WAITING, JOB_RUNNING } job_state;

/* A line being worked on. */
struct takt_cli_map_job {
    takt_permit permit;
    takt_process_group process;
    takt_cli_map_jobs *jobs;
    takt_cli_map_job *next_idle;
    takt_cli_map_line line;
    job_state state;
};

static void make_idle(takt_cli_map_job *job)
{
    takt_cli_map_jobs *jobs = job->jobs;

    free(job->line.text);
    job->line.text = NULL;
    job->state = JOB_IDLE;
    job->next_idle = jobs->idle;
    jobs->idle = job;
    jobs->busy--;
}

/* The line was read and will not be done. */
static void leave(takt_cli_map_job *job)
{
    const takt_cli_map_line *line = &job->line;

    takt_cli_map_report_left(job->jobs->report, line->text, line->size, line->number);
    make_idle(job);
}

static void heed_files(takt_cli_map_jobs *jobs)
{
    if (jobs->report->file_failed)
        takt_cli_map_jobs_stop(jobs, EX_IOERR);
}

/* If the reader of a command's output is gone, the command fails, and so would all others. */
static bool nobody_reads_output(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

/* If the command's name is the same for all lines, a missing program is missing for all lines. */
static bool cannot_ever_start(const takt_cli_map_job *job)
{
    int failed = job->line.start_failed;

    return (failed == ENOENT || failed == EACCES || failed == ENOTDIR) &&
           !strstr(job->jobs->command[0], "{}");
}

static void acquire(takt_cli_map_job *job);

/* The attempt has ended: decides what follows. */
static void decide(takt_cli_map_job *job)
{
    takt_cli_map_jobs *jobs = job->jobs;
    takt_cli_map_report *report = jobs->report;

    if (job->line.status == 0) {
        report->done++;
        make_idle(job);
    } else if (cannot_ever_start(job)) {
        if (!jobs->stopping)
            takt_cli_progress_message(&report->progress, "cannot run %s: %s", jobs->command[0],
                                      strerror(job->line.start_failed));
        takt_cli_map_jobs_stop(jobs, job->line.status);
        leave(job);
    } else if (nobody_reads_output()) {
        if (!jobs->stopping)
            takt_cli_progress_message(&report->progress,
                                      "standard output was closed: no more jobs are started");
        takt_cli_map_jobs_stop(jobs, 128 + SIGPIPE);
        leave(job);
    } else if (jobs->stopping && (jobs->killed || job->line.attempt <= jobs->retries)) {
        leave(job);
    } else if (job->line.attempt <= jobs->retries) {
        report->retried++;
        acquire(job);
    } else {
        takt_cli_map_report_failed(report, &job->line);
        make_idle(job);
        heed_files(jobs);
    }
}

static void end(takt_cli_map_job *job, int status)
{
    takt_cli_map_jobs *jobs = job->jobs;

    job->line.status = status;
    job->state = JOB_IDLE;
    jobs->running--;
    takt_release(&job->permit);
    takt_cli_map_report_end(jobs->report, &job->line);
    heed_files(jobs);
    decide(job);
}

static void on_end(takt_process_group *process, int status, int signal)
{
    takt_cli_map_job *job = process->data;

    job->line.signal = signal;
    end(job, signal ? 128 + signal : status);
}

/* A copy of `word` with each "{}" replaced by the line. NULL: no memory. */
static char *fill_in(const char *word, const takt_cli_map_job *job)
{
    size_t count = 0;

    for (const char *at = word; (at = strstr(at, "{}")) != NULL; at += 2)
        count++;
    char *filled = malloc(strlen(word) + count * job->line.size + 1), *end = filled;
    if (!filled)
        return NULL;
    for (const char *at = word, *next; *at; at = next) {
        const char *braces = strstr(at, "{}");
        size_t size = braces ? (size_t)(braces - at) : strlen(at);
        memcpy(end, at, size);
        end += size;
        next = at + size;
        if (braces) {
            memcpy(end, job->line.text, job->line.size);
            end += job->line.size;
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

/* The command's words for this line; NULL: no memory. */
static char **words_of(const takt_cli_map_job *job)
{
    char **command = job->jobs->command, **words;
    size_t count = 0;

    while (command[count])
        count++;
    words = calloc(count + 2, sizeof(*words));
    if (!words)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!(words[i] = fill_in(command[i], job)))
            goto free_all;
    if (!job->jobs->has_braces && !(words[count] = strdup(job->line.text)))
        goto free_all;
    return words;
free_all:
    free_words(words);
    return NULL;
}

static int start_process(takt_cli_map_job *job)
{
    char **words = words_of(job);
    if (!words)
        return ENOMEM;
    job->process.data = job;
    int failed = takt_process_group_start(&job->jobs->processes, &job->process, words, on_end);
    free_words(words);
    return failed;
}

static void start(takt_cli_map_job *job)
{
    takt_cli_map_jobs *jobs = job->jobs;

    job->state = JOB_RUNNING;
    job->line.status = job->line.signal = 0;
    jobs->running++;
    takt_cli_map_report_start(jobs->report, &job->line, job->permit.slot_at_us,
                              takt_wall_clock_now());
    heed_files(jobs);
    takt_cli_export_fence(&job->permit);
    job->line.start_failed = start_process(job);
    if (job->line.start_failed)
        end(job, job->line.start_failed == ENOENT ? 127 : 126);
}

/* Without a permit nothing was tried, so the line is undone, not failed. */
static void refuse(takt_cli_map_job *job, int code)
{
    takt_cli_map_jobs *jobs = job->jobs;

    if (!jobs->stopping)
        takt_cli_map_jobs_stop(jobs,
                               takt_cli_refusal(jobs->session, jobs->target, code, &jobs->request));
    leave(job);
}

static void on_permit(takt_permit *permit, int status)
{
    takt_cli_map_job *job = permit->data;

    job->state = JOB_IDLE;
    job->jobs->waiting--;
    if (status == 0)
        start(job);
    else
        refuse(job, status);
}

static void acquire(takt_cli_map_job *job)
{
    takt_cli_map_jobs *jobs = job->jobs;

    job->line.attempt++;
    job->permit.data = job;
    int failed = takt_acquire(jobs->session->client, &job->permit, &jobs->request, on_permit);
    if (failed) {
        refuse(job, failed);
        return;
    }
    job->state = JOB_WAITING;
    jobs->waiting++;
}

int takt_cli_map_jobs_open(takt_cli_map_jobs *jobs)
{
    jobs->all = calloc(jobs->max, sizeof(*jobs->all));
    if (!jobs->all) {
        takt_message("%s", strerror(ENOMEM));
        return EX_OSERR;
    }
    for (unsigned i = jobs->max; i > 0; i--) {
        jobs->all[i - 1].jobs = jobs;
        jobs->all[i - 1].next_idle = jobs->idle;
        jobs->idle = &jobs->all[i - 1];
    }
    for (char **word = jobs->command; *word; word++)
        jobs->has_braces = jobs->has_braces || strstr(*word, "{}");
    takt_process_groups_open(&jobs->processes, &jobs->session->loop);
    return 0;
}

void takt_cli_map_jobs_begin(takt_cli_map_jobs *jobs, const takt_text_line *line)
{
    takt_cli_map_job *job = jobs->idle;
    char *text = malloc(line->size + 1);

    if (!text) {
        takt_cli_progress_message(&jobs->report->progress, "%s", strerror(ENOMEM));
        takt_cli_map_jobs_stop(jobs, EX_OSERR);
        takt_cli_map_report_left(jobs->report, line->text, line->size, line->number);
        return;
    }
    memcpy(text, line->text, line->size);
    text[line->size] = '\0';
    jobs->idle = job->next_idle;
    jobs->busy++;
    job->line = (takt_cli_map_line){.text = text, .size = line->size, .number = line->number};
    acquire(job);
}

static int by_number(const void *a, const void *b)
{
    const takt_cli_map_job *first = *(takt_cli_map_job *const *)a;
    const takt_cli_map_job *second = *(takt_cli_map_job *const *)b;

    return first->line.number < second->line.number ? -1 : first->line.number > second->line.number;
}

/* Gives up jobs in the order of their lines, which is the order of the undone lines. */
static void give_up_waiting(takt_cli_map_jobs *jobs)
{
    takt_cli_map_job *waiting[TAKT_CLI_MAP_JOBS_MAX];
    size_t count = 0;

    for (unsigned i = 0; i < jobs->max; i++)
        if (jobs->all[i].state == JOB_WAITING)
            waiting[count++] = &jobs->all[i];
    qsort(waiting, count, sizeof(takt_cli_map_job *), by_number);
    for (size_t i = 0; i < count; i++) {
        takt_release(&waiting[i]->permit);
        jobs->waiting--;
        leave(waiting[i]);
    }
}

void takt_cli_map_jobs_stop(takt_cli_map_jobs *jobs, int status)
{
    if (!jobs->status)
        jobs->status = status;
    if (jobs->stopping)
        return;
    jobs->stopping = true;
    give_up_waiting(jobs);
}

void takt_cli_map_jobs_kill(takt_cli_map_jobs *jobs)
{
    jobs->killed = true;
    takt_process_groups_end(&jobs->processes);
}

void takt_cli_map_jobs_close(takt_cli_map_jobs *jobs)
{
    takt_process_groups_close(&jobs->processes);
}

void takt_cli_map_jobs_free(takt_cli_map_jobs *jobs)
{
    free(jobs->all);
}
