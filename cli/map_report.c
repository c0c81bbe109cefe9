/*
 * Writes down what came of each line: the log for a program, the lines not done for a rerun, the
 * summary for a person or, as JSON, for a program.  Files that cannot be written to stop the map,
 * since somebody relies on them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "map.h"
#include "message.h"

#define FAILED_SHOWN 20

static void stop_for_file(takt_cli_mapping *map, const char *path)
{
    if (map->file_failed)
        return;
    map->file_failed = true;
    takt_cli_progress_say(&map->progress, "cannot write to %s: %s", path, strerror(errno));
    takt_cli_map_stop(map, EX_IOERR);
}

/* The input must not be emptied before it was read. */
static bool is_input(const takt_cli_mapping *map, int fd)
{
    struct stat ours, inputs;

    return fstat(fd, &ours) == 0 && S_ISREG(ours.st_mode) && fstat(map->input.fd, &inputs) == 0 &&
           ours.st_dev == inputs.st_dev && ours.st_ino == inputs.st_ino;
}

static int open_undone(takt_cli_mapping *map)
{
    int fd = open(map->undone_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (fd >= 0 && is_input(map, fd)) {
        takt_cli_say("--undone %s is the input itself: name another file", map->undone_path);
        close(fd);
        return EX_USAGE;
    }
    if (fd >= 0 && (ftruncate(fd, 0) == 0 || errno == EINVAL))
        map->undone = fdopen(fd, "w");
    if (map->undone)
        return 0;
    takt_cli_say("cannot write to %s: %s", map->undone_path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return EX_CANTCREAT;
}

int takt_cli_report_open(takt_cli_mapping *map)
{
    map->log = -1;
    if (map->log_path) {
        map->log = open(map->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (map->log < 0) {
            takt_cli_say("cannot write to %s: %s", map->log_path, strerror(errno));
            return EX_CANTCREAT;
        }
    }
    return map->undone_path ? open_undone(map) : 0;
}

/* One write for one record: several workers may share a log. */
static void write_record(takt_cli_mapping *map, const char *text, int size)
{
    if (write(map->log, text, (size_t)size) != size)
        stop_for_file(map, map->log_path);
}

void takt_cli_report_start(takt_cli_mapping *map, const takt_cli_job *job, int64_t now_us)
{
    char text[256];

    if (map->starts++ == 0)
        map->first_start_us = now_us;
    map->last_start_us = now_us;
    if (map->log < 0)
        return;
    int size =
        snprintf(text, sizeof(text),
                 "{\"event\":\"start\",\"worker\":%d,\"line\":%llu,\"attempt\":%u,\"slot_us\":%lld,"
                 "\"start_us\":%lld}\n",
                 (int)getpid(), (unsigned long long)job->number, job->attempt,
                 (long long)job->permit.slot_at_us, (long long)now_us);
    write_record(map, text, size);
}

void takt_cli_report_end(takt_cli_mapping *map, const takt_cli_job *job)
{
    char text[256];

    map->last_end_us = takt_cli_now_us();
    if (map->log < 0)
        return;
    int size =
        snprintf(text, sizeof(text),
                 "{\"event\":\"end\",\"worker\":%d,\"line\":%llu,\"attempt\":%u,\"status\":%d,"
                 "\"end_us\":%lld}\n",
                 (int)getpid(), (unsigned long long)job->number, job->attempt, job->status,
                 (long long)map->last_end_us);
    write_record(map, text, size);
}

static void write_undone(takt_cli_mapping *map, const char *text, size_t size)
{
    if (!map->undone)
        return;
    fwrite(text, 1, size, map->undone);
    putc('\n', map->undone);
    if (ferror(map->undone))
        stop_for_file(map, map->undone_path);
}

static void note_failure(takt_cli_mapping *map, uint64_t number, int status)
{
    if (map->failed < TAKT_CLI_FAILED_MAX)
        map->failures[map->failed] = (takt_cli_failure){.number = number, .status = status};
    map->failed++;
}

void takt_cli_report_failed(takt_cli_mapping *map, const takt_cli_job *job)
{
    char how[128], shown[TAKT_QUOTE_SIZE];

    if (job->start_failed)
        snprintf(how, sizeof(how), "cannot be started: %s", strerror(job->start_failed));
    else if (job->signal)
        snprintf(how, sizeof(how), "was ended by signal %d (%s)", job->signal,
                 strsignal(job->signal));
    else
        snprintf(how, sizeof(how), "failed with status %d", job->status);
    takt_cli_progress_say(&map->progress, "line %llu %s: %s", (unsigned long long)job->number, how,
                          takt_quote_bytes(job->text, job->size, shown, sizeof(shown)));
    note_failure(map, job->number, job->status);
    write_undone(map, job->text, job->size);
}

void takt_cli_report_refused(takt_cli_mapping *map, const takt_text_line *line)
{
    if (line->text)
        takt_cli_progress_say(&map->progress,
                              "line %llu failed: no command can be given a NUL byte",
                              (unsigned long long)line->number);
    else
        takt_cli_progress_say(&map->progress,
                              "line %llu failed: no command can be given more than %d bytes",
                              (unsigned long long)line->number, TAKT_CLI_LINE_MAX);
    note_failure(map, line->number, -1);
}

void takt_cli_report_left(takt_cli_mapping *map, const char *text, size_t size, uint64_t number)
{
    if (!map->undone && map->left < map->jobs_max)
        map->left_numbers[map->left] = number;
    map->left++;
    write_undone(map, text, size);
}

static int by_size(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return first < second ? -1 : first > second;
}

/* "lines 9, 13-16 and all from 57 on" */
static void say_left(takt_cli_mapping *map, bool more)
{
    uint64_t *numbers = map->left_numbers;
    uint64_t count = map->left < map->jobs_max ? map->left : map->jobs_max;
    uint64_t rest = map->input.number + 1;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return;
    qsort(numbers, count, sizeof(*numbers), by_size);
    for (; more && count > 0 && numbers[count - 1] + 1 == rest; count--)
        rest--;
    for (uint64_t i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && numbers[last + 1] == numbers[last] + 1;)
            last++;
        fprintf(file, "%s%llu", i ? ", " : "lines ", (unsigned long long)numbers[i]);
        if (last > i)
            fprintf(file, "-%llu", (unsigned long long)numbers[last]);
    }
    if (more)
        fprintf(file, "%sall from line %llu on", count ? ", and " : "", (unsigned long long)rest);
    if (fclose(file) == 0)
        takt_cli_say("not done: %s; --undone FILE would have kept them for a rerun with -i FILE",
                     text);
    free(text);
}

/* Starts per second, from the first to the last. */
static double start_rate(const takt_cli_mapping *map)
{
    int64_t span_us = map->last_start_us - map->first_start_us;

    return span_us > 0 ? (double)(map->starts - 1) * 1e6 / (double)span_us : 0;
}

static void print_summary(const takt_cli_mapping *map, double rate)
{
    char span[TAKT_SPAN_SIZE], pace[48] = "";
    uint64_t shown = map->failed < FAILED_SHOWN ? map->failed : FAILED_SHOWN;

    if (rate > 0)
        snprintf(pace, sizeof(pace), ", started at %.1f/s", rate);
    takt_cli_say("%llu done, %llu failed in %s%s", (unsigned long long)map->done,
                 (unsigned long long)map->failed,
                 takt_format_span(map->last_end_us - map->first_start_us, span), pace);
    if (shown == 0)
        return;
    fprintf(stderr, "%s: failed: %s", takt_cli_name(), map->failed > 1 ? "lines" : "line");
    for (uint64_t i = 0; i < shown; i++)
        fprintf(stderr, "%s %llu", i ? "," : "", (unsigned long long)map->failures[i].number);
    fprintf(stderr, "%s\n", shown < map->failed ? ", ..." : "");
}

static void print_json(const takt_cli_mapping *map, double rate, bool more)
{
    uint64_t shown = map->failed < TAKT_CLI_FAILED_MAX ? map->failed : TAKT_CLI_FAILED_MAX;

    printf("{\"done\":%llu,\"failed\":%llu,\"not_done\":%llu,\"retried\":%llu,\"empty\":%llu,"
           "\"next_line\":",
           (unsigned long long)map->done, (unsigned long long)map->failed,
           (unsigned long long)map->left, (unsigned long long)map->retried,
           (unsigned long long)map->input.empty);
    if (more)
        printf("%llu", (unsigned long long)map->input.number + 1);
    else
        printf("null");
    printf(",\"elapsed_us\":%lld,\"rate\":%.3f,\"failed_lines\":[",
           (long long)(map->last_end_us - map->first_start_us), rate);
    for (uint64_t i = 0; i < shown; i++) {
        const takt_cli_failure *failure = &map->failures[i];
        printf("%s{\"line\":%llu,\"status\":", i ? "," : "", (unsigned long long)failure->number);
        if (failure->status < 0)
            printf("null}");
        else
            printf("%d}", failure->status);
    }
    putchar(']');
    takt_cli_shadows_json(&map->shadows);
    printf("}\n");
}

/* Says where the lines not done are to be found; 0, or EX_IOERR. */
static int close_undone(takt_cli_mapping *map, bool more)
{
    bool failed = ferror(map->undone);

    if (fclose(map->undone) != 0 && !failed) {
        takt_cli_say("cannot write to %s: %s", map->undone_path, strerror(errno));
        failed = true;
    }
    if (!failed && map->left + map->failed > 0)
        takt_cli_say("lines not done are in %s", map->undone_path);
    if (more)
        takt_cli_say("not read, and not in %s: all from line %llu on", map->undone_path,
                     (unsigned long long)map->input.number + 1);
    return failed ? EX_IOERR : 0;
}

int takt_cli_report_close(takt_cli_mapping *map)
{
    double rate = start_rate(map);
    bool more = takt_lines_has_more(&map->input);
    int status = 0;

    if (!map->quiet) {
        print_summary(map, rate);
        takt_cli_shadows_say(&map->shadows);
    }
    if (map->undone)
        status = close_undone(map, more);
    else if (map->left > 0 || more)
        say_left(map, more);
    if (map->log >= 0)
        close(map->log);
    if (map->settings->json)
        print_json(map, rate, more);
    int output = takt_cli_end_output();
    return status ? status : output;
}
