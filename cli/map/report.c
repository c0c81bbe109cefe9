/*
 * The log is for programs, the file of undone lines is for another run, the summary is for a person
 * or, as JSON, for a program. A file that cannot be written ends the map, since somebody relies on
 * it.
 */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "kit/message.h"
#include "kit/wall_clock.h"

#define FAILED_MAX   1000 /* lines named by the JSON summary */
#define FAILED_SHOWN 20   /* lines named by the other summary */

static void note_file_failed(takt_cli_map_report *report, const char *path)
{
    if (report->file_failed)
        return;
    report->file_failed = true;
    takt_cli_progress_message(&report->progress, "cannot write to %s: %s", path, strerror(errno));
}

static int open_undone(takt_cli_map_report *report)
{
    int fd = open(report->undone_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (fd >= 0 && (ftruncate(fd, 0) == 0 || errno == EINVAL))
        report->undone = fdopen(fd, "w");
    if (report->undone)
        return 0;
    takt_message("cannot write to %s: %s", report->undone_path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return EX_CANTCREAT;
}

int takt_cli_map_report_open(takt_cli_map_report *report)
{
    report->log = -1;
    report->failures = calloc(FAILED_MAX, sizeof(*report->failures));
    report->left_numbers = calloc(report->left_max, sizeof(*report->left_numbers));
    if (!report->failures || !report->left_numbers) {
        takt_message("%s", strerror(ENOMEM));
        return EX_OSERR;
    }
    if (report->log_path) {
        report->log = open(report->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (report->log < 0) {
            takt_message("cannot write to %s: %s", report->log_path, strerror(errno));
            return EX_CANTCREAT;
        }
    }
    return report->undone_path ? open_undone(report) : 0;
}

/* One write per record, since several workers may share a log. */
static void write_record(takt_cli_map_report *report, const char *text, int size)
{
    if (write(report->log, text, (size_t)size) != size)
        note_file_failed(report, report->log_path);
}

void takt_cli_map_report_start(takt_cli_map_report *report, const takt_cli_map_line *line,
                               int64_t slot_at_us, int64_t now_us)
{
    char text[256];

    if (report->starts++ == 0)
        report->first_start_us = now_us;
    report->last_start_us = now_us;
    if (report->log < 0)
        return;
    int size =
        snprintf(text, sizeof(text),
                 "{\"event\":\"start\",\"worker\":%d,\"line\":%llu,\"attempt\":%u,\"slot_us\":%lld,"
                 "\"start_us\":%lld}\n",
                 (int)getpid(), (unsigned long long)line->number, line->attempt,
                 (long long)slot_at_us, (long long)now_us);
    write_record(report, text, size);
}

void takt_cli_map_report_end(takt_cli_map_report *report, const takt_cli_map_line *line)
{
    char text[256];

    report->last_end_us = takt_wall_clock_now();
    if (report->log < 0)
        return;
    int size =
        snprintf(text, sizeof(text),
                 "{\"event\":\"end\",\"worker\":%d,\"line\":%llu,\"attempt\":%u,\"status\":%d,"
                 "\"end_us\":%lld}\n",
                 (int)getpid(), (unsigned long long)line->number, line->attempt, line->status,
                 (long long)report->last_end_us);
    write_record(report, text, size);
}

static void write_undone(takt_cli_map_report *report, const char *text, size_t size)
{
    if (!report->undone)
        return;
    fwrite(text, 1, size, report->undone);
    putc('\n', report->undone);
    if (ferror(report->undone))
        note_file_failed(report, report->undone_path);
}

static void note_failure(takt_cli_map_report *report, uint64_t number, int status)
{
    if (report->failed < FAILED_MAX)
        report->failures[report->failed] =
            (takt_cli_map_failure){.number = number, .status = status};
    report->failed++;
}

void takt_cli_map_report_failed(takt_cli_map_report *report, const takt_cli_map_line *line)
{
    char how[128], shown[TAKT_QUOTE_SIZE];

    if (line->start_failed)
        snprintf(how, sizeof(how), "cannot be started: %s", strerror(line->start_failed));
    else if (line->signal)
        snprintf(how, sizeof(how), "was ended by signal %d (%s)", line->signal,
                 strsignal(line->signal));
    else
        snprintf(how, sizeof(how), "failed with status %d", line->status);
    takt_cli_progress_message(&report->progress, "line %llu %s: %s",
                              (unsigned long long)line->number, how,
                              takt_quote_bytes(line->text, line->size, shown, sizeof(shown)));
    note_failure(report, line->number, line->status);
    write_undone(report, line->text, line->size);
}

void takt_cli_map_report_refused(takt_cli_map_report *report, const takt_text_line *line)
{
    if (line->text)
        takt_cli_progress_message(&report->progress,
                                  "line %llu failed: an argument cannot contain a NUL byte",
                                  (unsigned long long)line->number);
    else
        takt_cli_progress_message(&report->progress,
                                  "line %llu failed: an argument cannot have more than %d bytes",
                                  (unsigned long long)line->number, TAKT_CLI_MAP_LINE_MAX);
    note_failure(report, line->number, -1);
}

void takt_cli_map_report_left(takt_cli_map_report *report, const char *text, size_t size,
                              uint64_t number)
{
    if (!report->undone && report->left < report->left_max)
        report->left_numbers[report->left] = number;
    report->left++;
    write_undone(report, text, size);
}

static int by_size(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

    return first < second ? -1 : first > second;
}

/* "lines 9, 13-16 and all from 57 on" */
static void say_left(takt_cli_map_report *report, const takt_lines *input, bool more)
{
    uint64_t *numbers = report->left_numbers;
    uint64_t count = report->left < report->left_max ? report->left : report->left_max;
    uint64_t rest = input->number + 1;
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (!file) {
        takt_message("%llu lines are not done, and there is no memory to list them",
                     (unsigned long long)report->left);
        return;
    }
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
        takt_message("not done: %s; --undone FILE would have kept them for a rerun with -i FILE",
                     text);
    free(text);
}

/* Starts per second, between the first and the last start. */
static double start_rate(const takt_cli_map_report *report)
{
    int64_t span_us = report->last_start_us - report->first_start_us;

    return span_us > 0 ? (double)(report->starts - 1) * 1e6 / (double)span_us : 0;
}

static void print_summary(const takt_cli_map_report *report)
{
    double rate = start_rate(report);
    char span[TAKT_SPAN_SIZE], pace[48] = "";
    uint64_t shown = report->failed < FAILED_SHOWN ? report->failed : FAILED_SHOWN;

    if (rate > 0)
        snprintf(pace, sizeof(pace), ", started at %.1f/s", rate);
    takt_message("%llu done, %llu failed in %s%s", (unsigned long long)report->done,
                 (unsigned long long)report->failed,
                 takt_format_span(report->last_end_us - report->first_start_us, span), pace);
    if (shown == 0)
        return;
    fprintf(stderr, "%s: failed: %s", takt_message_name(), report->failed > 1 ? "lines" : "line");
    for (uint64_t i = 0; i < shown; i++)
        fprintf(stderr, "%s %llu", i ? "," : "", (unsigned long long)report->failures[i].number);
    fprintf(stderr, "%s\n", shown < report->failed ? ", ..." : "");
}

static void print_json(const takt_cli_map_report *report, const takt_lines *input, bool more)
{
    uint64_t shown = report->failed < FAILED_MAX ? report->failed : FAILED_MAX;

    printf("{\"done\":%llu,\"failed\":%llu,\"not_done\":%llu,\"retried\":%llu,\"empty\":%llu,"
           "\"next_line\":",
           (unsigned long long)report->done, (unsigned long long)report->failed,
           (unsigned long long)report->left, (unsigned long long)report->retried,
           (unsigned long long)input->empty);
    if (more)
        printf("%llu", (unsigned long long)input->number + 1);
    else
        printf("null");
    printf(",\"elapsed_us\":%lld,\"rate\":%.3f,\"failed_lines\":[",
           (long long)(report->last_end_us - report->first_start_us), start_rate(report));
    for (uint64_t i = 0; i < shown; i++) {
        const takt_cli_map_failure *failure = &report->failures[i];
        printf("%s{\"line\":%llu,\"status\":", i ? "," : "", (unsigned long long)failure->number);
        if (failure->status < 0)
            printf("null}");
        else
            printf("%d}", failure->status);
    }
    putchar(']');
    takt_cli_shadows_json(&report->shadows);
    printf("}\n");
}

/* Prints where the undone lines are; 0, or EX_IOERR. */
static int close_undone(takt_cli_map_report *report, const takt_lines *input, bool more)
{
    bool failed = ferror(report->undone);

    if (fclose(report->undone) != 0 && !failed) {
        takt_message("cannot write to %s: %s", report->undone_path, strerror(errno));
        failed = true;
    }
    if (!failed && report->left + report->failed > 0)
        takt_message("lines not done are in %s", report->undone_path);
    if (more)
        takt_message("not read, and not in %s: all from line %llu on", report->undone_path,
                     (unsigned long long)input->number + 1);
    return failed ? EX_IOERR : 0;
}

int takt_cli_map_report_close(takt_cli_map_report *report, const takt_lines *input)
{
    bool more = takt_lines_has_more(input);
    int status = 0;

    if (!report->quiet) {
        print_summary(report);
        takt_cli_shadows_print(&report->shadows);
    }
    if (report->undone)
        status = close_undone(report, input, more);
    else if (report->left > 0 || more)
        say_left(report, input, more);
    if (report->log >= 0)
        close(report->log);
    if (report->json)
        print_json(report, input, more);
    int output = takt_message_end_output();
    return status ? status : output;
}

void takt_cli_map_report_free(takt_cli_map_report *report)
{
    free(report->failures);
    free(report->left_numbers);
}
