/*
 * openssl.c: loads libssl and libcrypto and looks up their functions (openssl.h).
 */
#include "crypto/openssl.h"

#include <dlfcn.h>
#include <uv.h>

#define TEXT(x)  TEXT_(x)
#define TEXT_(x) #x
#define LIBRARY  "libssl.so." TEXT(OPENSSL_SHLIB_VERSION)

takt_openssl_functions takt_openssl;

static const char *trouble;

/* The library stays loaded until the process ends, like a linked library. */
static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        trouble = "OpenSSL is needed, and " LIBRARY " cannot be loaded";
        return;
    }
#define FIND(name)                                                                                 \
    *(void **)&takt_openssl.name = dlsym(library, #name);                                          \
    if (takt_openssl.name == NULL)                                                                 \
        trouble = LIBRARY " is not as it should be: it has no " #name;
    TAKT_OPENSSL_FUNCTIONS(FIND)
#undef FIND
}

const char *takt_openssl_load(void)
{
    static uv_once_t once = UV_ONCE_INIT;

    uv_once(&once, load);
    return trouble;
}
