/*
 * The policy file of a program, and another reading of it while a client goes by the first one.
 */
#ifndef TAKT_KIT_POLICY_FILE_H
#define TAKT_KIT_POLICY_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/takt.h>

/* Policies that a client may still use after takt_reload; zeros at first. */
typedef struct takt_former_policies {
    takt_policy **all;
    size_t count;
} takt_former_policies;

/* `given`, else $TAKT_POLICY, else ./takt.yaml if it exists. NULL: no file. */
const char *takt_policy_file(const char *given);

/* 0, or the exit status with a reason. */
int takt_policy_file_load(takt_policy **policy, const char *path, takt_error *error);

/* Reads the file again and hands the policy to the client: *policy becomes the new one, and the one
 * before is former. `limit` (NULL: none) must be in it. False: nothing changes; `error` says
 * why. */
bool takt_policy_file_reread(takt_policy **policy, takt_former_policies *former, const char *path,
                             const char *limit, takt_client *client, takt_error *error);

/* Frees them; the client must be closed. */
void takt_former_policies_free(takt_former_policies *former);

#endif
