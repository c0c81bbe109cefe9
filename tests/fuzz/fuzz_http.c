/*
 * Any bytes at the status socket of a worker: a request is read or refused, with the same result at
 * once and byte by byte, and its path is a text that fits.
 */
#include "fuzz.h"

#include "kit/status_http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    takt_status_request request = {0}, first = {0};
    char *text = malloc(size > 0 ? size : 1); /* of its size, so that reading beyond is seen */

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    int status = takt_status_http_read(text, size, &request);
    require(status == 0 || status == 200 || status == 400 || status == 405 || status == 431 ||
            status == 505);
    require(status != 200 ||
            (request.path[0] == '/' && memchr(request.path, '\0', TAKT_STATUS_HTTP_PATH_SIZE)));
    for (size_t some = 0; some < size; some++) { /* once it is decided, it stays so */
        int before = takt_status_http_read(text, some, &first);
        require(before == 0 || before == status);
    }
    free(text);
    return 0;
}
