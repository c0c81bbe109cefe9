/*
 * A worker that does with its jobs what they say, for tests of the frame: "do" has a word for each
 * attempt, the last one for all further ones.
 *
 *     done     it is done; its result tells the attempt and what "text" is
 *     retry    it failed ("after": not before so many milliseconds)
 *     dead     it never will be done
 *     abort    it ends its worker
 *     hold     it runs until SIGUSR1, and then is done
 *     settle   it is done, and was nothing ("settle": its cost)
 *     penalize its limit is penalized for an hour, and it is done
 *
 * Each start is told: "started ID".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <takt/worker.h>
#include <uv.h>

#define HELD_MAX 1000

static uv_signal_t wish;
static takt_job *held[HELD_MAX];
static int held_count;

static void end_well(takt_job *job)
{
    json_t *text = json_object_get(takt_job_fields(job), "text");

    takt_job_done(
        job, json_pack("{s:i, s:s, s:b, s:I, s:O*}", "attempt", (int)takt_job_attempt(job), "key",
                       takt_job_head_of(job)->idempotency_key, "held", takt_job_is_held(job),
                       "fence", (json_int_t)takt_job_fence(job), "text", text));
}

static void on_wish(uv_signal_t *handle, int number)
{
    (void)handle;
    (void)number;
    while (held_count > 0)
        end_well(held[--held_count]);
}

static int begin(void *self, uv_loop_t *loop, const takt_policy *policy)
{
    (void)self;
    (void)policy;
    uv_signal_init(loop, &wish);
    uv_signal_start(&wish, on_wish, SIGUSR1);
    return 0;
}

static const char *word_of(const takt_job *job)
{
    const json_t *words = json_object_get(takt_job_fields(job), "do");
    size_t count = json_array_size(words), attempt = takt_job_attempt(job);

    if (count == 0)
        return "done";
    return json_string_value(json_array_get(words, (attempt < count ? attempt : count) - 1));
}

static int64_t number_of(const takt_job *job, const char *name)
{
    return json_integer_value(json_object_get(takt_job_fields(job), name));
}

static void start(void *self, takt_job *job)
{
    const char *word = word_of(job);

    (void)self;
    takt_worker_say("started %s", takt_job_head_of(job)->id);
    if (strcmp(word, "retry") == 0) {
        takt_job_retry(job, number_of(job, "after") * 1000, "told to fail");
    } else if (strcmp(word, "dead") == 0) {
        takt_job_dead(job, "told to die");
    } else if (strcmp(word, "abort") == 0) {
        signal(SIGABRT, SIG_DFL);
        abort();
    } else if (strcmp(word, "hold") == 0) {
        held[held_count++] = job;
    } else {
        if (strcmp(word, "settle") == 0)
            takt_job_settle(job, TAKT_USED(number_of(job, "settle")));
        else if (strcmp(word, "penalize") == 0)
            takt_job_penalize(job, INT64_C(3600000000), "told\nto penalize");
        end_well(job);
    }
}

static void stop(void *self)
{
    (void)self;
    uv_close((uv_handle_t *)&wish, NULL);
}

int main(int argc, char **argv)
{
    static const takt_job_kind puppet = {.name = "takt-puppet",
                                         .summary = "Does with its jobs what they say.",
                                         .open = begin,
                                         .start = start,
                                         .close = stop};

    return takt_worker_main(argc, argv, &puppet);
}
