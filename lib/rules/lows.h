/*
 * lows.h: how low the backlog of a bucket has been since when: as many tokens of a slot can be
 * taken back as if they had never been taken.
 *
 * A slot that was given later stays right if the backlog just before it is not lower by more than
 * there was.  So of a slot's tokens as much comes back as the lowest backlog of all later slots.
 * That is kept for a few stretches of time, each from one slot to another.  It is kept from the
 * first settled call on, for slots after that, and covers twice the age of the slots that are
 * settled.  A bucket that nobody settles with keeps nothing.
 */
#ifndef TAKT_CORE_LOWS_H
#define TAKT_CORE_LOWS_H

#include "base/text.h"

#define TAKT_LOWS_MAX 8 /* stretches */
/* A stretch lasts this part of the age of settled slots: all stretches together cover more. */
#define TAKT_LOWS_STEPS 6
/* If that is shorter than before, a stretch becomes shorter by this part of the difference. */
#define TAKT_LOWS_DECAY 16
#define TAKT_LOWS_OLD_US                                                                           \
    INT64_C(86400000000) /* slots that are settled later are not learnt from                       \
                          */
#define TAKT_LOWS_UNKNOWN INT64_MAX

typedef struct takt_low {
    int64_t
        since_us;   /* of the slots later than that, up to and including the next one's since_us */
    int64_t low_us; /* the lowest backlog just before one; TAKT_LOWS_UNKNOWN: there was none */
} takt_low;

/* As zeros: nothing is kept. */
typedef struct takt_lows {
    takt_low stretches[TAKT_LOWS_MAX];
    int count;
    int64_t step_us; /* a stretch is about that long */
} takt_lows;

/* A slot is given, with such a backlog just before it.  depth_us: the burst as time. */
void takt_lows_note(takt_lows *lows, int64_t slot_us, int64_t backlog_us, int64_t depth_us);

/* How much can be taken back of a slot, at most, as time; -1: it is not known. */
int64_t takt_lows_of(const takt_lows *lows, int64_t slot_us);

/* So much is taken back of a slot. */
void takt_lows_lower(takt_lows *lows, int64_t slot_us, int64_t by_us);

/* A slot is settled; no slot was given after until_us. */
void takt_lows_learn(takt_lows *lows, int64_t now_us, int64_t slot_us, int64_t until_us);

/* "~333333@1763692800123456,5000000@1763692800456789": the step, and each stretch. */
void takt_lows_write(const takt_lows *lows, takt_writer *writer);
void takt_lows_read(takt_lows *lows, takt_reader *reader);

#endif
