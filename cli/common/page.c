/*
 * Writes lines cut to a width. On a terminal a line clears the old text, and a line with a style is
 * filled with blanks.
 */
#include "page.h"

#include <stdarg.h>
#include <string.h>
#include <wchar.h>

#define NORMAL "\033[0m"
#define WIPE   "\033[K"

/* Reads the next character with its columns and bytes; an invalid or invisible one becomes "?". */
static int next_character(const char *at, size_t size, size_t *taken)
{
    mbstate_t state = {0};
    wchar_t character;
    size_t bytes = mbrtowc(&character, at, size, &state);
    int columns;

    *taken = bytes == 0 || bytes > size ? 1 : bytes;
    columns = bytes == 0 || bytes > size ? -1 : wcwidth(character);
    return columns;
}

static int width_of(const char *text)
{
    int width = 0;

    for (size_t size = strlen(text), taken; size > 0; text += taken, size -= taken) {
        int columns = next_character(text, size, &taken);
        width += columns < 0 ? 1 : columns;
    }
    return width;
}

int takt_cli_fit(FILE *file, const char *text, int columns)
{
    int used = 0, max = columns;
    bool cut = width_of(text) > columns;

    if (columns <= 0)
        return 0;
    max -= cut;
    for (size_t size = strlen(text), taken; size > 0; text += taken, size -= taken) {
        int wide = next_character(text, size, &taken);
        if (used + (wide < 0 ? 1 : wide) > max)
            break;
        if (wide < 0)
            putc('?', file);
        /* combining characters of no width are dropped, since they could pile up */
        else if (wide > 0)
            fwrite(text, 1, taken, file);
        used += wide < 0 ? 1 : wide;
    }
    if (cut)
        putc('~', file);
    return used + cut;
}

bool takt_cli_page_begin(takt_cli_page *page, const char *style)
{
    if (page->terminal && page->lines_left == 0)
        return false;
    page->lines_left--;
    page->used = page->blanks = 0;
    page->style = style;
    if (page->terminal)
        fprintf(page->file, "%s%s", WIPE, style);
    return true;
}

void takt_cli_page_end(takt_cli_page *page)
{
    if (!page->terminal) {
        putc('\n', page->file);
        return;
    }
    if (page->style[0])
        fprintf(page->file, "%*s%s", page->columns - page->used, "", NORMAL);
    if (page->lines_left > 0)
        fputs("\r\n", page->file);
}

void takt_cli_page_text(takt_cli_page *page, const char *text)
{
    int room = page->columns - page->used - page->blanks;

    if (room <= 0 || !*text)
        return;
    fprintf(page->file, "%*s", page->blanks, "");
    page->used += page->blanks;
    page->blanks = 0;
    page->used += takt_cli_fit(page->file, text, room);
}

__attribute__((format(printf, 2, 3))) void takt_cli_page_put(takt_cli_page *page,
                                                             const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    takt_cli_page_text(page, text);
}

/* A text in a number of columns, and a gap. */
void takt_cli_page_cell(takt_cli_page *page, const char *text, int columns)
{
    int from = page->used + page->blanks, whole = page->columns;

    if (from + columns < whole)
        page->columns = from + columns;
    takt_cli_page_text(page, text);
    page->columns = whole;
    page->blanks = from + columns + 1 - page->used;
}

__attribute__((format(printf, 3, 4))) void
takt_cli_page_line(takt_cli_page *page, const char *style, const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!takt_cli_page_begin(page, style))
        return;
    takt_cli_page_text(page, text);
    takt_cli_page_end(page);
}
