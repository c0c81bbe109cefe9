/*
 * file.c: see kinds.h. Decides which file systems are unfit and how much free space is too little.
 * The trial opens the file and finds damage.
 */
#include "doctor/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "store/file_url.h"

#define ROOM_WANTED INT64_C(67108864) /* bytes: enough for many ledgers and their log pages */

/* File systems (statfs(2)) that are unfit or doubtful. */
static const struct {
    unsigned long type;
    const char *name;
    /* true: LMDB's lock does not reach other hosts; false: a restart loses the content */
    bool remote;
} systems[] = {
    {0x6969, "NFS", true},
    {0xff534d42, "CIFS", true},
    {0xfe534d42, "SMB", true},
    {0x01021997, "9P", true},
    {0x65735546, "FUSE", true},
    {0x00c36400, "Ceph", true},
    {0x01021994, "memory", false},
    {0x858458f6, "memory", false},
    {0x794c7630, "a container", false},
};

static void tell_path(takt_checkup *checkup, const takt_file_url *url)
{
    char size[TAKT_CHECKUP_BYTES_SIZE];
    struct stat status;

    if (stat(url->path, &status) != 0) {
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "location", "%s; the first use creates it",
                          url->path);
        return;
    }
    takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "location", "%s, %s", url->path,
                      takt_checkup_bytes(status.st_size, size));
    if ((status.st_mode & (S_IWOTH | S_IROTH)) != 0)
        takt_checkup_tell(checkup, TAKT_FINDING_WARNING, "access",
                          "every user of this host may %s it: chmod o= %s",
                          status.st_mode & S_IWOTH ? "write" : "read", url->path);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "access", "%s",
                          status.st_mode & (S_IWGRP | S_IRGRP) ? "its owner and group only"
                                                               : "its owner only");
}

static void tell_disk(takt_checkup *checkup, unsigned long type)
{
    size_t i = 0;

    while (i < sizeof systems / sizeof systems[0] && systems[i].type != type)
        i++;
    if (i == sizeof systems / sizeof systems[0])
        return;
    if (systems[i].remote)
        takt_checkup_tell(
            checkup, TAKT_FINDING_WARNING, "disk",
            "it is on %s: the file's lock does not work across hosts, so a quota shared with other "
            "hosts is exceeded; use a local disk, or a Redis server",
            systems[i].name);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "disk",
                          "it is in the file system of %s: when that ends, all counts are lost, "
                          "and each limit starts again with its burst",
                          systems[i].name);
}

static void tell_room(takt_checkup *checkup, const struct statfs *disk)
{
    int64_t free_bytes = (int64_t)disk->f_bavail * (int64_t)disk->f_bsize;
    char room[TAKT_CHECKUP_BYTES_SIZE];

    takt_checkup_bytes(free_bytes, room);
    if (free_bytes < ROOM_WANTED)
        takt_checkup_tell(
            checkup, TAKT_FINDING_WARNING, "room",
            "only %s are free on its disk: when it is full, no slots are granted; free some space",
            room);
    else
        takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "room", "%s are free on its disk", room);
}

/* Finds the file's path and the disk below it. */
static int find(takt_file_url *url, struct statfs *disk, const char *rest, takt_error *error)
{
    char directory[PATH_MAX];
    int code = takt_file_url_parse(url, rest, error);

    if (code == 0)
        code = takt_file_url_resolve(url, error);
    if (code != 0)
        return code;
    snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(url->path, '/') - url->path + 1),
             url->path);
    return statfs(directory, disk) == 0
               ? 0
               : takt_file_fail(error, errno, "cannot use the directory", directory);
}

void takt_doctor_file(takt_checkup *checkup)
{
    takt_file_url url;
    takt_error error;
    struct statfs disk;
    int code = find(&url, &disk, checkup->rest, &error);

    if (code != 0) {
        takt_checkup_fail(checkup, code, "location", "%s", error.text);
        return;
    }
    tell_path(checkup, &url);
    tell_disk(checkup, (unsigned long)disk.f_type & 0xffffffff);
    tell_room(checkup, &disk);
    takt_checkup_tell(checkup, TAKT_FINDING_GOOD, "persistence", "%s",
                      url.sync ? "every award is on disk before it is answered (sync=always)"
                               : "survives a crash of any process; a power cut can lose the last "
                                 "seconds or the whole file; with ?sync=always it loses nothing");
}
