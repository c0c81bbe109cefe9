/*
 * agent.c: see kinds.h. What can be lost is a matter of the store that the agent uses.
 */
#include "doctor/kinds.h"

void takt_doctor_agent(takt_checkup *checkup)
{
    takt_checkup_tell(checkup, TAKT_FINDING_NOTE, "location",
                      "the agent's store has the ledgers: run takt doctor on that store as "
                      "well, to see what a failure would cost");
}
