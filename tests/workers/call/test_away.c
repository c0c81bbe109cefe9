/*
 * Hosts that are away, by their URLs.
 */
#include <criterion/criterion.h>
#include <stdio.h>

#include "call/away.h"

static away_host *find(away *away, const char *limit, const char *key, const char *url)
{
    return away_find(away, &(away_place){limit, key, url});
}

Test(away, a_host_is_its_scheme_name_and_port)
{
    static const char *const same[] = {"http://a.example:80", "http://a.example:80/",
                                       "HTTP://A.example:80/b/c", "http://a.example:80?q=://",
                                       "http://a.example:80#f"};
    static const char *const others[] = {"http://a.example", "https://a.example:80/",
                                         "http://a.example:8/", "http://a.example:801/",
                                         "http://b.example:80/"};
    away away = {0};
    away_host *host = away_add(&away, &(away_place){"l", "k", "http://a.example:80/x?y"});

    cr_assert_not_null(host);
    cr_expect_str_eq(host->name, "http://a.example:80");
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        cr_expect_eq(find(&away, "l", "k", same[i]), host, "%s", same[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect_null(find(&away, "l", "k", others[i]), "%s", others[i]);
    cr_expect_null(find(&away, "l", "", same[0]));
    cr_expect_null(find(&away, "m", "k", same[0]));
    cr_expect_eq(away_add(&away, &(away_place){"l", "k", same[1]}), host, "once");
    away_free(&away);
}

Test(away, others_of_its_limit_and_key_are_reached)
{
    away away = {0};
    away_host *host = away_add(&away, &(away_place){"l", "k", "http://a/"});

    away_reached(&away, &(away_place){"l", "j", "http://b/"});
    away_reached(&away, &(away_place){"m", "k", "http://b/"});
    away_reached(&away, &(away_place){"l", "", "http://a/"});
    cr_expect_not(host->is_one_of_many);
    away_reached(&away, &(away_place){"l", "k", "http://b/"});
    cr_expect(host->is_one_of_many);
    cr_expect_eq(away.count, 1);
    away_reached(&away, &(away_place){"l", "k", "http://a/x"});
    cr_expect_null(find(&away, "l", "k", "http://a/"), "it is back");
    cr_expect_eq(away.count, 0);
    away_free(&away);
}

Test(away, there_is_a_bound)
{
    away away = {0};
    char url[64];
    away_place place = {"l", "", url};

    for (int i = 0; i <= AWAY_MAX; i++) {
        snprintf(url, sizeof url, "http://%d.example/", i);
        cr_expect_eq(away_add(&away, &place) != NULL, i < AWAY_MAX);
    }
    cr_expect_null(away_find(&away, &place));
    away_reached(&away, &(away_place){"l", "", "http://7.example/"});
    cr_expect_not_null(away_add(&away, &place));
    away_free(&away);
}
