/*
 * Whatever is taken for a job: what is read in the short way is what jansson reads, and what is
 * written of it reads as the same again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/json_read.h"
#include "jobs/json_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* of its size, so that reading beyond is seen */
    json_text written = {0};

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    json_t *read = json_read(text, size);
    json_t *known = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    require(!read || json_equal(read, known));
    if (known) {
        json_put(&written, known);
        require(!written.failed);
        json_t *again = json_loadb(written.at, written.size, JSON_REJECT_DUPLICATES, NULL);
        require(again != NULL);
        require(!read || json_equal(known, again)); /* else reals may have lost digits */
        json_decref(again);
    }
    json_decref(known);
    json_decref(read);
    free(written.at);
    free(text);
    return 0;
}
