/*
 * doctor.c: a program of somebody else's that asks the library beside takt about a store.
 */
#include <stdio.h>

#include <takt/doctor.h>

static void on_finding(void *data, const takt_finding *finding)
{
    *(int *)data += finding->level <= TAKT_FINDING_NOTE;
    printf("%s: %s\n", finding->subject, finding->text);
}

int main(void)
{
    int findings = 0;

    if (takt_doctor("memory:", NULL, on_finding, &findings) != 0)
        return 1;
    return findings == 2 ? 0 : 1;
}
