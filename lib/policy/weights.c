/*
 * weights.c: see weights.h.
 */
#include "policy/weights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/quote.h"
#include "base/time_text.h"
#include "policy/field.h"
#include "policy/pairs.h"

static int read_fair(const char *text, takt_fair *fair, takt_error *error)
{
    static const char *const words[] = {"tenant", "key"};
    size_t word;
    int code = text == NULL ? 0 : takt_field_read_word("fair", text, words, 2, &word, error);
    if (code == 0 && text != NULL)
        *fair = word == 0 ? TAKT_FAIR_TENANT : TAKT_FAIR_KEY;
    return code;
}

static int read_weight(const takt_pair *pair, takt_weight *read, takt_error *error)
{
    char quoted[TAKT_QUOTE_SIZE], value[TAKT_QUOTE_SIZE];
    int64_t weight = 0;
    if (strlen(pair->name) > TAKT_TENANT_SIZE_MAX)
        return takt_fail(error, TAKT_E_POLICY, "weights: %s: has %zu bytes; write at most %d",
                         takt_quote(pair->name, quoted), strlen(pair->name), TAKT_TENANT_SIZE_MAX);
    if (takt_parse_whole(pair->value, TAKT_TENANT_WEIGHT_MAX, &weight) != 0 || weight == 0)
        return takt_fail(error, TAKT_E_POLICY, "weights: %s: %s: write a whole number from 1 to %d",
                         takt_quote(pair->name, quoted), takt_quote(pair->value, value),
                         TAKT_TENANT_WEIGHT_MAX);
    strcpy(read->tenant, pair->name);
    read->weight = (int32_t)weight;
    return 0;
}

static int by_tenant(const void *a, const void *b)
{
    return strcmp(((const takt_weight *)a)->tenant, ((const takt_weight *)b)->tenant);
}

static int read_weights(const char *text, struct takt_weights **weights, takt_error *error)
{
    takt_pairs pairs;
    int code = takt_pairs_read("weights", text, TAKT_WEIGHTS_MAX, &pairs, error);
    if (code != 0)
        return code;
    struct takt_weights *read = calloc(1, sizeof *read);
    if (read == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory");
    for (int i = 0; code == 0 && i < pairs.count; i++)
        code = read_weight(&pairs.pairs[i], &read->of[read->count++], error);
    if (code != 0) {
        free(read);
        return code;
    }
    qsort(read->of, (size_t)read->count, sizeof read->of[0], by_tenant);
    *weights = read;
    return 0;
}

int takt_weights_read(const takt_limit_text *text, takt_limit *limit, takt_error *error)
{
    int64_t others = 1;
    limit->weights = NULL;
    limit->fair = TAKT_FAIR_WORKER;
    limit->default_weight = 1;
    int code = read_fair(text->fair, &limit->fair, error);
    if (code != 0)
        return code;
    const char *alone = text->weights != NULL          ? "weights"
                        : text->default_weight != NULL ? "default_weight"
                                                       : NULL;
    if (alone != NULL && limit->fair == TAKT_FAIR_WORKER)
        return takt_fail(error, TAKT_E_POLICY,
                         "%s: needs fair; add fair: tenant or fair: key, or remove %s", alone,
                         alone);
    code = takt_field_read_count("default_weight", text->default_weight, TAKT_TENANT_WEIGHT_MAX,
                                 &others, error);
    limit->default_weight = (int32_t)others;
    return code == 0 && text->weights != NULL ? read_weights(text->weights, &limit->weights, error)
                                              : code;
}

void takt_weights_free(struct takt_weights *weights)
{
    free(weights);
}

int32_t takt_weights_of(const takt_limit *limit, const char *tenant)
{
    takt_weight wanted;
    const takt_weight *found = NULL;
    if (limit->weights != NULL && strlen(tenant) <= TAKT_TENANT_SIZE_MAX) {
        strcpy(wanted.tenant, tenant);
        found = bsearch(&wanted, limit->weights->of, (size_t)limit->weights->count,
                        sizeof limit->weights->of[0], by_tenant);
    }
    return found != NULL ? found->weight : limit->default_weight;
}

/* Whether those that one limit names have the same weights in the other. */
static bool are_named_alike(const takt_limit *named, const takt_limit *other)
{
    for (int i = 0; named->weights != NULL && i < named->weights->count; i++)
        if (takt_weights_of(other, named->weights->of[i].tenant) != named->weights->of[i].weight)
            return false;
    return true;
}

bool takt_weights_same(const takt_limit *a, const takt_limit *b)
{
    return a->default_weight == b->default_weight && are_named_alike(a, b) && are_named_alike(b, a);
}

void takt_weights_describe(const takt_limit *limit, char *text, size_t size)
{
    const struct takt_weights *weights = limit->weights;
    if (limit->fair == TAKT_FAIR_WORKER)
        return;
    takt_field_append(text, size, ", fair %s", limit->fair == TAKT_FAIR_KEY ? "key" : "tenant");
    for (int i = 0; weights != NULL && i < weights->count; i++)
        takt_field_append(text, size, "%s%s: %" PRId32, i == 0 ? ", weights {" : ", ",
                          weights->of[i].tenant, weights->of[i].weight);
    if (weights != NULL)
        takt_field_append(text, size, "}");
    if (limit->default_weight != 1)
        takt_field_append(text, size, ", default_weight %" PRId32, limit->default_weight);
}
