/*
 * Hosts that cannot be reached, by their URLs.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "call/away.h"

static takt_caller_away_host *find(takt_caller_away *away, const char *limit, const char *key,
                                   const char *url)
{
    return takt_caller_away_find(away, &(takt_caller_away_target){limit, key, url});
}

Test(away, a_host_is_its_scheme_name_and_port)
{
    static const char *const same[] = {"http://a.example:80", "http://a.example:80/",
                                       "HTTP://A.example:80/b/c", "http://a.example:80?q=://",
                                       "http://a.example:80#f"};
    static const char *const others[] = {"http://a.example", "https://a.example:80/",
                                         "http://a.example:8/", "http://a.example:801/",
                                         "http://b.example:80/"};
    takt_caller_away away = {0};
    takt_caller_away_host *host = takt_caller_away_add(
        &away, &(takt_caller_away_target){"l", "k", "http://a.example:80/x?y"});

    cr_assert_not_null(host);
    cr_expect_str_eq(host->name, "http://a.example:80");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        cr_expect_eq(find(&away, "l", "k", same[i]), host, "%s", same[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_null(find(&away, "l", "k", others[i]), "%s", others[i]);
    cr_expect_null(find(&away, "l", "", same[0]));
    cr_expect_null(find(&away, "m", "k", same[0]));
    cr_expect_eq(takt_caller_away_add(&away, &(takt_caller_away_target){"l", "k", same[1]}), host,
                 "once");
    takt_caller_away_free(&away);
}

Test(away, others_of_its_limit_and_key_are_reached)
{
    takt_caller_away away = {0};
    takt_caller_away_host *host =
        takt_caller_away_add(&away, &(takt_caller_away_target){"l", "k", "http://a/"});

    takt_caller_away_reached(&away, &(takt_caller_away_target){"l", "j", "http://b/"});
    takt_caller_away_reached(&away, &(takt_caller_away_target){"m", "k", "http://b/"});
    takt_caller_away_reached(&away, &(takt_caller_away_target){"l", "", "http://a/"});
    cr_expect_not(host->is_one_of_many);
    takt_caller_away_reached(&away, &(takt_caller_away_target){"l", "k", "http://b/"});
    cr_expect(host->is_one_of_many);
    cr_expect_eq(away.count, 1);
    takt_caller_away_reached(&away, &(takt_caller_away_target){"l", "k", "http://a/x"});
    cr_expect_null(find(&away, "l", "k", "http://a/"), "it is back");
    cr_expect_eq(away.count, 0);
    takt_caller_away_free(&away);
}

Test(away, there_is_a_bound)
{
    takt_caller_away away = {0};
    char url[64];
    takt_caller_away_target place = {"l", "", url};

    for (int i = 0; i <= AWAY_MAX; i++) {
        snprintf(url, sizeof url, "http://%d.example/", i);
        cr_expect_eq(takt_caller_away_add(&away, &place) != NULL, i < AWAY_MAX);
    }
    cr_expect_null(takt_caller_away_find(&away, &place));
    takt_caller_away_reached(&away, &(takt_caller_away_target){"l", "", "http://7.example/"});
    cr_expect_not_null(takt_caller_away_add(&away, &place));
    takt_caller_away_free(&away);
}
