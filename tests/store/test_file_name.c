/*
 * test_file_name.c: names of records in a file: LMDB takes them, and no two keys share one.
 */
#include <criterion/criterion.h>
#include <lmdb.h>
#include <string.h>

#include "crypto/sha256.h"
#include "store/file_name.h"

static char key[TAKT_KEY_SIZE_MAX + 2];

static size_t name_of(char name[TAKT_RECORD_NAME_MAX], size_t size)
{
    key[size] = '\0';
    return takt_file_name(name, "n", "l", key);
}

/* How a key is stood for. */
Test(file_name, long_keys_are_hashed)
{
    static const size_t sizes[] = {0, 1, 255, 256, 257, TAKT_KEY_SIZE_MAX};
    char name[TAKT_RECORD_NAME_MAX], digits[TAKT_SHA256_DIGITS];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(key, 'k', sizeof key);
        size_t size = name_of(name, sizes[i]);
        cr_assert_eq(size, 4 + (sizes[i] <= 255 ? sizes[i] : 256), "%zu", sizes[i]);
        cr_assert_arr_eq(name, "n\0l\0", 4);
        if (sizes[i] <= 255) {
            cr_expect_arr_eq(name + 4, key, sizes[i]);
            continue;
        }
        takt_sha256(key, sizes[i], digits);
        cr_expect_arr_eq(name + 4, key, 192);
        cr_expect_arr_eq(name + 4 + 192, digits, sizeof digits);
    }
    memset(key, 'k', sizeof key);
    cr_expect_eq(name_of(name, TAKT_KEY_SIZE_MAX + 1), 0);
}

/* A key that is what another key's name holds has a name of its own. */
Test(file_name, none_is_anothers)
{
    char first[TAKT_RECORD_NAME_MAX], second[TAKT_RECORD_NAME_MAX];

    memset(key, 'k', sizeof key);
    name_of(first, 600);
    memcpy(key, first + 4, 256);
    cr_expect_eq(name_of(second, 256), 4 + 256);
    cr_expect_arr_neq(first, second, 4 + 256);
}

/* The longest name, with what a page adds to it. */
Test(file_name, fits_in_lmdb)
{
    char name[TAKT_RECORD_NAME_MAX], part[TAKT_NAME_SIZE_MAX + 1] = "";
    MDB_env *env;

    memset(part, 'p', TAKT_NAME_SIZE_MAX);
    memset(key, 'k', sizeof key);
    key[TAKT_KEY_SIZE_MAX] = '\0';
    cr_expect_eq(takt_file_name(name, part, part, key) + 10, TAKT_FILE_NAME_MAX);
    cr_assert_eq(mdb_env_create(&env), 0);
    cr_expect_leq(TAKT_FILE_NAME_MAX, mdb_env_get_maxkeysize(env));
    mdb_env_close(env);
}
