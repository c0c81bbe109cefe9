/*
 * simulate.c: a program outside this project that uses the simulation library.
 */
#include <stdio.h>
#include <string.h>

#include <takt/simulate.h>

static void on_decision(const takt_decision *decision, void *data)
{
    *(int *)data += decision->granted;
}

int main(void)
{
    static const char text[] = "limits:\n  - name: api\n    rules: [{rate: 1/s}]\n";
    takt_arrival arrival = {.cost = 1, .priority = 5};
    takt_policy *policy = NULL;
    takt_oracle *oracle = NULL;
    takt_error error;
    int granted = 0;

    if (takt_policy_parse(&policy, "text", text, strlen(text), &error) != 0) {
        printf("%s\n", error.text);
        return 1;
    }
    if (takt_oracle_open(&oracle, takt_policy_limit(policy, "api"), 0, 1, on_decision, &granted) !=
            0 ||
        takt_oracle_arrive(oracle, &arrival) != 0 || takt_oracle_arrive(oracle, &arrival) != 0 ||
        takt_oracle_end(oracle) != 0)
        return 1;
    takt_oracle_close(oracle);
    takt_policy_free(policy);
    printf("%d of 2\n", granted);
    return granted == 1 ? 0 : 1;
}
