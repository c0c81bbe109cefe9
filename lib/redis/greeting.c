/*
 * greeting.c: see greeting.h.
 */
#include "redis/greeting.h"

#include <stdio.h>
#include <string.h>

#include <takt/error.h>

/* ["master", ...] */
static bool is_primary(const takt_reply *reply)
{
    return reply->type == TAKT_REPLY_ARRAY && reply->count > 0 &&
           reply[1].type == TAKT_REPLY_STRING && strcmp(reply[1].text, "master") == 0;
}

/* A server that is no primary, and one that does not say, which would be believed wrongly only at
 * the next failover. */
static void judge_role(takt_redis_trouble *trouble, const takt_reply *reply)
{
    if (reply->type == TAKT_REPLY_ERROR)
        takt_redis_judge(trouble, reply->text, reply->size);
    else
        *trouble = (takt_redis_trouble){
            TAKT_REDIS_RECONNECT, TAKT_E_STORE,
            "it is a replica: the Sentinels still name it, or have not promoted another one yet",
            "",
            false};
    if (strcmp(trouble->word, "NOPERM") == 0)
        trouble->text = "our user may not ask whether it is the primary: grant it +role, with ACL "
                        "SETUSER there and on every server that may be promoted";
}

static void on_answered(takt_redis_command *command, const takt_reply *reply, int code)
{
    struct takt_redis_sent *sent = TAKT_HOLDER(command, struct takt_redis_sent, command);
    takt_redis_greeting *greeting = sent->greeting;
    takt_redis_trouble trouble;

    (void)code;
    if (reply == NULL)
        return; /* the connection is closing */
    if (reply->type == TAKT_REPLY_ERROR && sent != &greeting->sent[TAKT_REDIS_ROLE]) {
        takt_redis_judge(&trouble, reply->text, reply->size);
        /* a user may lack the right to set a name; a refused login is an error */
        if (sent != &greeting->sent[TAKT_REDIS_NAME] || trouble.reaction == TAKT_REDIS_RECONNECT ||
            trouble.code == TAKT_E_STORE) {
            greeting->greeted(greeting->data, &trouble);
            return;
        }
    }
    if (sent == &greeting->sent[TAKT_REDIS_ROLE] && !is_primary(reply)) {
        judge_role(&trouble, reply);
        greeting->greeted(greeting->data, &trouble);
        return;
    }
    if (--greeting->left == 0)
        greeting->greeted(greeting->data, NULL);
}

static bool send_command(takt_redis_greeting *greeting, int which, takt_resp_out *out,
                         takt_link *flight, int count, const char *const *arguments)
{
    struct takt_redis_sent *sent = &greeting->sent[which];
    size_t sizes[4];

    for (int i = 0; i < count; i++)
        sizes[i] = strlen(arguments[i]);
    if (!takt_resp_command(out, count, arguments, sizes))
        return false;
    sent->command.answered = on_answered;
    sent->greeting = greeting;
    takt_list_append(flight, &sent->command.link);
    greeting->left++;
    return true;
}

bool takt_redis_greet(takt_redis_greeting *greeting, const takt_redis_url *url, takt_resp_out *out,
                      takt_link *flight)
{
    const char *auth[] = {"AUTH", url->user, url->password};
    const char *auth_default[] = {"AUTH", url->password};
    char db[12];
    const char *select[] = {"SELECT", db};
    const char *role[] = {"ROLE"};
    const char *name[] = {"CLIENT", "SETNAME", "takt"};
    bool named = url->user[0] != '\0';

    greeting->left = 0;
    snprintf(db, sizeof db, "%d", url->db);
    return (!url->authenticates || send_command(greeting, TAKT_REDIS_AUTH, out, flight,
                                                named ? 3 : 2, named ? auth : auth_default)) &&
           (url->db == 0 || send_command(greeting, TAKT_REDIS_SELECT, out, flight, 2, select)) &&
           (url->primary[0] == '\0' ||
            send_command(greeting, TAKT_REDIS_ROLE, out, flight, 1, role)) &&
           send_command(greeting, TAKT_REDIS_NAME, out, flight, 3, name);
}
