/*
 * outbox.h: writes mails as files into a folder instead of sending them (--dry-run).
 */
#ifndef TAKT_WORKERS_OUTBOX_H
#define TAKT_WORKERS_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/error.h>
#include <uv.h>

#define OUTBOX_NAME_SIZE 256

typedef struct takt_mail_outbox {
    uv_loop_t *loop;
    int folder;
} takt_mail_outbox;

/* A mail being written. The caller keeps its memory until `done`, whose text is NULL or the
 * error. */
typedef struct takt_mail_outbox_mail takt_mail_outbox_mail;
struct takt_mail_outbox_mail {
    /* public; the texts must live until `done` */
    const char *id;
    const char *message;
    size_t size;
    void (*done)(takt_mail_outbox_mail *mail, const char *why);
    void *data;
    /* private */
    uv_work_t work;
    int folder;
    int trouble;
};

/* The file name of a job: letters, digits, "-", "_" and "." of its id as they are, everything else
 * as %XX, and no dot at the start. A long id is cut and followed by a sum. */
void takt_mail_outbox_name(const char *id, char name[OUTBOX_NAME_SIZE]);

/* Makes the folder if it does not exist, and keeps it open until the program ends. 0, or
 * TAKT_E_SYSTEM and why. */
int takt_mail_outbox_open(takt_mail_outbox *outbox, uv_loop_t *loop, const char *folder,
                          takt_error *error);

/* Writes ID.eml in the loop's thread pool, whole or not at all. False: `done` will not be
 * called. */
bool takt_mail_outbox_put(takt_mail_outbox *outbox, takt_mail_outbox_mail *mail);

#endif
