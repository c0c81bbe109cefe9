/*
 * smtp.c: one libcurl transfer per mail.
 *
 * libcurl itself reports only the code of a reply, so replies are read as they pass its header
 * function. If there is a password, replies before the end of the login are not shown, since they
 * may repeat the password.
 */
#include "smtp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfer/transfer.h"

#define CONNECT_MS 30000L /* until there is a connection */
#define IDLE_S     60L    /* an older idle connection is not used again */

/* libcurl allocates the buffer for each mail, and twice as much where dots are doubled. Its default
 * is 64 KB. */
#define BUFFER_SIZE 16384L

struct takt_mail_smtp {
    const takt_mail_smtp_settings *settings;
    takt_transfers *transfers;
    takt_mail_smtp_delivery *first, **last; /* deliveries that wait for a connection */
    unsigned busy;
    char url[SERVER_HOST_SIZE + 320];
};

int takt_mail_smtp_open(takt_mail_smtp **opened, uv_loop_t *loop,
                        const takt_mail_smtp_settings *settings, takt_error *error)
{
    const takt_mail_server *server = &settings->server;
    const char *before = server->ipv6 ? "[" : "", *behind = server->ipv6 ? "]" : "";
    takt_mail_smtp *smtp = calloc(1, sizeof(*smtp));

    if (!smtp) {
        *error = (takt_error){.code = TAKT_E_NOMEM, .text = "no memory"};
        return TAKT_E_NOMEM;
    }
    int failed = takt_transfers_open(&smtp->transfers, loop, (long)settings->connections, error);
    if (failed) {
        free(smtp);
        return failed;
    }
    smtp->settings = settings;
    smtp->last = &smtp->first;
    snprintf(smtp->url, sizeof(smtp->url), "%s://%s%s%s:%u/%s", server->tls ? "smtps" : "smtp",
             before, server->host, behind, server->port, settings->hello ? settings->hello : "");
    *opened = smtp;
    return 0;
}

/* libcurl reads the next part of the mail. */
static size_t give_text(char *room, size_t unit, size_t count, void *data)
{
    takt_mail_smtp_delivery *delivery = data;
    size_t left = delivery->size - delivery->sent;
    size_t size = unit * count < left ? unit * count : left;

    memcpy(room, delivery->message + delivery->sent, size);
    delivery->sent += size;
    return size;
}

/* Keeps the text of a reply without line ends and control characters. */
static void note_text(takt_mail_smtp_delivery *delivery, const char *text, size_t size)
{
    char *into = delivery->outcome.text;

    while (size > 0 && (text[size - 1] == '\r' || text[size - 1] == '\n'))
        size--;
    for (size_t i = 0; i < size && delivery->text_size + 1 < SMTP_TEXT_SIZE; i++)
        into[delivery->text_size++] = text[i] >= ' ' && text[i] < 0x7f ? text[i] : '?';
    into[delivery->text_size] = '\0';
}

/* The code of a line, read as libcurl does; 0: no code. */
static int code_of(const char *line, size_t size)
{
    char digits[4] = "";

    if (size < 4 || !strchr(" -\r\n", line[3]))
        return 0;
    memcpy(digits, line, 3);
    return strspn(digits, "0123456789") == 3 ? atoi(digits) : 0;
}

/* Reads "250 OK", or "250-OK" if more lines follow. All lines of a reply have the same code (RFC
 * 5321). If they differ, the fate of the mail is unknown: libcurl would use the last code. */
bool takt_mail_smtp_note_line(takt_mail_smtp_delivery *delivery, const char *line, size_t size)
{
    bool first = !delivery->line_open;
    int code = code_of(line, size);

    if (code == 0 || delivery->refused || delivery->other_code)
        return true;
    if (!first && code != delivery->outcome.code) {
        delivery->other_code = code;
        return false;
    }
    if (first)
        delivery->text_size = 0;
    delivery->outcome.code = code;
    if (first)
        note_text(delivery, line, 3);
    note_text(delivery, " ", 1);
    note_text(delivery, line + 4, size - 4);
    delivery->line_open = line[3] == '-';
    if (delivery->line_open || !delivery->in_mail)
        return true;
    if (delivery->outcome.code == 354)
        delivery->told_text = true;
    delivery->refused = delivery->outcome.code >= 400;
    return !delivery->refused;
}

static size_t hear_line(char *line, size_t unit, size_t count, void *data)
{
    takt_mail_smtp_delivery *delivery = data;

    if (!takt_mail_smtp_note_line(delivery, line, unit * count))
        takt_transfers_stop_reading(delivery->handle);
    return unit * count;
}

/* libcurl is connected and logged in, and sends MAIL next. */
static int begin_mail(void *data, char *peer, char *local, int peer_port, int local_port)
{
    takt_mail_smtp_delivery *delivery = data;

    (void)peer, (void)local, (void)peer_port, (void)local_port;
    delivery->in_mail = true;
    delivery->outcome.code = 0;
    delivery->outcome.text[0] = '\0';
    return CURL_PREREQFUNC_OK;
}

static void set_security(CURL *handle, const takt_mail_smtp_settings *settings)
{
    static const long levels[] = {
        [SERVER_STARTTLS_DEFAULT] = CURLUSESSL_ALL,
        [SERVER_STARTTLS_OFF] = CURLUSESSL_NONE,
        [SERVER_STARTTLS_TRY] = CURLUSESSL_TRY,
        [SERVER_STARTTLS_REQUIRED] = CURLUSESSL_ALL,
    };

    if (!settings->server.tls)
        curl_easy_setopt(handle, CURLOPT_USE_SSL, levels[settings->starttls]);
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (settings->ca) {
        curl_easy_setopt(handle, CURLOPT_CAINFO, settings->ca);
        curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
    }
    if (settings->login.user) {
        curl_easy_setopt(handle, CURLOPT_USERNAME, settings->login.user);
        curl_easy_setopt(handle, CURLOPT_PASSWORD, settings->login.password);
    }
}

static void set_up(takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery)
{
    CURL *handle = delivery->handle;
    long timeout_ms = (long)(smtp->settings->timeout_us / 1000);

    curl_easy_setopt(handle, CURLOPT_URL, smtp->url);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_MAIL_FROM, delivery->from);
    curl_easy_setopt(handle, CURLOPT_MAIL_RCPT, delivery->recipients);
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, (curl_off_t)delivery->size);
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, give_text);
    curl_easy_setopt(handle, CURLOPT_READDATA, delivery);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, hear_line);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, delivery);
    curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, begin_mail);
    curl_easy_setopt(handle, CURLOPT_PREREQDATA, delivery);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, delivery->trouble);
    curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, BUFFER_SIZE);
    curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_SIZE);
    curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, IDLE_S);
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(handle, CURLOPT_SERVER_RESPONSE_TIMEOUT, timeout_ms / 1000 + 1);
    curl_easy_setopt(handle, CURLOPT_FRESH_CONNECT, delivery->again ? 1L : 0L);
    set_security(handle, smtp->settings);
}

static void transferred(CURL *handle, CURLcode result, void *data);

static bool begin(takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery)
{
    delivery->sent = delivery->text_size = 0;
    delivery->other_code = 0;
    delivery->in_mail = delivery->told_text = delivery->refused = delivery->line_open = false;
    delivery->outcome = (takt_mail_smtp_outcome){0};
    delivery->trouble[0] = '\0';
    delivery->handle = takt_transfers_take(smtp->transfers);
    if (!delivery->handle)
        return false;
    set_up(smtp, delivery);
    if (!takt_transfers_start(smtp->transfers, delivery->handle, transferred, delivery)) {
        takt_transfers_put(smtp->transfers, delivery->handle);
        return false;
    }
    smtp->busy++;
    return true;
}

/* Whether the server had closed a kept connection before it received this mail. */
static bool was_old(const takt_mail_smtp_delivery *delivery, CURLcode result)
{
    long connects = 1;

    curl_easy_getinfo(delivery->handle, CURLINFO_NUM_CONNECTS, &connects);
    return result != CURLE_OK && connects == 0 && !delivery->again && !delivery->told_text &&
           !delivery->other_code && (!delivery->refused || delivery->outcome.code == 421);
}

static void say_unusable(const takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery,
                         CURLcode result)
{
    const takt_mail_server *server = &smtp->settings->server;
    const char *why = delivery->trouble[0] ? delivery->trouble : curl_easy_strerror(result);
    takt_mail_smtp_outcome *outcome = &delivery->outcome;
    bool may_show = outcome->code >= 400 && !smtp->settings->login.user;
    char reply[SMTP_TEXT_SIZE + 4] = "", text[SMTP_TEXT_SIZE + CURL_ERROR_SIZE + 320];

    if (delivery->other_code)
        why = "the lines of its reply have different codes";
    else if (result == CURLE_LOGIN_DENIED)
        why = "it refuses user and password";
    else if (result == CURLE_USE_SSL_FAILED)
        why = "it offers no STARTTLS, and --starttls off was not given";
    if (may_show)
        snprintf(reply, sizeof(reply), " (%s)", outcome->text);
    else if (outcome->code >= 400)
        snprintf(reply, sizeof(reply), " (%d)", outcome->code);
    snprintf(text, sizeof(text), "the mail server %s:%u cannot be used: %s%s", server->host,
             server->port, why, reply);
    delivery->text_size = 0;
    note_text(delivery, text, strlen(text));
    outcome->end = SMTP_UNUSABLE;
}

static void say_broken(const takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery,
                       CURLcode result)
{
    char text[SMTP_TEXT_SIZE];

    if (delivery->other_code)
        snprintf(text, sizeof(text),
                 "the lines of the mail server's reply have different codes: %d and %d",
                 delivery->outcome.code, delivery->other_code);
    else if (result == CURLE_OPERATION_TIMEDOUT)
        snprintf(text, sizeof(text), "the mail server did not answer within %lld s",
                 (long long)smtp->settings->timeout_us / 1000000);
    else
        snprintf(text, sizeof(text), "the connection to the mail server ended in the middle: %s",
                 delivery->trouble[0] ? delivery->trouble : curl_easy_strerror(result));
    delivery->text_size = 0;
    note_text(delivery, text, strlen(text));
    delivery->outcome.end = SMTP_BROKEN;
    delivery->outcome.code = 0;
}

static void say_no_memory(takt_mail_smtp_delivery *delivery)
{
    delivery->text_size = 0;
    note_text(delivery, "no memory", 9);
    delivery->outcome.end = SMTP_BROKEN;
    delivery->done(delivery, &delivery->outcome);
}

/* Starts the next waiting delivery. */
static void begin_next(takt_mail_smtp *smtp)
{
    takt_mail_smtp_delivery *next = smtp->first;

    if (!next || smtp->busy >= smtp->settings->connections)
        return;
    smtp->first = next->next;
    if (!smtp->first)
        smtp->last = &smtp->first;
    if (!begin(smtp, next))
        say_no_memory(next);
}

static void transferred(CURL *handle, CURLcode result, void *data)
{
    takt_mail_smtp_delivery *delivery = data;
    takt_mail_smtp *smtp = delivery->smtp;
    bool old = was_old(delivery, result);

    takt_transfers_put(smtp->transfers, handle);
    smtp->busy--;
    if (old) {
        delivery->again = true;
        if (!begin(smtp, delivery))
            say_no_memory(delivery);
        return;
    }
    if (delivery->other_code && delivery->in_mail)
        say_broken(smtp, delivery, result);
    else if (delivery->other_code)
        say_unusable(smtp, delivery, result);
    else if (result == CURLE_OK || delivery->refused ||
             (!delivery->in_mail && delivery->outcome.code == 421))
        delivery->outcome.end = SMTP_REPLIED;
    else if (delivery->in_mail)
        say_broken(smtp, delivery, result);
    else
        say_unusable(smtp, delivery, result);
    begin_next(smtp);
    delivery->done(delivery, &delivery->outcome);
}

bool takt_mail_smtp_send(takt_mail_smtp *smtp, takt_mail_smtp_delivery *delivery)
{
    delivery->smtp = smtp;
    delivery->again = false;
    delivery->next = NULL;
    if (smtp->busy < smtp->settings->connections)
        return begin(smtp, delivery);
    *smtp->last = delivery;
    smtp->last = &delivery->next;
    return true;
}

void takt_mail_smtp_close(takt_mail_smtp *smtp)
{
    takt_transfers_close(smtp->transfers);
    free(smtp);
}
