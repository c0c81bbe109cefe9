/*
 * trial.h: every operation of a store, tried.
 */
#ifndef TAKT_DOCTOR_TRIAL_H
#define TAKT_DOCTOR_TRIAL_H

#include "doctor/checkup.h"

/* Opens the store, tries every operation on a ledger of its own, and tells the outcome. */
void takt_doctor_trial(takt_checkup *checkup);

#endif
