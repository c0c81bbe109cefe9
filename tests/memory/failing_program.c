/*
 * failing_program.c: makes calls of a whole program fail, in each run at a place where none has
 * failed before.
 *
 * The program starts once and forks for each run, because with sanitizers a start takes longer than
 * most runs.  failing.py asks for runs over the socket that is standard input (SOCK_SEQPACKET), in
 * words that end with a zero byte:
 *
 *     FOLDER NAME INPUT WORD...    the folder of the run, its input, the program's arguments
 *
 * NAME is "memory ..." or "io ...", the calls that fail; with "+" at its end all later ones fail
 * too; with "" none fails.  A place is new where none with that name has failed.  The output goes
 * to the files FOLDER.output and FOLDER.messages.  The answer, once all processes of the run have
 * ended, is a `struct answer`.
 *
 * $TAKT_TEST_PLACES is the file of the places, which all runs share.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/failing.h"

#define REQUEST_MAX 4096
#define WORDS_MAX   64
#define PLACES      (1 << 16) /* of all runs */
#define ENDS        (1 << 14) /* of runs without a leak */
#define STACK_MAX   64
#define PLACE_MAX   8 /* calls that make a place: about four are of the tests themselves */
#define PASSES_MAX  2 /* the first calls at a place that fail */

struct answer {
    int32_t status, frames;
    int64_t offsets[STACK_MAX]; /* in the program, of the calls that led to the one that failed */
};

static _Atomic uint64_t *places; /* and behind them ends */
static struct answer *answer;    /* shared with the run */
static uint64_t salt;
static uint64_t passed[1 << 12]; /* places of this run, as often as they were passed */
static pthread_mutex_t passing = PTHREAD_MUTEX_INITIALIZER;

/* ---- places ---------------------------------------------------------------------------------- */

/* The linker's names for the ends of the program. */
extern const char __executable_start[], etext[];

static uintptr_t loaded_at; /* what the addresses in its file are counted from */

static int note_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    loaded_at = info->dlpi_addr;
    return 1; /* it is the first */
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

/* Whether it is not in the set, in which a 0 is an empty place. */
static bool is_new(const _Atomic uint64_t *set, size_t size, uint64_t value)
{
    for (uint64_t i = value, tries = 0; tries < size; i++, tries++) {
        uint64_t known = atomic_load(&set[i % size]);
        if (known == value)
            return false;
        if (known == 0)
            return true;
    }
    abort();
}

/* Returns whether it was not in the set. */
static bool add(_Atomic uint64_t *set, size_t size, uint64_t value)
{
    for (uint64_t i = value, tries = 0; tries < size; i++, tries++) {
        uint64_t known = 0;
        if (atomic_compare_exchange_strong(&set[i % size], &known, value))
            return true;
        if (known == value)
            return false;
    }
    abort();
}

/* How often this run has passed the place before. */
static uint64_t passes(uint64_t place)
{
    size_t size = sizeof passed / sizeof *passed;
    uint64_t count = 0;

    pthread_mutex_lock(&passing);
    for (uint64_t i = place, tries = 0; tries < size; i++, tries++) {
        uint64_t *known = &passed[i % size];
        if (*known == 0) {
            *known = place;
            break;
        }
        count += *known == place;
        if (count == PASSES_MAX)
            break;
    }
    pthread_mutex_unlock(&passing);
    return count;
}

/* The innermost calls are the place, but not those of libraries, which lie elsewhere in each start.
 */
static bool at_new_place(void)
{
    void *stack[STACK_MAX];
    int64_t offsets[STACK_MAX];
    int depth = backtrace(stack, STACK_MAX), frames = 0;
    uint64_t place = salt, pass;

    for (int i = 0; i < depth; i++) {
        const char *at = stack[i];
        if (at < __executable_start || at >= etext)
            continue;
        offsets[frames] = (int64_t)((uintptr_t)at - loaded_at);
        if (frames < PLACE_MAX)
            place = mix(place, (uint64_t)offsets[frames]);
        frames++;
    }
    place |= 1; /* not 0 */
    pass = passes(place);
    if (pass == PASSES_MAX || !add(places, PLACES, mix(place, pass) | 1))
        return false;
    memcpy(answer->offsets, offsets, sizeof offsets);
    answer->frames = frames;
    return true;
}

/* ---- leaks ----------------------------------------------------------------------------------- */

/* Of AddressSanitizer; without it there is none. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* To look for leaks takes longer than the rest of a run: there are none where as much is allocated
 * as at the end of a run without. */
static void end(int status, void *data)
{
    uint64_t left;

    (void)data;
    if (!__lsan_do_recoverable_leak_check)
        return;
    fflush(NULL);
    left = __sanitizer_get_current_allocated_bytes() | UINT64_C(1) << 63;
    if (is_new(places + PLACES, ENDS, left)) {
        if (__lsan_do_recoverable_leak_check())
            _exit(98);
        add(places + PLACES, ENDS, left);
    }
    _exit(status);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* No call fails yet. */
static void write_to(int fd, const char *folder, const char *end)
{
    char path[REQUEST_MAX + 16];
    int file;

    snprintf(path, sizeof path, "%s%s", folder, end);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(99);
    close(file);
}

static void read_pipe(const char *input)
{
    int ends[2];

    if (pipe(ends) < 0 || write(ends[1], input, strlen(input)) < 0 ||
        dup2(ends[0], STDIN_FILENO) < 0)
        _exit(99);
    close(ends[0]);
    close(ends[1]);
}

static void begin(const char *folder, const char *name, const char *input)
{
    char store[REQUEST_MAX + 16];

    read_pipe(input);
    write_to(STDOUT_FILENO, folder, ".output");
    write_to(STDERR_FILENO, folder, ".messages");
    snprintf(store, sizeof store, "file:%s/store/", folder);
    if (chdir(folder) < 0 || setenv("HOME", folder, 1) < 0 || setenv("TAKT_STORE", store, 1) < 0)
        _exit(99);
    on_exit(end, NULL);
    if (name[0] == '\0')
        return;
    for (const char *c = name; *c; c++)
        salt = mix(salt, (uint64_t)*c);
    failing_start_choosing(name[0] == 'm' ? FAILING_MEMORY : FAILING_IO, at_new_place,
                           name[strlen(name) - 1] == '+');
}

/* The processes of a run that lose their parent become ours. */
static int await_all(pid_t run)
{
    int status = -1, its = -1;
    pid_t ended;

    while ((ended = wait(&status)) > 0)
        if (ended == run)
            its = status;
    return its;
}

static int split(char *request, ssize_t size, char **words)
{
    int count = 0;

    for (char *at = request; at < request + size && count < WORDS_MAX; at += strlen(at) + 1)
        words[count++] = at;
    words[count] = NULL;
    return count;
}

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv)
{
    static char request[REQUEST_MAX + 1];
    static char *words[WORDS_MAX + 1];
    int file = open(getenv("TAKT_TEST_PLACES"), O_RDWR);
    ssize_t size;

    (void)argc, (void)argv;
    dl_iterate_phdr(note_program, NULL);
    places =
        mmap(NULL, (PLACES + ENDS) * sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    answer = mmap(NULL, sizeof *answer, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (places == MAP_FAILED || answer == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return 99;
    close(file);
    while ((size = recv(STDIN_FILENO, request, REQUEST_MAX, 0)) > 0) {
        int count = split(request, size, words);
        answer->frames = 0;
        pid_t run = fork();
        if (run == 0) {
            begin(words[0], words[1], words[2]);
            return __real_main(count - 3, words + 3);
        }
        answer->status = await_all(run);
        send(STDIN_FILENO, answer, sizeof *answer, 0);
    }
    _exit(0);
}

/* ---- the calls ------------------------------------------------------------------------------- */

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define WRAP(result, failed, name, parameters, arguments)                                          \
    result __real_##name parameters;                                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return failing_hit(FAILING_IO) ? (failed) : __real_##name arguments;                       \
    }

WRAP(ssize_t, -1, write, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRAP(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
WRAP(FILE *, NULL, fdopen, (int fd, const char *mode), (fd, mode))
WRAP(int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, -1, ftruncate64, (int fd, off_t size), (fd, size))
WRAP(int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(int, -1, fsync, (int fd), (fd))
WRAP(int, -1, __open64_2, (const char *path, int flags), (path, flags))
WRAP(int, -1, __open_2, (const char *path, int flags), (path, flags))

/* jansson's allocations are its own again: without memory it asserts. */
void __wrap_json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *));
void __wrap_json_set_alloc_funcs(void *(*allocate)(size_t), void (*release)(void *))
{
    (void)allocate;
    (void)release;
}

/* The mode argument is always read; the real function ignores it without O_CREAT. */
#define WRAP_OPEN(name)                                                                            \
    int __real_##name(const char *path, int flags, ...);                                           \
    int __wrap_##name(const char *path, int flags, ...);                                           \
    int __wrap_##name(const char *path, int flags, ...)                                            \
    {                                                                                              \
        va_list arguments;                                                                         \
        mode_t mode;                                                                               \
        va_start(arguments, flags);                                                                \
        mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                                    \
        va_end(arguments);                                                                         \
        return failing_hit(FAILING_IO) ? -1 : __real_##name(path, flags, mode);                    \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)

/* The file is flushed and closed all the same. */
#define WRAP_END(name)                                                                             \
    int __real_##name(FILE *file);                                                                 \
    int __wrap_##name(FILE *file);                                                                 \
    int __wrap_##name(FILE *file)                                                                  \
    {                                                                                              \
        bool fails = failing_hit(FAILING_IO);                                                      \
        int ended = __real_##name(file);                                                           \
        errno = fails ? ENOSPC : errno;                                                            \
        return fails ? EOF : ended;                                                                \
    }

WRAP_END(fflush)
WRAP_END(fclose)
