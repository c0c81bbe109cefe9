/*
 * checker.h: watches a simulated fleet and reports a broken promise.
 *
 * It sees what an outside observer can see: the calls that reached the store, their answers, the
 * answers that arrived, and the callbacks. It computes itself what a rule allows (definition.h).
 * The first broken promise is passed to checker_on_failure, which does not return; with a timeline
 * its text is printed before.
 */
#ifndef TAKT_TESTS_CHECKER_H
#define TAKT_TESTS_CHECKER_H

#include "definition.h"
#include "simulate/fleet.h"

#define TURNS             5    /* of each place that are remembered */
#define CHECKER_PROMPT_US 1000 /* what two clocks drift apart from one good answer to the next */

/* A unit of work that asks for a permit again and again. */
typedef struct fleet_job {
    takt_permit permit;
    struct scenario *scenario;
    takt_fleet_worker *worker;
    int ledger;
    int64_t incarnation;
    int64_t order;    /* of its acquire, among all */
    int64_t asked_us; /* by its worker's clock */
    int told_of;      /* answers to claims that stated it; 0: policies change meanwhile */
    bool waiting, cancelled;
    bool running; /* holds a permit */
    bool lost;    /* and got the event of its loss */
    int64_t done_at_us;
    bool steady;  /* asks again as soon as it was served */
    bool asks;    /* will ask */
    bool settles; /* will say of this slot that it was not used */
    int64_t settled_slot_us;
    int32_t settled_cost;
} fleet_job;

/* A worker's place in line with one priority, as its claims and their answers tell. */
typedef struct line_place {
    bool standing;
    int64_t wanting;         /* tokens */
    int64_t since_us;        /* when it came into line, or had its last turn */
    int64_t turns_us[TURNS]; /* its last turns, the latest first */
    int64_t given[TURNS];    /* their tokens */
} line_place;

/* A waiter that has left without a slot. */
#define CHECKER_LEAVERS 64

typedef struct checker_leaver {
    int64_t at_us; /* virtual */
    int64_t cost;
} checker_leaver;

/* A slot that a worker knows and has not used. */
#define ANY_FENCE (-1)

typedef struct hand_slot {
    int64_t at_us, cost, fence;
    int64_t due_us; /* in virtual time, as its award told; 0: when it was heard of */
    unsigned nodes; /* bits of the node that gave it, and of those that had the ledger since, as far
                       as its worker has heard */
} hand_slot;

/* What one worker has heard of the nodes, by any ledger; bits by node. */
typedef struct node_view {
    unsigned lost;   /* a claim had no answer, and none had one since */
    unsigned known;  /* answers have told their clocks */
    int64_t workers; /* that the last award told of */
} node_view;

/* What a worker holds of the limit's permits, as far as an observer can tell. */
typedef struct holdings {
    int64_t running;               /* its jobs that hold one and got no event of a loss */
    int64_t coming;                /* slots in answers that have not arrived */
    int64_t told;                  /* what the last award said that it holds, slots included */
    int64_t leased_until_us;       /* by its own clock */
    int64_t reuse_next, reuse_end; /* numbers for permits that it hands on to its own waiters */
    bool others_wait;              /* by that award */
} holdings;

/* What a worker held that has crashed, in virtual time. */
typedef struct ghost {
    int64_t held, until_us;
} ghost;

/* One worker. */
#define NO_NODE (-1)

/* The ledger's line is that of a replica that took its place. */
#define PLACES_UNKNOWN (-1)

typedef struct watched {
    int node; /* that has the ledger, as it last heard */
    holdings holds;
    line_place places[TAKT_PRIORITIES];
    int64_t told_at_us; /* when it was to claim again */
    hand_slot *hand;
    int hand_count, hand_capacity;
    int64_t left;             /* waiters that went without a slot */
    int64_t blocked_until_us; /* as it last heard */
    int64_t heard_at_us;      /* virtual time */
    int64_t awarded_at_us;    /* in the calm */
    int64_t calls;            /* since then */

    /* of a worker whose claim had no answer from that node, until one has */
    bool lost;
    bool learned;         /* newer numbers than its policy's */
    takt_numbers numbers; /* that it uses, by its awards */
    int64_t workers;      /* in the last award */
    int64_t begins_us;    /* `share`: it starts nothing by itself before that */
    int64_t alone_us;     /* and gives itself no slot before that */
} watched;

/* One name in the line, also of a worker that has died. */
typedef struct in_line {
    uint64_t name;
    int64_t seq;
    int64_t claimed_at_us;
    int places;
    bool holds; /* permits */
} in_line;

typedef struct checker {
    takt_fleet *fleet;
    int ledger;       /* that it watches */
    node_view *views; /* of the workers, shared by the checkers of a fleet */
    int64_t cost_max; /* of the jobs */
    takt_on_store_failure mode;
    bool ranked; /* they have priorities */
    bool weighs; /* some workers claim for several processes */
    bool far;    /* in the calm, too: a round trip is not short against the lookahead */
    watched *workers;
    in_line *line;
    int line_count, line_capacity;
    takt_place *places; /* the ledger's line after the last call */
    int place_count;    /* or PLACES_UNKNOWN */

    takt_numbers numbers;            /* in force */
    int64_t stated_us, contested_us; /* when these were stated, and others of the revision; 0: no
                                        worker states others */
    bool known;                      /* the store has a ledger that knows the limit */
    int64_t begun_us;                /* since then */
    int64_t expires_at_us;           /* until then */
    definition rules[TAKT_RULES_MAX];
    int64_t capacity, capacity_min; /* the dearest waiter that can be served: now, ever */
    int64_t blocked_until_us;
    bool blocks; /* there have been any */

    /* what follows them (checker_pace.c) */
    int64_t paced_from_us;         /* when the block began */
    int64_t pace_begins_us;        /* when it ended, or will */
    int64_t paced_until_us;        /* until then the pace is kept */
    bool pace_known;               /* its rate has been the same since */
    definition_token *paced_slots; /* given since the block began, after its end */
    int paced_count, paced_capacity;

    int64_t handed_back_at_us; /* virtual: the last slots, so that there was one sooner */
    bool forgetful; /* there have been resets, losses of state, new numbers: a slot may come sooner
                       than foreseen */
    int64_t set_back_us;      /* slots up to that were given before the clock was set back */
    int64_t slowest_us;       /* message so far */
    int64_t lookahead_min_us; /* of those that were valid */

    /* penalties (checker_brake.c) */
    bool braked;                    /* the last one may have an effect yet */
    int64_t braked_at_us;           /* when it came */
    int64_t braked_percent;         /* the part of the rate that it left */
    int64_t penalized_at_us;        /* the last one, whether it counted or not */
    int64_t brake_vague_until_us;   /* until then slots may be later than the rules tell */
    definition_token *braked_slots; /* given since */
    int braked_count, braked_capacity;

    /* permits: concurrency and lease are the same in all policies of a run */
    int64_t concurrency, lease_us; /* 0: there are none */
    ghost *ghosts;
    int ghost_count, ghost_capacity;
    bool forgotten;               /* the ledger, and that number */
    int64_t fence;                /* the last number given out */
    int64_t holds_vague_until_us; /* virtual: held permits may have been forgotten */
    int64_t *free_since_us;       /* in the calm: each free permit, the longest free first */
    int64_t free_count;
    bool wakes_lost; /* in the calm, too */
    int64_t max_live, handed_on, losers;

    /* slots that workers handed on to more urgent work, until a worker has them */
    hand_slot *offers;
    int offer_count, offer_capacity;
    int64_t asked_us;                        /* when they were asked for some */
    checker_leaver leavers[CHECKER_LEAVERS]; /* the last waiters that have left, in a ring */
    int leaver_count;
    int64_t offered; /* of `slots`: how often one was given again */

    bool calm;                           /* no faults, and everybody always wants more */
    int64_t calm_from_us, calm_until_us; /* by the store's clock */
    definition greedy[TAKT_RULES_MAX];
    bool one_policy;          /* all workers go by the same, always */
    bool mixed;               /* in the calm: numbers of one revision differ beside the rules */
    definition_token *starts; /* in the calm, by the store's clock */
    int start_count, start_capacity;
    int64_t calm_tokens, calm_calls, calm_awards;
    int64_t calm_refused; /* waiters that cost too much, and come again */

    uint64_t caller; /* the worker of the call that the store has just run */

    /* its ledger as a replica has it that lags (checker_past.c); NULL: none does */
    struct checker *past;
    int64_t past_at_us; /* when the replica fell behind */
    bool replicas;      /* an award that no replica has is not used */

    /* how much was looked at */
    int64_t calls, slots, fired, left, handed_back;
} checker;

extern void (*checker_on_failure)(void);

void checker_open(checker *self, takt_fleet *fleet, int ledger, node_view *views);
void checker_close(checker *self);

/* What happens. */
void checker_call(checker *self, uint64_t worker, const takt_store_call *call);
void checker_heard(checker *self, const takt_fleet_worker *worker, int node,
                   const takt_award *award, const takt_offer *offer, int64_t sent_us, int waiting);
void checker_told(checker *self, const takt_fleet_worker *worker, const takt_standing *standing);
void checker_failed(checker *self, const takt_fleet_worker *worker, int node,
                    const takt_offer *offer);
/* The worker's view of the nodes has changed. */
void checker_viewed(checker *self, const takt_fleet_worker *worker);
void checker_hands_back(checker *self, const takt_fleet_worker *worker, const takt_run *unused);
void checker_ended(checker *self, const fleet_job *ended, int status, const fleet_job *jobs,
                   int job_count);
void checker_released(checker *self, const fleet_job *job);
void checker_lost(checker *self, const fleet_job *job);
void checker_crashed(checker *self, const takt_fleet_worker *worker);
void checker_state_lost(checker *self);
/* The ledger goes by another clock, or its clock was set; the old time. */
void checker_clock_jumps(checker *self, int64_t was_us);

/* A replica of the ledger lags from now on; it is there again; it takes the place of the ledger. */
void checker_lags(checker *self);
void checker_caught_up(checker *self);
void checker_promoted(checker *self, int64_t was_us);

/* From now on there are no faults and everybody wants more than there is, for so long. */
void checker_calm_begins(checker *self, int64_t for_us);
void checker_calm_ends(checker *self);

/* The end: there are no waiters, and no call is under way. */
void checker_quiet(checker *self);

/* Between the parts of the checker. */
void checker_fail(const checker *self, int promise, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void checker_note(const checker *self, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* in the timeline */
int64_t checker_now(const checker *self);  /* by the clock of the node that has the ledger */
const takt_ledger *checker_ledger(const checker *self); /* as the last call left it */
void checker_policy(checker *self, const takt_store_call *call);
void checker_slot(checker *self, int64_t now_us, int64_t slot_us, int64_t cost);
void checker_slots_back(checker *self, int64_t now_us, const takt_run *unused);
int64_t checker_first(const definition *rules, int rule_count, int64_t t_us,
                      int64_t cost); /* that all rules permit */
/* When the last of so many tokens can be taken by all rules, one after the other; later than any
 * time if too many to count. */
int64_t checker_due(const checker *self, int64_t t_us, int64_t tokens);
int64_t checker_earliest(const checker *self, int64_t t_us,
                         int64_t cost); /* that now, block and all */
int64_t
checker_vague_until(const checker *self); /* until then slots may be later than the rules tell */
void checker_turn(checker *self, const takt_store_call *call, int worker,
                  const int64_t given[TAKT_PRIORITIES]);
void checker_overflow(checker *self, const takt_store_call *call);
void checker_try_turn(const checker *self, int64_t now_us);
void checker_calm_call(checker *self, int of_worker, int64_t now_us, bool awarded);
void checker_unused(const checker *self);

/* Of when work begins (checker_starts.c), from a slot that was in hand. */
int checker_in_hand(const checker *self, const watched *worker);
void checker_start(checker *self, const watched *worker, const fleet_job *started,
                   const hand_slot *used);

/* Of blocks (checker_pace.c). */
void checker_block_begins(checker *self, int64_t now_us, int64_t for_us);
void checker_block_ends(checker *self, int64_t now_us); /* before its time */
void checker_block_over(checker *self, int64_t now_us);
void checker_pace_slot(checker *self, int64_t now_us, int64_t slot_us, int64_t cost);
void checker_pace_slots_back(checker *self, const takt_run *unused);
void checker_pace_off(checker *self);
void checker_pace_vague(checker *self);

/* Of penalties (checker_brake.c). */
void checker_brake_penalty(checker *self, const takt_store_call *call);
void checker_brake_slot(checker *self, int64_t now_us, int64_t slot_us, int64_t cost);
void checker_brake_slots_back(checker *self, const takt_run *unused);
void checker_brake_vague(checker *self, int64_t now_us);
void checker_brake_off(checker *self);

/* Of permits (checker_permits.c). */
void checker_permits_award(checker *self, const takt_store_call *call, int worker);
void checker_permits_heard(checker *self, const takt_fleet_worker *worker, const takt_award *award,
                           int64_t sent_us);
void checker_permits_failed(checker *self, const takt_fleet_worker *worker);
void checker_permits_start(checker *self, const fleet_job *started, bool from_hand);
void checker_permits_crashed(checker *self, const takt_fleet_worker *worker);
void checker_permits_vague(checker *self);
void checker_permits_calm(checker *self);
void checker_permits_flow(checker *self);
void checker_permits_quiet(const checker *self);
bool checker_lease_is_over(const checker *self, const takt_fleet_worker *worker);

/* The last events, to explain a failure; keeping them takes time. */
extern bool timeline_kept;
void timeline_clear(void);
void timeline_note(const takt_fleet *fleet, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void timeline_print(void);

#endif
