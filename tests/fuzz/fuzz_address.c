/*
 * Any text as a mail address: an accepted address can neither end a line nor be read as another
 * address, and is one address in a header.
 */
#include "fuzz.h"

#include "mail/header.h"

static void check_text(const char *text, size_t max)
{
    require(strlen(text) <= max);
    for (; *text; text++)
        require((unsigned char)*text >= 0x20 && *text != 0x7f);
}

static void check_again(const takt_mail_address *address)
{
    takt_mail_address again;

    require(takt_mail_address_parse(address->mailbox, strlen(address->mailbox), &again, NULL) == 0);
    require(strcmp(again.mailbox, address->mailbox) == 0 && again.name[0] == '\0');
    require(address->mailbox[address->local_size] == '@');
    require(takt_mail_address_check_domain(takt_mail_address_domain(address),
                                           strlen(takt_mail_address_domain(address)), NULL) == 0);
}

static void check_header(const takt_mail_address *address)
{
    takt_buffer out = {0};

    takt_mail_header_put_addresses(&out, "To", address, 1);
    const char *line = takt_buffer_end(&out);
    require(!out.failed);
    for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        require(end > line && end[-1] == '\r' && end - line < 998);
        require(memchr(line, '\r', (size_t)(end - line - 1)) == NULL);
        require(line == out.at || *line == ' ');
    }
    require(*line == '\0');
    takt_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    takt_mail_address address = {.name = "untouched"};
    takt_error error = {0};

    if (takt_mail_address_parse((const char *)data, size, &address, &error) != 0) {
        require(strcmp(address.name, "untouched") == 0);
        require(error.code == TAKT_E_INVALID && error.text[0] != '\0');
        return 0;
    }
    check_text(address.name, ADDRESS_NAME_MAX);
    check_text(address.mailbox, ADDRESS_MAX);
    check_again(&address);
    check_header(&address);
    return 0;
}
