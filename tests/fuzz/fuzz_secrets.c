/*
 * Any two secrets, a header's value that names some, and an answer around them, a line each: the
 * value gets its secrets, and the answer loses each of them, as they are and as JSON writes them,
 * and nothing else.
 */
#include "fuzz.h"

#include <jansson.h>

#include "call/secrets.h"

#define SECRET_MAX 512
#define BLOT_MIN   4
#define VARIABLE   "TAKT_SECRET_FUZZ="
#define FORMS      6

/* A secret, plain or as JSON writes it. */
typedef struct form {
    char *text;
    size_t size;
} form;

static form forms[FORMS];
static int form_count;

static void add_form(const char *text)
{
    forms[form_count++] = (form){fuzz_copy(text, strlen(text)), strlen(text)};
}

/* With a backslash before each of `marked`. */
static void add_marked(const char *secret, const char *marked)
{
    char *text = malloc(2 * strlen(secret) + 1), *at = text;

    require(text != NULL);
    for (; *secret; secret++) {
        if (strchr(marked, *secret))
            *at++ = '\\';
        *at++ = *secret;
    }
    *at = '\0';
    add_form(text);
    free(text);
}

/* The last form is the text as JSON writes it, where JSON can. */
static void check_json(const char *secret, size_t flags)
{
    json_t *string = json_string(secret); /* NULL: it is no UTF-8 */
    char *text = string ? json_dumps(string, JSON_ENCODE_ANY | flags) : NULL;

    if (text && strpbrk(text, "\x7f") == NULL && strstr(text, "\\u") == NULL) {
        text[strlen(text) - 1] = '\0'; /* without the quotes */
        require(strpbrk(secret, "\b\f\n\r\t") || strcmp(text + 1, forms[form_count - 1].text) == 0);
    }
    free(text);
    json_decref(string);
}

static void add_forms(const char *secret)
{
    add_form(secret);
    add_marked(secret, "\"\\");
    check_json(secret, 0);
    add_marked(secret, "\"\\/");
    check_json(secret, JSON_ESCAPE_SLASH);
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* Which bytes of a text belong to a form. */
static char *mark(const char *text, size_t size)
{
    char *marks = calloc(1, size + 1);

    require(marks != NULL);
    for (int i = 0; i < form_count; i++)
        for (size_t at = 0; forms[i].size >= BLOT_MIN && at + forms[i].size <= size; at++)
            if (memcmp(text + at, forms[i].text, forms[i].size) == 0)
                memset(marks + at, 1, forms[i].size);
    return marks;
}

static void check_blotted(const char *before, const char *after, size_t size)
{
    char *marks = mark(before, size);

    for (size_t i = 0; i < size; i++)
        require(after[i] == before[i] || (after[i] == '*' && marks[i]));
    for (int i = 0; i < form_count; i++)
        if (forms[i].size >= BLOT_MIN && strchr(forms[i].text, '*') == NULL)
            require(memmem(after, size, forms[i].text, forms[i].size) == NULL);
    free(marks);
}

/* An answer that has the input's parts, and a form between each two of them. */
static void check_answer(const takt_caller_secret *read, const uint8_t *data, size_t size)
{
    char *answer = NULL, *before;
    size_t used = 0;
    FILE *into = open_memstream(&answer, &used);

    require(into != NULL);
    for (int i = 0; size > 0; i++) {
        char *part = fuzz_cut(&data, &size, '\n');
        fputs(part, into);
        fputs(forms[i % form_count].text, into);
        free(part);
    }
    require(fclose(into) == 0);
    before = fuzz_copy(answer, used);
    takt_caller_secrets_blot(read, answer, used);
    check_blotted(before, answer, used);
    free(before);
    free(answer);
}

/* A name that is no file: a fuzzer must not open files. */
static void check_value(const char *value)
{
    static const takt_caller_allowed allowed = {.hosts = "example.com"};
    static const takt_caller_origin to = {.scheme = "https", .host = "example.com", .port = 443};
    takt_error error = {0};
    takt_caller_secret *read = NULL;
    int code = takt_caller_secrets_check(&allowed, &to, value, &error);
    char *filled = strstr(value, "file:") ? NULL : takt_caller_secrets_fill(value, &read, &error);

    require(code == 0 || (code == TAKT_E_INVALID && error.text[0] != '\0'));
    if (filled && !takt_caller_secrets_is_named(value))
        require(strcmp(filled, value) == 0 && read == NULL);
    takt_caller_secrets_wipe(filled);
    takt_caller_secrets_forget(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char variable[sizeof VARIABLE + SECRET_MAX] = VARIABLE;
    char *first = fuzz_cut(&data, &size, '\n'), *second = fuzz_cut(&data, &size, '\n');
    char *value = fuzz_cut(&data, &size, '\n'), *filled, names[128], path[FUZZ_PATH_SIZE];
    int file;
    takt_caller_secret *read = NULL;
    takt_error error = {0};

    second[strcspn(second, "\r")] = '\0'; /* at a file's end it would be left out */
    snprintf(variable + strlen(VARIABLE), SECRET_MAX, "%s", first);
    snprintf(first, strlen(first) + 1, "%s", variable + strlen(VARIABLE));
    require(putenv(variable) == 0);
    file = fuzz_file(second, strlen(second), path);
    snprintf(names, sizeof names, "a ${env:TAKT_SECRET_FUZZ}-${file:%s}.", path);
    filled = takt_caller_secrets_fill(names, &read, &error);
    form_count = 0;
    add_forms(first);
    add_forms(second);
    if (is_plain(first) && is_plain(second) && strlen(second) <= SECRET_SIZE_MAX) {
        require(filled != NULL && strncmp(filled, "a ", 2) == 0);
        require(strncmp(filled + 2, first, strlen(first)) == 0);
        require(filled[2 + strlen(first)] == '-');
        require(strncmp(filled + 3 + strlen(first), second, strlen(second)) == 0);
        require(strcmp(filled + 3 + strlen(first) + strlen(second), ".") == 0);
        check_answer(read, data, size);
    } else {
        require(filled == NULL && error.text[0] != '\0');
    }
    check_value(value);
    for (int i = 0; i < form_count; i++)
        free(forms[i].text);
    takt_caller_secrets_wipe(filled);
    takt_caller_secrets_forget(&read);
    close(file);
    free(first);
    free(second);
    free(value);
    return 0;
}
