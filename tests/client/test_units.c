/*
 * Requests that state amounts of units: each level takes the amount of its own unit, a wrong amount
 * is refused with a message that says what to write, and takt_settle reports by unit.
 */
#include "client/calls.h"

static const char text[] =
    "limits:\n"
    "  - name: model\n"
    "    rules:\n"
    "      - {rate: 5/h, algorithm: fixed-window, align: first-use, counts: requests}\n"
    "      - {rate: 3000/h, algorithm: fixed-window, align: first-use, counts: tokens}\n"
    "  - name: mail\n"
    "    within: provider\n"
    "    rules:\n"
    "      - {rate: 50/h, algorithm: fixed-window, align: first-use, counts: recipients, "
    "default_amount: 2}\n"
    "    overrides: [{key: vip, unlimited: true}]\n"
    "  - name: provider\n"
    "    rules: [{rate: 9000/h, algorithm: fixed-window, align: first-use, counts: bytes}]\n"
    "  - {name: plain, within: model, rules: [{rate: 100/h, burst: 10}]}\n"
    "  - {name: cost, rules: [{rate: 100/h, burst: 10}]}\n"
    "  - name: llm\n"
    "    concurrency: 9\n"
    "    rules:\n"
    "      - {rate: 5/h, algorithm: fixed-window, align: first-use, counts: requests}\n"
    "      - {rate: 3000/h, algorithm: fixed-window, align: first-use, counts: input_tokens}\n"
    "      - {rate: 800/h, algorithm: fixed-window, align: first-use, counts: output_tokens, "
    "default_amount: 200}\n"
    "      - {rate: 50/h, algorithm: fixed-window, align: first-use, counts: images, "
    "default_amount: 1}\n";

static void open_units(void)
{
    takt_options options = {.store = "memory:"};
    takt_error error;

    cr_assert_eq(uv_loop_init(&loop), 0);
    cr_assert_eq(takt_policy_parse(&policy, "test", text, sizeof text - 1, &error), 0, "%s",
                 error.text);
    cr_assert_eq(takt_open(&client, &loop, policy, &options, &error), 0, "%s", error.text);
}

TestSuite(units, .init = open_units, .fini = close_client);

static int64_t left_of(const char *limit)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, limit, NULL, note_call));
    cr_assert_eq(last.status, 0);
    return last.standing.remaining;
}

static void take(takt_permit *permit, const takt_request *request, int status)
{
    takt_call call = {0};

    run_call(takt_try_acquire(client, &call, permit, request, note_call));
    cr_assert_eq(last.status, status);
}

#define REQUEST(of, for_key, costs, ...)                                                           \
    {                                                                                              \
        .limit = (of), .key = (for_key), .cost = (costs), .priority = TAKT_PRIORITY_POLICY,        \
        .amounts = {                                                                               \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

Test(units, what_is_stated_wrongly)
{
    static const struct {
        takt_request request;
        int code;
        const char *words;
    } rows[] = {
        {REQUEST("model", NULL, 1, {"tokens", 1500}), 0, NULL},
        {REQUEST("model", NULL, 1, {NULL, 0}, {"tokens", 3000}), 0, NULL},
        {REQUEST("mail", NULL, 1, {"bytes", 1}), 0, NULL},
        {REQUEST("mail", "vip", 1, {"bytes", 1}, {"recipients", 9}), 0, NULL},
        {REQUEST("plain", NULL, 7, {"tokens", 5}), 0, NULL},
        {REQUEST("model", NULL, 1, {NULL, 0}), TAKT_E_INVALID,
         "limit \"model\": no amount of tokens, which its rules count; state it, or give the "
         "rule a default_amount in the policy"},
        {REQUEST("plain", NULL, 7, {NULL, 0}), TAKT_E_INVALID,
         "limit \"model\": no amount of tokens"},
        {REQUEST("model", NULL, 1500, {NULL, 0}), TAKT_E_INVALID,
         "limit \"model\": a cost of 1500, and its rules count tokens; state the amount "
         "of tokens instead"},
        {REQUEST("model", NULL, 1, {"tokens", 5}, {"bytes", 5}), TAKT_E_INVALID,
         "limit \"model\": an amount of \"bytes\"; its rules count tokens"},
        {REQUEST("model", NULL, 1, {"token", 5}), TAKT_E_INVALID,
         "limit \"model\": an amount of \"token\"; did you mean \"tokens\"? Its rules count "
         "tokens"},
        {REQUEST("mail", NULL, 1, {"tokens", 5}), TAKT_E_INVALID,
         "limit \"mail\": an amount of \"tokens\"; its rules count recipients, bytes"},
        {REQUEST("cost", NULL, 1, {"tokens", 5}), TAKT_E_INVALID,
         "limit \"cost\": an amount of \"tokens\", and its rules name no unit; state a cost "
         "without a unit, or let a rule of the policy count it"},
        {REQUEST("model", NULL, 1, {"tokens", 5}, {"requests", 1}), TAKT_E_INVALID,
         "limit \"model\": an amount of \"requests\"; leave it out: each acquire is one request"},
        {REQUEST("model", NULL, 1, {"tokens", 5}, {"tokens", 1}), TAKT_E_INVALID,
         "limit \"model\": two amounts of tokens; ask for their sum"},
        {REQUEST("model", NULL, 1, {"tokens", 0}), TAKT_E_INVALID,
         "limit \"model\": 0 tokens; ask for 1 to 1000000"},
        {REQUEST("model", NULL, 1, {"tokens", -5}), TAKT_E_INVALID, "limit \"model\": -5 tokens"},
        {REQUEST("model", NULL, 1, {"tokens", 1000001}), TAKT_E_INVALID,
         "limit \"model\": 1000001 tokens"},
        {REQUEST("model", NULL, 1, {"tokens", 3001}), TAKT_E_COST,
         "limit \"model\": 3001 tokens can never be given: rules[1] (3000/h tokens "
         "fixed-window first-use guard 50ms) gives at most 3000 at once; ask for less, or raise "
         "its rate"},
        {REQUEST("mail", NULL, 1, {"bytes", 9001}), TAKT_E_COST, "limit \"provider\""},
        {REQUEST("llm", NULL, 1, {"input_tokens", 9}, {"output_tokens", 9}, {"images", 9}), 0,
         NULL},
        {REQUEST("llm", NULL, 1, {"output_tokens", 9}), TAKT_E_INVALID,
         "limit \"llm\": no amount of input_tokens, which its rules count"},
        {REQUEST("llm", NULL, 1, {"input_tokens", 9}, {"tokens", 9}), TAKT_E_INVALID,
         "limit \"llm\": an amount of \"tokens\"; its rules count input_tokens, output_tokens, "
         "images"},
        {REQUEST("llm", NULL, 1, {"input_tokens", 9}, {"output_tokens", 801}), TAKT_E_COST,
         "limit \"llm\": 801 output_tokens can never be given: rules[2] (800/h output_tokens"},
        {REQUEST("llm", NULL, 1, {"input_tokens", 9}, {"images", -1}), TAKT_E_INVALID,
         "limit \"llm\": -1 images; ask for 1 to 1000000"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        takt_permit permit = {0};
        takt_error error = {0};
        int code = takt_check_request(policy, &rows[i].request, &error);
        cr_expect_eq(code, rows[i].code, "row %zu: %d %s", i, code, error.text);
        if (rows[i].words) {
            cr_expect_eq(strncmp(error.text, rows[i].words, strlen(rows[i].words)), 0,
                         "row %zu\n said %s\n not  %s", i, error.text, rows[i].words);
            cr_expect_eq(takt_acquire(client, &permit, &rows[i].request, note), rows[i].code);
        }
    }
    cr_expect_eq(left_of("model"), 3000, "nothing was taken");
}

Test(units, an_acquire_takes_requests_and_its_amount)
{
    takt_request request = REQUEST("model", NULL, 1, {"tokens", 500});
    takt_permit permits[6] = {0};

    for (int i = 0; i < 4; i++)
        take(&permits[i], &request, 0);
    cr_expect_eq(left_of("model"), 1000);
    take(&permits[4], &request, 0);
    take(&permits[5], &request, TAKT_E_NO_SLOT); /* five requests at once are the most */
}

static int64_t left_of_rule(int rule)
{
    takt_call call = {0};

    run_call(takt_peek(client, &call, "llm", NULL, note_call));
    cr_assert_eq(last.status, 0);
    cr_assert_eq(last.standing.rule_count, 4);
    return last.standing.rules[rule].remaining;
}

/* One award takes all units and the permit, a settle corrects each, and takt_lower names one. */
Test(units, one_limit_counts_several)
{
    static const char *const names[] = {"requests", "input_tokens", "output_tokens", "images"};
    takt_request request = REQUEST("llm", NULL, 1, {"input_tokens", 1000}, {"output_tokens", 300});
    const takt_amount used[] = {{"output_tokens", 100}, {"images", 3}};
    takt_call call = {0};
    static seen job;
    takt_permit other = {0};

    job.permit.data = &job;
    cr_assert_eq(takt_acquire(client, &job.permit, &request, note), 0);
    run_until(1);
    cr_assert_eq(job.status, 0);
    cr_expect_eq(left_of_rule(0), 4);
    cr_expect_eq(left_of_rule(1), 2000);
    cr_expect_eq(left_of_rule(2), 500);
    cr_expect_eq(left_of_rule(3), 49);
    for (int i = 0; i < 4; i++)
        cr_expect_str_eq(last.standing.rules[i].unit, names[i]);
    request.amounts[1].amount = 501;
    take(&other, &request, TAKT_E_NO_SLOT); /* nothing is taken */
    cr_expect_eq(left_of_rule(1), 2000);
    takt_release(&job.permit);
    request.amounts[1].amount = 300;
    cr_assert_eq(takt_settle(&job.permit, &request, used, 2), 0);
    cr_expect_eq(left_of_rule(0), 4);
    cr_expect_eq(left_of_rule(1), 2000, "as it was taken");
    cr_expect_eq(left_of_rule(2), 700);
    cr_expect_eq(left_of_rule(3), 47);
    run_call(takt_lower(client, &call, "llm", NULL, "output_tokens", 5, note_call));
    cr_expect_eq(last.status, 0);
    cr_expect_eq(left_of_rule(2), 5);
    cr_expect_eq(left_of_rule(1), 2000);
    cr_expect_eq(takt_lower(client, &call, "llm", NULL, "tokens", 5, note_call), TAKT_E_INVALID);
}

/* Waits through both levels: each takes the amount of its own unit. */
Test(units, each_level_takes_its_own)
{
    takt_request request = REQUEST("mail", NULL, 1, {"bytes", 700}, {"recipients", 3});
    takt_request usual = REQUEST("mail", NULL, 1, {"bytes", 300});
    static seen jobs[2];

    for (int i = 0; i < 2; i++) {
        jobs[i].permit.data = &jobs[i];
        cr_assert_eq(takt_acquire(client, &jobs[i].permit, i == 0 ? &request : &usual, note), 0);
    }
    run_until(2);
    cr_expect_eq(jobs[0].status, 0);
    cr_expect_eq(left_of("mail"), 50 - 3 - 2, "the second one took the default");
    cr_expect_eq(left_of("provider"), 9000 - 700 - 300);
}

Test(units, a_try_takes_each_levels_own)
{
    takt_request request = REQUEST("mail", NULL, 1, {"bytes", 700}, {"recipients", 3});
    takt_request large = REQUEST("mail", NULL, 1, {"bytes", 8500}, {"recipients", 3});
    takt_permit permit = {0};

    take(&permit, &request, 0);
    cr_expect_eq(left_of("mail"), 47);
    cr_expect_eq(left_of("provider"), 8300);
    takt_release(&permit);
    take(&permit, &large, TAKT_E_NO_SLOT);
    cr_expect_eq(left_of("mail"), 47, "nothing is taken where one level refuses");
    request.key = "vip"; /* unlimited */
    take(&permit, &request, 0);
    cr_expect_eq(left_of("provider"), 7600);
}

Test(units, settling_by_unit)
{
    takt_request request = REQUEST("model", NULL, 1, {"tokens", 1000});
    const takt_amount less = {"tokens", 400}, none = {"tokens", 0}, more = {"tokens", 1300};
    takt_permit permits[5] = {0};

    for (int i = 0; i < 3; i++)
        take(&permits[i], &request, 0);
    cr_expect_eq(left_of("model"), 0);
    cr_assert_eq(takt_settle(&permits[0], &request, &less, 1), 0);
    cr_expect_eq(left_of("model"), 600);
    cr_assert_eq(takt_settle(&permits[1], &request, &none, 1), 0);
    cr_expect_eq(left_of("model"), 1600);
    cr_assert_eq(takt_settle(&permits[2], &request, &more, 1), 0);
    cr_expect_eq(left_of("model"), 1300);
}

/* Work that used no tokens was a request all the same; work that was not begun was none. */
Test(units, what_was_not_begun)
{
    takt_request request = REQUEST("model", NULL, 1, {"tokens", 10});
    const takt_amount none = {"tokens", 0};
    takt_permit permits[7] = {0};

    for (int i = 0; i < 5; i++)
        take(&permits[i], &request, 0);
    take(&permits[5], &request, TAKT_E_NO_SLOT);
    cr_assert_eq(takt_settle(&permits[0], &request, &none, 1), 0);
    take(&permits[5], &request, TAKT_E_NO_SLOT);
    cr_assert_eq(takt_settle(&permits[1], &request, NULL, 0), 0);
    take(&permits[5], &request, 0);
    take(&permits[6], &request, TAKT_E_NO_SLOT);
}

Test(units, what_cannot_be_settled)
{
    takt_request request = REQUEST("model", NULL, 1, {"tokens", 10});
    const takt_amount bytes[] = {{"tokens", 5}, {"bytes", 5}}, negative = {"tokens", -1};
    const takt_amount huge = {"tokens", TAKT_SETTLED_MAX + INT64_C(1)}, used = {"tokens", 10};
    takt_permit permit = {0};

    take(&permit, &request, 0);
    cr_expect_eq(takt_settle(&permit, &request, bytes, 2), TAKT_E_INVALID);
    cr_expect_eq(takt_settle(&permit, &request, TAKT_USED(5)), TAKT_E_INVALID);
    cr_expect_eq(takt_settle(&permit, &request, &negative, 1), TAKT_E_INVALID);
    cr_expect_eq(takt_settle(&permit, &request, &huge, 1), TAKT_E_INVALID);
    cr_expect_eq(takt_settle(&permit, &request, &used, -1), TAKT_E_INVALID);
    cr_expect_eq(takt_settle(&permit, &request, NULL, 1), TAKT_E_INVALID);
    cr_expect_eq(left_of("model"), 2990);
    cr_expect_eq(takt_settle(&permit, &request, &used, 1), 0, "nothing of that has settled it");
}

/* The outermost level returns tokens; the inner one charges the excess. */
Test(units, settling_levels)
{
    takt_request request = REQUEST("mail", NULL, 1, {"bytes", 700}, {"recipients", 3});
    const takt_amount used[] = {{"recipients", 5}, {"bytes", 200}};
    takt_permit permit = {0};

    take(&permit, &request, 0);
    cr_assert_eq(takt_settle(&permit, &request, used, 2), 0);
    cr_expect_eq(left_of("mail"), 45);
    cr_expect_eq(left_of("provider"), 8800);
}

static void expect_rule(int i, const char *unit, int64_t limit, int64_t remaining)
{
    const takt_rule_standing *rule = &last.standing.rules[i];

    cr_expect_str_eq(rule->unit, unit);
    cr_expect_eq(rule->limit, limit);
    cr_expect_eq(rule->remaining, remaining);
}

/* Also where a rule that is used up leaves nothing of the others for now. */
Test(units, what_each_rule_has_left)
{
    takt_request request = REQUEST("model", NULL, 1, {"tokens", 500});
    takt_permit permits[5] = {0};
    takt_call call = {0};

    for (int i = 0; i < 5; i++)
        take(&permits[i], &request, 0);
    cr_expect_eq(last.standing.rule_count, 2, "of a try as well");
    expect_rule(0, "requests", 5, 0);
    expect_rule(1, "tokens", 3000, 500);
    cr_expect_gt(last.standing.rules[1].reset_after_us, 0);
    run_call(takt_peek(client, &call, "model", NULL, note_call));
    expect_rule(0, "requests", 5, 0);
    expect_rule(1, "tokens", 3000, 500);
    run_call(takt_peek(client, &call, "cost", NULL, note_call));
    cr_expect_eq(last.standing.rule_count, 1);
    expect_rule(0, "tokens", 10, 10);
    run_call(takt_peek(client, &call, "provider", NULL, note_call));
    expect_rule(0, "bytes", 9000, 9000);
}

Test(units, lowering)
{
    takt_call call = {0};

    run_call(takt_lower(client, &call, "model", NULL, "tokens", 40, note_call));
    cr_expect_eq(last.standing.remaining, 40);
    cr_expect_eq(takt_lower(client, &call, "model", NULL, "bytes", 40, note_call), TAKT_E_INVALID);
    cr_expect_eq(takt_lower(client, &call, "mail", NULL, "tokens", 40, note_call), TAKT_E_INVALID);
    cr_expect_eq(takt_lower(client, &call, "mail", NULL, "requests", 4, note_call), TAKT_E_INVALID);
    run_call(takt_lower(client, &call, "mail", NULL, NULL, 7, note_call));
    cr_expect_eq(last.standing.remaining, 7);
}
