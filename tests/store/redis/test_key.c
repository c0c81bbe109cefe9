/*
 * test_key.c: the names of ledgers: written as they are read, one for each ledger, one tag for all
 * of a ledger.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "store/redis/key.h"

Test(redis_key, writes)
{
    static const struct {
        const char *name_space, *limit, *key, *rest, *name;
    } table[] = {
        {"prod", "sendgrid", "", "", "takt:{prod/sendgrid/}"},
        {"prod", "sendgrid", "10.0.0.1", ":line", "takt:{prod/sendgrid/10.0.0.1}:line"},
        {"a", "b-c_d.e~", "AZaz09", "", "takt:{a/b-c_d.e~/AZaz09}"},
        {"a", "b", "x/y", "", "takt:{a/b/x%2Fy}"},
        {"a/b", "c", "", "", "takt:{a%2Fb/c/}"},
        {"a", "b", "{x}", "", "takt:{a/b/%7Bx%7D}"},
        {"a", "b", "100%", "", "takt:{a/b/100%25}"},
        {"a", "b", "\x01 \n:*", "", "takt:{a/b/%01%20%0A%3A%2A}"},
        {"a", "b", "\xc3\xa9\xff", "", "takt:{a/b/%C3%A9%FF}"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char name[TAKT_REDIS_KEY_SIZE];
        size_t size =
            takt_redis_key(name, table[i].name_space, table[i].limit, table[i].key, table[i].rest);
        cr_expect_str_eq(name, table[i].name);
        cr_expect_eq(size, strlen(table[i].name));
    }
}

Test(redis_key, sizes)
{
    char name_space[TAKT_NAME_SIZE_MAX + 2], key[TAKT_KEY_SIZE_MAX + 2];
    char name[TAKT_REDIS_KEY_SIZE];

    memset(name_space, '/', sizeof name_space);
    memset(key, '/', sizeof key);
    name_space[TAKT_NAME_SIZE_MAX] = key[TAKT_KEY_SIZE_MAX] = '\0';
    cr_expect_eq(takt_redis_key(name, name_space, name_space, key, ":0123456789abcdef"),
                 sizeof name - 1, "the longest name fits exactly");
    cr_expect_eq(takt_redis_key(name, "a", "b", "c", ":0123456789abcdefg"), 0);
    key[TAKT_KEY_SIZE_MAX] = '/';
    key[TAKT_KEY_SIZE_MAX + 1] = '\0';
    cr_expect_eq(takt_redis_key(name, "a", "b", key, ""), 0);
    name_space[TAKT_NAME_SIZE_MAX] = '/';
    name_space[TAKT_NAME_SIZE_MAX + 1] = '\0';
    cr_expect_eq(takt_redis_key(name, name_space, "b", "c", ""), 0);
    cr_expect_eq(takt_redis_key(name, "a", name_space, "c", ""), 0);
}

/* Every byte of a key: plain or as %XX, never what would end the tag. */
Test(redis_key, every_byte)
{
    char seen[255][TAKT_REDIS_KEY_SIZE];

    for (int byte = 1; byte < 256; byte++) {
        char key[2] = {(char)byte, '\0'};
        char *name = seen[byte - 1];
        cr_assert(takt_redis_key(name, "n", "l", key, "") > 0);
        cr_expect_eq(strcspn(name + 6, "{}"), strlen(name) - 7, "%s", name);
        cr_expect_eq(strspn(name, "takt:{}/%0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz._-~"),
                     strlen(name));
        for (int other = 1; other < byte; other++)
            cr_assert_str_neq(name, seen[other - 1]);
    }
}
