/*
 * forked.c: runs the tests of a Criterion program, each in a fork, and prints TAP.  Criterion's own
 * main program starts the program anew for each test, with its twenty libraries.  A fork takes a
 * tenth of that, and with sanitizers or valgrind a fiftieth.
 *
 *     PROGRAM [TEST...]    only the tests whose names, SUITE::TEST, begin with one of these, or
 *                          whose files' names end with one: rules/test_gcra.c
 *
 * With $TAKT_TESTS_TOGETHER all tests run in this process: valgrind translates the code anew in
 * each fork, which takes longer than most tests.
 *
 * It has the part of Criterion's interface that asserts in C use; a test that uses more fails to
 * link.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/event.h>
#include <criterion/parameterized.h>

/* The linker gathers what Test and TestSuite define; a program may have no suite. */
extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak));
extern struct criterion_suite *__stop_cr_sts[] __attribute__((weak));

struct criterion_options criterion_options;

/* Exit statuses of a test that has come to its end, and of one that was skipped.  A test that calls
 * exit() itself has neither. */
#define PASSED  78
#define SKIPPED 77

/* How many bytes are allocated, as AddressSanitizer counts them; without it there is no such
 * function. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static FILE *report; /* standard output, also where a test redirects it */

/* The test that this process runs. */
static struct {
    const struct criterion_test *test;
    const struct criterion_test_extra_data *suite;
    void *param; /* of a parameterized test */
    jmp_buf end;
    bool needs_teardown; /* its main part has begun */
    bool failed, skipped;
} self;

/* Asserts */

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (stats->passed)
        return;
    self.failed = true;
    fprintf(report, "# %s:%u: %s\n", stats->file, stats->line, stats->message);
}

void cri_asserts_passed_incr(void)
{
}

void criterion_continue_test(void)
{
}

void criterion_abort_test(void)
{
    longjmp(self.end, 1);
}

void criterion_skip_test(const char *format, ...)
{
    (void)format;
    self.skipped = true;
    longjmp(self.end, 1);
}

int cr_asprintf(char **text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int size = vasprintf(text, format, arguments);
    va_end(arguments);
    return size;
}

void cr_asprintf_free(char *text)
{
    free(text);
}

/* All messages but that of a plain failure have the expression as their first argument. */
char *cr_translate_assert_msg(int message, ...)
{
    va_list arguments;

    if (message == CRITERION_ASSERT_MSG_FAIL)
        return strdup("it failed");
    va_start(arguments, message);
    char *text = strdup(va_arg(arguments, const char *));
    va_end(arguments);
    return text;
}

void cr_log(enum criterion_severity severity, const char *format, ...)
{
    va_list arguments;

    (void)severity;
    va_start(arguments, format);
    fputs("# ", report);
    vfprintf(report, format, arguments);
    fputc('\n', report);
    va_end(arguments);
}

/* Redirected output goes to a file without a name. */

static void redirect(int output)
{
    FILE *file = tmpfile();

    if (!file || dup2(fileno(file), output) < 0)
        exit(EXIT_FAILURE);
    fclose(file);
}

static int holds(int output, const char *text)
{
    char *found = calloc(1, strlen(text) + 2);
    ssize_t size = pread(output, found, strlen(text) + 1, 0);
    bool same = size >= 0 && strcmp(found, text) == 0;

    free(found);
    return same;
}

void cr_redirect_stdout(void)
{
    redirect(STDOUT_FILENO);
}

void cr_redirect_stderr(void)
{
    redirect(STDERR_FILENO);
}

int cr_stdout_match_str(const char *text)
{
    return holds(STDOUT_FILENO, text);
}

int cr_stderr_match_str(const char *text)
{
    return holds(STDERR_FILENO, text);
}

/* What Test defines calls these three, one after the other. */

void criterion_internal_test_setup(void)
{
    if (self.suite && self.suite->init)
        self.suite->init();
    if (self.test->data->init)
        self.test->data->init();
}

void criterion_internal_test_main(void (*function)(void))
{
    self.needs_teardown = true;
    if (self.test->data->kind_ == CR_TEST_PARAMETERIZED)
        ((void (*)(void *))function)(self.param);
    else
        function();
}

void criterion_internal_test_teardown(void)
{
    self.needs_teardown = false;
    if (self.test->data->fini)
        self.test->data->fini();
    if (self.suite && self.suite->fini)
        self.suite->fini();
}

/* The tests */

static const struct criterion_test_extra_data *suite_of(const struct criterion_test *test)
{
    for (struct criterion_suite **suite = __start_cr_sts; suite < __stop_cr_sts; suite++)
        if (*suite && strcmp((*suite)->name, test->category) == 0)
            return (*suite)->data;
    return NULL;
}

static bool is_disabled(const struct criterion_test *test)
{
    const struct criterion_test_extra_data *suite = suite_of(test);

    return test->data->disabled || (suite && suite->disabled);
}

static size_t allocated_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : 0;
}

/* Ends the process of a test.  exit() would look for leaks, which takes longer than most tests:
 * there are none where as much is allocated as before. */
static void end(int status, size_t allocated_before)
{
    fflush(NULL);
    if (__sanitizer_get_current_allocated_bytes && allocated_bytes() == allocated_before)
        _exit(status);
    exit(status);
}

/* Ends a test that takes longer than it or its suite may, if one of them says so. */
static void limit_time(void)
{
    double seconds = self.test->data->timeout;

    if (seconds == 0 && self.suite)
        seconds = self.suite->timeout;
    unsigned whole = (unsigned)seconds;
    alarm(whole + (whole < seconds)); /* alarm(0) would be no limit */
}

static void run(const struct criterion_test *test, void *param)
{
    self.test = test;
    self.suite = suite_of(test);
    self.param = param;
    self.needs_teardown = self.failed = self.skipped = false;
    limit_time();
    /* A failed assert ends the test wherever it is.  Once the main part has begun, the teardown
     * still follows. */
    if (setjmp(self.end) == 0)
        test->test();
    else if (self.needs_teardown)
        criterion_internal_test_teardown();
    alarm(0);
}

static int exit_status(void)
{
    return self.failed ? EXIT_FAILURE : self.skipped ? SKIPPED : PASSED;
}

/* Its exit status, or -1. */
static int run_forked(const struct criterion_test *test, void *param)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        size_t allocated = allocated_bytes();
        run(test, param);
        end(exit_status(), allocated);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return -1;
    if (WIFSIGNALED(status))
        fprintf(report, "# ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Whether it passed. */
static bool judge(const struct criterion_test *test, void *param)
{
    int status;

    /* Where a test hangs or the process dies, the last line is its name. */
    fprintf(report, "# begins: %s::%s\n", test->category, test->name);
    fflush(NULL);
    if (getenv("TAKT_TESTS_TOGETHER")) {
        run(test, param);
        status = exit_status();
    } else {
        status = run_forked(test, param);
    }
    bool skipped = status == SKIPPED, passed = skipped || status == PASSED;
    fprintf(report, "%s - %s::%s%s\n", passed ? "ok" : "not ok", test->category, test->name,
            skipped ? " # SKIP" : "");
    return passed;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

static bool is_chosen(const struct criterion_test *test, char **chosen)
{
    char name[256];

    if (!*chosen)
        return true;
    snprintf(name, sizeof name, "%s::%s", test->category, test->name);
    for (; *chosen; chosen++)
        if (strncmp(name, *chosen, strlen(*chosen)) == 0 || ends_with(test->data->file_, *chosen))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    unsigned count = 0, failed = 0;

    (void)argc;

    report = fdopen(dup(STDOUT_FILENO), "w");
    if (!report)
        return EXIT_FAILURE;
    setvbuf(report, NULL, _IOLBF, BUFSIZ);
    for (struct criterion_test **at = __start_cr_tst; at < __stop_cr_tst; at++) {
        const struct criterion_test *test = *at;
        if (!test || is_disabled(test) || !is_chosen(test, argv + 1))
            continue;
        bool many = test->data->kind_ == CR_TEST_PARAMETERIZED;
        struct criterion_test_params params = {.length = 1};
        if (many)
            params = test->data->param_();
        for (size_t i = 0; i < params.length; i++, count++)
            failed += !judge(test, many ? (char *)params.params + i * params.size : NULL);
        if (params.cleanup)
            params.cleanup(&params);
    }
    fprintf(report, "1..%u\n", count);
    fclose(report);
    return failed > 0 || count == 0;
}
