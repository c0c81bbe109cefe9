/*
 * The picture as a terminal shows it: a small terminal of the test interprets the output.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs/report/picture.h"

static takt_figures all = {.name = "takt-mail", .phase = TAKT_REPORT_WORKING};
static takt_report_picture drawn, fresh;
static takt_policy *policy;

static takt_report_limit *limit_of(const char *name, const char *rate)
{
    takt_rule_text rule = {.rate = rate, .burst = "10"};
    takt_limit_text limit = {.name = name, .rules = &rule, .rule_count = 1};
    takt_error error;

    if (!policy)
        cr_assert_eq(takt_policy_new(&policy, NULL), 0);
    cr_assert_eq(takt_policy_add(policy, &limit, &error), 0, "%s", error.text);
    return takt_figures_get(&all, name);
}

static void tear_down(void)
{
    takt_policy_free(policy);
    takt_figures_free(&all);
}

TestSuite(picture, .fini = tear_down);

Test(picture, tells_rates_against_quotas)
{
    takt_report_limit *mail = limit_of("sendgrid", "100/s");
    takt_report_limit *slow = limit_of("a-limit-with-a-name-of-some-length", "20/min");

    all.total = 50000;
    all.exact = true;
    *mail = (takt_report_limit){.name = mail->name,
                                .next = mail->next,
                                .done = 12000,
                                .dead = 3,
                                .running = 20,
                                .waiting = 1000,
                                .put_away = 30000000};
    slow->done = 345;
    takt_rate_sample(&mail->rate, 0, 0);
    takt_rate_sample(&mail->rate, 10000, 998);
    takt_rate_sample(&all.rate, 0, 0);
    takt_rate_sample(&all.rate, 10000, 1000);
    takt_report_picture_make(&fresh, &all, policy, 80, 24);
    cr_assert_eq(fresh.count, 5);
    cr_expect_str_eq(fresh.lines[0],
                     "takt-mail: 12345 of 50000 done, 3 failed, 20 running, 30001000 waiting");
    cr_expect_str_eq(fresh.lines[1], "working, 100.0/s, about 3 days left");
    cr_expect_str_eq(fresh.lines[2],
                     "limit            rate now    done  failed running waiting  quota");
    cr_expect_str_eq(fresh.lines[3],
                     "sendgrid           99.8/s   12000       3      20   30.0M  100/s burst 10");
    cr_expect_str_eq(fresh.lines[4],
                     "a-limit-with-a-~    0.0/s     345       0       0       0  20/min burst 10");
}

/* A notice takes the place of the end. */
Test(picture, tells_what_is_waited_for)
{
    takt_report_limit *mail = limit_of("mail", "1/s");

    all.total = 10;
    mail->waiting = 5;
    takt_rate_sample(&all.rate, 0, 0);
    takt_rate_sample(&all.rate, 10000, 10);
    takt_rate_sample(&mail->rate, 0, 0);
    takt_rate_sample(&mail->rate, 10000, 10);
    strcpy(all.notice, "mail: blocked until 12:00:00");
    takt_report_picture_make(&fresh, &all, policy, 80, 24);
    cr_expect_str_eq(fresh.lines[1], "working, 1.0/s; mail: blocked until 12:00:00");
    all.notice[0] = '\0';
    takt_report_picture_make(&fresh, &all, policy, 80, 24);
    cr_expect_str_eq(fresh.lines[1], "working, 1.0/s, about 10 s left");
}

/* The end is that of the slowest limit; of a limit that starts no jobs it is unknown. */
Test(picture, tells_when_the_slowest_ends)
{
    static const struct {
        uint64_t waiting, started; /* of the slow one, in ten seconds */
        const char *line;
    } rows[] = {
        {0, 0, "working, 100.0/s, about 10 s left"},
        {10, 10, "working, 100.0/s, about 10 s left"},
        {60, 3, "working, 100.0/s, about 3 min left"},
        {1, 0, "working, 100.0/s"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_report_limit *slow = limit_of("slow", "20/min"), *fast = limit_of("fast", "100/s");
        all.total = 2000;
        fast->done = 1000;
        takt_rate_sample(&all.rate, 0, 0);
        takt_rate_sample(&all.rate, 10000, 1000);
        slow->waiting = rows[i].waiting;
        takt_rate_sample(&slow->rate, 0, 0);
        takt_rate_sample(&slow->rate, 10000, rows[i].started);
        takt_report_picture_make(&fresh, &all, policy, 80, 24);
        cr_expect_str_eq(fresh.lines[1], rows[i].line, "row %zu", i);
        tear_down();
        policy = NULL;
        all = (takt_figures){.name = "takt-mail", .phase = TAKT_REPORT_WORKING};
    }
}

/* Something fails, and its text tries to move the cursor. */
Test(picture, tells_troubles)
{
    takt_figures_trouble(&all, "store", "\x1b[2Jgone\ngr\xc3\xbc\xc3\x9f\xff\xe2\x80\xae");
    takt_report_picture_make(&fresh, &all, NULL, 80, 24);
    cr_assert_eq(fresh.count, 3);
    cr_expect_str_eq(fresh.lines[2], "store: ?[2Jgone?gr\xc3\xbc\xc3\x9f??");
    cr_expect_eq(fresh.widths[2], 22);
    all.phase = TAKT_REPORT_DRAINING;
    takt_report_picture_make(&fresh, &all, NULL, 80, 24);
    cr_expect_not_null(strstr(fresh.lines[1], "stopping"));
}

static void make_many(void)
{
    char name[16];

    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "limit-%d", i);
        limit_of(name, "1/s")->waiting = (uint64_t)(i == 33 ? 7 : i == 35 ? 9 : 0);
    }
    takt_figures_trouble(&all, "store", "gone");
}

/* Every size there is: never as high or as wide as the window. */
Test(picture, fits)
{
    make_many();
    for (unsigned columns = 1; columns <= 300; columns += 7) {
        for (unsigned rows = 1; rows <= 60; rows++) {
            takt_report_picture_make(&fresh, &all, policy, columns, rows);
            cr_assert_lt(fresh.count, rows);
            for (unsigned i = 0; i < fresh.count; i++)
                cr_assert(fresh.widths[i] < columns && strlen(fresh.lines[i]) < columns);
        }
    }
}

Test(picture, with_many_limits_the_liveliest)
{
    make_many();
    takt_report_picture_make(&fresh, &all, policy, 80, 11);
    cr_assert_eq(fresh.count, 10);
    cr_expect_eq(strncmp(fresh.lines[3], "limit-0 ", 8), 0, "%s", fresh.lines[3]);
    cr_expect_eq(strncmp(fresh.lines[6], "limit-33 ", 9), 0, "%s", fresh.lines[6]);
    cr_expect_eq(strncmp(fresh.lines[7], "limit-35 ", 9), 0, "%s", fresh.lines[7]);
    cr_expect_str_eq(fresh.lines[8], "and 35 more limits");
    cr_expect_str_eq(fresh.lines[9], "store: gone");
}

/* ---- the terminal ---------------------------------------------------------------------------- */

#define ROWS_MAX 100

static struct {
    unsigned columns, row, column;
    char cells[ROWS_MAX][301];
} screen;

static void start_screen(unsigned columns)
{
    memset(&screen, 0, sizeof(screen));
    screen.columns = columns;
    for (int i = 0; i < ROWS_MAX; i++)
        memset(screen.cells[i], ' ', 300);
}

static void wipe_from(unsigned row, unsigned column)
{
    memset(screen.cells[row] + column, ' ', 300 - column);
}

/* Plays what takt_report_picture_draw and takt_report_picture_wipe may write, and nothing else. */
static void play(const char *text, size_t size)
{
    for (const char *at = text, *end = text + size; at < end; at++) {
        unsigned count;
        int used = 0;
        if (*at == '\r') {
            screen.column = 0;
        } else if (*at == '\n') {
            screen.row++;
            screen.column = 0;
        } else if (*at == '\x1b' && sscanf(at, "\x1b[%uA%n", &count, &used) == 1 && used > 0) {
            screen.row = screen.row > count ? screen.row - count : 0;
            at += used - 1;
        } else if (strncmp(at, "\x1b[K", 3) == 0) {
            wipe_from(screen.row, screen.column);
            at += 2;
        } else if (strncmp(at, "\x1b[J", 3) == 0) {
            wipe_from(screen.row, screen.column);
            for (unsigned row = screen.row + 1; row < ROWS_MAX; row++)
                wipe_from(row, 0);
            at += 2;
        } else {
            cr_assert((unsigned char)*at >= ' ', "\\x%02x", *at);
            cr_assert_lt(screen.column, screen.columns, "it breaks the line");
            screen.cells[screen.row][screen.column++] = *at;
        }
    }
}

static void draw(void)
{
    static char text[TAKT_REPORT_PICTURE_SIZE];

    play(text, takt_report_picture_draw(&drawn, &fresh, screen.columns, text));
    drawn = fresh;
}

static const char *row(unsigned number)
{
    static char text[301];
    size_t size = 300;

    memcpy(text, screen.cells[number], 300);
    while (size > 0 && text[size - 1] == ' ')
        size--;
    text[size] = '\0';
    return text;
}

Test(picture, is_redrawn_in_its_place)
{
    start_screen(80);
    play("before\n", 7);
    limit_of("a", "1/s")->waiting = 12345;
    takt_figures_trouble(&all, "store", "gone");
    takt_report_picture_make(&fresh, &all, policy, 80, 24);
    draw();
    cr_assert_str_eq(row(5), "store: gone");
    takt_figures_trouble(&all, "store", NULL);
    takt_figures_get(&all, "a")->waiting = 1;
    takt_report_picture_make(&fresh, &all, policy, 80, 24);
    draw();
    cr_assert_str_eq(row(0), "before");
    cr_assert_str_eq(row(1), "takt-mail: 0 done, 0 failed, 0 running, 1 waiting");
    cr_assert_str_eq(row(4),
                     "a                   0.0/s       0       0       0       1  1/s burst 10");
    cr_assert_str_eq(row(5), "", "nothing is left of the trouble");
    cr_assert(screen.row == 5 && screen.column == 0, "a shell's prompt would come below it");
}

Test(picture, messages_go_above_it)
{
    static char text[TAKT_REPORT_PICTURE_SIZE];

    start_screen(80);
    takt_report_picture_make(&fresh, &all, NULL, 80, 24);
    draw();
    play(text, takt_report_picture_wipe(&drawn, 80, text));
    drawn.count = 0;
    play("a message\n", 10);
    draw();
    cr_assert_str_eq(row(0), "a message");
    cr_assert_eq(strncmp(row(1), "takt-mail: ", 11), 0);
    cr_assert_str_eq(row(3), "");
    drawn.count = 0;
    cr_assert_eq(takt_report_picture_wipe(&drawn, 80, text), 0, "there is nothing to wipe");
}

/* A window of 80 columns becomes one of 30: the terminal breaks the lines that are there. */
Test(picture, window_becomes_narrower)
{
    unsigned rows = 0;

    start_screen(80);
    limit_of("a", "1/s");
    takt_report_picture_make(&fresh, &all, policy, 80, 24);
    draw();
    for (unsigned i = 0; i < drawn.count; i++)
        rows += (drawn.widths[i] + 29) / 30;
    cr_assert_gt(rows, drawn.count);
    start_screen(30);
    play("before\n", 7);
    for (unsigned i = 0; i < rows; i++)
        play("old\n", 4);
    takt_report_picture_make(&fresh, &all, policy, 30, 24);
    draw();
    cr_assert_str_eq(row(0), "before");
    cr_assert_eq(strncmp(row(1), "takt-mail: ", 11), 0, "%s", row(1));
    for (unsigned i = 1 + fresh.count; i < ROWS_MAX; i++)
        cr_assert_str_eq(row(i), "");
}
