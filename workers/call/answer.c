/*
 * answer.c: see answer.h.
 */
#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <takt/http.h>

#include "jobs/text/base64.h"
#include "kit/text.h"
#include "spec.h"

#define NAME_MAX_SIZE   256
#define EPOCH_OF_2000_S INT64_C(946684800)
#define LINE_ROOM       ((size_t)1024 * 1024) /* libcurl refuses longer lines */
#define LINE_TOO_LONG   ((CURLcode)100)       /* CURLE_TOO_LARGE of libcurl 8.6 and later */

static size_t write_body(char *text, size_t one, size_t size, void *data)
{
    takt_caller_answer *answer = data;

    (void)one;
    if (size > answer->body_max - answer->body.size) {
        answer->too_big = true;
        return 0;
    }
    return takt_buffer_put(&answer->body, text, size) ? size : 0;
}

/* A text as a JSON string. Bytes that are not UTF-8 are read as Latin-1. */
static json_t *text_of(const char *text, size_t size)
{
    json_t *made = json_stringn(text, size);
    char *wide = made ? NULL : malloc(2 * size + 1);
    size_t used = 0;

    for (size_t i = 0; wide && i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x80)
            wide[used++] = (char)(0xc0 | byte >> 6);
        wide[used++] = (char)(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    if (wide)
        made = json_stringn(wide, used);
    free(wide);
    return made;
}

/* A header field that appears twice becomes a list. */
static void keep_header(takt_caller_answer *answer, const char *name, json_t *value)
{
    json_t *before = json_object_get(answer->headers, name);

    if (!before) {
        json_object_set_new_nocheck(answer->headers, name, value);
        return;
    }
    if (!json_is_array(before)) {
        json_t *list = json_array();
        json_array_append(list, before);
        json_object_set_new_nocheck(answer->headers, name, list);
        before = list;
    }
    json_array_append_new(before, value);
}

static void note_field(char kept[ANSWER_FIELD_SIZE], const char *value, size_t size)
{
    if (size < ANSWER_FIELD_SIZE) {
        memcpy(kept, value, size);
        kept[size] = '\0';
    }
}

static void read_field(takt_caller_answer *answer, const char *name, const char *value, size_t size)
{
    char text[1024];

    if (strcmp(name, "retry-after") == 0)
        note_field(answer->retry_after, value, size);
    if (strcmp(name, "date") == 0)
        note_field(answer->date, value, size);
    if (strcmp(name, "content-type") == 0)
        note_field(answer->type, value, size);
    if (size < sizeof(text)) {
        memcpy(text, value, size);
        text[size] = '\0';
        takt_caller_vendor_fields_read(&answer->vendor, name, text);
    }
    if (answer->keep_headers)
        keep_header(answer, name, text_of(value, size));
}

/* Interim answers (100, 103) may precede the answer. The last one counts. */
static void begin_headers(takt_caller_answer *answer)
{
    answer->retry_after[0] = answer->date[0] = answer->type[0] = '\0';
    takt_caller_vendor_fields_begin(&answer->vendor);
    if (answer->keep_headers) {
        json_decref(answer->headers);
        answer->headers = json_object();
    }
}

/* Reads one line of the head. */
static size_t write_header(char *line, size_t one, size_t size, void *data)
{
    takt_caller_answer *answer = data;
    char name[NAME_MAX_SIZE];
    const char *colon = memchr(line, ':', size), *end = line + size, *value;

    (void)one;
    answer->header_size += size;
    if (answer->header_size > ANSWER_HEADERS_MAX) {
        answer->too_big = true;
        return 0;
    }
    if (size >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        begin_headers(answer);
        return size;
    }
    if (!colon || (size_t)(colon - line) >= sizeof(name) || memchr(line, '\0', size))
        return size;
    for (size_t i = 0; i < (size_t)(colon - line); i++)
        name[i] = (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] - 'A' + 'a' : line[i]);
    name[colon - line] = '\0';
    if (!takt_caller_spec_is_name(name, (size_t)(colon - line)))
        return size;
    for (value = colon + 1; value < end && (*value == ' ' || *value == '\t'); value++)
        ;
    while (end > value && strchr(" \t\r\n", end[-1]))
        end--;
    read_field(answer, name, value, (size_t)(end - value));
    return size;
}

void takt_caller_answer_await(takt_caller_answer *answer, CURL *handle)
{
    takt_buffer_clear(&answer->body);
    answer->header_size = 0;
    answer->too_big = false;
    begin_headers(answer);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, answer);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, write_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, answer);
}

/* libcurl up to 8.5 reports a too long line as CURLE_OUT_OF_MEMORY, later versions have a code of
 * their own. An allocation of the same size tells the two causes apart: if it succeeds, the line
 * was too long. */
bool takt_caller_answer_has_long_line(takt_caller_answer *answer, CURL *handle, CURLcode result)
{
    curl_off_t first_byte_us = 0;

    if (result != CURLE_OUT_OF_MEMORY && result != LINE_TOO_LONG)
        return false;
    curl_easy_getinfo(handle, CURLINFO_STARTTRANSFER_TIME_T, &first_byte_us);
    if (first_byte_us == 0 || answer->body.size > 0)
        return false;
    void *volatile room = malloc(LINE_ROOM);
    answer->too_big = room != NULL;
    free(room);
    return answer->too_big;
}

void takt_caller_answer_free(takt_caller_answer *answer)
{
    takt_buffer_free(&answer->body);
    json_decref(answer->headers);
}

json_t *takt_caller_answer_body(const takt_caller_answer *answer)
{
    const takt_buffer *body = &answer->body;
    json_t *text = json_stringn(body->size > 0 ? body->at : "", body->size);
    takt_buffer coded = {0};

    if (text)
        return text;
    takt_base64_put(&coded, body->at, body->size); /* the body is not UTF-8 */
    text = coded.failed ? NULL : json_pack("{s:s%}", "base64", coded.at, coded.size);
    takt_buffer_free(&coded);
    return text;
}

void takt_caller_answer_show(const takt_caller_answer *answer, char *shown, size_t size)
{
    if (answer->body.size == 0)
        shown[0] = '\0';
    else
        takt_quote_bytes(answer->body.at, answer->body.size, shown, size);
}

/* False: no memory; the value is unchanged. */
static bool blot_value(json_t *value, const takt_caller_secret *secrets)
{
    size_t index;
    json_t *one;

    json_array_foreach(value, index, one) if (!blot_value(one, secrets)) return false;
    if (!json_is_string(value))
        return true;
    size_t size = json_string_length(value);
    char *text = malloc(size + 1);
    if (text)
        memcpy(text, json_string_value(value), size);
    if (text)
        takt_caller_secrets_blot(secrets, text, size);
    bool blotted = text && json_string_setn(value, text, size) == 0;
    free(text);
    return blotted;
}

void takt_caller_answer_blot(takt_caller_answer *answer, const takt_caller_secret *secrets)
{
    const char *name;
    json_t *value;

    if (!secrets)
        return;
    if (answer->body.size > 0)
        takt_caller_secrets_blot(secrets, answer->body.at, answer->body.size);
    json_object_foreach(answer->headers, name, value)
    {
        if (!blot_value(value, secrets)) { /* better no value than a secret */
            json_object_clear(answer->headers);
            return;
        }
    }
}

int64_t takt_caller_answer_date(const takt_caller_answer *answer)
{
    int64_t since_us;

    if (answer->date[0] &&
        takt_http_retry_after(answer->date, "Sat, 01 Jan 2000 00:00:00 GMT", &since_us) == 0)
        return EPOCH_OF_2000_S + since_us / 1000000;
    return (int64_t)time(NULL);
}
