/*
 * login.h: the user and the password for the mail server: from the environment or from a file,
 * never from the command line, and never in a message.
 */
#ifndef TAKT_WORKERS_LOGIN_H
#define TAKT_WORKERS_LOGIN_H

#include <takt/error.h>

typedef struct takt_mail_login {
    char *user, *password; /* NULL: none */
} takt_mail_login;

/* From `file` (two lines: user, password), else from $TAKT_SMTP_USER and $TAKT_SMTP_PASSWORD, which
 * are then taken out of the environment.  0, or TAKT_E_INVALID and why. */
int takt_mail_login_read(takt_mail_login *login, const char *file, takt_error *error);

void takt_mail_login_free(takt_mail_login *login);

#endif
