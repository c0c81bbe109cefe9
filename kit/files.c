/*
 * files.c: identifies a file by its device and inode; a file that does not exist yet by those of
 * its folder and by its name.
 */
#include "kit/files.h"

#include <assert.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ROOM (sizeof(((takt_files *)0)->known) / sizeof(takt_used_file))

static void add(takt_files *files, const char *use, const struct stat *status, const char *name)
{
    takt_used_file added = {.use = use, .device = status->st_dev, .number = status->st_ino};

    snprintf(added.name, sizeof(added.name), "%s", name);
    for (int i = 0; i < files->count && !files->error.code; i++) {
        const takt_used_file *other = &files->known[i];
        if (other->device != added.device || other->number != added.number ||
            strcmp(other->name, added.name) != 0)
            continue;
        files->error.code = TAKT_E_INVALID;
        snprintf(files->error.text, sizeof(files->error.text),
                 "%s and %s are the same file; use two different files", other->use, use);
    }
    assert((size_t)files->count < ROOM);
    files->known[files->count++] = added;
}

void takt_files_add_open(takt_files *files, const char *use, int fd)
{
    struct stat status;

    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        add(files, use, &status, "");
}

void takt_files_add(takt_files *files, const char *use, const char *path)
{
    char folder[PATH_MAX], name[PATH_MAX];
    struct stat status;

    if (!path)
        return;
    if (stat(path, &status) == 0) {
        if (S_ISREG(status.st_mode))
            add(files, use, &status, "");
        return;
    }
    snprintf(folder, sizeof(folder), "%s", path);
    snprintf(name, sizeof(name), "%s", path);
    if (stat(dirname(folder), &status) == 0) /* else the file cannot be created either */
        add(files, use, &status, basename(name));
}
