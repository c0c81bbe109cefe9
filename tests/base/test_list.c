/*
 * The ring of links, and the small generator of random numbers beside it.
 */
#include <criterion/criterion.h>

#include "base/list.h"
#include "base/random.h"

typedef struct item {
    int value;
    takt_link link;
} item;

/* The values in the ring as decimal digits, after walking it both ways. */
static int digits(const takt_link *head)
{
    int forth = 0, back = 0, unit = 1;

    for (const takt_link *at = head->next; at != head; at = at->next)
        forth = forth * 10 + TAKT_HOLDER(at, item, link)->value;
    for (const takt_link *at = head->previous; at != head; at = at->previous, unit *= 10)
        back += TAKT_HOLDER(at, item, link)->value * unit;
    cr_assert_eq(forth, back);
    return forth;
}

static void fill(takt_link *head, item *items, int first, int count)
{
    takt_list_init(head);
    for (int i = 0; i < count; i++) {
        items[i].value = first + i;
        takt_list_append(head, &items[i].link);
    }
}

Test(list, keeps_the_order_of_arrival)
{
    takt_link head;
    item items[3];

    fill(&head, items, 1, 0);
    cr_assert(takt_list_empty(&head));
    fill(&head, items, 1, 3);
    cr_assert_not(takt_list_empty(&head));
    cr_assert_eq(digits(&head), 123);
}

Test(list, any_link_may_leave_even_twice)
{
    static const int left[] = {23, 13, 12};
    for (int i = 0; i < 3; i++) {
        takt_link head;
        item items[3];
        fill(&head, items, 1, 3);
        takt_list_remove(&items[i].link);
        takt_list_remove(&items[i].link);
        cr_assert_eq(digits(&head), left[i]);
        cr_assert(takt_list_empty(&items[i].link));
    }
}

Test(list, moves_all_to_the_end_of_another)
{
    static const struct {
        int to, from, moved;
    } rows[] = {{0, 0, 0}, {2, 0, 12}, {0, 2, 56}, {2, 3, 12567}, {1, 1, 15}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_link to, from;
        item a[3], b[3];
        fill(&to, a, 1, rows[i].to);
        fill(&from, b, 5, rows[i].from);
        takt_list_move(&to, &from);
        cr_assert_eq(digits(&to), rows[i].moved, "row %zu", i);
        cr_assert(takt_list_empty(&from));
    }
}

Test(random, gives_the_published_numbers)
{
    /* splitmix64 from 1234567, as in the reference implementation */
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821)};
    uint64_t state = 1234567;

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        cr_assert_eq(takt_random(&state), expected[i], "number %zu", i);
}

Test(random, stays_below_and_reaches_everything)
{
    uint64_t state = 1;
    int seen[7] = {0};

    for (int i = 0; i < 7000; i++) {
        int64_t n = takt_random_below(&state, 7);
        cr_assert(n >= 0 && n < 7);
        seen[n]++;
    }
    for (int i = 0; i < 7; i++)
        cr_assert(seen[i] > 850 && seen[i] < 1150, "%d came %d times", i, seen[i]);
    cr_assert_eq(takt_random_below(&state, 1), 0);
    cr_assert_geq(takt_random_below(&state, INT64_MAX), 0);
}
