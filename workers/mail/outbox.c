/*
 * outbox.c: writes a temporary file, then renames it, both below one open folder, so that no id can
 * name a path elsewhere.
 */
#include "outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHORT_SIZE 200 /* a file name has at most 255 bytes */

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

void takt_mail_outbox_name(const char *id, char name[OUTBOX_NAME_SIZE])
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    size_t size = 0;
    const char *c;

    for (c = id; *c; c++)
        sum = (sum ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (c = id; *c && size + 3 <= SHORT_SIZE; c++) {
        if (is_plain(*c) && (size > 0 || *c != '.'))
            name[size++] = *c;
        else
            size += (size_t)snprintf(name + size, 4, "%%%02X", (unsigned char)*c);
    }
    if (*c)
        snprintf(name + size, OUTBOX_NAME_SIZE - size, "-%016llx.eml", (unsigned long long)sum);
    else
        snprintf(name + size, OUTBOX_NAME_SIZE - size, ".eml");
}

int takt_mail_outbox_open(takt_mail_outbox *outbox, uv_loop_t *loop, const char *folder,
                          takt_error *error)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        outbox->folder = -1;
    else
        outbox->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    outbox->loop = loop;
    if (outbox->folder >= 0)
        return 0;
    *error = (takt_error){.code = TAKT_E_SYSTEM};
    snprintf(error->text, sizeof(error->text), "--dry-run %s: %s", folder, strerror(errno));
    return error->code;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = write(file, bytes, size);
        if (count < 0 && errno != EINTR)
            return false;
        bytes += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Runs in a thread of the pool. */
static void write_file(uv_work_t *work)
{
    takt_mail_outbox_mail *mail = work->data;
    char name[OUTBOX_NAME_SIZE], draft[OUTBOX_NAME_SIZE + 32];

    takt_mail_outbox_name(mail->id, name);
    snprintf(draft, sizeof(draft), ".%d-%p", (int)getpid(), (void *)mail);
    int file =
        openat(mail->folder, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool good = file >= 0 && write_all(file, mail->message, mail->size);
    mail->trouble = good ? 0 : errno;
    if (file >= 0 && close(file) != 0 && good) {
        good = false;
        mail->trouble = errno;
    }
    if (good && renameat(mail->folder, draft, mail->folder, name) != 0) {
        good = false;
        mail->trouble = errno;
    }
    if (!good && file >= 0)
        unlinkat(mail->folder, draft, 0);
}

static void written(uv_work_t *work, int status)
{
    takt_mail_outbox_mail *mail = work->data;

    mail->done(mail, status ? uv_strerror(status) : mail->trouble ? strerror(mail->trouble) : NULL);
}

bool takt_mail_outbox_put(takt_mail_outbox *outbox, takt_mail_outbox_mail *mail)
{
    mail->folder = outbox->folder;
    mail->work.data = mail;
    return uv_queue_work(outbox->loop, &mail->work, write_file, written) == 0;
}
