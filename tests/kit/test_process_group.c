/*
 * A group that was told to end has ended when it is empty.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "kit/process_group.h"

#define GROUPS 20

typedef struct world {
    uv_loop_t loop;
    uv_timer_t timer;
    takt_process_groups groups;
    takt_process_group one[GROUPS];
    unsigned running, left; /* left: of groups with something in them when they had ended */
    int status, signal;
} world;

static void on_end(takt_process_group *group, int status, int signal)
{
    world *self = group->data;

    self->status = status;
    self->signal = signal;
    self->left += kill(-group->id, 0) == 0 || errno != ESRCH;
    if (--self->running == 0)
        takt_process_groups_close(&self->groups);
}

static void open_world(world *self)
{
    uv_loop_init(&self->loop);
    uv_timer_init(&self->loop, &self->timer);
    self->timer.data = self;
    takt_process_groups_open(&self->groups, &self->loop);
}

static int start(world *self, const char *script)
{
    char *command[] = {"sh", "-c", (char *)script, NULL};

    self->one[self->running].data = self;
    return takt_process_group_start(&self->groups, &self->one[self->running++], command, on_end);
}

static void run(world *self)
{
    uv_run(&self->loop, UV_RUN_DEFAULT);
    uv_close((uv_handle_t *)&self->timer, NULL);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&self->loop), 0);
}

static void end_all(uv_timer_t *timer)
{
    world *self = timer->data;

    takt_process_groups_end(&self->groups);
    takt_process_groups_end(&self->groups);
}

Test(process_group, tells_how_its_leader_ended)
{
    static const struct {
        const char *script;
        int status, signal;
    } rows[] = {{"exit 0", 0, 0}, {"exit 7", 7, 0}, {"kill -9 $$", 0, SIGKILL}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        world self = {0};
        open_world(&self);
        cr_assert_eq(start(&self, rows[i].script), 0);
        run(&self);
        cr_assert_eq(self.status, rows[i].status, "%s: %d", rows[i].script, self.status);
        cr_assert_eq(self.signal, rows[i].signal, "%s: %d", rows[i].script, self.signal);
    }
}

Test(process_group, names_why_a_command_does_not_run)
{
    world self = {0};
    char *command[] = {"/nowhere/at/all", NULL};

    open_world(&self);
    cr_assert_eq(takt_process_group_start(&self.groups, self.one, command, on_end), ENOENT);
    takt_process_groups_close(&self.groups);
    run(&self);
}

/* Shells fork with signals blocked, so that some children miss the signal to the group. */
Test(process_group, leaves_nothing_of_commands_that_fork_all_the_time, .timeout = 120)
{
    world self = {0};

    open_world(&self);
    for (unsigned i = 0; i < GROUPS; i++)
        cr_assert_eq(start(&self, i % 2 ? "while :; do sleep 1000 & sleep 0; done"
                                        : "trap '' TERM; while :; do sleep 1000 & sleep 0.1; done"),
                     0);
    uv_timer_start(&self.timer, end_all, 50, 0);
    run(&self);
    cr_assert_eq(self.left, 0, "%u groups", self.left);
}
