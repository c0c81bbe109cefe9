/*
 * A client on a loop of its own, opened by the command line.
 */
#ifndef TAKT_CLI_COMMON_SESSION_H
#define TAKT_CLI_COMMON_SESSION_H

#include <stdbool.h>

#include <takt/takt.h>
#include <uv.h>

#include "kit/policy_file.h"
#include "options.h"

typedef struct takt_cli_session {
    takt_policy *policy; /* by which the client goes, or a copy of it */
    takt_former_policies former;
    takt_client *client;
    uv_loop_t loop;
    int64_t store_timeout_us;                       /* of a call; 0: as usual */
    bool store_lost;                                /* claims fail at present */
    void (*on_event)(void *data, const char *text); /* NULL: said on standard error */
    void *data;
} takt_cli_session;

/* How long a command that asks the store once, and has nothing else to do, waits for the answer. */
#define TAKT_CLI_TIMEOUT_US INT64_C(10000000)

/* Where a policy is looked for and the store has none. */
#define TAKT_CLI_NO_POLICY                                                                         \
    "the store has no policy for this namespace; put one there with `takt apply FILE`"

/* The store that the command line or $TAKT_STORE names; NULL: none. */
const char *takt_cli_store(const takt_cli_settings *settings);

/* Whether there is a policy to be read. */
bool takt_cli_has_policy(const takt_cli_settings *settings);

/* Reads the policy.  0, or the exit status after a message. */
int takt_cli_load_policy(takt_policy **policy, const takt_cli_settings *settings);

/* The same, where one that follows is not enough: then it is the one in the store. */
int takt_cli_load_limits(takt_policy **policy, const takt_cli_settings *settings);

/* Says why a store cannot be opened or used, and returns the exit status. */
int takt_cli_refuse_store(const takt_cli_settings *settings, int code, const takt_error *error);

/* Makes a policy with one limit, named as the target, from --rate and what goes with it.  Returns
 * as above. */
int takt_cli_make_policy(takt_policy **policy, const takt_cli_settings *settings,
                         const takt_cli_target *target);

/* A line for each limit: its name and its description. */
void takt_cli_print_limits(const takt_policy *policy);

/* Prints the policy's warnings on standard error. */
void takt_cli_warn(const takt_policy *policy);

/* Reports that there is no such limit, which there are, and which was probably meant. Returns the
 * exit status. */
int takt_cli_refuse_limit(const takt_policy *policy, const char *name);

/*
 * Loads the policy, or makes one of --rate for `target`, looks for the limit (NULL: for none) and
 * opens the client. Set on_event and data before. 0, or the exit status after a message; then
 * nothing is left open.
 */
int takt_cli_open(takt_cli_session *session, const takt_cli_settings *settings,
                  const takt_cli_target *target);

/* The same with a loaded policy, which the session owns from then on, also on failure. */
int takt_cli_open_by(takt_cli_session *session, const takt_cli_settings *settings,
                     takt_policy *policy, const takt_cli_target *target);

/* Reads the policy's file again, and uses it from now on. False: nothing changes; `error` says
 * why. */
bool takt_cli_reread(takt_cli_session *session, const takt_cli_settings *settings,
                     const takt_cli_target *target, takt_error *error);

/* Closes the client and runs the loop until everything on it has ended.  Safe after takt_close. */
void takt_cli_close(takt_cli_session *session);

/* Sets $TAKT_FENCE to the permit's number, or unsets it, for commands that are started next. */
void takt_cli_export_fence(const takt_permit *permit);

/* Fills in the request.  0, or the exit status after a message. */
int takt_cli_request(const takt_cli_session *session, const takt_cli_target *target,
                     const takt_cli_wish *wish, takt_request *request);

/* Says why an acquire or a call failed, and returns the exit status for it.  `request`: of an
 * acquire; NULL: of a call. */
int takt_cli_refusal(const takt_cli_session *session, const takt_cli_target *target, int code,
                     const takt_request *request);

#endif
