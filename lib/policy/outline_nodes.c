/*
 * outline_nodes.c: keeps the nodes of an outline and finds a node by its path. outline.c decides
 * which values become nodes.
 */
#include "policy/outline_nodes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t takt_outline_add(takt_outline *outline, uint32_t parent, const char *key, uint32_t index,
                          uint32_t line, uint32_t column)
{
    if (outline->count == outline->capacity) {
        uint32_t capacity = outline->capacity > 0 ? outline->capacity * 2 : 32;
        takt_node *nodes = realloc(outline->nodes, capacity * sizeof *nodes);
        if (nodes == NULL)
            return 0;
        outline->nodes = nodes;
        outline->capacity = capacity;
    }
    outline->nodes[outline->count] =
        (takt_node){.parent = parent, .index = index, .key = key, .line = line, .column = column};
    return outline->count++;
}

void takt_outline_free(takt_outline *outline)
{
    if (outline == NULL)
        return;
    for (size_t i = 0; i < outline->text_count; i++)
        free(outline->texts[i].text);
    free(outline->texts);
    free(outline->nodes);
    free(outline);
}

bool takt_outline_keep(takt_outline *outline, uint32_t node, char *text)
{
    if (outline->text_count == outline->text_capacity) {
        size_t capacity = outline->text_capacity > 0 ? outline->text_capacity * 2 : 8;
        takt_outline_text *texts = realloc(outline->texts, capacity * sizeof *texts);
        if (texts == NULL) {
            free(text);
            return false;
        }
        outline->texts = texts;
        outline->text_capacity = capacity;
    }
    const takt_node *at = &outline->nodes[node];
    outline->texts[outline->text_count++] =
        (takt_outline_text){outline->nodes[at->parent].index, at->key, text};
    return true;
}

const takt_outline_text *takt_outline_texts(const takt_outline *outline, size_t *count)
{
    *count = outline->text_count;
    return outline->texts;
}

void takt_outline_path(const takt_outline *outline, uint32_t node, char *path, size_t size)
{
    const takt_node *at = &outline->nodes[node];
    path[0] = '\0';
    if (node == 0)
        return;
    takt_outline_path(outline, at->parent, path, size);
    size_t used = strlen(path);
    if (at->key != NULL)
        snprintf(path + used, size - used, "%s%s", used > 0 ? "." : "", at->key);
    else
        snprintf(path + used, size - used, "[%" PRIu32 "]", at->index);
}

/* Whether the step "rules" or "[0]" leads to the node. */
static int is_step_to(const takt_node *node, const char *step, size_t size)
{
    char text[16];
    const char *name = node->key;
    if (name == NULL) {
        snprintf(text, sizeof text, "[%" PRIu32 "]", node->index);
        name = text;
    }
    return strlen(name) == size && memcmp(name, step, size) == 0;
}

/* The children of a node come after it, so one pass over the nodes follows a whole path. */
takt_mark takt_outline_find(const takt_outline *outline, const char *path, size_t size)
{
    uint32_t found = 0;
    const char *end = path + size;
    uint32_t at = 1;
    while (path < end) {
        if (*path == '.')
            path++;
        size_t step = 1;
        while (path + step < end && path[step] != '.' && path[step] != '[')
            step++;
        while (at < outline->count &&
               !(outline->nodes[at].parent == found && is_step_to(&outline->nodes[at], path, step)))
            at++;
        if (at == outline->count)
            break;
        found = at++;
        path += step;
    }
    return (takt_mark){outline->nodes[found].line, outline->nodes[found].column};
}
