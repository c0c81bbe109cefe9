/*
 * doctor.c: a program outside this project that uses the doctor library.
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
