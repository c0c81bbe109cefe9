/*
 * Names of tenants in a ledger, and the numbers under which a worker claims for them.
 */
#include "core/tenant_name.h"

#include <criterion/criterion.h>
#include <string.h>

Test(tenant_name, names_are_told_in_one_word)
{
    static const struct {
        const char *name, *text;
    } rows[] = {{"", ""},
                {"acme", "acme"},
                {"a b;c%d", "a%20b%3Bc%25d"},
                {"tab\there\x7f", "tab%09here%7F"},
                {"größe", "größe"}};
    char text[TAKT_TENANT_TEXT_MAX + 1], name[TAKT_TENANT_SIZE_MAX + 1];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert_eq(takt_tenant_write(rows[i].name, text), strlen(rows[i].text));
        cr_assert_str_eq(text, rows[i].text);
        takt_tenant_read(text, name);
        cr_assert_str_eq(name, rows[i].name);
    }
    takt_tenant_read("a%00b%2", name);
    cr_assert_str_eq(name, "a?b?2", "no name has these");
}

Test(tenant_name, a_worker_has_a_number_for_each_tenant)
{
    cr_assert_eq(takt_tenant_worker(7, NULL), 7);
    cr_assert_eq(takt_tenant_worker(7, ""), 7);
    cr_assert_neq(takt_tenant_worker(7, "a"), 7);
    cr_assert_neq(takt_tenant_worker(7, "a"), takt_tenant_worker(7, "b"));
    cr_assert_neq(takt_tenant_worker(7, "a"), takt_tenant_worker(8, "a"));
}
