/*
 * Names of files that no id can lead elsewhere.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "mail/outbox.h"

Test(outbox, names)
{
    static const struct {
        const char *id, *name;
    } rows[] = {
        {"m-17", "m-17.eml"}, {"a_b.c", "a_b.c.eml"},           {"a/b", "a%2Fb.eml"},
        {"..", "%2E..eml"},   {"../../x", "%2E.%2F..%2Fx.eml"}, {".hidden", "%2Ehidden.eml"},
        {"%2F", "%252F.eml"}, {"\xc3\xbc", "%C3%BC.eml"},       {" ", "%20.eml"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[OUTBOX_NAME_SIZE];
        takt_mail_outbox_name(rows[i].id, name);
        cr_assert_str_eq(name, rows[i].name);
    }
}

Test(outbox, long_ids_have_names_of_their_own)
{
    char id[256], one[OUTBOX_NAME_SIZE], other[OUTBOX_NAME_SIZE];

    memset(id, '/', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    takt_mail_outbox_name(id, one);
    id[sizeof id - 2] = 'x';
    takt_mail_outbox_name(id, other);
    cr_assert_str_neq(one, other);
    cr_assert_lt(strlen(one), 255 - 32);
    cr_assert_null(strchr(one, '/'));
}
