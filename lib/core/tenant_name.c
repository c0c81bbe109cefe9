/*
 * tenant_name.c: see tenant_name.h.
 */
#include "core/tenant_name.h"

uint64_t takt_tenant_worker(uint64_t worker, const char *tenant)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */

    if (tenant == NULL || *tenant == '\0')
        return worker;
    for (; *tenant; tenant++)
        hash = (hash ^ (unsigned char)*tenant) * UINT64_C(1099511628211);
    hash += worker * UINT64_C(11400714819323198485); /* and spread, so that no two are alike */
    hash = (hash ^ (hash >> 30)) * UINT64_C(13787848793156543929);
    hash = (hash ^ (hash >> 27)) * UINT64_C(10723151780598845931);
    hash ^= hash >> 31;
    return hash != 0 ? hash : 1;
}

static bool is_plain(unsigned char c)
{
    return c > ' ' && c != 0x7f && c != '%' && c != ';';
}

size_t takt_tenant_write(const char *name, char text[TAKT_TENANT_TEXT_MAX + 1])
{
    static const char digits[] = "0123456789ABCDEF";
    char *at = text;

    for (int i = 0; name[i] && i < TAKT_TENANT_SIZE_MAX; i++) {
        unsigned char c = (unsigned char)name[i];
        if (is_plain(c)) {
            *at++ = name[i];
            continue;
        }
        *at++ = '%';
        *at++ = digits[c >> 4];
        *at++ = digits[c & 15];
    }
    *at = '\0';
    return (size_t)(at - text);
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

void takt_tenant_read(const char *text, char name[TAKT_TENANT_SIZE_MAX + 1])
{
    int size = 0;

    for (; *text && size < TAKT_TENANT_SIZE_MAX; text++, size++) {
        int high = *text == '%' ? digit_of(text[1]) : -1;
        int low = high >= 0 ? digit_of(text[2]) : -1;
        name[size] = *text == '%' ? '?' : *text;
        if (low < 0)
            continue;
        name[size] = high > 0 || low > 0 ? (char)(16 * high + low) : '?';
        text += 2;
    }
    name[size] = '\0';
}
