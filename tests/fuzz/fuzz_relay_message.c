/*
 * Any bytes as what agents and programs tell each other (store/agent/message.h): in the first line
 * how waiters leave, in the rest a queue's name.  What can be read is written as it was, or means
 * the same.
 */
#include "fuzz.h"

#include "store/agent/message.h"

static bool are_same(const takt_relay_leaves *a, const takt_relay_leaves *b)
{
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->of[i].way != b->of[i].way || a->of[i].count != b->of[i].count)
            return false;
    return true;
}

static void check_leaves(const char *text)
{
    takt_reader reader = {text, text + strlen(text), false};
    takt_relay_leaves leaves = {.count = 0}, again = {.count = 0};
    char written[200];
    takt_writer writer = {written, written + sizeof written, false};

    takt_relay_read_leaves(&reader, &leaves);
    require(leaves.count >= 0 && leaves.count <= TAKT_LEVELS_MAX);
    for (int i = 0; i < leaves.count; i++)
        require(leaves.of[i].count > 0 && (i == 0 || leaves.of[i].way != leaves.of[i - 1].way));
    if (takt_relay_leaving(&leaves) > INT32_MAX)
        return; /* more than a report says */
    takt_relay_write_leaves(&writer, &leaves);
    require(!writer.full);
    reader = (takt_reader){written, writer.at, false};
    takt_relay_read_leaves(&reader, &again);
    require(takt_read_done(&reader) && are_same(&leaves, &again));
}

static char *add_part(char *at, const char *part)
{
    *at++ = '\0';
    return stpcpy(at, part);
}

/* Writes a name from its parts, as registry.c does. */
static size_t write_name(const takt_relay_parts *parts, const char *limit, char *name)
{
    char *at = add_part(stpcpy(name, limit), parts->key), digits[TAKT_AMOUNTS_MAX + 1];
    bool plain = true;

    if (parts->tenant[0] != '\0' || parts->inner_count > 0)
        at = add_part(at, parts->tenant);
    for (int i = 0; i < parts->inner_count; i++) {
        at = add_part(add_part(at, parts->inner[i].limit), parts->inner[i].key);
        plain = plain && takt_unit_map_is_plain(parts->units[i]);
    }
    for (int i = 0; !plain && i < parts->inner_count; i++) {
        takt_unit_map_digits(parts->units[i], digits);
        at = i == 0 ? add_part(at, digits) : stpcpy(at, digits);
    }
    return (size_t)(at - name);
}

static void check_name(const char *name, size_t size)
{
    char written[TAKT_RELAY_NAME_MAX + 1];
    takt_relay_parts parts;

    if (strlen(name) > TAKT_NAME_SIZE_MAX || !takt_relay_read_name(&parts, name, size))
        return;
    require(size <= TAKT_RELAY_NAME_MAX);
    require(write_name(&parts, name, written) == size && memcmp(written, name, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *leaves = fuzz_cut(&data, &size, '\n'), *name = fuzz_copy(data, size);

    check_leaves(leaves);
    if (strlen(name) < size) /* a NUL is behind the limit */
        check_name(name, size);
    free(leaves);
    free(name);
    return 0;
}
