/*
 * A child of fork sees that it is one, and its parent does not.
 */
#include "base/fork.h"

#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_child(unsigned before, bool again)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0 && again)
        _exit(takt_fork_count == before + 1 ? run_child(takt_fork_count, false) : 1);
    if (child == 0)
        _exit(takt_fork_count == before + 1 ? 0 : 1);
    cr_assert_gt(child, 0);
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(fork, counts_the_forks_that_led_to_a_process)
{
    unsigned before;

    takt_fork_watch();
    before = takt_fork_count;
    cr_assert_eq(run_child(before, false), 0);
    cr_assert_eq(run_child(before, true), 0, "a child of a child");
    cr_assert_eq(takt_fork_count, before, "the parent is the process that it was");
}

Test(fork, a_second_watch_counts_no_fork_twice)
{
    takt_fork_watch();
    takt_fork_watch();
    cr_assert_eq(run_child(takt_fork_count, false), 0);
}
