/*
 * options.c: takt-mail's own options, and the files that they name.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <takt/worker.h>

#include "kit/argument.h"
#include "mail.h"
#include "template.h"

#define TEMPLATE_MAX    ((size_t)1024 * 1024)
#define CONNECTIONS_MAX 1000

enum {
    KEY_SMTP = 0x200,
    KEY_STARTTLS,
    KEY_CA,
    KEY_LOGIN,
    KEY_HELLO,
    KEY_CONNECTIONS,
    KEY_TIMEOUT,
    KEY_PAUSE,
    KEY_OUTAGE,
    KEY_FROM,
    KEY_RETURN_PATH,
    KEY_TEMPLATE,
    KEY_SUBJECT,
    KEY_TEXT,
    KEY_HTML,
    KEY_UNSUBSCRIBE,
    KEY_ONE_CLICK,
    KEY_KEY,
    KEY_DRY_RUN
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The mail server:", 1},
    {"smtp", KEY_SMTP, "URL", 0,
     "smtp://HOST[:PORT] (25), or smtps://HOST[:PORT] (465): TLS from the first byte", 1},
    {"starttls", KEY_STARTTLS, "required|try|off", 0,
     "TLS over smtp:// (default required; off where HOST is this machine)", 1},
    {"ca", KEY_CA, "FILE", 0, "Trust these certificates (PEM) instead of the system's", 1},
    {"login", KEY_LOGIN, "FILE", 0,
     "User and password, one per line (default: $TAKT_SMTP_USER and $TAKT_SMTP_PASSWORD)", 1},
    {"hello", KEY_HELLO, "NAME", 0, "The name in EHLO (default: this host's)", 1},
    {"connections", KEY_CONNECTIONS, "N", 0, "Most connections at the same time (default 16)", 1},
    {"timeout", KEY_TIMEOUT, "DURATION", 0, "Longest time for one mail (default 5min)", 1},
    {"pause", KEY_PAUSE, "DURATION", 0,
     "Block the mail's limit for that long if the server asks for less (4xx) without a time "
     "(default 5s)",
     1},
    {"outage", KEY_OUTAGE, "DURATION", 0,
     "A server that is unavailable costs a mail no attempts for that long (default 1day; 0s: each "
     "attempt counts)",
     1},
    {"dry-run", KEY_DRY_RUN, "FOLDER", 0,
     "Send nothing, take no permits, note nothing as done; write each mail to FOLDER/ID.eml", 1},
    {NULL, 0, NULL, 0, "Fields that jobs may leave out:", 2},
    {"from", KEY_FROM, "ADDRESS", 0, "user@example.org, or A Name <user@example.org>", 2},
    {"return-path", KEY_RETURN_PATH, "ADDRESS", 0, "Where bounces go (default: the sender)", 2},
    {"template", KEY_TEMPLATE, "FOLDER", 0,
     "FOLDER/subject.txt, FOLDER/text.txt and FOLDER/html.html, with {field}s of the job", 2},
    {"subject", KEY_SUBJECT, "FILE", 0, "One of these files by itself", 2},
    {"text", KEY_TEXT, "FILE", 0, NULL, 2},
    {"html", KEY_HTML, "FILE", 0, NULL, 2},
    {"list-unsubscribe", KEY_UNSUBSCRIBE, "URL", 0,
     "https://... or mailto:..., with {field}s of the job", 2},
    {"one-click", KEY_ONE_CLICK, 0, 0, "A POST to that URL is enough (RFC 8058)", 2},
    {"key", KEY_KEY, "TEXT", 0,
     "The key of the limit; {domain} in it, or in a job's key, is the recipients'", 2},
    {0},
};

static int64_t read_duration(struct argp_state *state, const char *option, const char *word,
                             int64_t min_us)
{
    return takt_argument_duration(state, option, word, min_us, INT64_MAX, "must be at least 1ms");
}

static void read_server(takt_mail *mail, struct argp_state *state, const char *url)
{
    takt_error error = {0};

    mail->options.server = url;
    if (takt_mail_server_parse(url, &mail->settings.server, &error) != 0)
        argp_error(state, "--smtp: %s", error.text);
}

static void read_hello(takt_mail *mail, struct argp_state *state, const char *name)
{
    takt_error error = {0};

    mail->settings.hello = name;
    if (takt_mail_address_check_domain(name, strlen(name), &error) != 0)
        argp_error(state, "--hello %s: %s", takt_argument_shown(name), error.text);
}

static void read_address(struct argp_state *state, const char *what, const char *text)
{
    takt_mail_address address;
    takt_error error = {0};
    json_t *good = json_string(text); /* NULL if the text is not UTF-8 */

    if (!good)
        argp_error(state, "%s %s: it is not UTF-8", what, takt_argument_shown(text));
    else if (takt_mail_address_parse(text, strlen(text), &address, &error) != 0)
        argp_error(state, "%s %s: %s", what, takt_argument_shown(text), error.text);
    json_decref(good);
}

static void read_key(takt_mail *mail, struct argp_state *state, const char *key)
{
    takt_error error = {0};

    mail->options.key = key;
    if (takt_mail_letter_check_key(key, &error) != 0)
        argp_error(state, "--%s", error.text);
}

/* Refuses options that contradict each other. */
static void check(takt_mail *mail, struct argp_state *state)
{
    const takt_mail_options *given = &mail->options;

    if (!given->server && !given->drafts)
        argp_error(state, "which mail server? Write --smtp smtp://HOST:PORT, or --dry-run FOLDER");
    if (mail->settings.server.tls && mail->settings.starttls != SERVER_STARTTLS_DEFAULT)
        argp_error(state, "--starttls belongs to smtp://; with smtps:// there is TLS from the "
                          "first byte");
    if (given->one_click && !given->unsubscribe)
        argp_error(state, "--one-click belongs to --list-unsubscribe https://...");
    if (mail->settings.starttls == SERVER_STARTTLS_DEFAULT)
        mail->settings.starttls = takt_mail_server_default_starttls(&mail->settings.server);
}

static error_t parse_mails(int key, char *word, takt_mail *mail, struct argp_state *state)
{
    takt_mail_options *given = &mail->options;

    switch (key) {
    case KEY_FROM:
        given->from = word;
        read_address(state, "--from", word);
        return 0;
    case KEY_RETURN_PATH:
        given->return_path = word;
        read_address(state, "--return-path", word);
        return 0;
    case KEY_TEMPLATE:
        given->folder = word;
        return 0;
    case KEY_SUBJECT:
        given->subject = word;
        return 0;
    case KEY_TEXT:
        given->text = word;
        return 0;
    case KEY_HTML:
        given->html = word;
        return 0;
    case KEY_UNSUBSCRIBE:
        given->unsubscribe = word;
        return 0;
    case KEY_ONE_CLICK:
        given->one_click = true;
        return 0;
    case KEY_KEY:
        read_key(mail, state, word);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    takt_mail *mail = state->input;

    switch (key) {
    case KEY_SMTP:
        read_server(mail, state, word);
        return 0;
    case KEY_STARTTLS:
        if (!takt_mail_server_read_starttls(word, &mail->settings.starttls))
            argp_error(state, "--starttls takes required, try or off, not %s",
                       takt_argument_shown(word));
        return 0;
    case KEY_CA:
        mail->settings.ca = word;
        return 0;
    case KEY_LOGIN:
        mail->options.login = word;
        return 0;
    case KEY_HELLO:
        read_hello(mail, state, word);
        return 0;
    case KEY_CONNECTIONS:
        mail->settings.connections =
            (unsigned)takt_argument_number(state, "--connections", word, 1, CONNECTIONS_MAX);
        return 0;
    case KEY_TIMEOUT:
        mail->settings.timeout_us = read_duration(state, "--timeout", word, 1000);
        return 0;
    case KEY_PAUSE:
        mail->options.pause_us = read_duration(state, "--pause", word, 1000);
        return 0;
    case KEY_OUTAGE:
        mail->options.outage_us = read_duration(state, "--outage", word, 0);
        return 0;
    case KEY_DRY_RUN:
        mail->options.drafts = word;
        return 0;
    case ARGP_KEY_END:
        check(mail, state);
        return 0;
    default:
        return parse_mails(key, word, mail, state);
    }
}

const struct argp takt_mail_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

/* The content of a text file, in memory of its own; NULL after a message. */
static char *read_file(const char *name)
{
    FILE *file = fopen(name, "re");
    char *text = file ? malloc(TEMPLATE_MAX + 1) : NULL;
    const char *why = NULL;
    json_t *good;

    errno = file ? 0 : errno;
    size_t size = text ? fread(text, 1, TEMPLATE_MAX + 1, file) : 0;
    if (!text || ferror(file))
        why = strerror(errno);
    else if (size > TEMPLATE_MAX)
        why = "it is larger than 1 MiB";
    else if (memchr(text, '\0', size))
        why = "it is not a text";
    if (file)
        fclose(file);
    if (text && !why) {
        text[size] = '\0';
        good = json_string(text);
        why = good ? NULL : "it is not UTF-8";
        json_decref(good);
    }
    if (!why)
        return text;
    takt_worker_say("%s: %s", name, why);
    free(text);
    return NULL;
}

/* Reads the file of one part: its own option, else the file in the template's folder, if it
 * exists. */
static int read_part(const char *own, const char *folder, const char *file,
                     takt_mail_template_form form, char **part)
{
    char name[4096];
    takt_error error = {0};

    snprintf(name, sizeof(name), "%s/%s", folder ? folder : "", file);
    if (!own && (!folder || access(name, F_OK) != 0))
        return 0;
    *part = read_file(own ? own : name);
    if (!*part)
        return EX_NOINPUT;
    if (form == TEMPLATE_HEADER) {
        size_t size = strlen(*part);
        while (size > 0 && ((*part)[size - 1] == '\n' || (*part)[size - 1] == '\r'))
            (*part)[--size] = '\0';
    }
    if (takt_mail_template_expand(own ? own : name, *part, NULL, form, NULL, &error) == 0)
        return 0;
    takt_worker_say("%s", error.text);
    return EX_DATAERR;
}

static int read_parts(takt_mail *mail)
{
    const takt_mail_options *given = &mail->options;
    int failed;

    if (given->folder && access(given->folder, X_OK) != 0) {
        takt_worker_say("--template %s: %s", given->folder, strerror(errno));
        return EX_NOINPUT;
    }
    if ((failed = read_part(given->subject, given->folder, "subject.txt", TEMPLATE_HEADER,
                            &mail->subject)) != 0 ||
        (failed = read_part(given->text, given->folder, "text.txt", TEMPLATE_TEXT, &mail->text)) !=
            0 ||
        (failed = read_part(given->html, given->folder, "html.html", TEMPLATE_HTML, &mail->html)) !=
            0)
        return failed;
    if (!given->folder || mail->subject || mail->text || mail->html)
        return 0;
    takt_worker_say("--template %s: it has neither subject.txt nor text.txt nor html.html",
                    given->folder);
    return EX_NOINPUT;
}

int takt_mail_options_read(takt_mail *mail)
{
    const takt_mail_options *given = &mail->options;
    takt_mail_smtp_settings *settings = &mail->settings;
    takt_error error = {0};
    int failed = read_parts(mail);

    if (failed)
        return failed;
    mail->letters =
        (takt_mail_letter_settings){given->from, given->return_path, mail->subject,   mail->text,
                                    mail->html,  given->unsubscribe, given->one_click};
    if ((given->unsubscribe && takt_mail_template_expand("--list-unsubscribe", given->unsubscribe,
                                                         NULL, TEMPLATE_URL, NULL, &error) != 0) ||
        (!given->drafts && takt_mail_login_read(&settings->login, given->login, &error) != 0)) {
        takt_worker_say("%s", error.text);
        return EX_USAGE;
    }
    if (settings->ca && access(settings->ca, R_OK) != 0) {
        takt_worker_say("--ca %s: %s", settings->ca, strerror(errno));
        return EX_NOINPUT;
    }
    if (settings->login.user && !settings->server.tls && !settings->server.loopback &&
        settings->starttls != SERVER_STARTTLS_REQUIRED) {
        takt_worker_say(
            "the password would be sent unencrypted to %s: leave out --starttls, or write smtps://",
            settings->server.host);
        return EX_USAGE;
    }
    return 0;
}

void takt_mail_options_free(takt_mail *mail)
{
    takt_mail_login_free(&mail->settings.login);
    free(mail->subject);
    free(mail->text);
    free(mail->html);
}
