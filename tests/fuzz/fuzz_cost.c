/*
 * Any text as an answer that states its cost at any pointer, the first line of the input: the cost
 * is within bounds, or a line says why there is none. As events and as a document.
 */
#include "fuzz.h"

#include <takt/takt.h>

#include "call/cost.h"
#include "call/pointer.h"

static void check(const char *pointer, const char *type, const char *body, size_t size)
{
    takt_caller_cost costs[] = {{.from = {"a", pointer}}, {.from = {"b", "/usage/total_tokens"}}};

    takt_caller_costs_read(costs, 2, type, body, size);
    for (int i = 0; i < 2; i++)
        if (costs[i].verdict == TAKT_CALLER_COST_FOUND)
            require(costs[i].amount >= 0 && costs[i].amount <= TAKT_SETTLED_MAX);
        else
            require(costs[i].why[0] != '\0' && strchr(costs[i].why, '\n') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *pointer = fuzz_cut(&data, &size, '\n');
    char *body = malloc(size + (size == 0)); /* without a NUL */

    require(body != NULL);
    if (size > 0)
        memcpy(body, data, size);
    if (takt_caller_pointer_check(pointer) == NULL) {
        check(pointer, "application/json", body, size);
        check(pointer, "text/event-stream", body, size);
    }
    free(pointer);
    free(body);
    return 0;
}
