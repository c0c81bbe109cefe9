/*
 * Any bytes as a policy file: either a policy that answers every question, or an error that names
 * the file and a line. Whatever passes the outline must be valid for libcyaml.
 */
#include "fuzz.h"

#include <ctype.h>

#include <takt/policy.h>

#define NAME     "takt.yaml"
#define STUMBLED NAME ":1: libcyaml cannot read it"

static void check_error(int code, const takt_error *error)
{
    size_t length = strnlen(error->text, sizeof error->text);
    require(code == TAKT_E_POLICY && error->code == code);
    require(length < sizeof error->text);
    require(strncmp(error->text, NAME ":", sizeof NAME) == 0);
    require(isdigit((unsigned char)error->text[sizeof NAME]) && error->text[sizeof NAME] != '0');
    require(strncmp(error->text, STUMBLED, strlen(STUMBLED)) != 0);
    for (size_t i = 0; i < length; i++)
        require((unsigned char)error->text[i] >= 0x20 && error->text[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    takt_policy *policy = NULL;
    takt_error error = {0};
    int code = takt_policy_parse(&policy, NAME, (const char *)data, size, &error);
    if (code != 0) {
        require(policy == NULL);
        check_error(code, &error);
        return 0;
    }
    require(takt_policy_count(policy) > 0);
    require(takt_policy_check(policy, NULL) == 0);
    require(takt_policy_namespace(policy)[0] != '\0');
    for (size_t i = 0; i < takt_policy_count(policy); i++) {
        const char *key;
        char text[256];
        require(takt_policy_has(policy, takt_policy_name(policy, i)));
        require(takt_policy_describe(policy, takt_policy_name(policy, i), text, sizeof text) == 0);
        require(strchr(text, '/') != NULL || strstr(text, "concurrency ") != NULL);
        for (size_t k = 0; takt_policy_override(policy, takt_policy_name(policy, i), k, &key, text,
                                                sizeof text) == 0;
             k++) {
            require(key[0] != '\0' && text[0] != '\0');
            require(takt_policy_describe_key(policy, takt_policy_name(policy, i), key, text,
                                             sizeof text) == 0);
            require(strstr(text, "override") != NULL || strlen(text) == sizeof text - 1);
        }
    }
    takt_policy_free(policy);
    return 0;
}
