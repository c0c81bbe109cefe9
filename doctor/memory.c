/*
 * memory.c: see kinds.h.
 */
#include "doctor/kinds.h"

void takt_doctor_memory(takt_checkup *checkup)
{
    takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "location",
                      "ledgers are in the memory of this process: no other process shares them, "
                      "and they are lost when it ends");
}
