/*
 * retry.c: `takt-jobs retry`: dead letters become jobs again.
 *
 * Each letter is moved in one transaction, and only if the dead letters have not changed since it
 * was read. If two commands move the same letter, the second one finds it gone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "tool.h"

typedef struct putting {
    takt_tool *tool;
    takt_tool_letter letter;
    char *job; /* its text; NULL: no text, or no such letter */
    size_t size;
    bool found, moved;
    char last[TAKT_STREAM_ENTRY_SIZE]; /* with --all: the last letter to move */
    uint64_t count, failed;
} putting;

static void on_letter(void *data, const takt_reply *reply)
{
    putting *putting = data;

    putting->found = reply->count == 1 && takt_tool_read_letter(reply + 1, &putting->letter);
    if (!putting->found || putting->letter.job == NULL)
        return;
    putting->size = putting->letter.job->size;
    putting->job = malloc(putting->size + 1);
    if (putting->job != NULL)
        memcpy(putting->job, putting->letter.job->text, putting->size + 1);
}

static void on_done(void *data, const takt_reply *reply)
{
    ((putting *)data)->moved = reply->type == TAKT_REPLY_ARRAY;
}

static void on_ok(void *data, const takt_reply *reply)
{
    (void)data;
    (void)reply;
}

/* XADD with a text that may hold any byte. */
static bool say_job(putting *putting)
{
    takt_tool *tool = putting->tool;
    const char *words[] = {"XADD", tool->key, "*", TAKT_STREAM_FIELD_JOB, putting->job};
    size_t sizes[] = {4, strlen(tool->key), 1, strlen(TAKT_STREAM_FIELD_JOB), putting->size};

    return takt_tool_ask_with(tool, on_ok, NULL, 5, words, sizes) == 0;
}

/* False: stop. */
static bool move(putting *putting, const char *name)
{
    takt_tool *tool = putting->tool;

    return takt_tool_ask(tool, on_ok, NULL, "MULTI", NULL) == 0 && say_job(putting) &&
           takt_tool_ask(tool, on_ok, NULL, "XDEL", tool->dead_key, name, NULL) == 0 &&
           takt_tool_ask(tool, on_done, putting, "EXEC", NULL) == 0;
}

/* Tries again while other clients change the dead letters. */
static bool put_back(putting *putting, const char *name)
{
    takt_tool *tool = putting->tool;
    bool going;

    do {
        free(putting->job);
        putting->job = NULL;
        putting->moved = false;
        if (takt_tool_ask(tool, on_ok, NULL, "WATCH", tool->dead_key, NULL) != 0 ||
            takt_tool_ask(tool, on_letter, putting, "XRANGE", tool->dead_key, name, name, NULL) !=
                0)
            return false;
        if (putting->job == NULL) {
            takt_message(putting->found
                             ? "%s: its text was not kept, it cannot be put back"
                             : "%s: there is no such dead letter; takt-jobs dead lists them",
                         name);
            putting->failed++;
            return takt_tool_ask(tool, on_ok, NULL, "UNWATCH", NULL) == 0;
        }
        going = move(putting, name);
    } while (going && !putting->moved);
    putting->count += putting->moved;
    return going;
}

static void on_next(void *data, const takt_reply *reply)
{
    putting *putting = data;

    putting->found = reply->count == 1 && takt_tool_read_letter(reply + 1, &putting->letter);
}

/* Moves the letters that exist now, not those that are added meanwhile. */
static bool put_all_back(putting *putting)
{
    takt_tool *tool = putting->tool;
    char after[TAKT_STREAM_ENTRY_SIZE + 1] = "-", name[TAKT_STREAM_ENTRY_SIZE];

    if (takt_tool_ask(tool, on_next, putting, "XREVRANGE", tool->dead_key, "+", "-", "COUNT", "1",
                      NULL) != 0)
        return false;
    if (!putting->found)
        return true;
    memcpy(putting->last, putting->letter.letter, sizeof putting->last);
    for (;;) {
        if (takt_tool_ask(tool, on_next, putting, "XRANGE", tool->dead_key, after, putting->last,
                          "COUNT", "1", NULL) != 0)
            return false;
        if (!putting->found)
            return true;
        memcpy(name, putting->letter.letter, sizeof name);
        snprintf(after, sizeof after, "(%s", name);
        if (!put_back(putting, name))
            return false;
    }
}

int takt_tool_retry(takt_tool *tool)
{
    putting putting = {.tool = tool};
    bool going = true;

    if (tool->all)
        going = put_all_back(&putting);
    for (int i = 0; i < tool->entry_count && going; i++)
        going = put_back(&putting, tool->entries[i]);
    free(putting.job);
    printf(tool->json ? "{\"put_back\": %" PRIu64 ", \"failed\": %" PRIu64 "}\n"
                      : "%" PRIu64 " put back, %" PRIu64 " failed\n",
           putting.count, putting.failed);
    return !going ? EX_UNAVAILABLE : putting.failed > 0 ? 1 : 0;
}
