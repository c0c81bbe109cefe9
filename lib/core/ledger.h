/*
 * ledger.h: the whole shared state of one (limit, key), and the calls on it: claim in, award out.
 *
 * A claim states a worker's present situation, never a change, so a repeated, delayed or lost claim
 * does no harm.  A ledger grants only in the answer to the worker's own claim.  If there is no room
 * yet, the answer says when there will be, and the worker sleeps until then.  docs/design.md says
 * why.
 *
 * Everything here is pure: time is an argument, and memory is the caller's.
 */
#ifndef TAKT_CORE_LEDGER_H
#define TAKT_CORE_LEDGER_H

#include <takt/standing.h>

#include "core/numbers.h"
#include "core/reason.h"

#define TAKT_CONTEST_US        INT64_C(10000000) /* rules that nobody states hold no longer than that */
#define TAKT_PRIORITIES        (TAKT_PRIORITY_MAX + 1)
#define TAKT_WANTS_MAX         64               /* runs of like waiters that one claim lists */
#define TAKT_RUNS_MAX          64               /* runs of slots that one award gives */
#define TAKT_WAKES_MAX         8                /* workers that one award has woken */
#define TAKT_OFFERS_MAX        8                /* slots that a ledger has for more urgent work */
#define TAKT_GAPS_MAX          128              /* runs of slots that were passed over */
#define TAKT_GAP_MAX           INT64_C(1000000) /* slots of one run */
#define TAKT_INNER_MAX         (TAKT_LEVELS_MAX - 1)
#define TAKT_WEIGHT_MAX        65535 /* processes behind one worker */
#define TAKT_TENANTS_MAX       256   /* that a ledger can tell apart */
#define TAKT_TENANT_TEXT_MAX   (3 * TAKT_TENANT_SIZE_MAX)
#define TAKT_TENANT_WEIGHT_MAX 1000
#define TAKT_FULL_MIN          4 /* claim_plan.h */
#define TAKT_BATCH_MAX         8 /* claims with inner limits that a server runs in one call */
#define TAKT_REUSES            1000 /* fencing numbers for permits that a worker hands on within itself */
#define TAKT_REUSES_AHEAD_US                                                                       \
    INT64_C(60000000) /* such numbers are given out no further ahead of the clock */

/* A worker claims again after this part of the lookahead at the earliest; the first in line, of
 * which there is only one, may be quicker. */
#define TAKT_LOOKAHEAD_FRACTION       16
#define TAKT_LOOKAHEAD_FRACTION_FIRST 64

/* A place that leaves the next slots to others asks so often whether these are given. */
#define TAKT_LOOKAHEAD_FRACTION_LEFT 4

/* Consecutive waiters that want the same. */
typedef struct takt_want {
    int64_t count;
    int64_t latest_us; /* the waiters have no use for later slots; TAKT_NEVER: any time */
    int32_t cost;
    int32_t priority;
    takt_more more;
} takt_want;

/* A slot in hand that its worker hands on to more urgent work (offers.h). */
typedef struct takt_offer {
    int64_t slot_us;
    int32_t cost;     /* 0: there is no offer */
    int32_t priority; /* of the worker's most urgent waiter */
} takt_offer;

/* Which tenants the innermost line has. */
typedef enum takt_inside {
    TAKT_INSIDE_NONE,   /* one without a name */
    TAKT_INSIDE_ALIKE,  /* those of the outermost line: both limits have `fair` */
    TAKT_INSIDE_WITHIN, /* its own, within the turns of their subject: it alone has `fair` */
} takt_inside;

typedef struct takt_claim {
    /* The number of the worker in line.  A process claims for each tenant, and for each queue of
     * nested work, under another number: takt_tenant_worker, takt_nest_worker. */
    uint64_t worker;
    int64_t seq;     /* grows with every claim of the worker to this ledger */
    int64_t waiting; /* waiters without a slot, including those for which `wants` has no space */
    /* of `waiting`, those that no award has counted; `refuse` refuses only these */
    int64_t newcomers;
    int64_t holding; /* permits that the worker holds: running jobs, and slots in hand */
    /* processes that the worker waits for: a turn has a share for each; 0: one.  More than
     * TAKT_WEIGHT_MAX count as that many. */
    int64_t weight;
    /* a hint: the last award was uncontended and left a slot within the lookahead, so a store may
     * try a shorter way first */
    bool uncontended;
    /* hints, too: it stood in line at its last award, and as many workers have shared the ledger of
     * late (0: not known) */
    bool in_line;
    int64_t workers;
    bool distant;     /* its answers take so long that it does not wait for offers */
    takt_offer offer; /* after news: for work that is more urgent than all of the worker's */
    /* With `fair`, of nested work that of the outermost limit: for whom all these waiters are, and
     * the turns' worth that it gets (tenants.h).  Of other nested work it is the subject, which the
     * inner keys name.  NULL: no tenants. */
    const char *tenant;
    int32_t tenant_weight; /* 0: 1 */
    /* the tag that the tenant had when it began to wait in the worker for a place in line; 0: it
     * has not waited there, or the tag is not known */
    int64_t waited_from;
    uint64_t process; /* the process's own number: whom to wake instead of `worker`; 0: `worker` */
    /* With `fair` on the innermost limit: for whom the waiters are in its line. NULL: it has one
     * tenant without a name. */
    const char *inner_tenant;
    int32_t inner_weight; /* 0: 1 */
    /* `tenant` is a subject, within whose turns those of the innermost line take turns: tenants.h.
     * False: it is the same tenant. */
    bool within_turns;
    int want_count;
    takt_want wants[TAKT_WANTS_MAX]; /* the first of those waiters, the most urgent first */
} takt_claim;

/* So many of a claim's waiters leave in that way. */
typedef struct takt_leave {
    takt_when_full way;
    int64_t count;
} takt_leave;

/* The answer to a claim.  Its ledgers have numbers: 0 is the claim's own, i its inner[i - 1].  (A
 * level counts the limits of some work from the innermost on: client/request.h.) */
typedef struct takt_award {
    int64_t now_us;
    /* when there will be room for the rest; TAKT_NEVER: nothing is left in line, or a permit wakes
     * it */
    int64_t claim_again_at_us;
    /* no claimed and unserved waiter has an earlier slot, if the places before it stay in line */
    int64_t next_slot_at_us;
    int64_t blocked_until_us; /* 0: not blocked */
    int64_t waiting;          /* waiters in the fleet */
    int64_t workers;          /* workers with waiters */
    /* how many of the claim's waiters exceed max_waiting, of any level: the last ones; with
     * drop-oldest the oldest of the least urgent */
    int64_t refused;
    /* with inner limits, how these leave, one after the other: levels may differ in when_full, and
     * the worker's policy from the ledger's */
    int leave_count;
    takt_leave leaves[TAKT_LEVELS_MAX];
    unsigned in_line; /* bit p: the worker stands in line with priority p */
    int64_t tag;      /* of the claim's tenant, with its most urgent priority; 0: not known */
    /* permits that the ledger records for the worker, including these slots; if fewer than claimed
     * and given, the others are lost */
    int64_t holding;
    int64_t lease_spent_us; /* part of their lease that was over when the call was made */
    /* the first slot's fencing number, each next slot's is higher by one; then follow those for
     * `reuses` */
    int64_t fence;
    /* how often the worker may hand on a permit within itself while nobody else waits; up to
     * TAKT_REUSES */
    int64_t reuses;
    /* workers that should claim now: permits are free for them, or some of their waiters were
     * dropped */
    int wake_count;
    uint64_t wakes[TAKT_WAKES_MAX];
    int8_t wake_ledgers[TAKT_WAKES_MAX]; /* the number of the ledger whose line each is in */
    /* all workers should claim now: the first in line left without the room that was left to it, or
     * more urgent work needs their next slots */
    bool news;
    int least_urgent; /* priority of the last in line of the other workers; -1: no other waits */
    bool taken;       /* the claim's offer is no longer the worker's */
    /* It does not stand in line, and claims again at claim_again_at_us: its inner limits let none
     * of its waiters start within two lookaheads, or too many tenants wait. */
    bool parked;
    /* An inner limit has more waiters than half of its max_waiting: newcomers claim at once. */
    bool crowded;
    /* Too many tenants wait: the waiters are in no line, or not in that of a limit with
     * max_waiting, which has not counted them. */
    bool unlisted;
    /* Its inner limits hold it up, and others take every slot of the outermost one: a claim later
     * than claim_again_at_us has a later slot. */
    bool prompt;
    /* a hint for the next claim: the store's shorter way, if it has one, would have been enough */
    bool uncontended;
    /* bit i: the numbers of the ledger of number i, in newer[i], have a higher
     * revision than the worker's, or the same */
    unsigned outdated;
    bool stale; /* the claim was older than one already seen: nothing was done */
    int run_count;
    takt_run runs[TAKT_RUNS_MAX];
    takt_numbers newer[TAKT_LEVELS_MAX];
} takt_award;

/* The least that one of the claim's waiters takes of each unit, as far as it can ever be given; 1:
 * not all are listed. */
takt_amounts takt_claim_least(const takt_claim *claim, const takt_numbers *numbers,
                              takt_unit_map map);

/* by so many numbers a place goes beyond the last turn at most */
#define TAKT_OWED_MAX (INT64_C(1) << 40)

/* A worker's place in the line.  It has one for each priority of its waiters. */
typedef struct takt_place {
    uint64_t worker;
    int64_t seq;
    int64_t turn;       /* the order within the priority */
    int64_t wanting;    /* tokens: those last claimed, less those awarded then */
    int64_t need;       /* cost of its first waiter */
    takt_amounts more;  /* from TAKT_UNIT_MORE on, as `wanting` */
    takt_amounts needs; /* likewise, as `need` */
    int64_t waiting;    /* number of its waiters */
    int64_t held_back;  /* of them, those that inner limits do not let start soon (inner.h) */
    /* how long after its claim its inner limits give it the next token; 0: unknown, or the others
     * have no use for the slots before that (tenants.h) */
    int64_t due_in_us;
    takt_amounts open;     /* of a place with that, not kept: what it can use of what it wants */
    int64_t weight;        /* shares that each of its turns has */
    int64_t left;          /* of a turn that has begun: its shares that are left; 0: it has not */
    int64_t former;        /* in a line with weights: its last turn; 0: it has had none */
    int64_t again_at_us;   /* when the worker should claim again */
    int64_t expires_at_us; /* when the worker counts as dead */
    int8_t priority;
    /* did not claim when told to, or all its waiters were dropped: others need not wait for it; it
     * keeps its turn */
    bool aside;
    bool foremost;    /* the most urgent place of its worker: counting these counts workers */
    bool lacking;     /* it waits for a permit: it is unknown when there will be one */
    int16_t tenant;   /* index + 1 among the tenants; 0: the ledger has none */
    uint64_t process; /* with tenants: whom to wake instead; 0: the worker */
    bool behind;      /* not kept: the claim does not wait for it (pass_over.h) */
    bool away;        /* not kept: it is behind, and its tenant keeps its tag all the same */
    int16_t inside;   /* not kept: index + 1 of its tenant in the innermost line (tenants.h) */
    int inside_at;    /* not kept: where that place was last (tenants.c) */
    int64_t came;     /* of the claiming worker, not kept: its turn before it was served */
    int64_t accepted; /* likewise: its waiters before this claim, less those that it serves */
    int64_t moves;    /* likewise: the worth of its turn (line.h), and of a usual one; 0: unknown */
    int64_t usual;
} takt_place;

/* What a claim states of one priority, for its place (inner.h). */
typedef struct takt_stated {
    int64_t tokens;    /* that it wants, less those that it was given */
    takt_amounts more; /* likewise, from TAKT_UNIT_MORE on */
    takt_more first;   /* of its first waiter, all further amounts that the claim states */
} takt_stated;

/* A tenant that has waiters of one priority, or has lately had more than its part (tenants.h). */
typedef struct takt_tenant {
    char name[TAKT_TENANT_TEXT_MAX + 1]; /* as in the text */
    int8_t priority;
    int64_t weight;
    int64_t tag;      /* what it was given, by its weight; only differences count */
    int64_t since_us; /* since when it has had waiters in line */
    /* of its places that are not aside, counted when they are needed */
    takt_amounts wanting;
    takt_amounts usable; /* of that, what they can use now */
    takt_amounts need;   /* of the first of its places */
    int64_t places;
    int64_t in_turn;   /* these, and those that the claim passes over (takt_place.behind) */
    int64_t away;      /* of the latter, those that are `away` */
    int64_t processes; /* the weights of those in turn */
    int64_t all;       /* its places, with those that are aside */
} takt_tenant;

/* A worker that holds permits. */
typedef struct takt_holder {
    uint64_t worker;
    int64_t seq;
    int64_t held;
    int64_t expires_at_us; /* the end of its lease, unless it claims before */
} takt_holder;

/* The part of the first rule's rate that penalties leave, and how long a pace is kept after a block
 * (brake.h). */
typedef struct takt_brake {
    int64_t percent;        /* of the rate; 0: all of it */
    int64_t since_us;       /* from then on the rate recovers */
    int64_t counted_at_us;  /* when a penalty last counted */
    int64_t paced_from_us;  /* when the block began */
    int64_t paced_until_us; /* 0: no block is paced */
} takt_brake;

/* Workers with one revision state different rules. */
typedef struct takt_contest {
    int64_t stated_at_us;    /* when the ledger's rules were last stated, or when this began */
    int64_t contested_at_us; /* when other rules were last stated; 0: there is no contest */
} takt_contest;

/* Slots that were handed on, for the most urgent waiters. */
typedef struct takt_offers {
    int64_t asked_at_us; /* when workers were asked for offers; 0: not within the last lookahead */
    uint64_t asker;      /* the worker that they were asked for; 0: none */
    takt_offer slots[TAKT_OFFERS_MAX];
    int count;
} takt_offers;

/* Slots before one that an inner limit has put off: gaps.h. */
typedef struct takt_gap {
    takt_fraction first; /* in parts of the rule's tokens; an emission interval is between two */
    int64_t until_us;    /* the slot that was taken instead */
    int64_t count;       /* slots that fit between the two */
} takt_gap;

typedef struct takt_gaps {
    takt_gap runs[TAKT_GAPS_MAX]; /* in the order of time */
    int count;
    int64_t unused_us; /* how many have passed unused lately, as an instant; 0: none (gaps.c) */
} takt_gaps;

/* Counts the tokens taken while somebody watches (meter.h). */
typedef struct takt_meter {
    int64_t until_us; /* 0: nobody watches */
    int64_t since_us;
    int64_t taken; /* tokens */
} takt_meter;

typedef struct takt_ledger {
    const takt_numbers *numbers; /* the numbers under which the state is kept */
    takt_rules_state state;
    takt_pages *pages;        /* where logs are kept, the caller's; NULL where no rule keeps one */
    int64_t turn;             /* the last turn given out; a place that owes turns has a later one */
    int64_t blocked_until_us; /* 0: not blocked */
    char reason[TAKT_REASON_TEXT_MAX + 1]; /* why, as in the text (reason.h); "": nobody says */
    takt_brake brake;
    takt_meter meter;
    takt_contest contest;
    takt_offers offers;
    takt_gaps gaps;
    /* Of a claim with inner limits: their ledgers, the innermost first (inner.h); the caller's. */
    struct takt_ledger *const *inner;
    int inner_count;
    takt_unit_map units; /* of these and this one: which of the claim's amounts its units are */
    bool within_turns;   /* likewise: that of the claim, see takt_claim */
    bool full;           /* of an inner one: its line has no space for the claim's tenant */
    int tight;           /* of a try: the number of the ledger that its answer is about */
    takt_stated stated[TAKT_PRIORITIES]; /* by the worker whose claim this is; not kept */
    takt_place *line;                    /* sorted by priority, then turn; the caller's memory */
    int line_count;
    int line_capacity;    /* before a claim at least line_count + TAKT_PRIORITIES */
    takt_tenant *tenants; /* the caller's memory */
    int tenant_count;
    int tenant_capacity; /* before a claim at least tenant_count + 2 * TAKT_PRIORITIES, or none */
    int64_t fence;       /* the last fencing number given out; 0: none */
    int64_t leased_until_us; /* no lease ends later; 0: no permit is held */
    takt_holder *holders;    /* sorted by worker; the caller's memory */
    int holder_count;
    int holder_capacity;  /* before a claim or a try at least holder_count + 1, with concurrency */
    int64_t lease_min_us; /* leases that begin now last so long at least (inner_permits.h) */
} takt_ledger;

/* Sets up a ledger that has never been used, except `line`, `holders`, `tenants` and their
 * capacities.  The numbers are not copied. */
void takt_ledger_init(takt_ledger *ledger, const takt_numbers *numbers, int64_t now_us);

/* The same without the rules' states, which are then read from a text. */
void takt_ledger_empty(takt_ledger *ledger, const takt_numbers *numbers);

/*
 * Call before a call of a worker whose policy has `numbers`: those with the higher revision are
 * used.  If the ledger takes over the worker's, it keeps the backlog and refers to these `numbers`
 * from then on.  With the same revision the ledger's rules stay until no worker has stated them for
 * TAKT_CONTEST_US: so the last caller does not decide which of two policies is used.
 */
void takt_ledger_adopt(takt_ledger *ledger, const takt_numbers *numbers, int64_t now_us);

/* Ends a block. */
void takt_ledger_unblocked(takt_ledger *ledger);

/* Applies the changes that only time brings: clocks that jumped, blocks that end, workers that are
 * silent.  Every call begins with it. */
void takt_ledger_tidy(takt_ledger *ledger, int64_t now_us);

/* The part of it that concerns the rules: also for the ledgers of inner limits, which have no line.
 */
void takt_ledger_tidy_rules(takt_ledger *ledger, int64_t now_us);

/* Fills `award` except `outdated` and `newer`, which takt_ledger_tell_newer fills.  line_capacity
 * must be as stated above. */
void takt_ledger_claim(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                       takt_award *award);

/* If the ledger of that number uses others than the worker's, puts them into `award`.  Number 0
 * comes first. */
void takt_ledger_tell_newer(const takt_ledger *ledger, int ledger_no, const takt_numbers *numbers,
                            takt_award *award);

/* Takes that now from all levels if it overtakes no waiter of any, and returns true.  Otherwise
 * nothing is taken.  *retry_at_us is when it would be granted if nothing else came, `now_us` if it
 * was granted, TAKT_NEVER if it never can be. */
bool takt_ledger_try(takt_ledger *ledger, int64_t now_us, int64_t cost, takt_more more,
                     int64_t *retry_at_us);

/* The same for limits with concurrency: it also takes a permit of each for the worker, which states
 * in `claim` what it holds.  `award` is filled as for a claim. */
bool takt_ledger_try_permit(takt_ledger *ledger, int64_t now_us, const takt_claim *claim,
                            int64_t cost, takt_more more, int64_t *retry_at_us, takt_award *award);

/* Reads the state after a try of the level that refuses for the longest, or of the one that has the
 * least left: ledger->tight. */
void takt_ledger_tried(takt_ledger *ledger, int64_t now_us, bool taken, takt_standing *standing);

/* Reads the state of the ledger. */
void takt_ledger_peek(takt_ledger *ledger, int64_t now_us, takt_standing *standing);

/* Counts the tokens taken for so long from now on, TAKT_WATCH_MAX_US at most. */
void takt_ledger_watch(takt_ledger *ledger, int64_t now_us, int64_t for_us);

/* Grants no slot for so long from now on, and then no burst for as long (brake.h).  The rules'
 * states do not change.  A block is only ever extended; a call that extends it sets its reason
 * (NULL: none). */
void takt_ledger_block(takt_ledger *ledger, int64_t now_us, int64_t for_us, const char *reason);

/* Blocks, and lowers the rate if the limit has `adapt` (brake.h). */
void takt_ledger_penalize(takt_ledger *ledger, int64_t now_us, int64_t for_us, const char *reason);

void takt_ledger_unblock(takt_ledger *ledger, int64_t now_us);

/* Leaves at most so much of each unit in the policy's rules: takt_numbers_charge takes the rest. An
 * amount below 0 leaves the unit as it is. */
void takt_ledger_lower(takt_ledger *ledger, int64_t now_us, takt_amounts most);

/* The work for which that was taken from slot_us on has used more or less: takt_numbers_charge and
 * takt_numbers_give_back correct the rules by the difference.  Work that did not begin has used no
 * requests. */
void takt_ledger_settle(takt_ledger *ledger, int64_t now_us, int64_t slot_us, takt_amounts taken,
                        takt_amounts used);

/* Sets the rules to their state at rest, and the rate to the policy's.  Waiters and a block
 * stay. */
void takt_ledger_reset(takt_ledger *ledger, int64_t now_us);

/* From that instant on the ledger has no more information than an unused one. */
int64_t takt_ledger_expires_at(const takt_ledger *ledger);

#endif
