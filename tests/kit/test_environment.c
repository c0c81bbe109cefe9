/*
 * test_environment.c: the part of takt's environment that a command gets.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kit/environment.h"

static const char *value_of(char *const *environment, const char *name)
{
    size_t size = strlen(name);

    for (; *environment; environment++)
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
            return *environment + size + 1;
    return NULL;
}

Test(environment, has_no_password)
{
    static const struct {
        const char *store, *seen;
    } rows[] = {
        {"redis://host", "redis://host"},
        {"redis://user@host/1", "redis://user@host/1"},
        {"redis://user:secret@host/1", "redis://user@host/1"},
        {"rediss://user:secret@host:6380?ca=a@b:c", "rediss://user@host:6380?ca=a@b:c"},
        {"redis://:secret@[::1]:6379", "redis://[::1]:6379"},
        {"redis://[::1]:6379", "redis://[::1]:6379"},
        {"redis://user:sec@ret@host", "redis://user@host"},
        {"redis://user:@host", "redis://user@host"},
        {"redis://host?password_file=a:b@c", "redis://host?password_file=a:b@c"},
        {"unix:/run/redis.sock?user=a", "unix:/run/redis.sock?user=a"},
        {"file:///tmp/a:b@c", "file:///tmp/a:b@c"},
        {"", ""},
    };

    setenv("TAKT_REDIS_PASSWORD", "secret", 1);
    setenv("TAKT_REDIS_PASSWORDS", "kept", 1);
    setenv("TAKT_KEY_SECRET", "secret", 1);
    setenv("TAKT_KEY_SECRET_FILE", "/file", 1);
    setenv("OTHER", "kept, too", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setenv("TAKT_STORE", rows[i].store, 1);
        char **environment = takt_environment_for_commands();
        cr_assert_not_null(environment);
        cr_expect_str_eq(value_of(environment, "TAKT_STORE"), rows[i].seen);
        cr_expect_null(value_of(environment, "TAKT_REDIS_PASSWORD"));
        cr_expect_str_eq(value_of(environment, "TAKT_REDIS_PASSWORDS"), "kept");
        cr_expect_null(value_of(environment, "TAKT_KEY_SECRET"));
        cr_expect_str_eq(value_of(environment, "TAKT_KEY_SECRET_FILE"), "/file");
        cr_expect_str_eq(value_of(environment, "OTHER"), "kept, too");
        cr_expect_str_eq(getenv("TAKT_STORE"), rows[i].store, "our own stays");
        free(environment);
    }
    cr_expect_str_eq(getenv("TAKT_REDIS_PASSWORD"), "secret");
}

Test(environment, may_be_empty)
{
    clearenv();
    char **environment = takt_environment_for_commands();
    cr_assert_not_null(environment);
    cr_expect_null(environment[0]);
    free(environment);
}
