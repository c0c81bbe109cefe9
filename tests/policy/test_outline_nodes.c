/*
 * Nodes and their paths.  How a whole file becomes nodes is in test_outline.c.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/outline_nodes.h"

Test(outline_nodes, paths_lead_to_nodes_and_back)
{
    takt_outline *outline = calloc(1, sizeof *outline);
    char path[64];
    cr_assert_not_null(outline);
    cr_assert_eq(takt_outline_add(outline, 0, NULL, 0, 1, 1), 0);
    uint32_t list = takt_outline_add(outline, 0, "list", 0, 2, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t entry = takt_outline_add(outline, list, NULL, i, 10 + 2 * i, 3);
        cr_assert_neq(takt_outline_add(outline, entry, "name", 0, 11 + 2 * i, 5), 0);
    }
    for (uint32_t node = 0; node < outline->count; node++) {
        takt_outline_path(outline, node, path, sizeof path);
        takt_mark mark = takt_outline_find(outline, path, strlen(path));
        cr_assert_eq(mark.line, outline->nodes[node].line, "%s: %zu", path, mark.line);
        cr_assert_eq(mark.column, outline->nodes[node].column, "%s: %zu", path, mark.column);
    }
    takt_outline_path(outline, 0, path, sizeof path);
    cr_assert_str_eq(path, "");
    takt_outline_path(outline, outline->count - 1, path, sizeof path);
    cr_assert_str_eq(path, "list[999].name");
    takt_outline_path(outline, outline->count - 1, path, 6);
    cr_assert_str_eq(path, "list[");
    takt_outline_free(outline);
}
