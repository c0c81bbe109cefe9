/*
 * watch.c: see watch.h.
 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "kit/message.h"

#define LIST_EVERY_MS 10000

void takt_cli_watch_name(struct argp_state *state, takt_cli_watch *watch, const char *word)
{
    takt_cli_target *targets =
        realloc(watch->targets, (watch->target_count + 1) * sizeof(*targets));

    if (!targets)
        argp_failure(state, EX_OSERR, 0, "%s", takt_strerror(TAKT_E_NOMEM));
    watch->targets = targets;
    takt_cli_read_target(state, word, &targets[watch->target_count++]);
}

/* A followed policy may have new limits, whose rows precede the keys. */
static bool add_policy(takt_cli_watch *watch)
{
    size_t before = watch->rows.count, added;
    takt_cli_row *row;

    if (watch->lister.foreign)
        return true;
    if (!takt_cli_rows_add_policy(&watch->rows))
        return false;
    added = watch->rows.count - before;
    for (size_t i = 0; i < added && before > watch->fixed; i++) {
        row = watch->rows.all[before + i];
        memmove(&watch->rows.all[watch->fixed + i + 1], &watch->rows.all[watch->fixed + i],
                (before - watch->fixed) * sizeof(takt_cli_row *));
        watch->rows.all[watch->fixed + i] = row;
    }
    watch->fixed += added;
    return true;
}

/* Without a policy the rules come from the ledgers. */
static int open_session(takt_cli_watch *watch)
{
    const takt_ledgers *ledgers;
    int code;

    watch->lister.foreign = watch->target_count == 0 && !takt_cli_has_policy(watch->settings);
    if (!watch->lister.foreign)
        return takt_cli_open(&watch->session, watch->settings,
                             takt_cli_is_ad_hoc(watch->settings) ? &watch->targets[0] : NULL);
    code = takt_cli_lister_begin(&watch->lister, takt_cli_store(watch->settings), NULL);
    if (code != 0)
        return takt_cli_refuse_store(watch->settings, code, &watch->lister.error);
    ledgers = takt_cli_lister_take(&watch->lister);
    if (!ledgers)
        return EX_OSERR;
    /* the client only reads it, and the lister frees it */
    return takt_cli_open_by(&watch->session, watch->settings,
                            (takt_policy *)(uintptr_t)ledgers->policy, NULL);
}

/* Adds the rows: the limits named, else all of the policy. */
static int add_rows(takt_cli_watch *watch)
{
    bool added = watch->target_count > 0 || add_policy(watch);

    for (size_t i = 0; added && i < watch->target_count; i++) {
        const takt_cli_target *target = &watch->targets[i];
        if (!takt_policy_has(watch->session.policy, target->limit))
            return takt_cli_refuse_limit(watch->session.policy, target->limit);
        added = takt_cli_rows_add(&watch->rows, target);
    }
    if (!added)
        takt_message("%s", takt_strerror(TAKT_E_NOMEM));
    else if (watch->rows.count == 0 && !watch->lister.foreign)
        takt_message("the policy has no limits");
    return !added ? EX_OSERR : watch->rows.count == 0 && !watch->lister.foreign ? EX_CONFIG : 0;
}

int takt_cli_watch_open(takt_cli_watch *watch)
{
    int status = open_session(watch);

    if (status)
        return status;
    watch->rows.session = &watch->session;
    status = add_rows(watch);
    if (status)
        takt_cli_watch_close(watch);
    return status;
}

void takt_cli_watch_close(takt_cli_watch *watch)
{
    if (watch->lister.foreign)
        watch->session.policy = NULL;
    if (watch->rows.session)
        takt_cli_close(&watch->session);
    watch->rows.session = NULL;
    takt_cli_rows_free(&watch->rows);
    takt_cli_lister_free(&watch->lister);
    free(watch->targets);
    watch->targets = NULL;
}

void takt_cli_watch_listed(takt_cli_watch *watch, char note[256])
{
    char text[256];

    if (watch->lister.code == 0 && watch->lister.read)
        (void)takt_cli_lister_show(&watch->lister, &watch->rows, watch->fixed);
    takt_cli_lister_note(&watch->lister, note ? note : text);
}

void takt_cli_watch_list(takt_cli_watch *watch, char note[256])
{
    const takt_policy *policy = watch->session.policy;
    const char *url = takt_cli_store(watch->settings);

    if (watch->target_count > 0)
        return;
    watch->lister.code = takt_cli_lister_begin(
        &watch->lister, url ? url : takt_policy_store(policy), takt_policy_namespace(policy));
    takt_cli_watch_listed(watch, note);
}

void takt_cli_watch_again(takt_cli_watch *watch)
{
    uint64_t now_ms = uv_now(&watch->session.loop);

    if (watch->target_count > 0)
        return;
    (void)add_policy(watch);
    if (watch->listed_at_ms && now_ms - watch->listed_at_ms < LIST_EVERY_MS)
        return;
    watch->listed_at_ms = now_ms ? now_ms : 1;
    takt_cli_lister_again(&watch->lister, &watch->session.loop);
}
