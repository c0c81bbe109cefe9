/*
 * command.c: which function does a command, and the commands that every client of Redis sends.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agent.h"
#include "kit/text.h"
#include "reply.h"
#include "words.h"

static void do_ping(takt_agent_connection *connection, const takt_reply *words, int count)
{
    if (count > 1)
        takt_agent_reply_text(connection, words[1].text, words[1].size);
    else
        takt_agent_reply_status(connection, "PONG");
}

static void do_quit(takt_agent_connection *connection, const takt_reply *words, int count)
{
    (void)words, (void)count;
    takt_agent_reply_status(connection, "OK");
    connection->ends = true;
}

static void do_select(takt_agent_connection *connection, const takt_reply *words, int count)
{
    (void)count;
    if (strcmp(words[1].text, "0") == 0)
        takt_agent_reply_status(connection, "OK");
    else
        takt_agent_reply_error(connection, "ERR",
                               "an agent has one database: SELECT 0, or leave it out");
}

/* ---- password, protocol and name ------------------------------------------------------------- */

/* Takes the same time for each wrong password of one length. */
static bool is_password(const takt_agent_connection *connection, const takt_reply *word)
{
    const char *password = connection->agent->options.password;
    unsigned char differs = 0;

    if (!password || word->size != strlen(password))
        return !password;
    for (size_t i = 0; i < word->size; i++)
        differs |= (unsigned char)(word->text[i] ^ password[i]);
    return differs == 0;
}

static bool log_in(takt_agent_connection *connection, const takt_reply *password)
{
    if (is_password(connection, password))
        connection->is_known = true;
    else
        takt_agent_reply_error(connection, "WRONGPASS", "not the password of this agent");
    return is_password(connection, password);
}

static void do_auth(takt_agent_connection *connection, const takt_reply *words, int count)
{
    if (log_in(connection, &words[count - 1]))
        takt_agent_reply_status(connection, "OK");
}

static bool set_name(takt_agent_connection *connection, const takt_reply *word)
{
    if (word->size >= sizeof(connection->name) || strlen(word->text) != word->size) {
        takt_agent_reply_error(connection, "ERR", "a connection's name has at most %zu bytes",
                               sizeof(connection->name) - 1);
        return false;
    }
    strcpy(connection->name, word->text);
    return true;
}

static void do_hello(takt_agent_connection *connection, const takt_reply *first, int count)
{
    takt_agent_words words;
    int protocol = connection->protocol;

    takt_agent_words_begin(&words, connection, first, count);
    if (takt_agent_words_left(&words)) {
        if (strcmp(words.at->text, "2") != 0 && strcmp(words.at->text, "3") != 0) {
            takt_agent_reply_error(connection, "NOPROTO",
                                   "unsupported protocol version: HELLO 2 or HELLO 3");
            return;
        }
        protocol = words.at++->text[0] - '0';
    }
    while (takt_agent_words_left(&words)) {
        if (takt_agent_words_are(&words, "AUTH") && words.end - words.at >= 2) {
            words.at += 2;
            if (!log_in(connection, words.at - 1))
                return;
        } else if (takt_agent_words_are(&words, "SETNAME") && takt_agent_words_left(&words)) {
            if (!set_name(connection, words.at++))
                return;
        } else if (!takt_agent_words_end(&words, "AUTH USER PASSWORD, SETNAME NAME")) {
            return;
        }
    }
    if (!connection->is_known) {
        takt_agent_reply_error(connection, "NOAUTH",
                               "HELLO must be called with AUTH, or after AUTH");
        return;
    }
    connection->protocol = protocol;
    takt_agent_reply_map(connection, 7);
    takt_agent_reply_string(connection, "server");
    takt_agent_reply_string(connection, "takt");
    takt_agent_reply_string(connection, "version");
    takt_agent_reply_string(connection, takt_version());
    takt_agent_reply_string(connection, "proto");
    takt_agent_reply_integer(connection, protocol);
    takt_agent_reply_string(connection, "id");
    takt_agent_reply_integer(connection, (int64_t)connection->number);
    takt_agent_reply_string(connection, "mode");
    takt_agent_reply_string(connection, "standalone");
    takt_agent_reply_string(connection, "role");
    takt_agent_reply_string(connection, "master");
    takt_agent_reply_string(connection, "modules");
    takt_agent_reply_array(connection, 0);
}

static void do_client(takt_agent_connection *connection, const takt_reply *words, int count)
{
    const char *what = words[1].text;

    if (strcasecmp(what, "SETNAME") == 0 && count == 3) {
        if (set_name(connection, &words[2]))
            takt_agent_reply_status(connection, "OK");
    } else if (strcasecmp(what, "SETINFO") == 0 && count == 4) {
        takt_agent_reply_status(connection, "OK");
    } else if (strcasecmp(what, "GETNAME") == 0) {
        takt_agent_reply_string(connection, connection->name[0] ? connection->name : NULL);
    } else if (strcasecmp(what, "ID") == 0) {
        takt_agent_reply_integer(connection, (int64_t)connection->number);
    } else {
        takt_agent_reply_error(connection, "ERR",
                               "CLIENT has SETNAME NAME, SETINFO FIELD VALUE, GETNAME and ID here");
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static void do_command(takt_agent_connection *connection, const takt_reply *words, int count);

static const struct command {
    const char *name;
    int min, max; /* words with the command itself */
    void (*run)(takt_agent_connection *connection, const takt_reply *words, int count);
    bool of_anyone;    /* before a password */
    const char *words; /* behind its name, for a message */
} commands[] = {
    {"ACQUIRE", 2, 64, takt_agent_acquire, false,
     " LIMIT[:KEY] [COST [UNIT] N]... [PRIORITY P] [WAIT MS] [WITHIN KEY]... [TENANT NAME] "
     "[DETACH MS] [TAG T]"},
    {"RELEASE", 2, 16, takt_agent_release, false, " TOKEN [COST [UNIT] N]..."},
    {"CANCEL", 2, 2, takt_agent_cancel, false, " TAG"},
    {"TRY", 2, 64, takt_agent_try, false,
     " LIMIT[:KEY] [COST [UNIT] N]... [WITHIN KEY]... [TENANT NAME] [DETACH MS] [STANDING]"},
    {"SETTLE", 2, 16, takt_agent_settle, false, " TOKEN [COST [UNIT] N]..."},
    {"DETACH", 3, 3, takt_agent_detach, false, " TOKEN MS"},
    {"PEEK", 2, 4, takt_agent_ledger, false, " LIMIT[:KEY] [WATCH MS]"},
    {"BLOCK", 3, 5, takt_agent_ledger, false, " LIMIT[:KEY] MS [REASON TEXT]"},
    {"PENALIZE", 2, 5, takt_agent_ledger, false, " LIMIT[:KEY] [MS] [REASON TEXT]"},
    {"UNBLOCK", 2, 2, takt_agent_ledger, false, " LIMIT[:KEY]"},
    {"LOWER", 3, 4, takt_agent_ledger, false, " LIMIT[:KEY] N [UNIT]"},
    {"RESET", 2, 2, takt_agent_ledger, false, " LIMIT[:KEY]"},
    {"POLICY", 1, 1, takt_agent_tell_policy, false, ""},
    {"DEFINE", 2, 256, takt_agent_define, false, " LIMIT [RATE R ...]... [CONCURRENCY N] ..."},
    {"RELAY", 2, 8, takt_agent_relay, false, " ..."},
    {"HELLO", 1, 7, do_hello, true, " [2|3] [AUTH USER PASSWORD] [SETNAME NAME]"},
    {"AUTH", 2, 3, do_auth, true, " [USER] PASSWORD"},
    {"PING", 1, 2, do_ping, false, " [TEXT]"},
    {"ECHO", 2, 2, do_ping, false, " TEXT"},
    {"SELECT", 2, 2, do_select, false, " 0"},
    {"CLIENT", 2, 4, do_client, false, " SETNAME NAME, SETINFO FIELD VALUE, GETNAME or ID"},
    {"COMMAND", 1, 64, do_command, false, ""},
    {"INFO", 1, 64, takt_agent_info, false, ""},
    {"QUIT", 1, 1, do_quit, true, ""},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* Clients ask for keys and flags of commands, which have none here. */
static void do_command(takt_agent_connection *connection, const takt_reply *words, int count)
{
    if (count > 1 && strcasecmp(words[1].text, "COUNT") == 0)
        takt_agent_reply_integer(connection, COMMAND_COUNT);
    else if (count > 1 && strcasecmp(words[1].text, "DOCS") == 0)
        takt_agent_reply_map(connection, 0);
    else
        takt_agent_reply_array(connection, 0);
}

static void refuse_unknown(takt_agent_connection *connection, const char *word)
{
    char shown[TAKT_QUOTE_SIZE], name[32];
    takt_suggestion meant;
    size_t size = 0;

    for (; word[size] && size < sizeof(name) - 1; size++)
        name[size] = (char)toupper((unsigned char)word[size]);
    name[size] = '\0';
    takt_suggest_begin(&meant, name);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        takt_suggest_offer(&meant, commands[i].name);
    takt_agent_reply_error(connection, "ERR", "unknown command %s; %s%s", takt_quote(word, shown),
                           meant.best ? "did you mean " : "docs/agent.md lists the commands",
                           meant.best ? meant.best : "");
}

void takt_agent_command(takt_agent_connection *connection, const takt_reply *words, int count)
{
    const struct command *command = commands, *end = commands + COMMAND_COUNT;

    connection->agent->figures.commands++;
    while (command < end && strcasecmp(words->text, command->name) != 0)
        command++;
    if (!connection->is_known && (command == end || !command->of_anyone))
        takt_agent_reply_error(connection, "NOAUTH", "Authentication required.");
    else if (command == end)
        refuse_unknown(connection, words->text);
    else if (count < command->min || count > command->max)
        takt_agent_reply_error(connection, "ERR", "wrong number of arguments for %s: write %s%s",
                               command->name, command->name, command->words);
    else
        command->run(connection, words, count);
}
