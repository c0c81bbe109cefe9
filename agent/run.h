/*
 * run.h: the agent from its options to its end.
 */
#ifndef TAKT_AGENT_RUN_H
#define TAKT_AGENT_RUN_H

#include "agent.h"

/* Serves until a signal ends it: the exit status. */
int takt_agent_run(const takt_agent_options *options);

/* The two ends of it, for a caller that runs the loop itself. 0, or the exit status after a
 * message; then there is nothing to close. */
int takt_agent_open(takt_agent *agent, const takt_agent_options *options);

/* Ends it at once. Runs the loop until all has ended. */
void takt_agent_close(takt_agent *agent);

#endif
