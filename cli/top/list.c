/*
 * What `takt top` and `takt peek` list without names: the limits and keys that have ledgers in the
 * store. A thread reads them, since reading waits for the store.
 */
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/message.h"

static char *copy(const char *text)
{
    return text && *text ? strdup(text) : NULL;
}

static int read_now(takt_cli_lister *lister)
{
    takt_options options = {.store = lister->store, .name_space = lister->name_space};

    lister->error = (takt_error){0};
    return takt_ledgers_read(&lister->read, NULL, &options, TAKT_CLI_LISTED_MAX, &lister->error);
}

int takt_cli_lister_begin(takt_cli_lister *lister, const char *store, const char *name_space)
{
    free(lister->store);
    free(lister->name_space);
    takt_ledgers_free(lister->read);
    lister->read = NULL;
    lister->store = copy(store);
    lister->name_space = copy(name_space);
    lister->code = read_now(lister);
    return lister->code;
}

static void on_work(uv_work_t *work)
{
    takt_cli_lister *lister = work->data;

    lister->read_code = read_now(lister);
}

static void on_worked(uv_work_t *work, int status)
{
    takt_cli_lister *lister = work->data;

    lister->under_way = false;
    if (status != 0)
        return;
    lister->code = lister->read_code;
    lister->listed(lister->data);
}

void takt_cli_lister_again(takt_cli_lister *lister, uv_loop_t *loop)
{
    if (lister->under_way)
        return;
    lister->work.data = lister;
    lister->under_way = uv_queue_work(loop, &lister->work, on_work, on_worked) == 0;
}

/* Whether the policy has the rules of everything that is listed. */
static bool is_known(const takt_policy *policy, const takt_ledgers *ledgers)
{
    for (size_t i = 0; i < ledgers->count; i++)
        if (!takt_policy_has(policy, ledgers->all[i].limit))
            return false;
    return true;
}

/* Keeps the list until the end, since the rows' names, and without a policy the client, refer to
 * it. */
static bool keep(takt_cli_lister *lister)
{
    takt_ledgers **kept = realloc(lister->kept, (lister->kept_count + 1) * sizeof(*kept));

    if (!kept)
        return false;
    lister->kept = kept;
    kept[lister->kept_count++] = lister->read;
    return true;
}

static void note_missing(takt_cli_lister *lister)
{
    const char *missing = lister->read->missing;

    snprintf(lister->missing, sizeof lister->missing, "%s", missing ? missing : "");
}

const takt_ledgers *takt_cli_lister_take(takt_cli_lister *lister)
{
    const takt_ledgers *taken = lister->read;

    if (!taken || !keep(lister))
        return NULL;
    note_missing(lister);
    lister->read = NULL;
    return taken;
}

/* With a policy, its limits have rows of their own, and other limits have no rules here. */
static bool is_row(const takt_policy *policy, bool foreign, const takt_ledger_name *name)
{
    return (foreign || name->key) && takt_policy_has(policy, name->limit);
}

static bool add_row(takt_cli_rows *rows, const takt_ledger_name *name)
{
    takt_cli_target target = {.key = NULL};
    char *text = NULL, *key = NULL;

    strcpy(target.limit, name->limit); /* names have a maximum length */
    if (name->key) {
        size_t size = strlen(name->limit) + strlen(name->key) + 2;
        text = malloc(size);
        if (!text)
            return false;
        snprintf(text, size, "%s:%s", name->limit, name->key);
        key = text + strlen(name->limit) + 1;
    }
    target.key = key;
    target.text = text;
    if (!takt_cli_rows_add(rows, &target)) {
        free(text);
        return false;
    }
    rows->all[rows->count - 1]->own_text = text;
    rows->all[rows->count - 1]->listed = true;
    return true;
}

static size_t find(const takt_cli_rows *rows, size_t from, const takt_ledger_name *name)
{
    size_t i = from;

    for (; i < rows->count; i++) {
        const takt_cli_target *target = &rows->all[i]->target;
        if (strcmp(target->limit, name->limit) == 0 && !target->key == !name->key &&
            (!name->key || strcmp(target->key, name->key) == 0))
            break;
    }
    return i;
}

bool takt_cli_lister_show(takt_cli_lister *lister, takt_cli_rows *rows, size_t fixed)
{
    const takt_ledgers *ledgers = lister->read;
    const takt_policy *policy = takt_get_policy(rows->session->client);
    size_t at = fixed;

    lister->hidden = ledgers->left_out;
    note_missing(lister);
    if (lister->foreign && !is_known(policy, ledgers)) {
        if (!takt_cli_lister_take(lister) ||
            takt_reload(rows->session->client, ledgers->policy, NULL) != 0)
            return false;
        policy = ledgers->policy;
    }
    for (size_t i = 0; i < ledgers->count; i++) {
        const takt_ledger_name *name = &ledgers->all[i];
        if (!is_row(policy, lister->foreign, name))
            continue;
        size_t found = find(rows, fixed, name);
        if (found == rows->count && !add_row(rows, name))
            return false;
        if (found < at)
            continue;
        takt_cli_row *row = rows->all[found];
        memmove(&rows->all[at + 1], &rows->all[at], (found - at) * sizeof(takt_cli_row *));
        rows->all[at++] = row;
        row->gone = false;
    }
    if (rows->forgets && !lister->missing[0])
        takt_cli_rows_forget(rows, at);
    takt_ledgers_free(lister->read);
    lister->read = NULL;
    return true;
}

const char *takt_cli_lister_note(const takt_cli_lister *lister, char text[256])
{
    text[0] = '\0';
    if (lister->code == TAKT_E_STORE_ACCESS)
        snprintf(text, 256, "keys are not listed: %.200s", lister->error.text);
    else if (lister->missing[0])
        snprintf(text, 256, "not all keys are listed: %.200s", lister->missing);
    else if (lister->hidden > 0)
        snprintf(text, 256, "%zu more in use, less busy, %s not shown; name the keys to see",
                 lister->hidden, lister->hidden == 1 ? "is" : "are");
    return text;
}

void takt_cli_lister_free(takt_cli_lister *lister)
{
    takt_ledgers_free(lister->read);
    for (size_t i = 0; i < lister->kept_count; i++)
        takt_ledgers_free(lister->kept[i]);
    free(lister->kept);
    free(lister->store);
    free(lister->name_space);
    *lister = (takt_cli_lister){0};
}
