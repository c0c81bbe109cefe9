/*
 * outbox.h: mails as files in a folder, instead of sending them: what --dry-run does.
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

/* A mail on its way; the caller's memory until `done`, which says NULL or what was wrong. */
typedef struct takt_mail_outbox_mail takt_mail_outbox_mail;
struct takt_mail_outbox_mail {
    /* public; what they point to lives as long */
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

/* The name of a job's file: letters, digits, "-", "_" and "." of its id as they are, everything
 * else as %XX, never with a dot first; of a long id the beginning and a sum. */
void takt_mail_outbox_name(const char *id, char name[OUTBOX_NAME_SIZE]);

/* Makes the folder where there is none, and holds it until the program's end.  0, or TAKT_E_SYSTEM
 * and why. */
int takt_mail_outbox_open(takt_mail_outbox *outbox, uv_loop_t *loop, const char *folder,
                          takt_error *error);

/* Writes ID.eml in the loop's thread pool; whole or not at all.  false: `done` will not come. */
bool takt_mail_outbox_put(takt_mail_outbox *outbox, takt_mail_outbox_mail *mail);

#endif
