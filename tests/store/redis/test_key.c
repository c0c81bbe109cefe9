/*
 * test_key.c: the names of ledgers: written as they are read, one for each ledger, one tag for all
 * of a ledger.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "store/redis/key.h"
#include "store/redis/list.h"

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
        {"{prod}", "sendgrid", "", "", "takt:{prod}/sendgrid/"},
        {"{prod}", "sendgrid", "a:}/", ":line", "takt:{prod}/sendgrid/a%3A%7D%2F:line"},
        {"{prod}", "", "", ":policy", "takt:{prod}//:policy"},
        {"{a/b}", "c", "", "", "takt:{a%2Fb}/c/"},
        {"{}", "b", "", "", "takt:{%7B%7D/b/}"},
        {"{a}}", "b", "", "", "takt:{%7Ba%7D%7D/b/}"},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char name[TAKT_REDIS_KEY_SIZE];
        size_t size =
            takt_redis_key(name, table[i].name_space, table[i].limit, table[i].key, table[i].rest);
        cr_expect_str_eq(name, table[i].name);
        cr_expect_eq(size, strlen(table[i].name));
    }
}

Test(redis_key, shared_slots)
{
    static const char *const apart[] = {"a",  "",   "{",    "}",     "{}",
                                        "{a", "a}", "{a}b", "{{a}}", "}a{"};
    char longest[TAKT_NAME_SIZE_MAX + 2], name[TAKT_REDIS_KEY_SIZE];

    cr_expect(takt_redis_key_shares_slot("{a}"));
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
        cr_expect_not(takt_redis_key_shares_slot(apart[i]), "%s", apart[i]);
    memset(longest, 'x', sizeof longest);
    longest[0] = '{';
    longest[TAKT_NAME_SIZE_MAX] = '}';
    longest[TAKT_NAME_SIZE_MAX + 1] = '\0';
    cr_expect_eq(takt_redis_key(name, longest, "a", "", ""), 0, "a byte too long");
    strcpy(longest + TAKT_NAME_SIZE_MAX - 1, "}");
    cr_expect(takt_redis_key_shares_slot(longest));
}

/* A listing reads the names of ledgers' texts and no others. */
Test(redis_key, reads)
{
    static const char *const others[] = {
        "takt:{a/b/c}:line", "takt:{a}/b/c:line", "takt:{a}//:policy",
        "takt:{a//}:policy", "takt:{a}/b",        "takt:{a}b/c",
        "takt:{a/b/c",       "takt:{a}/b/%4",     "takt:jobs:{a}/b/c",
    };
    static const char *const spaces[] = {"a", "{a}"};
    char name[TAKT_REDIS_KEY_SIZE], limit[TAKT_NAME_SIZE_MAX + 1], key[TAKT_KEY_SIZE_MAX + 1];

    for (size_t i = 0; i < 2; i++) {
        takt_redis_key(name, spaces[i], "b", "x:/}%", "");
        cr_expect(takt_redis_list_read_name(name, limit, key), "%s", name);
        cr_expect_str_eq(limit, "b");
        cr_expect_str_eq(key, "x:/}%");
        takt_redis_key(name, spaces[i], "b", "", "");
        cr_expect(takt_redis_list_read_name(name, limit, key) && !key[0], "%s", name);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_not(takt_redis_list_read_name(others[i], limit, key), "%s", others[i]);
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
