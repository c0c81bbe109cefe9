/*
 * The tenants of a limit with `fair`, as lines of the screen.
 */
#include <stdlib.h>
#include <string.h>

#include "common/page.h"
#include "common/standing.h"
#include "kit/message.h"
#include "top.h"

#define MARK    2
#define TENANT  32
#define SHARE   6
#define WEIGHT  6
#define WAITING 7

/* A tenant in the order of the lines. */
typedef struct ranked {
    int tenant;
    int64_t since_us;
} ranked;

static int by_wait(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->since_us != b->since_us)
        return a->since_us < b->since_us ? -1 : 1;
    return a->tenant - b->tenant;
}

static ranked *order_of(const takt_standing *standing)
{
    size_t count = (size_t)standing->tenant_count;
    ranked *order = calloc(count + 1, sizeof(*order));

    for (int i = 0; order && i < standing->tenant_count; i++)
        order[i] = (ranked){i, standing->tenants[i].since_us};
    if (order)
        qsort(order, count, sizeof(*order), by_wait);
    return order;
}

void takt_cli_tenants_titles(takt_cli_page *page, const takt_cli_row *row)
{
    takt_cli_page_cell(page, strcmp(row->subject, "key") == 0 ? "KEY" : "TENANT", TENANT);
    takt_cli_page_put(page, "%*s %*s %*s  OLDEST WAIT", SHARE, "SHARE", WEIGHT, "WEIGHT", WAITING,
                      "WAITING");
}

static void draw_one(takt_cli_page *page, const takt_standing *standing, int at)
{
    const takt_tenant_standing *tenant = &standing->tenants[at];
    char waiting[TAKT_CLI_CELL_SIZE], span[TAKT_CLI_CELL_SIZE];

    if (!takt_cli_page_begin(page, TAKT_CLI_PLAIN))
        return;
    page->blanks = MARK;
    takt_cli_page_cell(page, tenant->name[0] ? tenant->name : "(no name)", TENANT);
    takt_cli_page_put(
        page, "%*.1f%% %*lld %*s  %s", SHARE - 1, 100 * takt_cli_standing_share(standing, at),
        WEIGHT, (long long)tenant->weight, WAITING, takt_cli_short_count(tenant->waiting, waiting),
        takt_cli_short_span(takt_cli_standing_wait(standing, at), span));
    takt_cli_page_end(page);
}

void takt_cli_tenants_draw(takt_cli_page *page, const takt_cli_row *row, int lines)
{
    const takt_standing *standing = &row->standing;
    int left = page->lines_left - lines, count = row->seen ? standing->tenant_count : 0;
    ranked *order = count > 0 ? order_of(standing) : NULL;
    int shown = count <= lines ? count : lines - 1;

    for (int i = 0; order && i < shown; i++)
        draw_one(page, standing, order[i].tenant);
    free(order);
    if (count == 0 && lines > 0)
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "  no %s waits%s", row->subject,
                           row->seen && !standing->tenants ? ", as far as this store tells" : "");
    else if (shown < count && lines > 0)
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "  and %d more that have waited less",
                           count - shown);
    while (page->lines_left > left)
        takt_cli_page_line(page, TAKT_CLI_PLAIN, "%s", "");
}
