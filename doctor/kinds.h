/*
 * kinds.h: the checks of each kind of store, one file per kind: file.c, memory.c, redis.c,
 * agent.c.
 */
#ifndef TAKT_DOCTOR_KINDS_H
#define TAKT_DOCTOR_KINDS_H

#include "doctor/checkup.h"

/* Checks the path and the disk, before the file is opened. */
void takt_doctor_file(takt_checkup *checkup);

void takt_doctor_memory(takt_checkup *checkup);

void takt_doctor_agent(takt_checkup *checkup);

/* Checks the server: its facts (redis_facts.h), our rights (redis_rights.h), its clock. */
void takt_doctor_redis(takt_checkup *checkup);

/* Loads the scripts into the server, without any check. */
void takt_doctor_redis_load_scripts(takt_checkup *checkup);

#endif
