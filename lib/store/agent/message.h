/*
 * message.h: the messages between a program's client and the agent of its host (lib/relay answers).
 *
 * Both sides send arrays of strings (RESP2).  The client sends commands that begin with RELAY; all
 * that the agent sends is unasked, as after SUBSCRIBE.  Numbers are decimal; a space follows each.
 *
 * The limit's name, a NUL and KEY are the name of a queue (scheduler/registry.h).  KEY has these
 * parts, with a NUL between them:
 *     the key of the limit; of nested work that of the outermost limit;
 *     the tenant's name, if there is a tenant; of nested work it is there in any case, or empty;
 *     of nested work: the name and the key of each inner limit, the innermost first;
 *     of nested work, if amounts of an inner level have other numbers in COST: four digits for each
 *     inner level (takt_unit_map_digits).
 *
 * COST and ACTUAL are amounts of the limit's units: of the first unit, and after slashes of the
 * further units that rules count (1500/20).  COST of nested work has those of all levels (chain.h).
 *
 *     RELAY OPEN VERSION NAMESPACE
 *     RELAY LIMIT ID NAME NUMBERS         the numbers of a limit, under an id of this connection.
 *                                         A limit has an id for each of its numbers: keys may have
 *                                         other ones (overrides)
 *     RELAY WANT ID KEY "SEQ SEEN HOLDING WEIGHT INSIDE [COUNT COST PRIORITY]..."
 *                                         the waiters without a slot, and the permits held: a
 *                                         situation, as in a claim.  SEQ above 0 asks for a report
 *                                         when the store has counted the waiters.  SEEN is the
 *                                         highest index that has arrived.  WEIGHT is the
 *                                         tenant's, if any wait; 0: no limit has any.  INSIDE says
 *                                         which tenants the innermost line has: 0 none, 1 those of
 *                                         the outermost line, 2 its own ones (takt_inside).
 *                                         ID of nested work names the outermost limit, and after
 *                                         slashes the inner ones as KEY does (3/5).  If none wait
 *                                         and no permit is held, the ids say only the names
 *     RELAY CALL NUMBER ID KEY "OP COST FOR SLOT REQUESTS ACTUAL [WEIGHT PRIORITY]" REASON
 *                                         WEIGHT and PRIORITY of work whose tenant is settled.  ID
 *                                         of a nested try is as in WANT
 *     RELAY POLICY NUMBER "VERSION AT"    reads the stored policy
 *     RELAY APPLY NUMBER "VERSION AT" CHANGE TEXT
 *
 *     open "MONOTONIC STORE"              the agent's clock, and the store's (0: not known)
 *     report LIMIT KEY "SEQ MONOTONIC STORE NEXT BLOCKED WAITING WORKERS REFUSED LOST LEASE INDEX
 *                    [SLOT COST PRIORITY FENCE]..." NUMBERS
 *                                         due slots; how many waiters are refused, and how, one
 *                                         after the other: 2/1o are two by refuse, then one by
 *                                         drop-oldest (o; drop-lowest: u); the index of the last
 *                                         slot or refusal; NUMBERS: those in force if they are
 *                                         others, else empty; of nested work those of each level,
 *                                         the outermost first, with a line feed before each inner
 *                                         one, up to the last level that has others
 *     fail LIMIT KEY "CODE" TEXT          the waiters have left, for that reason
 *     answer NUMBER "STATUS FENCE LEASE ..." REASON TEXT
 *                                         and the standing, and which level of a nested try it is
 *                                         of: 0 the outermost, from 1 on the inner ones, the
 *                                         innermost first; of a policy its version and instant
 */
#ifndef TAKT_STORE_AGENT_MESSAGE_H
#define TAKT_STORE_AGENT_MESSAGE_H

#include <takt/standing.h>

#include "base/text.h"
#include "core/ledger.h"

#define TAKT_RELAY_VERSION     5
#define TAKT_RELAY_TEXT_SIZE   8192 /* of any message's numbers, and of a limit's */
#define TAKT_RELAY_NEWER_SIZE  (TAKT_LEVELS_MAX * TAKT_RELAY_TEXT_SIZE)
#define TAKT_RELAY_SLOTS_MAX   64 /* in one report */
#define TAKT_RELAY_CLASSES_MAX 64 /* costs and priorities in one statement */
#define TAKT_RELAY_INNER_MAX   (1 + TAKT_NAME_SIZE_MAX + 1 + TAKT_KEY_SIZE_MAX)
#define TAKT_RELAY_UNITS_MAX   (1 + TAKT_INNER_MAX * TAKT_AMOUNTS_MAX)
#define TAKT_RELAY_KEY_MAX                                                                         \
    (TAKT_KEY_SIZE_MAX + 1 + TAKT_TENANT_SIZE_MAX + TAKT_INNER_MAX * TAKT_RELAY_INNER_MAX +        \
     TAKT_RELAY_UNITS_MAX)
#define TAKT_RELAY_NAME_MAX (TAKT_NAME_SIZE_MAX + 1 + TAKT_RELAY_KEY_MAX)

/* What makes waiters alike: a ticket or a slot for one of them suits each. */
typedef struct takt_relay_kind {
    int32_t cost;
    takt_more more;
    int32_t priority;
} takt_relay_kind;

/* Alike waiters of one ledger. */
typedef struct takt_relay_class {
    int64_t count;
    takt_relay_kind kind;
} takt_relay_class;

/* A due slot that the agent hands to a client. */
typedef struct takt_relay_slot {
    int64_t slot_us;
    takt_relay_kind kind;
    int64_t fence;
} takt_relay_slot;

static inline bool takt_relay_alike(takt_relay_kind a, takt_relay_kind b)
{
    return a.cost == b.cost && a.priority == b.priority && takt_more_same(a.more, b.more);
}

/* Waiters that leave, one after the other. */
typedef struct takt_relay_leaves {
    int count;
    takt_leave of[TAKT_LEVELS_MAX];
} takt_relay_leaves;

/* So many more leave in that way.  Without room, all that leave in one way leave at once. */
void takt_relay_leave(takt_relay_leaves *leaves, takt_when_full way, int64_t count);

/* How many leave. */
int64_t takt_relay_leaving(const takt_relay_leaves *leaves);

/* The class of that kind among `count`; NULL: there is none. */
takt_relay_class *takt_relay_find(takt_relay_class *classes, int count, takt_relay_kind kind);

/* The parts of a name; they are in its memory. */
typedef struct takt_relay_parts {
    const char *key, *tenant; /* tenant "": none */
    int inner_count;
    struct {
        const char *limit, *key;
    } inner[TAKT_INNER_MAX];
    takt_unit_map units[TAKT_INNER_MAX]; /* of these levels */
} takt_relay_parts;

/* Reads a name: a limit's name, a NUL and KEY.  A NUL follows it.  False: KEY is malformed. */
bool takt_relay_read_name(takt_relay_parts *parts, const char *name, size_t size);

/* A number of a text, and the space behind it. */
void takt_relay_write(takt_writer *writer, int64_t value);
int64_t takt_relay_read(takt_reader *reader, int64_t min, int64_t max);

/* Amounts of a text, and the space behind them. */
void takt_relay_write_amounts(takt_writer *writer, int64_t cost, const int64_t *more);
int64_t takt_relay_read_amounts(takt_reader *reader, int64_t min, int64_t max, int64_t *more);

/* The same of a kind, with its priority. */
void takt_relay_write_kind(takt_writer *writer, takt_relay_kind kind);
takt_relay_kind takt_relay_read_kind(takt_reader *reader);

/* Waiters that leave, with their ways; reading adds them to the others. */
void takt_relay_write_leaves(takt_writer *writer, const takt_relay_leaves *leaves);
void takt_relay_read_leaves(takt_reader *reader, takt_relay_leaves *leaves);

/* The numbers of a limit as a text, in TAKT_RELAY_TEXT_SIZE bytes; returns its length. */
size_t takt_relay_write_numbers(const takt_numbers *numbers, char *text);

/* Reads them back: false if they cannot be read. */
bool takt_relay_read_numbers(takt_numbers *numbers, const char *text, size_t size);

/* The numbers in force of each level that has others than a program, by number as in takt_award. */
typedef struct takt_relay_newer {
    unsigned ledgers; /* bit i: the ledger of number i has them */
    takt_numbers of[TAKT_LEVELS_MAX];
} takt_relay_newer;

/* As a text, in TAKT_RELAY_NEWER_SIZE bytes; returns its length. */
size_t takt_relay_write_newer(const takt_relay_newer *newer, char *text);

/* Reads them back.  Those of a level that cannot be read are left out. */
void takt_relay_read_newer(takt_relay_newer *newer, const char *text, size_t size);

/* A standing without its reason. */
void takt_relay_write_standing(takt_writer *writer, const takt_standing *standing);
void takt_relay_read_standing(takt_reader *reader, takt_standing *standing);

#endif
