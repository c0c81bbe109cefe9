/*
 * dead.c: `takt-jobs dead`: the dead letters of a stream, one line each, the oldest first.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <jansson.h>

#include "tool.h"

#define PAGE       "32" /* each letter may have a megabyte */
#define SHOWN_SIZE 600

typedef struct page {
    const takt_tool *tool;
    int count;
    char after[TAKT_STREAM_ENTRY_SIZE + 1]; /* "(ID": the page begins after this entry */
} page;

/* A text as JSON; a text that is not UTF-8 is escaped. */
static json_t *text_of(const takt_reply *value)
{
    char shown[SHOWN_SIZE];
    json_t *text;

    if (value == NULL)
        return json_null();
    text = json_stringn(value->text, value->size);
    return text != NULL
               ? text
               : json_string(takt_quote_bytes(value->text, value->size, shown, sizeof shown));
}

/* The job as an object, or as a text if it is not one. */
static json_t *job_of(const takt_reply *value)
{
    json_t *job =
        value != NULL ? json_loadb(value->text, value->size, JSON_REJECT_DUPLICATES, NULL) : NULL;

    return job != NULL ? job : text_of(value);
}

static void print_json(const takt_tool_letter *letter)
{
    json_t *line = json_pack("{s:s, s:o, s:o, s:o, s:o}", "letter", letter->letter, "entry",
                             text_of(letter->entry), "id", text_of(letter->id), "why",
                             text_of(letter->why), "job", job_of(letter->job));

    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

/* A letter contains foreign text: control characters are escaped before it reaches the terminal. */
static void print_text(const takt_tool_letter *letter)
{
    char id[SHOWN_SIZE] = "-", why[SHOWN_SIZE] = "-";

    if (letter->id != NULL)
        takt_quote_bytes(letter->id->text, letter->id->size, id, sizeof id);
    if (letter->why != NULL)
        takt_quote_bytes(letter->why->text, letter->why->size, why, sizeof why);
    printf("%s %s %s\n", letter->letter, id, why);
}

static void on_page(void *data, const takt_reply *reply)
{
    page *page = data;
    const takt_reply *entry = reply + 1;
    takt_tool_letter letter;

    page->count = reply->count;
    for (int i = 0; i < reply->count; i++, entry = takt_reply_after(entry)) {
        if (!takt_tool_read_letter(entry, &letter))
            continue;
        snprintf(page->after, sizeof page->after, "(%s", letter.letter);
        if (page->tool->json)
            print_json(&letter);
        else
            print_text(&letter);
    }
}

int takt_tool_dead(takt_tool *tool)
{
    page page = {.tool = tool, .after = "-"};

    do {
        if (takt_tool_ask(tool, on_page, &page, "XRANGE", tool->dead_key, page.after, "+", "COUNT",
                          PAGE, NULL) != 0)
            return EX_UNAVAILABLE;
    } while (page.count > 0);
    return 0;
}
