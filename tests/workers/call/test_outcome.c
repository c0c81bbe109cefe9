/*
 * What a status means, and where a redirect may lead.
 */
#include <criterion/criterion.h>

#include "call/outcome.h"
#include "call/redirect.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

Test(outcome, of_a_status)
{
    static const struct {
        long status;
        bool expected, says_when;
        takt_caller_outcome outcome;
    } rows[] = {
        {200, true, false, TAKT_CALLER_OUTCOME_DONE},
        {404, true, true, TAKT_CALLER_OUTCOME_DONE},
        {429, false, false, TAKT_CALLER_OUTCOME_PENALIZE},
        {429, false, true, TAKT_CALLER_OUTCOME_PENALIZE},
        {503, false, true, TAKT_CALLER_OUTCOME_BLOCK},
        {503, false, false, TAKT_CALLER_OUTCOME_RETRY},
        {500, false, true, TAKT_CALLER_OUTCOME_RETRY},
        {599, false, false, TAKT_CALLER_OUTCOME_RETRY},
        {408, false, false, TAKT_CALLER_OUTCOME_RETRY},
        {425, false, false, TAKT_CALLER_OUTCOME_RETRY},
        {400, false, true, TAKT_CALLER_OUTCOME_DEAD},
        {404, false, false, TAKT_CALLER_OUTCOME_DEAD},
        {200, false, false, TAKT_CALLER_OUTCOME_DEAD},
        {304, false, false, TAKT_CALLER_OUTCOME_DEAD},
        {600, false, false, TAKT_CALLER_OUTCOME_DEAD},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        cr_assert_eq(takt_caller_outcome_of(rows[i].status, rows[i].expected, rows[i].says_when),
                     rows[i].outcome, "row %zu", i);
}

Test(redirect, leads_home_or_abroad)
{
    static const struct {
        takt_caller_redirect_rule rule;
        const char *from, *to;
        takt_caller_redirect_verdict verdict;
        const char *hosts;
    } rows[] = {
        {REDIRECT_SAME_HOST, "https://a.example/x", "https://a.example/y", REDIRECT_HOME, NULL},
        {REDIRECT_SAME_HOST, "https://a.example/x", "https://A.EXAMPLE:443/y", REDIRECT_HOME, NULL},
        {REDIRECT_SAME_HOST, "http://a.example/x", "https://a.example/y", REDIRECT_HOME, NULL},
        {REDIRECT_SAME_HOST, "http://a.example:8080/", "https://a.example/", REDIRECT_REFUSED,
         NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "https://a.example:8443/", REDIRECT_REFUSED,
         NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "http://a.example/", REDIRECT_REFUSED, NULL},
        {REDIRECT_ANY, "https://a.example/", "http://a.example/", REDIRECT_REFUSED, NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "https://b.example/", REDIRECT_REFUSED, NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "https://a.example.evil/", REDIRECT_REFUSED,
         NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "https://evil/@a.example", REDIRECT_REFUSED,
         NULL},
        {REDIRECT_ANY, "https://a.example/", "https://b.example/", REDIRECT_ABROAD, NULL},
        {REDIRECT_ANY, "http://a.example/", "file:///etc/passwd", REDIRECT_REFUSED, NULL},
        {REDIRECT_ANY, "http://a.example/", "nonsense", REDIRECT_REFUSED, NULL},
        {REDIRECT_NONE, "https://a.example/x", "https://a.example/y", REDIRECT_REFUSED, NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "https://u:p@a.example/", REDIRECT_REFUSED,
         NULL},
        {REDIRECT_SAME_HOST, "https://a.example/", "https://u@a.example/", REDIRECT_REFUSED, NULL},
        {REDIRECT_ANY, "https://a.example/", "https://10.0.0.1/", REDIRECT_REFUSED, NULL},
        {REDIRECT_ANY, "https://a.example/", "https://localhost/", REDIRECT_REFUSED, NULL},
        {REDIRECT_ANY, "https://a.example/", "https://10.1/", REDIRECT_ABROAD, "*,10.0.0.1"},
        {REDIRECT_ANY, "https://a.example/", "https://b.example/", REDIRECT_REFUSED, "a.example"},
        {REDIRECT_ANY, "https://a.example/", "https://b.example/", REDIRECT_ABROAD, "*.example"},
        {REDIRECT_ANY, "http://a.example/", "https://a.example/", REDIRECT_HOME, "a.example"},
        {REDIRECT_ANY, "http://a.example/", "https://a.example/", REDIRECT_REFUSED, "a.example:80"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *why = NULL;
        cr_assert_eq(
            takt_caller_redirect_judge(rows[i].rule, rows[i].hosts, rows[i].from, rows[i].to, &why),
            rows[i].verdict, "row %zu", i);
        cr_assert_eq(why != NULL, rows[i].verdict == REDIRECT_REFUSED, "row %zu", i);
    }
}

Test(redirect, method)
{
    cr_assert_null(takt_caller_redirect_method(307, "POST"));
    cr_assert_null(takt_caller_redirect_method(308, "POST"));
    cr_assert_null(takt_caller_redirect_method(302, "PUT"));
    cr_assert_null(takt_caller_redirect_method(303, "HEAD"));
    cr_assert_str_eq(takt_caller_redirect_method(303, "PUT"), "GET");
    cr_assert_str_eq(takt_caller_redirect_method(301, "POST"), "GET");
}
