/*
 * ledgers.c: lists the ledgers of a store and reads their rules, for programs without a policy.
 * How names are found is left to the stores.
 */
#include <takt/ledgers.h>

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory_pages.h"
#include "client/location.h"
#include "core/ledger_text.h"
#include "store/record.h"

#define REVISION_LOWEST (-1) /* below all policies: their ledgers keep their rules */

/* A ledger that was found. */
typedef struct found_ledger {
    char limit[TAKT_NAME_SIZE_MAX + 1];
    char *key;   /* NULL: the limit as a whole */
    double left; /* of the tokens that it can give at once, 0 to 1 */
} found_ledger;

typedef struct ledger_list {
    takt_ledgers ledgers; /* first */
    takt_policy *policy;
    found_ledger *found;
    size_t found_count, capacity;
    takt_ledger_name *names;
    takt_place *line;
    takt_holder *holders;
    takt_tenant *tenants;
    int line_capacity, holder_capacity, tenant_capacity;
    bool no_memory;
    takt_error trouble; /* of the store, or of a part of it */
} ledger_list;

/* ---- a ledger's text ------------------------------------------------------------------------- */

static bool reserve(ledger_list *list, const char *text, size_t size)
{
    int places = takt_ledger_text_places(text, size) + TAKT_PRIORITIES;
    int holders = takt_ledger_text_holders(text, size) + 1;
    int tenants = takt_ledger_text_tenants(text, size);
    void *grown;

    if (places > list->line_capacity) {
        grown = realloc(list->line, (size_t)places * sizeof *list->line);
        if (!grown)
            return false;
        list->line = grown;
        list->line_capacity = places;
    }
    if (holders > list->holder_capacity) {
        grown = realloc(list->holders, (size_t)holders * sizeof *list->holders);
        if (!grown)
            return false;
        list->holders = grown;
        list->holder_capacity = holders;
    }
    if (tenants > list->tenant_capacity) {
        grown = realloc(list->tenants, (size_t)tenants * sizeof *list->tenants);
        if (!grown)
            return false;
        list->tenants = grown;
        list->tenant_capacity = tenants;
    }
    return true;
}

/* A text has the emission interval of a rate, "1 in 10 ms": a person writes "100/s". */
static void write_as_rate(takt_rule *rule)
{
    static const int64_t units_us[] = {1000000, 60000000, INT64_C(3600000000),
                                       INT64_C(86400000000)};

    if (rule->limit != 1)
        return;
    for (size_t i = 0; i < sizeof units_us / sizeof units_us[0]; i++)
        if (units_us[i] % rule->period_us == 0) {
            rule->limit = units_us[i] / rule->period_us;
            rule->period_us = units_us[i];
            return;
        }
}

/* The remaining part of the tokens that the ledger can give at once, and its numbers. False: the
 * text cannot be read. */
static bool look(ledger_list *list, const char *text, size_t size, const takt_numbers *wanted,
                 takt_numbers *numbers, found_ledger *found)
{
    takt_standing standing = {0};
    takt_memory_pages pages;
    takt_ledger ledger = {.line = list->line,
                          .line_capacity = list->line_capacity,
                          .holders = list->holders,
                          .holder_capacity = list->holder_capacity,
                          .tenants = list->tenants,
                          .tenant_capacity = list->tenant_capacity};
    int64_t now_us = takt_record_clock_us();
    bool readable;

    takt_memory_pages_init(&pages); /* empty: a log counts as unused */
    ledger.pages = &pages.pages;
    readable = takt_ledger_decode(&ledger, wanted, numbers, now_us, text, size) == 0;
    if (readable) {
        if (ledger.numbers != numbers)
            *numbers = *ledger.numbers;
        takt_ledger_peek(&ledger, now_us, &standing);
        found->left = standing.limit > 0 ? (double)standing.remaining / (double)standing.limit : 0;
        if (ledger.turn > 0 && standing.remaining == 0)
            found->left = -1; /* it has, or lately had, waiters */
        if (ledger.fence > 0 && numbers->concurrency == 0)
            numbers->concurrency = TAKT_CONCURRENCY_MAX; /* a text without revision has none */
    }
    takt_memory_pages_close(&pages);
    return readable;
}

/* ---- the found ledgers ----------------------------------------------------------------------- */

/* The limit gets the rules that the first of its ledgers has. */
static bool add_limit(takt_policy *policy, const char *name, const takt_numbers *numbers)
{
    takt_rule_text rule = {.rate = "1/s"};
    takt_limit_text text = {.name = name, .rules = &rule, .rule_count = 1};
    takt_limit *limit;

    if (takt_policy_add(policy, &text, NULL) != 0)
        return false;
    limit = policy->limits[policy->limit_count - 1];
    limit->numbers = *numbers;
    limit->numbers.revision = REVISION_LOWEST;
    for (int i = 0; i < limit->numbers.rule_count; i++)
        write_as_rate(&limit->numbers.rules[i]);
    if (limit->numbers.rule_count == 0 && limit->numbers.concurrency == 0)
        limit->numbers.concurrency = TAKT_CONCURRENCY_MAX;
    return true;
}

static bool grow(ledger_list *list)
{
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    found_ledger *grown;

    if (list->found_count < list->capacity)
        return true;
    grown = realloc(list->found, capacity * sizeof *grown);
    if (!grown)
        return false;
    list->found = grown;
    list->capacity = capacity;
    return true;
}

static void on_found(void *data, const char *limit, const char *key, const char *text, size_t size)
{
    static const takt_numbers lowest = {.revision = REVISION_LOWEST,
                                        .lookahead_us = TAKT_LOOKAHEAD_US};
    ledger_list *list = data;
    takt_numbers numbers;
    found_ledger found = {0};

    if (list->no_memory || !reserve(list, text, size) || !grow(list)) {
        list->no_memory = true;
        return;
    }
    if (!look(list, text, size, &lowest, &numbers, &found))
        return;
    if (!takt_policy_find(list->policy, limit) && !add_limit(list->policy, limit, &numbers))
        return;                 /* a name that no policy can have */
    strcpy(found.limit, limit); /* its length was checked */
    found.key = key[0] ? strdup(key) : NULL;
    list->no_memory |= key[0] && !found.key;
    list->found[list->found_count++] = found;
}

/* ---- the list -------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    const found_ledger *a = left, *b = right;
    int order = strcmp(a->limit, b->limit);

    return order ? order : strcmp(a->key ? a->key : "", b->key ? b->key : "");
}

static int by_load(const void *left, const void *right)
{
    const found_ledger *a = left, *b = right;

    return a->left < b->left ? -1 : a->left > b->left ? 1 : by_name(left, right);
}

/* A server may name a ledger twice. */
static void drop_doubles(ledger_list *list)
{
    size_t kept = 0;

    qsort(list->found, list->found_count, sizeof *list->found, by_name);
    for (size_t i = 0; i < list->found_count; i++) {
        if (kept > 0 && by_name(&list->found[kept - 1], &list->found[i]) == 0)
            free(list->found[i].key);
        else
            list->found[kept++] = list->found[i];
    }
    list->found_count = kept;
}

static bool fill(ledger_list *list, size_t max)
{
    size_t count;

    if (list->found_count > 0)
        drop_doubles(list);
    count = list->found_count < max ? list->found_count : max;
    list->names = calloc(count + 1, sizeof *list->names);
    if (!list->names)
        return false;
    if (list->found_count > 0)
        qsort(list->found, list->found_count, sizeof *list->found, by_load);
    for (size_t i = 0; i < count; i++)
        list->names[i] = (takt_ledger_name){list->found[i].limit, list->found[i].key};
    list->ledgers = (takt_ledgers){.all = list->names,
                                   .count = count,
                                   .left_out = list->found_count - count,
                                   .policy = list->policy,
                                   .missing = list->trouble.code != 0 ? list->trouble.text : NULL};
    return true;
}

int takt_ledgers_read(takt_ledgers **ledgers, const takt_policy *location,
                      const takt_options *options, size_t max, takt_error *error)
{
    static const takt_options defaults = {0};
    static const takt_policy nowhere = {0};
    const takt_options *chosen = options ? options : &defaults;
    const takt_policy *from = location ? location : &nowhere;
    takt_store_options store_options = takt_location_options(chosen, from);
    ledger_list *list;
    int code;

    if (!ledgers)
        return takt_fail(error, TAKT_E_INVALID, "takt_ledgers_read: `ledgers` is NULL");
    list = calloc(1, sizeof *list);
    if (!list || takt_policy_new(&list->policy, NULL) != 0) {
        free(list);
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    }
    code = takt_policy_set_namespace(list->policy, store_options.name_space, error);
    if (code == 0) {
        code = takt_store_list(takt_location_url(chosen, from), &store_options, TAKT_LEDGERS_MAX,
                               on_found, list, &list->trouble);
        if (code != 0 && error)
            *error = list->trouble;
    }
    if (code == 0 && (list->no_memory || !fill(list, max)))
        code = takt_fail(error, TAKT_E_NOMEM, "no memory");
    if (code != 0)
        takt_ledgers_free(&list->ledgers);
    else
        *ledgers = &list->ledgers;
    return code;
}

void takt_ledgers_free(takt_ledgers *ledgers)
{
    ledger_list *list = (ledger_list *)ledgers;

    if (!list)
        return;
    for (size_t i = 0; i < list->found_count; i++)
        free(list->found[i].key);
    takt_policy_free(list->policy);
    free(list->found);
    free(list->names);
    free(list->line);
    free(list->holders);
    free(list->tenants);
    free(list);
}
