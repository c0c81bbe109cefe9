/*
 * mail.c: the speed of takt-mail with a limit that never makes it wait, compared with its sender
 * (workers/mail/smtp.c, libcurl) alone over as many connections.  The sender alone sends one
 * prepared mail repeatedly, or makes each mail from its job first.
 *
 *     mail TAKT-MAIL [MAILS [TIMES]]          TAKT-MAIL: the path of the command
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"
#include "jobs/frame/job_parse.h"
#include "mail/letter.h"
#include "mail/smtp.h"
#include "sink.h"

#define CONNECTIONS 16

#define JOB_LINE "{\"id\":\"%d\",\"limit\":\"bench\",\"to\":\"u%d@example.org\"," JOB "}"
#define JOB                                                                                        \
    "\"from\":\"Takt <me@example.org>\",\"subject\":\"Your summary, {name}\",\"text\":\"Dear "     \
    "{name},\\nthis week you had {n} visits.\\n\\nRegards\\n\",\"html\":\"<p>Dear "                \
    "{name},</p>\\n<p>this week you had {n} visits.</p>\\n\",\"name\":\"Ann\",\"n\":17"

extern char **environ;

/* The sender alone: each delivery that ends is begun again, until all are sent. */
typedef struct bare {
    takt_mail_smtp *smtp;
    takt_mail_smtp_delivery deliveries[CONNECTIONS];
    takt_buffer messages[CONNECTIONS];
    bool composes; /* each mail anew */
    int left, under_way;
} bare;

/* A mail from its job's line, as takt-mail makes it. */
static void compose(takt_buffer *message, int number)
{
    static takt_mail_letter letter;
    static const takt_mail_letter_settings settings = {0};
    char line[1024], id[MESSAGE_ID_SIZE];
    takt_job_head head;
    json_t *fields;
    takt_error error = {0};

    int size = snprintf(line, sizeof line, JOB_LINE, number, number);
    takt_buffer_clear(message);
    if (takt_job_parse(line, (size_t)size, NULL, &fields, &head, &error) != 0 ||
        takt_mail_letter_read(&letter, &settings, fields, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    takt_mail_message_identify(&letter.message, head.idempotency_key, id);
    takt_mail_message_write(&letter.message, id, message);
    json_decref(fields);
}

static void begin_next(bare *bare, int place)
{
    takt_mail_smtp_delivery *delivery = &bare->deliveries[place];

    bare->left--;
    bare->under_way++;
    if (bare->composes)
        compose(&bare->messages[place], bare->left);
    delivery->message = bare->messages[place].at;
    delivery->size = bare->messages[place].size;
    takt_mail_smtp_send(bare->smtp, delivery);
}

static void sent(takt_mail_smtp_delivery *delivery, const takt_mail_smtp_outcome *outcome)
{
    bare *bare = delivery->data;

    if (outcome->end != SMTP_REPLIED || outcome->code != 250) {
        fprintf(stderr, "a mail was not sent: %s\n", outcome->text);
        exit(1);
    }
    bare->under_way--;
    if (bare->left > 0)
        begin_next(bare, (int)(delivery - bare->deliveries));
    else if (bare->under_way == 0)
        takt_mail_smtp_close(bare->smtp);
}

static int64_t time_bare_ns(int port, int mails, bool composes)
{
    takt_mail_smtp_settings settings = {.timeout_us = 60000000, .connections = CONNECTIONS};
    struct curl_slist recipient = {.data = (char[]){"u1@example.org"}};
    takt_error error = {0};
    bare bare = {.left = mails, .composes = composes};
    char url[64];
    uv_loop_t loop;

    snprintf(url, sizeof url, "smtp://127.0.0.1:%d", port);
    bench_must(takt_mail_server_parse(url, &settings.server, &error), "server_parse");
    settings.starttls = takt_mail_server_default_starttls(&settings.server);
    for (int i = 0; i < CONNECTIONS; i++)
        compose(&bare.messages[i], i);
    int64_t begin = bench_now_ns();
    uv_loop_init(&loop);
    bench_must(takt_mail_smtp_open(&bare.smtp, &loop, &settings, &error), "smtp_open");
    for (int i = 0; i < CONNECTIONS; i++) {
        bare.deliveries[i] = (takt_mail_smtp_delivery){
            .from = "me@example.org", .recipients = &recipient, .done = sent, .data = &bare};
        begin_next(&bare, i);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    for (int i = 0; i < CONNECTIONS; i++)
        takt_buffer_free(&bare.messages[i]);
    return bench_now_ns() - begin;
}

static void write_files(char *jobs, size_t size, char *policy, int mails)
{
    snprintf(jobs, size, "%s/jobs", bench_directory());
    snprintf(policy, size, "%s/takt.yaml", bench_directory());
    FILE *file = fopen(jobs, "w");
    for (int i = 0; file && i < mails; i++)
        fprintf(file, JOB_LINE "\n", i, i);
    bench_must(file && fclose(file) == 0 ? 0 : -1, jobs);
    file = fopen(policy, "w");
    if (file)
        fputs("limits:\n  - name: bench\n    rules: [{rate: 1000000/s, burst: 1000000}]\n", file);
    bench_must(file && fclose(file) == 0 ? 0 : -1, policy);
}

static int64_t time_takt_ns(const char *command, int port, const char *jobs, const char *policy)
{
    char url[64], state[128], results[128];
    const char *const words[] = {command, "-p",     policy, "-s",      "memory:", "-i",
                                 jobs,    "--smtp", url,    "--state", state,     "--results",
                                 results, "--log",  "none", NULL};
    int64_t begin = bench_now_ns();
    pid_t child;
    int status;

    snprintf(url, sizeof url, "smtp://127.0.0.1:%d", port);
    snprintf(state, sizeof state, "%s/state", bench_directory());
    snprintf(results, sizeof results, "%s/results", bench_directory());
    if (posix_spawn(&child, command, NULL, NULL, (char *const *)(uintptr_t)words, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s failed\n", command);
        exit(1);
    }
    int64_t took = bench_now_ns() - begin;
    remove(state);
    remove(results);
    return took;
}

static double per_s(int64_t *times_ns, int times, int mails)
{
    return mails * 1e9 / (double)bench_quantile(times_ns, times, 0.5);
}

int main(int argc, char **argv)
{
    int mails = argc > 2 ? atoi(argv[2]) : 20000, times = argc > 3 ? atoi(argv[3]) : 5;
    int64_t ready[64], composed[64], with[64], cpu[3] = {0};
    char jobs[128], policy[128];

    if (argc < 2 || mails < CONNECTIONS || times < 1 || times > 64) {
        fprintf(stderr, "usage: mail TAKT-MAIL [MAILS [TIMES]]\n");
        return 64;
    }
    int port = sink_start();
    write_files(jobs, sizeof jobs, policy, mails);
    for (int i = 0; i < times; i++) { /* in turn, so that a noisy machine disturbs all alike */
        cpu[0] -= bench_cpu_ns(0);
        ready[i] = time_bare_ns(port, mails, false);
        cpu[0] += bench_cpu_ns(0);
        cpu[1] -= bench_cpu_ns(0);
        composed[i] = time_bare_ns(port, mails, true);
        cpu[1] += bench_cpu_ns(0);
        cpu[2] -= bench_cpu_ns(1);
        with[i] = time_takt_ns(argv[1], port, jobs, policy);
        cpu[2] += bench_cpu_ns(1);
    }
    double each = 1e3 * mails * times;
    printf("{\"bench\":\"mail\",\"mails\":%d,\"connections\":%d,\"times\":%d,\"ready_made_per_s\":%"
           ".0f,"
           "\"composed_per_s\":%.0f,\"takt_mail_per_s\":%.0f,\"ready_made_cpu_us\":%.1f,"
           "\"composed_cpu_us\":%.1f,\"takt_mail_cpu_us\":%.1f}\n",
           mails, CONNECTIONS, times, per_s(ready, times, mails), per_s(composed, times, mails),
           per_s(with, times, mails), (double)cpu[0] / each, (double)cpu[1] / each,
           (double)cpu[2] / each);
    return 0;
}
