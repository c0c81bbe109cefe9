/*
 * test_reply_error.c: the errors that servers answer with, word for word as versions 6.2, 7 and 8
 * of Redis and Valkey 8 say them, and what each means to us.
 */
#include <criterion/criterion.h>
#include <string.h>

#include <takt/error.h>

#include "redis/reply_error.h"

#define LOAD      TAKT_REDIS_LOAD_SCRIPT
#define CALL      TAKT_REDIS_FAIL_CALL
#define RECONNECT TAKT_REDIS_RECONNECT
#define ACCESS    TAKT_E_STORE_ACCESS

Test(reply_error, judges)
{
    static const struct {
        const char *text;
        takt_redis_reaction reaction;
        int code;
        const char *says, *word;
    } table[] = {
        {"NOSCRIPT No matching script. Please use EVAL.", LOAD, ACCESS, "preloaded", "NOSCRIPT"},
        {"NOAUTH Authentication required.", RECONNECT, ACCESS, "$TAKT_REDIS_PASSWORD", "NOAUTH"},
        {"WRONGPASS invalid username-password pair or user is disabled.", RECONNECT, ACCESS,
         "ACL LIST", "WRONGPASS"},
        {"NOPERM this user has no permissions to run the 'evalsha' command", CALL, ACCESS,
         "+evalsha", "NOPERM"},
        {"NOPERM User x has no permissions to run the 'evalsha' command", CALL, ACCESS, "+evalsha",
         "NOPERM"},
        {"NOPERM this user has no permissions to run the 'wait' command", CALL, ACCESS,
         "grant it +wait,", "NOPERM"},
        {"NOPERM User x has no permissions to run the 'wait' command", CALL, ACCESS,
         "grant it +wait,", "NOPERM"},
        {"NOPERM this user has no permissions to access one of the keys used as arguments", CALL,
         ACCESS, "~takt:*", "NOPERM"},
        {"NOPERM No permissions to access a key", CALL, ACCESS, "~takt:*", "NOPERM"},
        {"ERR ACL failure in script: User x has no permissions to run the 'get' command", CALL,
         ACCESS, "scripts", "ERR"},
        {"ERR The user executing the script can't run this command or subcommand script: f, on "
         "@user_script:1.",
         CALL, ACCESS, "scripts", "ERR"},
        {"ERR AUTH <password> called without any password configured for the default user. Are "
         "you sure your configuration is correct?",
         RECONNECT, ACCESS, "remove the user", "ERR"},
        {"ERR Client sent AUTH, but no password is set", RECONNECT, ACCESS, "remove the user",
         "ERR"},
        {"ERR invalid password", RECONNECT, ACCESS, "password is wrong", "ERR"},
        {"DENIED Redis is running in protected mode because protected mode is enabled ...",
         RECONNECT, ACCESS, "protected mode", "DENIED"},
        {"ERR DB index is out of range", RECONNECT, ACCESS, "\"databases\"", "ERR"},
        {"ERR SELECT is not allowed in cluster mode", RECONNECT, ACCESS, "numbered", "ERR"},
        {"ERR max number of clients reached", RECONNECT, TAKT_E_STORE, "\"maxclients\"", "ERR"},
        {"READONLY You can't write against a read only replica.", RECONNECT, TAKT_E_STORE,
         "name the primary", "READONLY"},
        {"READONLY You can't write against a read only replica. script: 1234, on @user_script:1.",
         RECONNECT, TAKT_E_STORE, "name the primary", "READONLY"},
        {"ERR OOM command not allowed when used memory > 'maxmemory'. script: 12, on "
         "@user_script:9.",
         CALL, TAKT_E_STORE_SPACE, "\"maxmemory\"", "OOM"},
        {"ERR Error running script (call to f_1234): @user_script:5: @user_script: 5: -READONLY "
         "You can't write against a read only replica.",
         RECONNECT, TAKT_E_STORE, "name the primary", "READONLY"},
        {"ERR Error running script (call to f_1234): @user_script:5: WRONGTYPE Operation against "
         "a key holding the wrong kind of value",
         CALL, TAKT_E_STORE_FORMAT, "same names", "WRONGTYPE"},
        {"ERR Error running script (call to f_1234): @user_script:5: attempt to index a nil value",
         CALL, TAKT_E_STORE, "does not know", "ERR"},
        {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
         RECONNECT, TAKT_E_STORE, "lost its primary", "MASTERDOWN"},
        {"LOADING Redis is loading the dataset in memory", CALL, TAKT_E_STORE, "loading",
         "LOADING"},
        {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
         CALL, TAKT_E_STORE, "SCRIPT KILL", "BUSY"},
        {"UNKILLABLE Sorry the script already executed write commands ...", CALL, TAKT_E_STORE,
         "cannot be killed", "UNKILLABLE"},
        {"MISCONF Redis is configured to save RDB snapshots, but ...", CALL, TAKT_E_STORE,
         "its log", "MISCONF"},
        {"NOREPLICAS Not enough good replicas to write.", CALL, TAKT_E_STORE,
         "min-replicas-to-write", "NOREPLICAS"},
        {"OOM command not allowed when used memory > 'maxmemory'.", CALL, TAKT_E_STORE_SPACE,
         "\"maxmemory\"", "OOM"},
        {"OOM command not allowed when used memory > 'maxmemory'. script: 12, on @user_script:1.",
         CALL, TAKT_E_STORE_SPACE, "\"maxmemory\"", "OOM"},
        {"TRYAGAIN Multiple keys request during rehashing of slot", CALL, TAKT_E_STORE, "moving",
         "TRYAGAIN"},
        {"CLUSTERDOWN The cluster is down", CALL, TAKT_E_STORE, "cluster is down", "CLUSTERDOWN"},
        {"CROSSSLOT Keys in request don't hash to the same slot", CALL, TAKT_E_STORE_ACCESS,
         "a namespace in braces", "CROSSSLOT"},
        {"MOVED 3999 127.0.0.1:6381", CALL, TAKT_E_STORE, "another node", "MOVED"},
        {"ASK 3999 127.0.0.1:6381", CALL, TAKT_E_STORE, "is moving", "ASK"},
        {"WRONGTYPE Operation against a key holding the wrong kind of value", CALL,
         TAKT_E_STORE_FORMAT, "same names", "WRONGTYPE"},
        {"ERR unknown command 'EVALSHA', with args beginning with: 'x' ", CALL, ACCESS,
         "is a Sentinel", "ERR"},
        {"ERR unknown subcommand 'LOAD'. Try SCRIPT HELP.", CALL, ACCESS, "SCRIPT LOAD", "ERR"},
        {"ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0",
         CALL, TAKT_E_STORE, "has become a replica", "ERR"},
        {"ERR Protocol error: invalid bulk length", RECONNECT, TAKT_E_STORE, "could not read",
         "ERR"},
        {"TAKT ARGUMENTS", CALL, TAKT_E_STORE, "another version", "TAKT"},
        {"ERR something else", CALL, TAKT_E_STORE, "does not know", "ERR"},
        {"", CALL, TAKT_E_STORE, "does not know", ""},
        {"LOADINGS", CALL, TAKT_E_STORE, "does not know", "LOADINGS"},
        {"lower case", CALL, TAKT_E_STORE, "does not know", ""},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZ long", CALL, TAKT_E_STORE, "does not know", ""},
        {"SECRET\x1b[2J", CALL, TAKT_E_STORE, "does not know", ""},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        takt_redis_trouble trouble;
        takt_redis_judge(&trouble, table[i].text, strlen(table[i].text));
        cr_expect_eq(trouble.reaction, table[i].reaction, "%s", table[i].text);
        cr_expect_eq(trouble.code, table[i].code, "%s: %d", table[i].text, trouble.code);
        cr_expect_not_null(strstr(trouble.text, table[i].says), "%s: %s", table[i].text,
                           trouble.text);
        cr_expect_str_eq(trouble.word, table[i].word, "%s: %s", table[i].text, trouble.word);
        cr_expect_eq(trouble.names, strstr(trouble.text, "keys or channels") != NULL, "%s",
                     table[i].text);
    }
}

/* The text need not end with NUL. */
Test(reply_error, reads_no_further)
{
    takt_redis_trouble trouble;

    takt_redis_judge(&trouble, "READONLYX", 8);
    cr_expect_str_eq(trouble.word, "READONLY");
    takt_redis_judge(&trouble, "READONLY", 4);
    cr_expect_str_eq(trouble.word, "READ");
    cr_expect_eq(trouble.reaction, TAKT_REDIS_FAIL_CALL);
}
