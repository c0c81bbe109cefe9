/*
 * run.h: the agent from its options to its end.
 */
#ifndef TAKT_AGENT_RUN_H
#define TAKT_AGENT_RUN_H

#include "agent.h"

/* Serves until a signal ends it: the exit status. */
int takt_agent_run(const takt_agent_options *options);

#endif
