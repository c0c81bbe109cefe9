/*
 * A ledger as text: the documented form, refused texts and the ledger after them, and texts with
 * other numbers. That all ledgers read back the same is in test_ledger_promise.c.
 */
#include "core/books.h"
#include "core/ledger_text.h"

#define RULE "g1/100000*5 1763692800300000" /* 10/s burst 5, three tokens taken */
#define PACE ";k0,0,0,1763692800000000,1763692800000000,1763696460000000"

static takt_numbers ten_a_second(void)
{
    return limit_of(10, SECOND, 5);
}

/* Reads a text for a worker of that limit; it outlives the call. */
static int decode(book *b, const char *text)
{
    static takt_numbers kept;

    b->ledger.line = b->line;
    b->ledger.line_capacity = takt_ledger_text_places(text, strlen(text));
    b->ledger.holder_capacity = takt_ledger_text_holders(text, strlen(text));
    return takt_ledger_decode(&b->ledger, &b->limit, &kept, NOW, text, strlen(text));
}

static const char *encode(const book *b)
{
    static char text[20000];
    size_t size =
        takt_ledger_text_size(b->ledger.line_count, b->ledger.holder_count, b->ledger.tenant_count);

    cr_assert_leq(size, sizeof text - 1);
    text[takt_ledger_encode(&b->ledger, text, size)] = '\0';
    return text;
}

Test(ledger_text, is_written_as_documented)
{
    static book b;
    int64_t retry_us;

    open_book(&b, ten_a_second());
    cr_assert_str_eq(encode(&b), "g1/100000*5 1763692800000000", "%s", encode(&b));
    cr_assert(takt_ledger_try(&b.ledger, NOW, 3, TAKT_NO_MORE, &retry_us));
    cr_assert_str_eq(encode(&b), RULE, "%s", encode(&b));
    takt_ledger_block(&b.ledger, NOW, HOUR, NULL);
    cr_assert_str_eq(encode(&b), RULE ";b1763696400000000" PACE, "%s", encode(&b));
    say(&b, 0, 0xbeef, 5, 2, 9);
    cr_assert_str_eq(encode(&b),
                     RULE ";t1;b1763696400000000" PACE
                          ";wbeef,1,5,1,18,2,9,1763692802000000,1763692806000000,f",
                     "%s", encode(&b));
    b.line[0].aside = true;
    cr_assert(strstr(encode(&b), ",af"), "%s", encode(&b));
    b.limit.revision = 7;
    b.limit.max_waiting = 90;
    cr_assert(strstr(encode(&b), RULE ";r7,250000,90;t1;"), "%s", encode(&b));
    b.limit.concurrency = 20;
    b.limit.lease_us = 30 * SECOND;
    b.ledger.fence = NOW;
    cr_assert(strstr(encode(&b), RULE ";r7,250000,90,20,30000000;n1763692800000000;t1;"), "%s",
              encode(&b));
    takt_ledger_watch(&b.ledger, NOW, SECOND);
    cr_assert(strstr(encode(&b), PACE ";m1763692801000000,1763692800000000,0;wbeef"), "%s",
              encode(&b));
    add_rule(&b.limit, 3, SECOND, 1);
    b.ledger.state.rules[1].gcra.tat = (takt_fraction){NOW, 2};
    cr_assert(strstr(encode(&b), RULE ";g3/1000000*1 1763692800000000+2;r7,"), "%s", encode(&b));
}

Test(ledger_text, is_read_back_as_it_was)
{
    static const char *const texts[] = {
        RULE,
        RULE ";b1763696400000000" PACE,
        RULE PACE,
        RULE ";r7,250000,90" PACE,
        RULE ";r7,250000,90",
        RULE ";b1763696400000000",
        RULE ";t12;w1,5,0,3,18,2,9,1763692802000000,1763692806000000",
        RULE ";t12;w1,5,0,3,18,2,9,1763692802000000,1763692806000000;w1,5,9,2,1,1,1,5,7,af",
        RULE ";t12;wffffffffffffffff,9007199254740992,0,12,0,1000000,0,0,0,a",
        RULE
        ";r7,250000,0;t12;b1763696400000000;w0,5,0,3,18,2,9,1763692802000000,1763692806000000,f",
        ("g3/1000000*1 1763692800000000+2;" RULE),
        RULE ";m1763692801000000,1763692800000000,0",
        RULE ";b1763696400000000;m1763692801000000,1763692800000000,9007199254740992",
        RULE ";n1763692800000004",
        RULE ";n1763692800000004,1763692806000000;t12;b1763696400000000;h1,5,2,1763692806000000;"
             "hffff,1,1,7;"
             "w1,5,0,3,18,2,9,1763692802000000,1763692806000000,fp",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        static book b;
        open_book(&b, ten_a_second());
        b.limit.revision = strstr(texts[i], ";r7") ? 7 : 0; /* adopted: so written again */
        b.limit.max_waiting = strstr(texts[i], ",90") ? 90 : 0;
        if (texts[i][1] == '3') {
            b.limit = limit_of(3, SECOND, 1);
            add_rule(&b.limit, 10, SECOND, 5);
        }
        cr_assert_eq(decode(&b, texts[i]), 0, "%s", texts[i]);
        cr_assert_eq(b.ledger.numbers, &b.limit);
        cr_assert_str_eq(encode(&b), texts[i], "%s", encode(&b));
    }
}

/* A text with an end of leases but without held permits holds none. */
Test(ledger_text, holders_without_a_lease_hold_nothing)
{
    static book b;

    open_book(&b, ten_a_second());
    b.limit.concurrency = 5;
    b.limit.lease_us = 30 * SECOND;
    cr_assert_eq(decode(&b, RULE ";n5;h1,5,1,1763692806000000"), 0);
    cr_assert_eq(b.ledger.holder_count, 0);
    cr_assert_eq(decode(&b, RULE ";n5,1763692806000000;h1,5,1,1763692806000000"), 0);
    cr_assert_eq(b.ledger.holder_count, 1);
}

/* The holders of permits are unknown: no permit is given until their leases end, and workers that
 * state their permits keep them. */
Test(ledger_text, what_is_broken_gives_no_permit_away)
{
    static book b;
    takt_claim claim = {.worker = 1, .seq = 1, .holding = 2};
    takt_numbers limit = {.lookahead_us = 250 * MS, .concurrency = 2, .lease_us = 30 * SECOND};

    open_book(&b, limit);
    cr_assert_eq(decode(&b, "x"), -1);
    cr_assert_eq(b.ledger.blocked_until_us, NOW + 250 * MS + 30 * SECOND);
    say(&b, 1, 9, 5, 1, 1);
    cr_assert_eq(b.given, 0);
    send_claim(&b, SECOND, &claim);
    cr_assert_eq(b.award.holding, 2);
    add_rule(&limit, 5, HOUR, 5);
    open_book(&b, limit);
    cr_assert_eq(decode(&b, "x"), -1);
    cr_assert_eq(b.ledger.blocked_until_us, NOW + 250 * MS + HOUR);
}

Test(ledger_text, what_is_broken_gives_a_ledger_blocked_for_a_period)
{
    static const char *const texts[] = {
        "",
        ";",
        "x",
        "g",
        ";" RULE,
        RULE "x",
        RULE " ",
        RULE ";x",
        RULE ";t",
        RULE ";tt",
        RULE ";t-1",
        RULE ";b0",
        RULE ";b9007199254740993",
        RULE ";b5;t1",
        RULE ";m5",
        RULE ";m5,4",
        RULE ";m0,4,3",
        RULE ";m5,0,3",
        RULE ";m5,4,9007199254740993",
        RULE ";m5,4,-1",
        RULE ";m5,4,3,2",
        RULE ";m5,4,3;b5",
        RULE ";m5,4,3;m5,4,3",
        RULE ";t1;r7,1,1",
        RULE ";r0,250000,0",
        RULE ";r7,10000001,0",
        RULE ";r7,250000",
        RULE ";t12;w",
        RULE ";w1,5,0,0,18,2,9,1,2;x",
        RULE ";t12;w1,5,0,3,18,2,9,1",         /* too few */
        RULE ";t12;w1,5,0,3,18,2,9,1,2,",      /* a flag, and none */
        RULE ";t12;w1,5,0,3,18,2,9,1,2,fa",    /* the wrong way round */
        RULE ";t12;w1,5,0,3,18,2,9,1,2,a,",    /* too many */
        RULE ";t12;w1,5,0,3,18,2,9,1,2*1",     /* not worth a word */
        RULE ";t12;w1,5,0,3,18,2,9,1,2*65536", /* too heavy */
        RULE ";t12;w1,5,0,3,18,2,9,1,2*5+5",   /* its turn is over */
        RULE ";t12;w1,5,0,3,18,2,9,1,2*5+0",
        RULE ";t12;w1,5,0,3,18,2,9,1,2+1",
        RULE ";t12;w1,5,0,3,18,2,9,1,2,f*5",
        RULE ";t12;w1,5,10,3,18,2,9,1,2",                   /* no such priority */
        RULE ";t12;w1,5,0,3,18,0,9,1,2",                    /* nothing costs nothing */
        RULE ";t12;w1,5,0,1099511627790,18,2,9,1,2",        /* more turns than one owes */
        RULE ";t12;w1,5,0,3,18,2,9,1,2;w2,5,0,3,1,1,1,1,2", /* a turn twice */
        RULE ";t12;w1,5,0,3,18,2,9,1,2;w2,5,0,2,1,1,1,1,2", /* out of order */
        RULE ";t12;w1,5,3,3,18,2,9,1,2;w2,5,2,4,1,1,1,1,2", /* out of order by priority */
        RULE ";n0",
        RULE ";r7,250000,0,0,5",   /* permits, but none */
        RULE ";h1,5,0,9",          /* holds nothing */
        RULE ";h1,5,1",            /* until when? */
        RULE ";h2,5,1,9;h1,5,1,9", /* out of order */
        RULE ";h1,5,1,9;h1,6,1,9", /* a worker twice */
        RULE ";h1,5,1,9;t1",
        RULE ";t12;w12345678901234567,5,0,3,18,2,9,1,2", /* 17 digits */
        RULE ";" RULE ";" RULE ";" RULE ";" RULE ";" RULE ";" RULE ";" RULE
             ";" RULE, /* nine rules */
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        static book b;
        takt_standing standing;
        open_book(&b, ten_a_second());
        add_rule(&b.limit, 5, HOUR, 5);
        cr_assert_eq(decode(&b, texts[i]), -1, "%s", texts[i]);
        cr_assert_eq(b.ledger.numbers, &b.limit);
        cr_assert_eq(b.ledger.line_count + b.ledger.holder_count, 0);
        cr_assert_eq(b.ledger.blocked_until_us, NOW + 250 * MS + HOUR, "%s", texts[i]);
        takt_ledger_peek(&b.ledger, NOW, &standing);
        cr_assert_eq(standing.remaining, 0);
        b.ledger.line_capacity = LINE_MAX;
        say(&b, 0, 1, 5, 1, 5);
        cr_assert_eq(b.given, 0, "nothing may be trusted, so nothing is given");
        say(&b, 250 * MS + HOUR, 1, 5, 1, 1000);
        cr_assert_eq(b.given, 3, "and no burst when the block ends");
        say(&b, 250 * MS + HOUR + MINUTE, 1, 5, 1, 1000);
        cr_assert_leq(b.given, 5, "nor after it: the hour's five are all that a bucket holds");
    }
}

/* Cut anywhere, a text is refused, or it is a shorter text that is good by itself; it is never
 * misread. */
Test(ledger_text, a_text_that_was_cut_is_not_misread)
{
    static const char whole[] =
        RULE ";t12;b1763696400000000" PACE ";w1,5,0,3,18,2,9,1763692802000000,1763692806000000,f";
    char text[sizeof whole];

    for (size_t size = 0; size < sizeof whole - 1; size++) {
        static book b;
        memcpy(text, whole, size);
        text[size] = '\0';
        open_book(&b, ten_a_second());
        if (decode(&b, text) < 0)
            cr_assert_eq(b.ledger.blocked_until_us, NOW + 250 * MS + SECOND, "%s", text);
        else if (size > 0 && text[size - 1] != ';')
            cr_assert_eq(strncmp(encode(&b), text, strlen("g1/100000*5 ")), 0, "%s", text);
    }
}

Test(ledger_text, places_are_counted_before_they_are_read)
{
    static const struct {
        const char *text;
        int places;
    } rows[] = {{"", 0}, {RULE, 0}, {RULE ";t2;w1,2,3,1,5,6,7,8,9", 1}, {"www", 1}, {";w;w", 2}};
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_assert_eq(takt_ledger_text_places(rows[i].text, strlen(rows[i].text)), rows[i].places,
                     "row %zu", i);
}

Test(ledger_text, more_than_there_is_memory_for_is_refused)
{
    static const struct {
        const char *text;
        int places, holders;
    } rows[] = {{RULE ";t12;w1,5,0,3,18,2,9,1,2;w1,5,9,2,1,1,1,5,7", 1, 0},
                {RULE ";t12;w1,5,0,3,18,2,9,1,2", 0, 0},
                {RULE ";n5,1763692806000000;h1,5,1,1763692806000000;h2,5,1,1763692806000000", 0, 1},
                {RULE ";n5,1763692806000000;h1,5,1,1763692806000000", 0, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        static takt_numbers kept;
        open_book(&b, ten_a_second());
        b.ledger.line = rows[i].places > 0 ? b.line : NULL;
        b.ledger.line_capacity = rows[i].places;
        b.ledger.holders = rows[i].holders > 0 ? b.holders : NULL;
        b.ledger.holder_capacity = rows[i].holders;
        cr_assert_eq(
            takt_ledger_decode(&b.ledger, &b.limit, &kept, NOW, rows[i].text, strlen(rows[i].text)),
            -1, "%s", rows[i].text);
        cr_assert_eq(b.ledger.line_count, 0);
        cr_assert_eq(b.ledger.holder_count, 0);
    }
}

Test(ledger_text, the_longest_place_fits)
{
    static book b;

    open_book(&b, ten_a_second());
    for (int i = 0; i < 5; i++) {
        int64_t big = INT64_C(1) << 53;
        b.line[i] = (takt_place){.worker = UINT64_MAX,
                                 .seq = big,
                                 .turn = big,
                                 .wanting = big,
                                 .need = 1000000,
                                 .more = {{0, 0, big, big, big}},
                                 .needs = {{0, 0, 1000000, 1000000, 1000000}},
                                 .weight = big,
                                 .left = big,
                                 .former = big,
                                 .waiting = big,
                                 .again_at_us = big,
                                 .expires_at_us = big,
                                 .priority = 9,
                                 .aside = true,
                                 .foremost = true,
                                 .lacking = true,
                                 .process = UINT64_MAX};
        b.tenants[i] = (takt_tenant){
            .weight = TAKT_TENANT_WEIGHT_MAX, .tag = big, .since_us = big, .priority = 9};
        memset(b.tenants[i].name, '%', TAKT_TENANT_TEXT_MAX);
        b.holders[i] = (takt_holder){UINT64_MAX, big, big, big};
    }
    b.ledger.line_count = b.ledger.holder_count = b.ledger.tenant_count = 5;
    b.ledger.turn = b.ledger.blocked_until_us = b.ledger.fence = INT64_C(1) << 53;
    b.ledger.meter = (takt_meter){INT64_C(1) << 53, INT64_C(1) << 53, INT64_C(1) << 53};
    b.ledger.contest = (takt_contest){INT64_C(1) << 53, INT64_C(1) << 53};
    b.ledger.offers = (takt_offers){
        .asked_at_us = INT64_C(1) << 53, .asker = UINT64_MAX, .count = TAKT_OFFERS_MAX};
    for (int i = 0; i < TAKT_OFFERS_MAX; i++)
        b.ledger.offers.slots[i] = (takt_offer){INT64_C(1) << 53, TAKT_COST_MAX, 9};
    b.ledger.line_count = b.ledger.tenant_count = 0; /* no place of these stays for long */
    takt_ledger_penalize(&b.ledger, NOW, 1, NULL);
    b.ledger.line_count = b.ledger.holder_count = b.ledger.tenant_count = 5;
    b.ledger.brake =
        (takt_brake){99, INT64_C(1) << 53, INT64_C(1) << 53, INT64_C(1) << 53, INT64_C(1) << 53};
    b.ledger.state.rules[b.limit.rule_count].gcra.tat =
        (takt_fraction){INT64_C(1) << 53, 999999999};
    cr_assert_leq(strlen(encode(&b)), takt_ledger_text_size(5, 5, 5));
}

/* A caller with other rules than the text: with a higher revision its rules are valid, otherwise
 * the text's. */
Test(ledger_text, of_two_policies_the_newer_one_holds)
{
    static const struct {
        int64_t revision; /* mine; the text's is 5, its rate 10/s */
        int64_t tokens;
        bool mine_holds;
        int64_t retry_us; /* for the next token, three of ten a second having been taken */
    } rows[] = {{5, 10, true, 100 * MS},
                {5, 20, false, 100 * MS},
                {6, 1, true, SECOND},
                {4, 20, false, 100 * MS},
                {0, 20, false, 100 * MS}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        static book b;
        takt_standing standing;
        open_book(&b, limit_of(rows[i].tokens, SECOND, 1));
        b.limit.revision = rows[i].revision;
        cr_assert_eq(decode(&b, "g1/100000*1 1763692800100000;r5,100000,7"), 0);
        cr_assert_eq(b.ledger.numbers == &b.limit, rows[i].mine_holds, "row %zu", i);
        cr_assert_eq(b.ledger.numbers->lookahead_us, rows[i].mine_holds ? 250 * MS : 100 * MS);
        cr_assert_eq(b.ledger.numbers->max_waiting, rows[i].mine_holds ? 0 : 7);
        takt_ledger_peek(&b.ledger, NOW, &standing);
        cr_assert_eq(standing.retry_after_us, rows[i].retry_us, "row %zu: %" PRId64, i,
                     standing.retry_after_us);
        cr_assert(strstr(encode(&b), rows[i].mine_holds ? "" : ";r5,100000,7"), "%s", encode(&b));
    }
}

Test(ledger_text, a_limit_of_permits_alone_has_no_rule)
{
    static book b;
    takt_numbers limit = {.lookahead_us = 250 * MS, .concurrency = 2, .lease_us = SECOND};
    static const char text[] = "n1763692800000004,1763692806000000;h1,5,2,1763692806000000";

    open_book(&b, limit);
    cr_assert_eq(decode(&b, text), 0);
    cr_assert_str_eq(encode(&b), text, "%s", encode(&b));
    cr_assert_eq(decode(&b, "r7,250000,0,2,1000000;b5"), 0);
    cr_assert_eq(b.ledger.numbers->revision, 7);
    cr_assert_eq(b.ledger.numbers->rule_count, 0);
    cr_assert_str_eq(encode(&b), "r7,250000,0,2,1000000;b5", "%s", encode(&b));
}
