/*
 * login.c: reads user and password, and wipes them before their memory is freed.
 */
#include "login.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "refuse.h"

#define LINE_SIZE 1024

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* A line without its line end, in memory of its own; NULL: no line, or it is too long. */
static char *read_line(FILE *file, char line[LINE_SIZE])
{
    if (!fgets(line, LINE_SIZE, file))
        return NULL;
    size_t size = strlen(line);
    if (size + 1 == LINE_SIZE && line[size - 1] != '\n')
        return NULL;
    line[strcspn(line, "\r\n")] = '\0';
    return *line ? strdup(line) : NULL;
}

static int read_file(takt_mail_login *login, const char *name, takt_error *error)
{
    char line[LINE_SIZE];
    FILE *file = fopen(name, "re");

    if (!file)
        return takt_mail_refuse(error, "--login %s: %s", name, strerror(errno));
    setvbuf(file, NULL, _IONBF, 0); /* no copy stays in a buffer */
    login->user = read_line(file, line);
    login->password = login->user ? read_line(file, line) : NULL;
    explicit_bzero(line, sizeof(line));
    fclose(file);
    if (!login->password)
        return takt_mail_refuse(error,
                                "--login %s: it must have two lines, the user and the password, "
                                "each shorter than %d bytes",
                                name, LINE_SIZE - 1);
    return 0;
}

int takt_mail_login_read(takt_mail_login *login, const char *file, takt_error *error)
{
    const char *user = getenv("TAKT_SMTP_USER"), *password = getenv("TAKT_SMTP_PASSWORD");
    int failed = 0;

    *login = (takt_mail_login){0};
    if (file) {
        failed = read_file(login, file, error);
    } else if (user && password) {
        login->user = strdup(user);
        login->password = strdup(password);
        if (!login->user || !login->password)
            failed = takt_mail_refuse(error, "no memory");
    } else if (user || password) {
        failed = takt_mail_refuse(error,
                                  "$TAKT_SMTP_USER and $TAKT_SMTP_PASSWORD belong together, but "
                                  "only %s is set",
                                  user ? "the first" : "the second");
    }
    unsetenv("TAKT_SMTP_PASSWORD");
    if (!failed && login->user && (has_control(login->user) || has_control(login->password)))
        failed =
            takt_mail_refuse(error, "the mail server's user or password has a control character");
    if (failed)
        takt_mail_login_free(login);
    return failed;
}

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void takt_mail_login_free(takt_mail_login *login)
{
    wipe(login->user);
    wipe(login->password);
    *login = (takt_mail_login){0};
}
