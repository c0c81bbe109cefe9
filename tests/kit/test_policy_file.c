/*
 * test_policy_file.c: which file is a program's policy, and with which status it refuses one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kit/policy_file.h"

static char folder[] = "/tmp/takt-policy-XXXXXX";

static void enter(void)
{
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void leave(void)
{
    unlink("takt.yaml");
    rmdir(folder);
}

TestSuite(policy_file, .init = enter, .fini = leave);

static void write_policy(const char *text)
{
    FILE *file = fopen("takt.yaml", "w");

    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

Test(policy_file, is_the_given_one_or_the_variables_or_the_usual_one)
{
    static const struct {
        const char *given, *variable, *without, *with; /* a takt.yaml */
    } rows[] = {
        {"a.yaml", "b.yaml", "a.yaml", "a.yaml"}, {"", "b.yaml", "", ""},
        {NULL, "b.yaml", "b.yaml", "b.yaml"},     {NULL, "", NULL, "takt.yaml"},
        {NULL, NULL, NULL, "takt.yaml"},
    };

    for (int with = 0; with < 2; with++) {
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            unsetenv("TAKT_POLICY");
            if (rows[i].variable)
                setenv("TAKT_POLICY", rows[i].variable, 1);
            const char *path = takt_policy_file(rows[i].given);
            const char *wanted = with ? rows[i].with : rows[i].without;
            cr_expect(path == wanted || (path && wanted && strcmp(path, wanted) == 0),
                      "row %zu, %d: %s", i, with, path ? path : "none");
        }
        write_policy("");
    }
}

Test(policy_file, must_be_one)
{
    takt_error error = {0};
    takt_policy *policy = NULL;

    cr_expect_eq(takt_policy_file_load(&policy, "takt.yaml", &error), EX_CONFIG);
    cr_expect_neq(strlen(error.text), 0);
    write_policy("limits: [{name: a, rules: [{rate: 1/s}], within: gone}]\n");
    cr_expect_eq(takt_policy_file_load(&policy, "takt.yaml", &error), EX_CONFIG);
    cr_expect_null(policy);
    write_policy("limits: [{name: a, rules: [{rate: 1/s}]}]\n");
    cr_assert_eq(takt_policy_file_load(&policy, "takt.yaml", &error), 0);
    cr_expect(takt_policy_has(policy, "a"));
    takt_policy_free(policy);
}
