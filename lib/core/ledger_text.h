/*
 * ledger_text.h: a ledger as one line of readable text, the same in every store:
 *
 *     g1/10000*10 1763692800123456;g20/60000000*1 1763692801000000+2;t17;b1763692900000000;w...
 *
 * the rules and their states (as takt_rule_write has it), then, where they say anything, the
 * revision of the policy with its lookahead and max_waiting `r`, the last turn `t`, the block `b`,
 * and a `w` for each place in line: rREVISION,LOOKAHEAD,MAX_WAITING
 *     wWORKER,SEQ,PRIORITY,TURN,WANTING,NEED,WAITING,AGAIN,EXPIRES[,[a][f]]   (worker in
 * hexadecimal; aside, foremost) A text stands for itself: it tells the numbers that its state is
 * kept under.
 */
#ifndef TAKT_CORE_LEDGER_TEXT_H
#define TAKT_CORE_LEDGER_TEXT_H

#include "core/ledger.h"

/* Room for the text of any ledger with so many places in line: takt_ledger_encode needs no more. */
size_t takt_ledger_text_size(int line_count);

/* Writes the text without NUL; returns its length. */
size_t takt_ledger_encode(const takt_ledger *ledger, char *text, size_t size);

/* How many places a text lists: what line_capacity decoding it needs. */
int takt_ledger_text_places(const char *text, size_t size);

/*
 * Reads a text into a ledger whose line has the capacity, for a call from a worker whose policy
 * says `limit`: which is adopted, unless the text's revision is higher; then ledger->limit is
 * `kept`, filled with the text's numbers. A text that cannot be read gives a fresh ledger, blocked
 * for the longest period of the limit's rules, and -1: state is never trusted half-way.  Otherwise
 * 0.
 */
int takt_ledger_decode(takt_ledger *ledger, const takt_limit *limit, takt_limit *kept,
                       int64_t now_us, const char *text, size_t size);

#endif
