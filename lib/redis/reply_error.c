/*
 * reply_error.c: see reply_error.h.  One row for each error that servers are known to answer with;
 * the order matters where one text could match two rows.
 */
#include "redis/reply_error.h"

#include <string.h>

#include <takt/error.h>

#define GRANT                                                                                      \
    "grant it what takt needs, with ACL SETUSER there: ~takt:* &takt:* +evalsha +script|load and " \
    "the other commands that docs/redis.md lists"

#define KEY "key"

/* A row matches a text that begins with `word` and contains `part`, if any. */
static const struct row {
    const char *word;
    const char *part;
    takt_redis_reaction reaction;
    int code;
    const char *text;
} rows[] = {
    {"NOSCRIPT", NULL, TAKT_REDIS_LOAD_SCRIPT, TAKT_E_STORE_ACCESS,
     "a script of takt is not loaded there, and scripts=preloaded says that we must not do it: "
     "load those of this version of takt, as a user who may (takt doctor --load-scripts)"},

    /* errors about the login */
    {"NOAUTH", NULL, TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS,
     "it requires a password: write it in the URL, set $TAKT_REDIS_PASSWORD, or name a file with "
     "?password_file=FILE"},
    {"WRONGPASS", NULL, TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS,
     "the user or the password is wrong, or the user is off: see ACL LIST there"},
    {"NOPERM", "'wait'", TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "our user may not run WAIT, which replicas= in the URL needs: grant it +wait, with ACL "
     "SETUSER "
     "there"},
    {"NOPERM", KEY, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "our user has no permission for the keys or channels of takt: " GRANT},
    {"NOPERM", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "our user may not run a command that takt needs: " GRANT},
    {"ERR", "ACL failure in script", TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "our user may not run a command that the scripts of takt need: " GRANT},
    {"ERR", "The user executing the script", TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "our user may not run a command that the scripts of takt need: " GRANT},
    {"ERR", "AUTH", TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS,
     "it has no password, or none for this user: remove the user and the password"},
    {"ERR", "invalid password", TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS, "the password is wrong"},
    {"DENIED", NULL, TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS,
     "it is in protected mode and takes connections from its own host only: give it a password or "
     "a user, or bind it to a private address"},
    {"ERR", "DB index", TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS,
     "it has no database with this number: choose another one, or raise its \"databases\""},
    {"ERR", "SELECT is not allowed", TAKT_REDIS_RECONNECT, TAKT_E_STORE_ACCESS,
     "a cluster has no numbered databases: remove the number"},
    {"ERR", "max number of clients", TAKT_REDIS_RECONNECT, TAKT_E_STORE,
     "it has too many clients: raise its \"maxclients\""},

    /* errors about the server's state */
    {"READONLY", NULL, TAKT_REDIS_RECONNECT, TAKT_E_STORE,
     "it is a read-only replica: name the primary"},
    {"ERR", "WAIT cannot be used", TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it has become a replica, so the award is not used"},
    {"MASTERDOWN", NULL, TAKT_REDIS_RECONNECT, TAKT_E_STORE,
     "it is a replica that has lost its primary"},
    {"LOADING", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE, "it is still loading its data"},
    {"BUSY", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it is busy with a script (SCRIPT KILL there ends it)"},
    {"UNKILLABLE", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it is busy with a script that has written, so it cannot be killed"},
    {"MISCONF", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it refuses writes because it cannot save its data to disk: see its log"},
    {"NOREPLICAS", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it refuses writes because too few replicas follow it (min-replicas-to-write)"},
    {"OOM", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_SPACE,
     "its memory is full: raise its \"maxmemory\" (not with an evicting policy: it would "
     "delete ledgers)"},
    {"TRYAGAIN", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "the slot of a ledger is moving between nodes"},
    {"CLUSTERDOWN", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE, "the cluster is down"},
    {"CROSSSLOT", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "it is a node of a cluster, and limits within others need a namespace in braces there, such "
     "as \"{mail}\": write it so in the policies of all workers"},
    {"MOVED", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it is a node of a cluster, and the key is on another node: remove cluster=no"},
    {"ASK", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "it is a node of a cluster, and the key is moving to another node: remove cluster=no"},

    /* errors about the data */
    {"TAKT", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
     "its scripts of takt are from another version"},
    {"WRONGTYPE", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_FORMAT,
     "a key of takt has another type: another program uses the same names"},
    {"ERR", "unknown command", TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "it lacks a command that takt needs (EVALSHA, SCRIPT LOAD): it is too old, renames it, or is "
     "a "
     "Sentinel, whose URL is redis-sentinel://HOST/NAME"},
    {"ERR", "unknown subcommand", TAKT_REDIS_FAIL_CALL, TAKT_E_STORE_ACCESS,
     "it lacks a command that takt needs (SCRIPT LOAD): it is too old"},
    {"ERR", "Protocol error", TAKT_REDIS_RECONNECT, TAKT_E_STORE, "it could not read what we sent"},
};

static const struct row other = {"", NULL, TAKT_REDIS_FAIL_CALL, TAKT_E_STORE,
                                 "it answered with an error that takt does not know"};

static bool contains(const char *text, size_t size, const char *part)
{
    return memmem(text, size, part, strlen(part)) != NULL;
}

static bool begins_with(const char *text, size_t size, const char *word)
{
    size_t length = strlen(word);

    return size >= length && memcmp(text, word, length) == 0 &&
           (size == length || text[length] == ' ');
}

static const struct row *find(const char *text, size_t size)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (begins_with(text, size, rows[i].word) &&
            (rows[i].part == NULL || contains(text, size, rows[i].part)))
            return &rows[i];
    return &other;
}

/* Servers wrap the error of a script's command: "ERR OOM command not ..." if the script has caught
 * it, and before version 7 always: "ERR Error running script (call to f_...): @user_script:3:
 * -READONLY You can't ...". Returns the inner error. */
static const char *unwrap(const char *text, size_t *size)
{
    static const char wrapping[] = "ERR Error running script";
    const char *end = text + *size, *at = text;

    if (*size > 4 && memcmp(text, "ERR ", 4) == 0 && find(at + 4, *size - 4) != &other) {
        *size -= 4;
        return text + 4;
    }
    if (*size < strlen(wrapping) || memcmp(text, wrapping, strlen(wrapping)) != 0)
        return text;
    while ((at = memmem(at, (size_t)(end - at), ": ", 2)) != NULL) {
        at += 2;
        if (at < end && *at == '-')
            at++;
        if (find(at, (size_t)(end - at)) != &other) {
            *size = (size_t)(end - at);
            return at;
        }
    }
    return text;
}

/* The first word, if it consists of capitals and digits, as a server's error code does. */
static void copy_word(char *word, size_t word_size, const char *text, size_t size)
{
    size_t length = 0;

    while (length < size && ((text[length] >= 'A' && text[length] <= 'Z') ||
                             (text[length] >= '0' && text[length] <= '9') || text[length] == '_'))
        length++;
    if (length >= word_size || (length < size && text[length] != ' '))
        length = 0;
    memcpy(word, text, length);
    word[length] = '\0';
}

void takt_redis_judge(takt_redis_trouble *trouble, const char *text, size_t size)
{
    const char *inside = unwrap(text, &size);
    const struct row *row = find(inside, size);

    trouble->reaction = row->reaction;
    trouble->code = row->code;
    trouble->text = row->text;
    copy_word(trouble->word, sizeof trouble->word, inside, size);
    trouble->names =
        strcmp(trouble->word, "NOPERM") == 0 && row->part != NULL && strcmp(row->part, KEY) == 0;
}

bool takt_redis_passes(const takt_redis_trouble *trouble, bool in_cluster)
{
    return strcmp(trouble->word, "CLUSTERDOWN") == 0 || strcmp(trouble->word, "TRYAGAIN") == 0 ||
           (in_cluster && strcmp(trouble->word, "LOADING") == 0);
}
