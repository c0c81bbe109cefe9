/*
 * address.c: RFC 5322's mailbox without forms that jobs do not need: comments, folded lines,
 * routes, groups, obsolete forms and numeric addresses.
 */
#include "address.h"

#include <stdbool.h>
#include <string.h>

#include "refuse.h"

#define SPECIALS "()<>[]:;@\\,\""

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_atext(char c)
{
    return is_alnum(c) || (c && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_ascii(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

int takt_mail_address_check_domain(const char *text, size_t size, takt_error *error)
{
    size_t label = 0;

    if (!is_ascii(text, size))
        return takt_mail_refuse(error, "its domain is not ASCII; write its A-label, xn--...");
    if (size > 0 && text[0] == '[')
        return takt_mail_refuse(error, "its domain is a number; write a name");
    if (size == 0 || size > ADDRESS_DOMAIN_MAX)
        return takt_mail_refuse(error, "its domain has %zu characters; it must have 1 to %d", size,
                                ADDRESS_DOMAIN_MAX);
    for (size_t i = 0; i <= size; i++) {
        bool ends = i == size || text[i] == '.';
        if (ends && (label == 0 || label > 63))
            return takt_mail_refuse(error,
                                    "its domain has a part of %zu characters between dots; each "
                                    "has 1 to 63",
                                    label);
        if (!ends && !is_alnum(text[i]) && text[i] != '-')
            return takt_mail_refuse(error,
                                    "its domain may have letters, digits, hyphens and dots only");
        if (ends ? text[i - 1] == '-' : label == 0 && text[i] == '-')
            return takt_mail_refuse(error, "a part of its domain begins or ends with a hyphen");
        label = ends ? 0 : label + 1;
    }
    return 0;
}

/* The size of a quoted string that begins at text[0]; 0: no end, or a forbidden character. Its
 * content without quotes goes to `plain`, unless NULL. */
static size_t quoted_size(const char *text, size_t size, char *plain, size_t plain_max)
{
    size_t count = 0;

    for (size_t i = 1; i < size; i++) {
        if (text[i] == '"') {
            if (plain)
                plain[count] = '\0';
            return i + 1;
        }
        if (text[i] == '\\' && i + 1 < size)
            i++;
        if (is_control(text[i]))
            return 0;
        if (plain && count == plain_max)
            return 0;
        if (plain)
            plain[count++] = text[i];
    }
    return 0;
}

static int check_local(const char *text, size_t size, takt_error *error)
{
    if (!is_ascii(text, size))
        return takt_mail_refuse(error,
                                "the part before the @ is not ASCII, which would need SMTPUTF8");
    if (size == 0 || size > ADDRESS_LOCAL_MAX)
        return takt_mail_refuse(error, "it has %zu characters before the @; it must have 1 to %d",
                                size, ADDRESS_LOCAL_MAX);
    if (text[0] == '"') {
        if (quoted_size(text, size, NULL, 0) != size || size == 2)
            return takt_mail_refuse(
                error, "the quoted text before the @ is empty, or does not end with a quote");
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        if (!is_atext(text[i]) && (text[i] != '.' || i == 0 || i + 1 == size || text[i - 1] == '.'))
            return takt_mail_refuse(error,
                                    "the part before the @ has a blank, a misplaced dot, or a "
                                    "character that must be quoted; write user@example.org");
    return 0;
}

/* user@host, and nothing else. */
static int read_mailbox(const char *text, size_t size, takt_mail_address *address,
                        takt_error *error)
{
    size_t local = 0;
    int failed;

    if (size > 0 && text[0] == '"')
        local = quoted_size(text, size, NULL, 0);
    while (local < size && text[local] != '@')
        local++;
    if (local == size)
        return takt_mail_refuse(error, "it has no @; write user@example.org");
    if ((failed = check_local(text, local, error)) != 0 ||
        (failed = takt_mail_address_check_domain(text + local + 1, size - local - 1, error)) != 0)
        return failed;
    if (size > ADDRESS_MAX)
        return takt_mail_refuse(error, "it has %zu characters; it may have %d", size, ADDRESS_MAX);
    memcpy(address->mailbox, text, size);
    address->mailbox[size] = '\0';
    address->local_size = local;
    for (size_t i = local + 1; i < size; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            address->mailbox[i] = (char)(text[i] - 'A' + 'a');
    return 0;
}

/* Reads the name before a <. A quoted name must be all that precedes it. */
static int read_name(const char *text, size_t size, takt_mail_address *address, takt_error *error)
{
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size > 0 && text[0] == '"') {
        if (quoted_size(text, size, address->name, ADDRESS_NAME_MAX) == size)
            return 0;
        return takt_mail_refuse(error,
                                "its quoted name does not end with a quote, or has more than %d "
                                "bytes; write \"A Name\" <user@example.org>",
                                ADDRESS_NAME_MAX);
    }
    if (size > ADDRESS_NAME_MAX)
        return takt_mail_refuse(error, "its name has %zu bytes; it may have %d", size,
                                ADDRESS_NAME_MAX);
    for (size_t i = 0; i < size; i++)
        if (strchr(SPECIALS, text[i]))
            return takt_mail_refuse(error,
                                    "its name has one of " SPECIALS " in it; write the name in "
                                    "double quotes, and several addresses as a list");
    memcpy(address->name, text, size);
    address->name[size] = '\0';
    return 0;
}

int takt_mail_address_parse(const char *text, size_t size, takt_mail_address *result,
                            takt_error *error)
{
    takt_mail_address made = {.local_size = 0};
    size_t name = 0;
    int failed;

    for (size_t i = 0; i < size; i++)
        if (is_control(text[i]))
            return takt_mail_refuse(
                error, "it has a control character (a newline, a tab) at byte %zu; leave it out",
                i);
    while (size > 0 && text[0] == ' ')
        text++, size--;
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size > 0 && text[0] == '"')
        name = quoted_size(text, size, NULL, 0);
    while (name < size && text[name] != '<')
        name++;
    if (name == size) {
        failed = read_mailbox(text, size, &made, error);
    } else if (text[size - 1] != '>') {
        failed =
            takt_mail_refuse(error, "its < has no > at the end; write A Name <user@example.org>");
    } else {
        failed = read_name(text, name, &made, error);
        if (!failed)
            failed = read_mailbox(text + name + 1, size - name - 2, &made, error);
    }
    if (!failed)
        *result = made;
    return failed;
}
