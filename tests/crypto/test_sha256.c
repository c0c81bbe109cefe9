/*
 * test_sha256.c: SHA-256 with the examples of NIST, and around block ends with the output of
 * sha256sum.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "crypto/sha256.h"

Test(sha256, hashes)
{
    static const struct {
        const char *text;
        const char *digits;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrl"
         "mnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char digits[TAKT_SHA256_DIGITS + 1] = "";

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_sha256(rows[i].text, strlen(rows[i].text), digits);
        cr_expect_str_eq(digits, rows[i].digits, "%s", rows[i].text);
    }
}

Test(sha256, ends_of_blocks)
{
    static const struct {
        size_t size; /* of a text of so many x */
        const char *digits;
    } rows[] = {
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
        {1023, "97c9d367e67d0cff2f99f4c97ddff45250552d880b0d2c57caf78b1483da8c56"},
        {1024, "49abd65bbf7f7e40c7055093ed2e3fd75f2f602f2c5fcf955c213e3135eb03f7"},
    };
    char text[1024], digits[TAKT_SHA256_DIGITS + 1] = "";

    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_sha256(text, rows[i].size, digits);
        cr_expect_str_eq(digits, rows[i].digits, "%zu", rows[i].size);
    }
}
