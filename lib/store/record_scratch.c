/*
 * record_scratch.c: grows the arrays of a scratch (record_scratch.h). record.c decides what goes
 * into them.
 */
#include "store/record_scratch.h"

#include <stdlib.h>

void takt_record_scratch_free(takt_record_scratch *scratch)
{
    free(scratch->ledger.line);
    free(scratch->ledger.holders);
    free(scratch->ledger.tenants);
    free(scratch->text);
    for (int i = 0; scratch->inner && i < TAKT_INNER_MAX; i++)
        takt_record_scratch_free(&scratch->inner[i]);
    free(scratch->inner);
    *scratch = (takt_record_scratch){0};
}

bool takt_record_scratch_line(takt_record_scratch *scratch, int places)
{
    takt_place *line;
    int capacity = 2 * places;

    if (places <= scratch->ledger.line_capacity)
        return true;
    line = realloc(scratch->ledger.line, (size_t)capacity * sizeof *line);
    if (line == NULL)
        return false;
    scratch->ledger.line = line;
    scratch->ledger.line_capacity = capacity;
    return true;
}

bool takt_record_scratch_holders(takt_record_scratch *scratch, int count)
{
    takt_holder *holders;

    if (count <= scratch->ledger.holder_capacity)
        return true;
    holders = realloc(scratch->ledger.holders, 2 * (size_t)count * sizeof *holders);
    if (holders == NULL)
        return false;
    scratch->ledger.holders = holders;
    scratch->ledger.holder_capacity = 2 * count;
    return true;
}

bool takt_record_scratch_tenants(takt_record_scratch *scratch, int count)
{
    takt_tenant *tenants;

    if (count <= scratch->ledger.tenant_capacity)
        return true;
    tenants = realloc(scratch->ledger.tenants, 2 * (size_t)count * sizeof *tenants);
    if (tenants == NULL)
        return false;
    scratch->ledger.tenants = tenants;
    scratch->ledger.tenant_capacity = 2 * count;
    return true;
}

bool takt_record_scratch_text(takt_record_scratch *scratch, size_t size)
{
    char *text;

    if (size <= scratch->text_capacity)
        return true;
    text = malloc(2 * size);
    if (text == NULL)
        return false;
    free(scratch->text);
    scratch->text = text;
    scratch->text_capacity = 2 * size;
    return true;
}

bool takt_record_scratch_inner(takt_record_scratch *scratch)
{
    if (scratch->inner == NULL)
        scratch->inner = calloc(TAKT_INNER_MAX, sizeof *scratch->inner);
    return scratch->inner != NULL;
}
