/*
 * consumer.c: the smallest program outside this project, in the C that is also C++. It shows that
 * the headers are found and the library links; the functions are tested elsewhere.
 */
#include <stdio.h>

#include <takt/takt.h>

int main(void)
{
    takt_policy *policy = NULL;
    takt_error error;
    int64_t duration_us = 0;
    if (takt_policy_new(&policy, &error) != 0 ||
        takt_parse_duration("250ms", &duration_us, &error) != 0)
        return 1;
    takt_policy_free(policy);
    printf("%s: %d us\n", takt_error_name(TAKT_E_CANCELED), (int)duration_us);
    return duration_us == 250000 ? 0 : 1;
}
