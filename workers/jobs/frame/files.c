/*
 * files.c: identifies a file by its device and inode; a file that does not exist yet by those of
 * its folder and by its name. A file that is not regular (a terminal, a pipe) may have several
 * uses.
 */
#include "files.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct known_file {
    const char *use; /* the option, for messages: "--results" */
    dev_t device;
    ino_t number;
    char name[NAME_MAX + 1]; /* of a file that does not exist yet; "" */
} known_file;

typedef struct files {
    known_file known[8];
    int count;
} files;

static int add(files *files, const known_file *added, takt_error *error)
{
    for (int i = 0; i < files->count; i++) {
        const known_file *other = &files->known[i];
        if (other->device != added->device || other->number != added->number ||
            strcmp(other->name, added->name) != 0)
            continue;
        snprintf(error->text, sizeof(error->text),
                 "%s and %s are the same file; use two different files", other->use, added->use);
        return error->code = TAKT_E_INVALID;
    }
    files->known[files->count++] = *added;
    return 0;
}

static int add_open(files *files, const char *use, int fd, takt_error *error)
{
    struct stat status;

    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return add(files, &(known_file){use, status.st_dev, status.st_ino, ""}, error);
}

static int add_new(files *files, const char *use, const char *path, takt_error *error)
{
    char folder[PATH_MAX], name[PATH_MAX];
    struct stat status;

    snprintf(folder, sizeof(folder), "%s", path);
    snprintf(name, sizeof(name), "%s", path);
    if (stat(dirname(folder), &status) != 0)
        return 0; /* the file cannot be created either */
    known_file added = {use, status.st_dev, status.st_ino, ""};
    snprintf(added.name, sizeof(added.name), "%s", basename(name));
    return add(files, &added, error);
}

static int add_named(files *files, const char *use, const char *path, takt_error *error)
{
    struct stat status;

    if (!path)
        return 0;
    if (stat(path, &status) != 0)
        return add_new(files, use, path, error);
    if (!S_ISREG(status.st_mode))
        return 0;
    return add(files, &(known_file){use, status.st_dev, status.st_ino, ""}, error);
}

/* NULL: one of the standard files. */
static const char *named(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Adds the file that is kept beside the input, unless the user named another one. */
static int add_beside(files *files, const char *use, const char *given, const char *input,
                      const char *suffix, takt_error *error)
{
    char *path = NULL;

    if (given || !input || asprintf(&path, "%s%s", input, suffix) < 0)
        return add_named(files, use, given, error);
    int failed = add_named(files, use, path, error);
    free(path);
    return failed;
}

int takt_worker_files_check(const takt_worker_options *options, takt_error *error)
{
    files files = {0};
    const char *input = named(options->input), *results = named(options->results);
    bool reads = !options->stream && !input;
    int failed = add_named(&files, "--policy", options->policy, error);

    if (!failed)
        failed = reads ? add_open(&files, "standard input", STDIN_FILENO, error)
                       : add_named(&files, "--input", input, error);
    if (!failed)
        failed = add_beside(&files, "--state", options->state, input, ".state", error);
    if (!failed)
        failed = add_beside(&files, "--dead", options->dead, input, ".dead", error);
    if (!failed)
        failed = results ? add_named(&files, "--results", results, error)
                         : add_open(&files, "standard output", STDOUT_FILENO, error);
    if (!failed)
        failed = add_named(&files, "--metrics-file", options->report.metrics_file, error);
    return failed;
}
