/*
 * files.c: the files that a worker's options name, and those beside its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "kit/files.h"
#include "worker.h"

/* NULL: one of the standard files. */
static const char *named(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Adds the file that is kept beside the input, unless the user named another one. */
static void add_beside(takt_files *files, const char *use, const char *given, const char *input,
                       const char *suffix)
{
    char *path = NULL;

    if (given || !input || asprintf(&path, "%s%s", input, suffix) < 0) {
        takt_files_add(files, use, given);
        return;
    }
    takt_files_add(files, use, path);
    free(path);
}

int takt_worker_files_check(const takt_worker_options *options)
{
    takt_files files = {0};
    const char *input = named(options->input), *results = named(options->results);

    takt_files_add(&files, "--policy", options->policy);
    takt_files_add(&files, "--input", input);
    if (!options->stream && !input)
        takt_files_add_open(&files, "standard input", STDIN_FILENO);
    add_beside(&files, "--state", options->state, input, ".state");
    add_beside(&files, "--dead", options->dead, input, ".dead");
    takt_files_add(&files, "--results", results);
    if (!results)
        takt_files_add_open(&files, "standard output", STDOUT_FILENO);
    takt_files_add(&files, "--metrics-file", options->report.metrics_file);
    if (!files.error.code)
        return 0;
    takt_worker_say("%s", files.error.text);
    return EX_USAGE;
}
