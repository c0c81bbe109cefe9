/*
 * What a place in line may take: its room and share, what it leaves to the places before it, and
 * when it should claim for its next turn.
 */
#include "core/view.h"

#include "core/books.h"
#include "core/line.h"

#define LOOKAHEAD_US (250 * MS)

static book b;

/* A token each millisecond: 250 in a lookahead, and 100 more from rest. */
static void set_up(void)
{
    takt_numbers limit = limit_of(1000, SECOND, 100);

    limit.lookahead_us = LOOKAHEAD_US;
    open_book(&b, limit);
}

TestSuite(view, .init = set_up);

/* A worker with waiters of that cost each; its place. */
static takt_place *stand(uint64_t worker, int8_t priority, int64_t cost, int64_t waiters)
{
    takt_place *place = &b.line[takt_line_add(&b.ledger, worker, priority)];

    place->need = cost;
    place->wanting = cost * waiters;
    place->waiting = waiters;
    place->weight = 1;
    place->expires_at_us = NOW + TAKT_SILENT_US;
    return place;
}

static takt_view view_of(int at)
{
    takt_view v;

    takt_view_look(&b.ledger, NOW, at, false, &v);
    return v;
}

/* The first token has its slot at NOW, each other one a millisecond after that before it. */
static void use_up(void)
{
    takt_numbers_exhaust(&b.limit, &b.ledger.state, NOW);
}

#define TOKENS(amounts) ((amounts).of[TAKT_UNIT_TOKENS])

Test(view, alone_a_place_has_all_the_room)
{
    takt_view v;

    stand(1, 5, 1, 1000);
    v = view_of(0);
    cr_expect_eq(TOKENS(v.room), 350);
    cr_expect_eq(TOKENS(v.share), 350);
    cr_expect_eq(v.shares, 1);
    cr_expect_eq(TOKENS(v.ahead), 0);
    cr_expect_eq(TOKENS(v.first), 0);
    cr_expect_eq(v.permits, TAKT_NEVER, "the limit has no concurrency");
    cr_expect(!v.shared);
}

/* The first of two: how much of the room the second one leaves to it. */
Test(view, a_place_leaves_a_share_to_the_one_before_it)
{
    static const struct {
        int64_t cost, waiters, ahead;
    } rows[] = {
        {1, 1000, 175}, /* a share */
        {1, 40, 40},    /* no more than it wants */
        {200, 3, 200},  /* its first waiter needs more than a share */
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_view v;
        set_up();
        stand(1, 5, rows[i].cost, rows[i].waiters);
        stand(2, 5, 1, 1000);
        v = view_of(1);
        cr_expect_eq(TOKENS(v.share), 175, "row %zu", i);
        cr_expect_eq(TOKENS(v.ahead), rows[i].ahead, "row %zu: %" PRId64, i, TOKENS(v.ahead));
        cr_expect_eq(TOKENS(v.first), rows[i].cost, "row %zu", i);
        cr_expect(v.shared, "row %zu", i);
        cr_expect_eq(TOKENS(view_of(0).ahead), 0, "row %zu: nobody is before the first", i);
    }
}

Test(view, more_urgent_places_go_first_with_all_they_want)
{
    takt_view v;

    stand(1, 4, 1, 30);
    stand(2, 5, 1, 1000);
    stand(3, 6, 1, 70);
    v = view_of(1);
    cr_expect_eq(TOKENS(v.urgent), 30);
    cr_expect_eq(TOKENS(v.ahead), 30);
    cr_expect_eq(TOKENS(v.first), 30);
    cr_expect_eq(TOKENS(v.share), 350, "the places of other priorities have no share");
    cr_expect_eq(TOKENS(view_of(0).ahead), 0);
    cr_expect_eq(TOKENS(view_of(2).ahead), 1030);
}

Test(view, places_that_are_aside_do_not_count)
{
    takt_view v;

    stand(1, 4, 1, 30)->aside = true;
    stand(2, 5, 1, 40)->aside = true;
    stand(3, 5, 1, 1000);
    v = view_of(2);
    cr_expect_eq(TOKENS(v.share), 350);
    cr_expect_eq(TOKENS(v.ahead), 0);
    cr_expect(!v.shared);
}

Test(view, a_block_leaves_no_room_but_a_share)
{
    takt_view v;

    b.ledger.blocked_until_us = NOW + SECOND;
    stand(1, 5, 1, 1000);
    v = view_of(0);
    cr_expect_eq(TOKENS(v.room), 0);
    cr_expect_eq(TOKENS(v.share), 250, "what a lookahead has in the long run");
}

Test(view, permits_are_shared_like_tokens)
{
    takt_view v;

    b.limit.concurrency = 10;
    stand(1, 5, 1, 3);
    stand(2, 5, 1, 1000);
    v = view_of(0);
    cr_expect_eq(v.permit_share, 5);
    cr_expect_eq(v.permits, 5, "a share");
    b.limit.concurrency = 6;
    v = view_of(1);
    cr_expect_eq(v.permit_share, 3);
    cr_expect_eq(v.permits, 3, "those that the first one leaves");
    b.limit.concurrency = 3;
    v = view_of(1);
    cr_expect_eq(v.permit_share, 1);
    cr_expect_eq(v.permits, 1);
    cr_expect(!v.shared, "with permits a turn is not a share of tokens alone");
}

Test(view, whole_waiters_fit_into_a_share)
{
    cr_expect_eq(takt_view_usable(10, 3), 9);
    cr_expect_eq(takt_view_usable(2, 3), 3, "one waiter in any case");
    cr_expect_eq(takt_view_turn(10, 3, 1), 10);
    cr_expect_eq(takt_view_turn(10, 3, 3), 9 + 9 + 10);
}

/* A turn begins a lookahead before its last slot. */
Test(view, when_there_is_room_for_a_turn)
{
    static const struct {
        int64_t waiters, ahead, last_slot_ms;
    } rows[] = {
        {1, 0, 0},
        {50, 0, 49},
        {400, 0, 124}, /* half a lookahead is enough */
        {50, 300, 349},
    };

    use_up();
    for (size_t i = 0; i < COUNT(rows); i++) {
        takt_place *place = stand(1, 5, 1, rows[i].waiters);
        takt_view v = view_of(0);
        int64_t from_us;
        TOKENS(v.ahead) = rows[i].ahead;
        from_us = takt_view_turn_from(&b.ledger, NOW, place, &v, false, false);
        cr_expect_eq(from_us - NOW, rows[i].last_slot_ms * MS - LOOKAHEAD_US, "row %zu: %" PRId64,
                     i, from_us - NOW);
        takt_line_remove(&b.ledger, 0);
    }
}

Test(view, a_turn_begins_after_a_block)
{
    takt_place *place = stand(1, 5, 1, 50);
    takt_view v;

    b.ledger.blocked_until_us = NOW + SECOND;
    v = view_of(0);
    cr_expect_eq(takt_view_turn_from(&b.ledger, NOW, place, &v, false, false),
                 NOW + SECOND - LOOKAHEAD_US);
}

/* The first of two wants 50 tokens now; by its next claim it may want a share, 125. */
Test(view, a_shared_place_plans_for_a_share)
{
    takt_place *place = stand(1, 5, 1, 50);
    takt_view v;

    stand(2, 5, 1, 1000);
    use_up();
    v = view_of(0);
    TOKENS(v.ahead) = 300;
    cr_expect_eq(takt_view_turn_from(&b.ledger, NOW, place, &v, false, false), NOW + 99 * MS);
    cr_expect_eq(takt_view_turn_from(&b.ledger, NOW, place, &v, false, true), NOW + 174 * MS);
    cr_expect_eq(takt_view_room_at(&b.ledger, NOW, place, &v, false), NOW + 174 * MS);
}

Test(view, nobody_claims_again_at_once)
{
    takt_place *place = stand(1, 5, 1, 1);
    takt_view v = view_of(0);

    cr_expect_eq(takt_view_room_at(&b.ledger, NOW, place, &v, false),
                 NOW + LOOKAHEAD_US / TAKT_LOOKAHEAD_FRACTION_FIRST, "the first");
    TOKENS(v.ahead) = 1;
    cr_expect_eq(takt_view_room_at(&b.ledger, NOW, place, &v, false),
                 NOW + LOOKAHEAD_US / TAKT_LOOKAHEAD_FRACTION, "another is before it");
}
