/*
 * gcra.h: what gcra.c, token_bucket.c and leaky_bucket.c share: one arithmetic and one state under
 * three names that differ in the burst only. A policy may change from one to another, and the
 * ledger keeps its state.
 */
#ifndef TAKT_CORE_GCRA_H
#define TAKT_CORE_GCRA_H

#include "rules/rule.h"

/* Derives the second group of a rule from its burst (default: 1). */
int takt_gcra_prepare(takt_rule *rule, takt_error *error);

/* The functions of the table's row, as rule.h describes them. */
int64_t takt_gcra_capacity(const takt_rule *rule);
void takt_gcra_rest(const takt_rule *rule, takt_rule_state *state, int64_t now_us);
int64_t takt_gcra_earliest(const takt_rule *rule, const takt_rule_state *state, int64_t t_us,
                           int64_t cost);
void takt_gcra_commit(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost);
int64_t takt_gcra_room(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                       int64_t until_us);
int64_t takt_gcra_due(const takt_rule *rule, const takt_rule_state *state, int64_t from_us,
                      int64_t n);
int64_t takt_gcra_series(const takt_rule *rule, takt_rule_state *state, int64_t t_us, int64_t cost,
                         int64_t count, int64_t until_us, takt_run *run);
void takt_gcra_exhaust(const takt_rule *rule, takt_rule_state *state, int64_t at_us);
void takt_gcra_give_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                         int64_t slot_us, int64_t cost, int64_t unused, int64_t until_us);
int64_t takt_gcra_rest_at(const takt_rule *rule, const takt_rule_state *state);
void takt_gcra_pull_back(const takt_rule *rule, takt_rule_state *state, int64_t now_us,
                         int64_t reach_us, int64_t lookahead_us);
void takt_gcra_write_rule(const takt_rule *rule, takt_writer *writer);
void takt_gcra_read_rule(takt_rule *rule, takt_reader *reader);
void takt_gcra_write_state(const takt_rule *rule, const takt_rule_state *state,
                           takt_writer *writer);
void takt_gcra_read_state(const takt_rule *rule, takt_rule_state *state, takt_reader *reader);
void takt_gcra_convert(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                       int64_t now_us);
void takt_gcra_pour(const takt_rule *from, const takt_rule *to, takt_rule_state *state,
                    int64_t now_us);

#define TAKT_GCRA_ROW                                                                              \
    .letter = 'g', .capacity = takt_gcra_capacity, .rest = takt_gcra_rest,                         \
    .earliest = takt_gcra_earliest, .commit = takt_gcra_commit, .room = takt_gcra_room,            \
    .owes = true, .paced = true, .give_back = takt_gcra_give_back, .due = takt_gcra_due,           \
    .series = takt_gcra_series, .exhaust = takt_gcra_exhaust, .rest_at = takt_gcra_rest_at,        \
    .pull_back = takt_gcra_pull_back, .write_rule = takt_gcra_write_rule,                          \
    .read_rule = takt_gcra_read_rule, .write_state = takt_gcra_write_state,                        \
    .read_state = takt_gcra_read_state, .convert = takt_gcra_convert

#endif
