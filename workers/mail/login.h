/*
 * login.h: the user and the password for the mail server, from the environment or from a file.
 * Never from the command line, never in a message.
 */
#ifndef TAKT_WORKERS_LOGIN_H
#define TAKT_WORKERS_LOGIN_H

#include <takt/error.h>

typedef struct takt_mail_login {
    char *user, *password; /* NULL: none */
} takt_mail_login;

/* Reads `file` (two lines: user, password), else $TAKT_SMTP_USER and $TAKT_SMTP_PASSWORD, which are
 * then removed from the environment. 0, or TAKT_E_INVALID and why. */
int takt_mail_login_read(takt_mail_login *login, const char *file, takt_error *error);

void takt_mail_login_free(takt_mail_login *login);

#endif
