/*
 * ledger_text.h: a ledger as one line of readable text, the same in every store:
 *
 *     g1/10000*10 1763692800123456;g20/60000000*1 1763692801000000+2;t17;b1763692900000000;w...
 *
 * First come the rules, their states and their debts (takt_rule_write), then, unless they have
 * their defaults:
 *
 *     rREVISION,LOOKAHEAD,MAX_WAITING[o|u][,CONCURRENCY,LEASE]
 *                                    the revision of the policy
 *     aBACKOFF,RECOVER,TIME,FLOOR    its `adapt`, with a revision
 *     nNUMBER[,LEASED]               the last fencing number; no lease ends after that
 *     tTURN                          the last turn in line
 *     bINSTANT[,REASON]              until when it is blocked, and why (as reason.h writes it)
 *     kPERCENT,SINCE,COUNTED,STATE[,FROM,UNTIL]
 *                                    the brake, and its state under the numbers that follow from
 *                                    it; since when and until when it is a block's pace
 *     mUNTIL,SINCE,TAKEN             while somebody looks: until when and since when what is taken
 *                                    is counted, and how much it was (meter.h)
 *     cSTATED,CONTESTED              callers of the same revision state other rules: when these and
 *                                    when those were last stated
 *     eASKED,ASKER[,SLOT,COST,PRIORITY]...
 *                                    when slots for urgent work were asked for, by which worker,
 *                                    and the slots that workers have handed on
 *     v[INSTANT,PARTS,LENGTH...][+UNUSED]
 *                                    slots that were passed over (gaps.h): for each run its first
 *                                    slot, and how much later it ends; while somebody is in line,
 *                                    how many have passed unused, as an instant
 *     hWORKER,SEQ,HELD,EXPIRES       for each worker that holds permits
 *     wWORKER,SEQ,PRIORITY,TURN,WANTING,NEED,WAITING,AGAIN,EXPIRES[*WEIGHT[+LEFT]][-FORMER][,[a][f][p]]
 *                                    for each place in line
 *
 * With tenants (tenants.h) there is a part for each of them before the places, and a place has at
 * its end whose it is, counted from 1, the worker to wake, how many of its waiters inner limits
 * hold back, and how long after its claim these give it the next token:
 *
 *     pPRIORITY,WEIGHT,TAG,SINCE,NAME
 *     w...@TENANT,PROCESS[,HELD_BACK][+DUE_IN]
 *
 * Workers are hexadecimal; a place may be aside, the foremost of its worker, lacking a permit, and
 * of a higher weight than 1 with so many shares left of its turn, and behind others of its priority
 * since a former turn. More than may wait are refused, or drop the oldest (o) or those less urgent
 * (u).  A text stands for itself: it tells the numbers that its state is kept under.
 */
#ifndef TAKT_CORE_LEDGER_TEXT_H
#define TAKT_CORE_LEDGER_TEXT_H

#include "core/ledger.h"

/* Room for the text of any ledger with so many places in line, holders and tenants:
 * takt_ledger_encode needs no more. */
size_t takt_ledger_text_size(int line_count, int holder_count, int tenant_count);

/* Writes the text without NUL; returns its length. */
size_t takt_ledger_encode(const takt_ledger *ledger, char *text, size_t size);

/* How many places, holders and tenants a text lists: what capacities decoding it needs. */
int takt_ledger_text_places(const char *text, size_t size);
int takt_ledger_text_holders(const char *text, size_t size);
int takt_ledger_text_tenants(const char *text, size_t size);

/*
 * Reads a text into a ledger whose line, holders and tenants have the capacity, for a call from a
 * worker whose policy has `numbers`.  The ledger adopts them, unless the text's revision is higher;
 * then ledger->numbers is `kept`, filled with the text's numbers.  Returns 0.  An unreadable text
 * gives -1 and a fresh ledger, because half of a state cannot be trusted.  It is blocked until no
 * slot of the lost state can count: for the limit's span (takt_numbers_span) after the last
 * possible one.
 */
int takt_ledger_decode(takt_ledger *ledger, const takt_numbers *numbers, takt_numbers *kept,
                       int64_t now_us, const char *text, size_t size);

#endif
