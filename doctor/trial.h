/*
 * trial.h: tries every operation of a store.
 */
#ifndef TAKT_DOCTOR_TRIAL_H
#define TAKT_DOCTOR_TRIAL_H

#include "doctor/checkup.h"

/* Opens the store, tries every operation on a ledger of its own, and reports the result. */
void takt_doctor_trial(takt_checkup *checkup);

#endif
