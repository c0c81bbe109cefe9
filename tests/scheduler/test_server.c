/*
 * The servers of a store: number 0 is always there, others are made by their numbers and stay where
 * they are.
 */
#include <criterion/criterion.h>

#include "scheduler/server.h"

Test(server, number_0_stands_for_the_store)
{
    takt_servers servers = {.more = NULL};

    cr_expect_eq(takt_servers_get(&servers, 0), &servers.first);
    cr_expect_eq(servers.more_count, 0);
    takt_servers_close(&servers);
}

/* Queues refer to their servers while further ones are made. */
Test(server, a_server_stays_where_it_is)
{
    takt_servers servers = {.more = NULL};
    takt_server *second = takt_servers_get(&servers, 2), *ninth;

    cr_assert_neq(second, &servers.first);
    cr_expect_eq(servers.more_count, 2);
    second->in_flight = 5;
    ninth = takt_servers_get(&servers, 9);
    cr_expect_eq(servers.more_count, 9);
    cr_expect_eq(takt_servers_get(&servers, 2), second);
    cr_expect_eq(second->in_flight, 5);
    cr_expect_eq(takt_servers_get(&servers, 9), ninth);
    cr_expect_eq(ninth->in_flight, 0);
    cr_expect_not(ninth->loss.lost || ninth->clock.known);
    for (int number = 1; number <= 9; number++)
        for (int other = 0; other < number; other++)
            cr_expect_neq(takt_servers_get(&servers, number), takt_servers_get(&servers, other));
    takt_servers_close(&servers);
}

Test(server, closing_leaves_a_store_without_further_servers)
{
    takt_servers servers = {.more = NULL};

    takt_servers_get(&servers, 3);
    takt_servers_close(&servers);
    cr_expect_eq(servers.more_count, 0);
    takt_servers_close(&servers);
    cr_expect_neq(takt_servers_get(&servers, 1), &servers.first);
    takt_servers_close(&servers);
}
