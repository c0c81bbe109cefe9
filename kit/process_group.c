/*
 * process_group.c: see process_group.h.
 */
#include "kit/process_group.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/list.h"
#include "kit/child.h"

/* How often an ending group is checked. The end of a direct child needs no check. */
#define LOOK_MS 20

#define TIMEOUT_MS TAKT_PROCESS_GROUP_TIMEOUT_MS

static takt_process_group *group_at(takt_link *link)
{
    return TAKT_HOLDER(link, takt_process_group, link);
}

/*
 * Whether processes of the group remain after its leader was waited for. The kernel does not reuse
 * the number of a group while the group has a process, including a dead one that was not waited
 * for. That is certain while one of them is our child. Processes of another parent can only be
 * looked up by number; if a process with this pid exists, the number was reused, so our group was
 * empty.
 */
static bool is_left(const takt_process_group *group, bool given_up)
{
    siginfo_t found;
    bool is_ours = waitid(P_PGID, (id_t)group->id, &found, WEXITED | WNOHANG | WNOWAIT) == 0;
    bool is_theirs = !is_ours && getpgid(group->id) != group->id;
    bool can_be_signalled = (is_ours || is_theirs) && kill(-group->id, 0) == 0;

    /* A dead process of another parent may remain as long as the parent likes. */
    if (given_up)
        return is_ours && can_be_signalled;
    return is_ours || can_be_signalled;
}

static void signal_again(takt_process_group *group, uint64_t since_ms)
{
    if (since_ms >= TIMEOUT_MS) {
        kill(-group->id, SIGKILL);
    } else if (group->leader_ended && !group->signalled_again && since_ms >= TIMEOUT_MS / 2) {
        group->signalled_again = true;
        kill(-group->id, SIGTERM);
    }
}

static void finish(takt_process_group *group)
{
    takt_list_remove(&group->link);
    group->on_end(group, group->status, group->signal);
}

/* Whether any group must still be ended. */
static bool look_at_all(takt_process_groups *groups)
{
    uint64_t now_ms = uv_now(groups->look.loop);
    bool more = false;

    for (takt_link *link = groups->running.next, *next; link != &groups->running; link = next) {
        takt_process_group *group = group_at(link);
        next = link->next;
        if (!group->ending)
            continue;
        uint64_t since_ms = now_ms - group->ending_since_ms;
        if (group->leader_ended && !is_left(group, since_ms >= 2 * TIMEOUT_MS)) {
            finish(group);
            next = groups->running.next;
        } else {
            signal_again(group, since_ms);
            more = true;
        }
    }
    return more;
}

static takt_process_group *find(takt_process_groups *groups, pid_t leader)
{
    for (takt_link *link = groups->running.next; link != &groups->running; link = link->next)
        if (group_at(link)->id == leader && !group_at(link)->leader_ended)
            return group_at(link);
    return NULL;
}

static void on_leader_end(takt_process_group *group, int status)
{
    group->leader_ended = true;
    group->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    group->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (!group->ending)
        finish(group);
}

/* Children without a group were left behind by ended commands. */
static void wait_for_children(takt_process_groups *groups)
{
    pid_t child;
    int status;

    while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
        takt_process_group *group = find(groups, child);
        if (group)
            on_leader_end(group, status);
    }
    if (uv_is_active((uv_handle_t *)&groups->look) && !look_at_all(groups))
        uv_timer_stop(&groups->look);
}

static void on_child_end(uv_signal_t *handle, int signal)
{
    (void)signal;
    wait_for_children(handle->data);
}

static void on_look(uv_timer_t *timer)
{
    wait_for_children(timer->data);
}

void takt_process_groups_open(takt_process_groups *groups, uv_loop_t *loop)
{
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    takt_list_init(&groups->running);
    uv_timer_init(loop, &groups->look);
    uv_signal_init(loop, &groups->child_ended);
    groups->look.data = groups->child_ended.data = groups;
    uv_signal_start(&groups->child_ended, on_child_end, SIGCHLD);
}

void takt_process_groups_close(takt_process_groups *groups)
{
    assert(takt_list_empty(&groups->running));
    uv_close((uv_handle_t *)&groups->look, NULL);
    uv_close((uv_handle_t *)&groups->child_ended, NULL);
}

int takt_process_group_start(takt_process_groups *groups, takt_process_group *group, char **command,
                             takt_process_group_end_cb *on_end)
{
    *group = (takt_process_group){.data = group->data, .on_end = on_end};
    int failed = takt_child_start_apart(command, &group->id);
    if (!failed)
        takt_list_append(&groups->running, &group->link);
    return failed;
}

void takt_process_groups_end(takt_process_groups *groups)
{
    uv_loop_t *loop = groups->look.loop;

    uv_update_time(loop);
    for (takt_link *link = groups->running.next; link != &groups->running; link = link->next) {
        takt_process_group *group = group_at(link);
        if (group->ending)
            continue;
        group->ending = true;
        group->ending_since_ms = uv_now(loop);
        kill(-group->id, SIGTERM); /* the leader, alive or not waited for, keeps the number */
    }
    uv_timer_start(&groups->look, on_look, LOOK_MS, LOOK_MS);
}
