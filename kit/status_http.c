/*
 * status_http.c: parses as strictly as RFC 9112 demands. Nothing stands behind this server, so
 * leniency would not allow smuggling here, but probes should learn of their mistakes.
 */
#include "kit/status_http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The end of the header fields, after their empty line; NULL: not received yet. */
static const char *end_of_head(const char *text, size_t size)
{
    const char *crlf = memmem(text, size, "\r\n\r\n", 4);
    const char *lf = memmem(text, size, "\n\n", 2); /* RFC 9112, 2.2: a recipient may take it */

    if (crlf && (!lf || crlf < lf))
        return crlf + 4;
    return lf ? lf + 2 : NULL;
}

static bool is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Every line after the first is "name: value". */
static bool are_fields(const char *text, const char *end)
{
    while (text < end && *text != '\r' && *text != '\n') {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        const char *at = text;
        while (is_token(*at))
            at++;
        if (at == text || *at != ':')
            return false;
        for (; at < line_end; at++)
            if (((unsigned char)*at < ' ' && *at != '\t' && !(*at == '\r' && at + 1 == line_end)) ||
                *at == 0x7f)
                return false;
        text = line_end + 1;
    }
    return true;
}

/* Whether the value of a Host field names the loopback, with any port, or is empty. */
static bool is_loopback(const char *value, const char *end)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        size_t size = strlen(names[i]);
        if ((size_t)(end - value) >= size && strncasecmp(value, names[i], size) == 0 &&
            (value + size == end || value[size] == ':'))
            return true;
    }
    return value == end;
}

/* Whether a Host field (checked before) names another host. */
static bool names_other_host(const char *text, const char *end)
{
    while (text < end && *text != '\r' && *text != '\n') {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (line_end - text > 5 && strncasecmp(text, "host:", 5) == 0 &&
            !is_loopback(text + 5, line_end))
            return true;
        text = line_end + 1;
    }
    return false;
}

/* The first character that is not visible ASCII. */
static const char *skip_visible(const char *text, const char *end)
{
    while (text < end && (unsigned char)*text > ' ' && *text != 0x7f)
        text++;
    return text;
}

static int read_line(const char *text, const char *end, takt_status_request *request)
{
    const char *method_end = skip_visible(text, end);
    if (method_end == text || method_end == end || *method_end != ' ')
        return 400;
    const char *target = method_end + 1;
    const char *target_end = skip_visible(target, end);
    if (target_end == target || target_end == end || *target_end != ' ')
        return 400;
    const char *version = target_end + 1;
    size_t version_size = (size_t)(end - version);
    if (version_size != 8 || memcmp(version, "HTTP/", 5) != 0)
        return 400;
    if (memcmp(version, "HTTP/1.", 7) != 0)
        return 505;
    bool head_only = method_end - text == 4 && memcmp(text, "HEAD", 4) == 0;
    if (!head_only && !(method_end - text == 3 && memcmp(text, "GET", 3) == 0))
        return 405;
    if (*target != '/')
        return 400;
    const char *query = memchr(target, '?', (size_t)(target_end - target));
    request->head_only = head_only;
    snprintf(request->path, sizeof(request->path), "%.*s",
             (int)((query ? query : target_end) - target), target);
    return 200;
}

int takt_status_http_read(const char *text, size_t size, takt_status_request *request)
{
    /* RFC 9112, 2.2: skip empty lines before the request line */
    while (size > 0 && (*text == '\r' || *text == '\n')) {
        text++;
        size--;
    }
    const char *end = end_of_head(text, size);
    if (!end)
        return size >= TAKT_STATUS_HTTP_REQUEST_MAX ? 431 : 0;
    if ((size_t)(end - text) > TAKT_STATUS_HTTP_REQUEST_MAX)
        return 431;
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    const char *fields = line_end + 1;
    if (line_end > text && line_end[-1] == '\r')
        line_end--;
    int status = read_line(text, line_end, request);
    if (status == 200 && !are_fields(fields, end))
        return 400;
    request->names_other_host = status == 200 && names_other_host(fields, end);
    return status;
}

const char *takt_status_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {
        {200, "OK"},
        {400, "Bad Request"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {421, "Misdirected Request"},
        {431, "Request Header Fields Too Large"},
        {503, "Service Unavailable"},
        {505, "HTTP Version Not Supported"},
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Internal Server Error";
}

size_t takt_status_http_write_head(char *text, size_t text_size, int status, const char *type,
                                   size_t body_size)
{
    return (size_t)snprintf(text, text_size,
                            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                            "Cache-Control: no-store\r\n%sConnection: close\r\n\r\n",
                            status, takt_status_http_reason(status), type, body_size,
                            status == 405 ? "Allow: GET, HEAD\r\n" : "");
}
