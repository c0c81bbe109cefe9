/*
 * answers.h: what a limit's program reads from the vendor's answers: which header fields say how
 * much of the quota is left (`learn`), and where answers state what a request has used (`settle`).
 * The library reads no answers; it checks these texts and passes them on.
 *
 *     learn: openai
 *     learn: {remaining: X-Left, reset: X-Left-Reset, unit: tokens}
 *     settle: /usage/total_tokens
 *     settle: {input_tokens: /usage/prompt_tokens, output_tokens: /usage/completion_tokens}
 *     settle: openai
 */
#ifndef TAKT_POLICY_ANSWERS_H
#define TAKT_POLICY_ANSWERS_H

#include <takt/policy.h>
#include <takt/takt.h>

#include "core/limit.h"

#define TAKT_HEADER_SIZE_MAX  64  /* bytes of a header's name */
#define TAKT_POINTER_SIZE_MAX 255 /* bytes of a pointer */

typedef struct takt_unit_pointer {
    char unit[TAKT_UNIT_SIZE_MAX + 1]; /* "": the one that the request states */
    char pointer[TAKT_POINTER_SIZE_MAX + 1];
} takt_unit_pointer;

struct takt_answers {
    /* With TAKT_LEARN_FIELDS; headers in lower case; "": not given. */
    char remaining[TAKT_HEADER_SIZE_MAX + 1];
    char reset[TAKT_HEADER_SIZE_MAX + 1];
    char unit[TAKT_UNIT_SIZE_MAX + 1];
    const char *vendor; /* of settle: the name of a vendor; NULL: `pointers` has them */
    takt_unit_pointer pointers[TAKT_AMOUNTS_MAX];
    int pointer_count;
};

/* Reads the word of `learn`: a name, or TAKT_LEARN_FIELDS for a text in braces. */
int takt_learn_read(const char *text, takt_learn *learn, takt_error *error);

/*
 * Reads the rest of `learn` and `settle` into limit->answers, which takt_answers_free frees; NULL
 * if there is neither.  Returns 0, TAKT_E_POLICY with an error that begins with the field, or
 * TAKT_E_NOMEM.
 */
int takt_answers_read(const takt_limit_text *text, takt_limit *limit, takt_error *error);
void takt_answers_free(struct takt_answers *answers); /* NULL is harmless */

/*
 * Whether the limit or one that it is within counts what its `settle` states; `within` is resolved.
 * Returns 0, or TAKT_E_POLICY with an error that begins with "settle: ".
 */
int takt_answers_check(const takt_limit *limit, takt_error *error);

/* See takt_policy_settle. */
int takt_answers_pointer(const takt_limit *limit, size_t index, const char **unit,
                         const char **pointer);

/* How the vendor states what is left of a unit that the limit counts ("": a cost without a name);
 * TAKT_LEARN_OFF: its header fields say nothing of it. */
takt_learn takt_answers_learn(const takt_limit *limit, const char *unit);

/* Appends ", learn openai, settle /usage/total_tokens"; nothing if there is neither. */
void takt_answers_describe(const takt_limit *limit, char *text, size_t size);

#endif
