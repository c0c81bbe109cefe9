/*
 * takt-mail: sends the mails that jobs describe, within their limits.
 *
 * A mail costs as many tokens as it has recipients. The server's reply decides how its job ends
 * (reply.h). A server that cannot be used is not the fault of a job: it pauses the jobs of the
 * limit, longer each time.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <jansson.h>
#include <takt/worker.h>
#include <uv.h>

#include "kit/wall_clock.h"
#include "mail.h"
#include "reply.h"

#define SECOND_US INT64_C(1000000)
#define DAY_US    (86400 * SECOND_US)

/* A job under way. */
typedef struct mail_sending {
    struct mail_sending *next, *previous; /* the list of mails being sent */
    takt_mail *mail;
    takt_job *job;
    int64_t began_us;
    takt_buffer message;
    struct curl_slist *recipients;
    size_t recipient_count;
    char from[ADDRESS_MAX + 1];
    char message_id[MESSAGE_ID_SIZE];
    union {
        takt_mail_smtp_delivery delivery;
        takt_mail_outbox_mail draft;
    } by;
} mail_sending;

static const char *rehearses(const void *self)
{
    const takt_mail *mail = self;

    return mail->options.drafts ? "--dry-run" : NULL;
}

static int open_mail(void *self, uv_loop_t *loop, const takt_policy *policy)
{
    takt_mail *mail = self;
    takt_error error = {0};
    int failed = takt_mail_options_read(mail);

    (void)policy;
    if (failed)
        return failed;
    if (mail->options.drafts)
        failed = takt_mail_outbox_open(&mail->outbox, loop, mail->options.drafts, &error);
    else
        failed = takt_mail_smtp_open(&mail->smtp, loop, &mail->settings, &error);
    if (!failed)
        return 0;
    takt_worker_say("%s", error.text);
    return mail->options.drafts ? EX_CANTCREAT : EX_OSERR;
}

static int check_mail(void *self, json_t *fields, takt_job_head *head, takt_error *error)
{
    takt_mail *mail = self;
    const char *key = head->key ? head->key : mail->options.key;
    const json_t *cost = json_object_get(fields, "cost");
    char made[TAKT_KEY_SIZE_MAX + 1];
    int failed;

    mail->looked_at = NULL;
    if ((failed = takt_mail_letter_read(&mail->letter, &mail->letters, fields, error)) != 0 ||
        (failed = key ? takt_mail_letter_key(&mail->letter, key, made, error) : 0) != 0)
        return failed;
    if (key && json_object_set_new(fields, "key", json_string(made)) != 0) {
        *error = (takt_error){TAKT_E_INVALID, "key: it is not UTF-8"};
        return TAKT_E_INVALID;
    }
    head->key = key ? json_string_value(json_object_get(fields, "key")) : NULL;
    if (!cost || json_is_null(cost))
        head->cost = (int32_t)mail->letter.recipient_count;
    mail->looked_at = fields;
    return 0;
}

static void remember(takt_mail *mail, mail_sending *sending)
{
    sending->next = mail->sending;
    if (mail->sending)
        mail->sending->previous = sending;
    mail->sending = sending;
}

static void free_sending(mail_sending *sending)
{
    curl_slist_free_all(sending->recipients);
    takt_buffer_free(&sending->message);
    free(sending);
}

static void forget(mail_sending *sending)
{
    if (sending->previous)
        sending->previous->next = sending->next;
    else
        sending->mail->sending = sending->next;
    if (sending->next)
        sending->next->previous = sending->previous;
    free_sending(sending);
}

/* The reply is ASCII. */
static void end_sent(mail_sending *sending, const char *reply)
{
    takt_job_done(sending->job,
                  json_pack("{s:s, s:I, s:s}", "message_id", sending->message_id, "recipients",
                            (json_int_t)sending->recipient_count, "reply", reply));
}

static int64_t now_us(void)
{
    return (int64_t)(uv_hrtime() / 1000);
}

/* The server cannot be used, so jobs of this limit wait. The mail is not at fault: its attempts
 * count only after a long outage, so that the job ends at some time. */
static void end_unusable(mail_sending *sending, const char *why)
{
    takt_mail *mail = sending->mail;
    takt_outage *outage = &mail->outage;

    if (outage->pause_us == 0)
        takt_worker_say("%s", why);
    int64_t pause_us = takt_outage_note(outage, sending->began_us, now_us());
    takt_job_settle(sending->job, NULL, 0);
    takt_job_block(sending->job, pause_us, why);
    if (takt_outage_is_within(outage, mail->options.outage_us, now_us()))
        takt_job_postpone(sending->job, pause_us, why);
    else
        takt_job_retry(sending->job, pause_us, why);
}

static void end_replied(mail_sending *sending, const takt_mail_smtp_outcome *outcome)
{
    takt_mail *mail = sending->mail;
    takt_mail_reply_meaning meaning = takt_mail_reply_read(outcome->code, outcome->text);

    if (meaning.verdict == REPLY_UNUSABLE) {
        end_unusable(sending, outcome->text);
        return;
    }
    mail->outage.pause_us = 0;
    if (meaning.penalize)
        takt_job_penalize(sending->job,
                          meaning.after_us ? meaning.after_us : mail->options.pause_us,
                          outcome->text);
    if (meaning.verdict == REPLY_SENT)
        end_sent(sending, outcome->text);
    else if (meaning.verdict == REPLY_RETRY)
        takt_job_retry(sending->job, meaning.after_us, outcome->text);
    else
        takt_job_dead(sending->job, outcome->text);
}

static void on_delivered(takt_mail_smtp_delivery *delivery, const takt_mail_smtp_outcome *outcome)
{
    mail_sending *sending = delivery->data;

    if (outcome->end == SMTP_REPLIED)
        end_replied(sending, outcome);
    else if (outcome->end == SMTP_UNUSABLE)
        end_unusable(sending, outcome->text);
    else
        takt_job_retry(sending->job, 0, outcome->text);
    forget(sending);
}

static void on_drafted(takt_mail_outbox_mail *draft, const char *why)
{
    mail_sending *sending = draft->data;

    if (sending->mail->closed)
        ;
    else if (why)
        takt_job_retry(sending->job, 0, why);
    else
        end_sent(sending, "dry run");
    forget(sending);
}

static bool begin_sending(takt_mail *mail, mail_sending *sending)
{
    if (mail->options.drafts) {
        sending->by.draft = (takt_mail_outbox_mail){.id = takt_job_head_of(sending->job)->id,
                                                    .message = sending->message.at,
                                                    .size = sending->message.size,
                                                    .done = on_drafted,
                                                    .data = sending};
        return takt_mail_outbox_put(&mail->outbox, &sending->by.draft);
    }
    sending->by.delivery = (takt_mail_smtp_delivery){.from = sending->from,
                                                     .recipients = sending->recipients,
                                                     .message = sending->message.at,
                                                     .size = sending->message.size,
                                                     .done = on_delivered,
                                                     .data = sending};
    return takt_mail_smtp_send(mail->smtp, &sending->by.delivery);
}

/* Builds the message and its envelope. */
static bool compose(mail_sending *sending, takt_mail_letter *letter)
{
    takt_mail_message *message = &letter->message;

    message->date_us = takt_wall_clock_now() / SECOND_US * SECOND_US;
    takt_mail_message_identify(message, takt_job_head_of(sending->job)->idempotency_key,
                               sending->message_id);
    takt_mail_message_write(message, sending->message_id, &sending->message);
    strcpy(sending->from, letter->return_path.mailbox);
    sending->recipient_count = letter->recipient_count;
    for (size_t i = letter->recipient_count; i-- > 0;) {
        struct curl_slist *more = curl_slist_append(NULL, letter->recipients[i]->mailbox);
        if (!more)
            return false;
        more->next = sending->recipients;
        sending->recipients = more;
    }
    return !sending->message.failed;
}

static void give_up(takt_job *job)
{
    takt_job_settle(job, NULL, 0);
    takt_job_retry(job, 0, "no memory");
}

static void start_mail(void *self, takt_job *job)
{
    takt_mail *mail = self;
    mail_sending *sending = calloc(1, sizeof(*sending));
    takt_error error = {0};
    int failed = 0;

    if (mail->looked_at != takt_job_fields(job))
        failed = takt_mail_letter_read(&mail->letter, &mail->letters, takt_job_fields(job), &error);
    if (failed == TAKT_E_NOMEM) {
        free(sending);
        give_up(job);
        return;
    }
    if (failed) {
        free(sending);
        takt_job_settle(job, NULL, 0);
        takt_job_dead(job, error.text);
        return;
    }
    mail->looked_at = NULL;
    if (!sending) {
        give_up(job);
        return;
    }
    sending->mail = mail;
    sending->job = job;
    sending->began_us = now_us();
    remember(mail, sending);
    if (!compose(sending, &mail->letter) || !begin_sending(mail, sending)) {
        forget(sending);
        give_up(job);
    }
}

static void close_mail(void *self)
{
    takt_mail *mail = self;

    mail->closed = true;
    if (mail->smtp) {
        takt_mail_smtp_close(mail->smtp);
        for (mail_sending *at = mail->sending, *next; at; at = next) {
            next = at->next;
            free_sending(at);
        }
        mail->sending = NULL;
    }
    takt_mail_letter_free(&mail->letter);
    takt_mail_options_free(mail);
}

int main(int argc, char **argv)
{
    static takt_mail mail = {
        .options = {.pause_us = 5 * SECOND_US, .outage_us = DAY_US},
        .settings = {.connections = 16, .timeout_us = 300 * SECOND_US},
        .outbox = {.folder = -1},
    };
    const takt_job_kind kind = {
        .name = "takt-mail",
        .summary = "Sends mails, each when its limit gives it a slot.",
        .cost_unit = "recipients",
        .options = &takt_mail_argp,
        .self = &mail,
        .rehearses = rehearses,
        .open = open_mail,
        .check = check_mail,
        .start = start_mail,
        .close = close_mail,
    };

    return takt_worker_main(argc, argv, &kind);
}
