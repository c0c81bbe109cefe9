/*
 * agree_kinds.c: counts the steps of each kind, so that a kind that never occurred is not taken for
 * tested.
 */
#include "agree.h"
#include "core/award.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 340
#define FAR_US    TAKT_LOOKAHEAD_MAX_US /* a state further ahead than that is another clock's */

static struct kind {
    const char *name;
    int64_t count;
} kinds[KINDS_MAX];

static int kind_count; /* so far, of this step */

/* Every step asks for all kinds, in the same order. */
static void count(const char *name, bool came)
{
    struct kind *kind = &kinds[kind_count++];

    if (kind_count == KINDS_MAX)
        agree_fail("more kinds than there is room for");
    kind->name = name;
    kind->count += came;
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static bool keeps(const takt_limit *limit, const char *algorithm)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].algorithm == takt_algorithm_named(algorithm))
            return true;
    return false;
}

static bool mixes(const takt_limit *limit)
{
    for (int i = 1; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].algorithm->letter != limit->numbers.rules[0].algorithm->letter)
            return true;
    return false;
}

static bool is_aligned(const takt_limit *limit, takt_align align)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].algorithm->letter == 'f' &&
            limit->numbers.rules[i].align == align)
            return true;
    return false;
}

/* The clocks of a timezone that the limit goes by are changed that day. */
static bool is_day_of_change(const takt_limit *limit, int64_t now_us)
{
    for (int i = 0; i < limit->numbers.rule_count; i++)
        if (limit->numbers.rules[i].zone &&
            takt_zone_next_change(limit->numbers.rules[i].zone, now_us - TAKT_DAY_US) <
                now_us + TAKT_DAY_US)
            return true;
    return false;
}

static void count_rules(const takt_limit *limit, int64_t now_us)
{
    bool headroom = false, guard = false;

    for (int i = 0; i < limit->numbers.rule_count; i++) {
        headroom |= limit->numbers.rules[i].headroom_bp > 0;
        guard |= limit->numbers.rules[i].guard_us > 0;
    }
    for (int i = 0; takt_algorithm_at(i); i++)
        count(takt_algorithm_at(i)->name, keeps(limit, takt_algorithm_at(i)->name));
    count("windows that open with the first token", is_aligned(limit, TAKT_ALIGN_FIRST_USE));
    count("days on which a timezone's clocks are changed", is_day_of_change(limit, now_us));
    count("headroom", headroom);
    count("guards", guard);
    count("several rules", limit->numbers.rule_count > 1);
    count("as many rules as can be", limit->numbers.rule_count == TAKT_RULES_MAX);
    count("rules of several algorithms", mixes(limit));
}

/* ---- the ledger ------------------------------------------------------------------------------ */

/* A window whose last tokens count in the next one too: "f100/1000000+50000 1763692800000000,17+4".
 */
static bool carries(const char *text)
{
    for (const char *at = text; (at = strchr(at, ',')); at++)
        if (at[1 + strspn(at + 1, "0123456789")] == '+')
            return true;
    return false;
}

/* Somebody in line was silent for too long. */
static bool has_silent(const char *text, int64_t now_us)
{
    for (const char *at = text; (at = strstr(at, ";w")) != NULL; at += 2) {
        long long expires_us;
        if (sscanf(at, ";w%*x,%*d,%*d,%*d,%*d,%*d,%*d,%*d,%lld", &expires_us) == 1 &&
            expires_us < now_us)
            return true;
    }
    return false;
}

static int places(const char *text)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, ";w")) != NULL; at += 2)
        n++;
    return n;
}

static void count_ledger(const agree_outcome *ran)
{
    const char *before = ran->before;
    bool kept = before[0] != '\0';
    size_t rules = strcspn(before, " ");

    count("no ledger yet", !kept);
    count("ledgers that are as from rest", kept && ran->expired_at_us <= ran->step.now_us);
    count("ledgers that are dropped", kept && !ran->after[0]);
    count("ledgers that are written to and can be read", ran->touched && !ran->damaged);
    count("ledgers that cannot be read", ran->damaged);
    count("ledgers that cannot be read, with a line", ran->damaged && has(before, ";w"));
    count("ledgers that lost their line", ran->touched && has(before, ";t") && !has(before, ";w"));
    count("numbers that are taken over", kept && strncmp(before, ran->after, rules + 1) != 0);
    count("blocked ledgers", has(before, ";b"));
    count("blocks that end", has(before, ";b") && !has(ran->after, ";b"));
    count("logs with pages", has(before, "#1,"));
    count("logs in several books", has(before, "#2,"));
    count("logs that are paced", has(before, "^"));
    count("windows whose last tokens count in the next one too", carries(before));
    count("windows that are not open yet", has(before, "~"));
    count("lines", has(before, ";w"));
    count("lines of 20 places", places(before) >= 20);
    count("places that are set aside", has(before, ",a"));
    count("workers that fell silent", has_silent(before, ran->step.now_us));
    count("the clock stands still", ran->later_us == 0);
    count("the clock goes back", kept && ran->later_us < 0);
    count("the clock goes back far", kept && ran->later_us < -FAR_US);
    count("the clock leaps", kept && ran->later_us > FAR_US);
}

/* The part of the rate in a text; 100: all of it. */
static int percent_of(const char *text)
{
    const char *part = strstr(text, ";k");
    int percent = 100;

    return part && sscanf(part, ";k%d,", &percent) == 1 && percent > 0 ? percent : 100;
}

/* A block's pace is behind the brake's state. */
static bool is_paced(const char *text)
{
    const char *part = strstr(text, ";k");
    int commas = 0;

    for (const char *at = part ? part + 1 : ""; *at && *at != ';'; at++)
        commas += *at == ',';
    return commas == 5;
}

static void count_paces(const agree_outcome *ran)
{
    const char *before = ran->before, *after = ran->after;
    bool was = is_paced(before), is = is_paced(after), kept = !ran->damaged && after[0];
    bool penalized = percent_of(before) < 100;
    takt_op op = ran->step.call.op;

    count("blocks that will be paced", !was && is && !ran->damaged);
    count("ledgers that cannot be read and will be paced", is && ran->damaged);
    count("paces", was && !has(before, ";b"));
    count("paces of a penalty's rate", was && !has(before, ";b") && penalized);
    count("paces that end", kept && was && !is);
    count("paces that end where a penalty does not", kept && was && !is && has(after, ";k"));
    count("penalties that end where a pace does not",
          kept && was && is && penalized && percent_of(after) == 100);
    count("unblocks that are paced", op == TAKT_OP_UNBLOCK && has(before, ";b") && is);
    count("blocks of paced ledgers", op == TAKT_OP_BLOCK && was && !has(before, ";b"));
    count("resets of paced ledgers", op == TAKT_OP_RESET && was && !is);
    count("resets of blocked ledgers that are paced", op == TAKT_OP_RESET && was && is);
    count("ledgers without a block's pace that are blocked", kept && has(before, ";b") && !was);
}

static void count_contests(const agree_outcome *ran)
{
    bool was = has(ran->before, ";c"), is = has(ran->after, ";c");

    count("rules that others of their revision contest", is && !was);
    count("contested rules that are stated",
          was && is && !(ran->step.award.outdated & 1) && ran->step.call.op == TAKT_OP_CLAIM);
    count("contested rules that hold on",
          was && is && ran->step.award.outdated & 1 && ran->step.call.op == TAKT_OP_CLAIM);
    count("contests that are over", was && !is && ran->after[0] && !ran->damaged);
}

static void count_brakes(const agree_outcome *ran)
{
    int before = percent_of(ran->before), after = percent_of(ran->after);
    bool penalizes = ran->step.call.op == TAKT_OP_PENALIZE, braked = before < 100;
    bool fine = !ran->damaged;

    count("braked ledgers", braked);
    count("braked ledgers with several rules",
          braked && ran->step.call.limit->numbers.rule_count > 1);
    count("braked ledgers with a line", braked && has(ran->before, ";w"));
    count("braked ledgers that are blocked", braked && has(ran->before, ";b"));
    count("penalties that put the brake on", penalizes && !braked && after < 100);
    count("penalties that lower the rate further", penalizes && braked && after < before);
    count("penalties of the same event", penalizes && braked && after >= before);
    count("penalties without adapt", penalizes && ran->step.call.limit->numbers.adapt.backoff == 0);
    count("rates that come back", fine && braked && !penalizes && after > before && after < 100);
    count("brakes that come off", fine && braked && after == 100 && ran->after[0]);
    count("brakes of newer numbers than the caller's",
          fine && braked && ran->step.call.op == TAKT_OP_CLAIM && ran->step.award.outdated & 1);
    count("resets of braked ledgers", braked && ran->step.call.op == TAKT_OP_RESET);
    count("adapt that newer numbers tell", has(ran->after, ";a"));
    count("reasons", has(ran->after, ",429"));
    count("reasons that are escaped", has(ran->after, ",50%25%20off%3B%20"));
    count("reasons that go", has(ran->before, ",429") && !has(ran->after, ",429"));
}

/* ---- watches --------------------------------------------------------------------------------- */

/* The text's watch; false: it has none. */
static bool read_watched(const char *text, long long *since_us, long long *taken)
{
    const char *part = text[0] == 'm' ? text : strstr(text, ";m");

    return part && sscanf(part + (*part == ';'), "m%*d,%lld,%lld", since_us, taken) == 2;
}

static void count_watches(const agree_outcome *ran)
{
    takt_op op = ran->step.call.op;
    long long since_us = 0, taken = 0, since_before_us = 0, taken_before = 0;
    bool before = read_watched(ran->before, &since_before_us, &taken_before);
    bool after = read_watched(ran->after, &since_us, &taken), fine = !ran->damaged;
    bool on = fine && before && after && since_us == since_before_us;
    bool more = on && taken > taken_before;

    count("looks that watch a new ledger", !ran->before[0] && after);
    count("looks that begin a watch", fine && ran->before[0] && !before && after);
    count("looks that prolong a watch", on && op == TAKT_OP_PEEK && ran->step.call.for_us > 0);
    count("looks at a watched ledger", on && op == TAKT_OP_PEEK && ran->step.call.for_us == 0);
    count("watches that end", fine && before && !after && ran->after[0]);
    count("watches that end with their ledger", fine && before && !ran->after[0]);
    count("watches that go on while the clock goes back", on && ran->later_us < 0);
    count("watches that another clock ends", fine && before && !on && ran->later_us < 0);
    count("awards that are counted", more && op == TAKT_OP_CLAIM);
    count("tries that are counted", more && op == TAKT_OP_TRY);
    count("tries with permits that are counted", more && op == TAKT_OP_TRY && ran->five);
    count("settles that are counted", more && op == TAKT_OP_SETTLE);
    count("settles that are counted off", on && taken < taken_before && taken > 0);
    count("settles of what was taken before the watch", on && taken_before > 0 && taken == 0);
    count("watched ledgers without rules", on && ran->step.call.limit->numbers.rule_count == 0);
    count("watched ledgers with a line", on && has(ran->before, ";w"));
    count("watched ledgers that are braked", on && has(ran->before, ";k"));
    count("watched ledgers with newer numbers than the caller's",
          on && op == TAKT_OP_CLAIM && ran->step.award.outdated & 1);
    count("watched ledgers that cannot be read", before && ran->damaged);
}

/* ---- permits --------------------------------------------------------------------------------- */

static int holders(const char *text)
{
    int n = 0;

    for (const char *at = text; (at = strstr(at, ";h")) != NULL; at += 2)
        n++;
    return n;
}

/* A worker's permits in the text. */
static int64_t held_by(const char *text, uint64_t worker)
{
    for (const char *at = text; (at = strstr(at, ";h")) != NULL; at += 2) {
        unsigned long long name;
        long long held;
        if (sscanf(at, ";h%llx,%*d,%lld", &name, &held) == 2 && name == worker)
            return held;
    }
    return 0;
}

/* Somebody's lease is over. */
static bool has_lapsed(const char *text, int64_t now_us)
{
    for (const char *at = text; (at = strstr(at, ";h")) != NULL; at += 2) {
        long long expires_us;
        if (sscanf(at, ";h%*x,%*d,%*d,%lld", &expires_us) == 1 && expires_us < now_us)
            return true;
    }
    return false;
}

/* Somebody's lease ends then. */
static bool has_expiry_at(const char *text, int64_t at_us)
{
    for (const char *at = text; (at = strstr(at, ";h")) != NULL; at += 2) {
        long long expires_us;
        if (sscanf(at, ";h%*x,%*d,%*d,%lld", &expires_us) == 1 && expires_us == at_us)
            return true;
    }
    return false;
}

/* The number of places whose weight is not 1; `begun`: whose turn has begun. */
static int weighed(const char *text, bool begun)
{
    int count = 0;

    for (const char *at = text; (at = strstr(at, ";w")) != NULL; at += 2) {
        const char *weight = strpbrk(at + 2, "*;");
        if (weight && *weight == '*')
            count += !begun || weight[1 + strspn(weight + 1, "0123456789")] == '+';
    }
    return count;
}

/* The worker has had its turn, and is not the last. */
static bool is_between(const char *text, const takt_claim *claim)
{
    char place[64];
    const char *at;
    long long turn, former;
    int priority, next;

    snprintf(place, sizeof place, ";w%llx,%lld,", (unsigned long long)claim->worker,
             (long long)claim->seq);
    at = strstr(text, place);
    if (!at || sscanf(at + strlen(place), "%d,%lld,", &priority, &turn) != 2)
        return false;
    at = strpbrk(at + 1, "-;");
    if (!at || *at == ';' || sscanf(at, "-%lld", &former) != 1 || former > turn)
        return false;
    at = strchr(at, ';');
    return at && sscanf(at, ";w%*x,%*d,%d,", &next) == 1 && next == priority;
}

/* How often the text has a part. */
static int parts(const char *text, const char *part)
{
    int count = 0;

    while ((text = strstr(text, part))) {
        count++;
        text++;
    }
    return count;
}

static void count_tenants(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_award *award = &ran->step.award;
    bool claims = ran->step.call.op == TAKT_OP_CLAIM && !award->stale;
    bool told = has(ran->before, ";p"), gives = claims && award->run_count > 0;
    bool permits = ran->step.call.numbers->concurrency > 0;

    count("claims of tenants", claims && claim->tenant);
    count("slots of tenants", gives && told);
    count("a tenant alone", gives && told && parts(ran->before, ";p") == 1);
    count("two tenants", gives && parts(ran->before, ";p") == 2);
    count("five tenants", gives && parts(ran->before, ";p") >= 5);
    count("ten tenants", gives && parts(ran->before, ";p") >= 10);
    count("a claim for which there are too many tenants", claims && told && award->unlisted);
    count("... in the line of an inner limit", claims && award->unlisted && award->in_line != 0);
    count("a tenant of several places",
          gives && has(ran->before, "@1,") && parts(ran->before, "@1,") > 2);
    count("a tenant in a line without", claims && claim->tenant && !told && has(ran->before, ";w"));
    count("a claim that names none among tenants", claims && !claim->tenant && told);
    count("tenants that leave", claims && told && !has(ran->after, ";p"));
    count("tenants that lack a permit", claims && permits && has(ran->after, "p@"));
    count("workers of tenants that are woken", claims && told && award->wake_count > 0);
    count("tenants whose heads are late", claims && has(ran->after, "@") && has(ran->after, ",a@"));
    count("waiters of tenants that leave", claims && told && award->refused > 0);
    count("a try among tenants", ran->step.call.op == TAKT_OP_TRY && told);
    count("other calls among tenants",
          ran->step.call.op != TAKT_OP_TRY && ran->step.call.op != TAKT_OP_CLAIM && told);
    count("tenants that owe more",
          told && ran->step.call.tenant && ran->step.call.actual > ran->step.call.cost);
    count("tenants that owe less",
          told && ran->step.call.tenant && ran->step.call.actual < ran->step.call.cost);
    count("tenants that come to owe",
          parts(ran->after, ";p") > parts(ran->before, ";p") && ran->step.call.tenant);
    count("peeks at tenants",
          ran->step.call.op == TAKT_OP_PEEK && ran->step.call.standing.tenant_count > 1);
    count("requests of tenants", gives && told && has(ran->after, "="));
    count("processes of tenants", gives && told && has(ran->after, "*2"));
}

/* How many places owe turns: their numbers are higher than the last one given out. */
static int owing(const char *text)
{
    const char *part = text[0] == 't' ? text - 1 : strstr(text, ";t");
    long long last = part ? strtoll(part + 2, NULL, 10) : 0, turn;
    int count = 0;

    for (const char *at = text; (at = strstr(at, ";w")) != NULL; at += 2)
        count += sscanf(at, ";w%*x,%*d,%*d,%lld", &turn) == 1 && turn > last;
    return count;
}

static void count_owing(const agree_outcome *ran)
{
    bool gives = ran->step.call.op == TAKT_OP_CLAIM && ran->step.award.run_count > 0;
    int before = owing(ran->before), after = owing(ran->after);

    count("turns that are owed", gives && after > before);
    count("turns that are owed of further units",
          gives && after > before && takt_numbers_count_more(&ran->step.call.limit->numbers));
    count("turns beside a place that owes some", gives && before > 0);
    count("turns of several places that owe some", gives && before > 1 && after > 1);
    count("turns with permits that are owed",
          gives && after > before && ran->step.call.limit->numbers.concurrency > 0);
    count("weights beside a place that owes turns",
          gives && before > 0 && weighed(ran->after, false));
    count("places that owe turns and are set aside",
          before > after && !gives && ran->step.call.op == TAKT_OP_CLAIM);
}

static void count_weights(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_award *award = &ran->step.award;
    bool claims = ran->step.call.op == TAKT_OP_CLAIM && !award->stale;
    bool weighs = claims && claim->weight > 1;
    bool gives = claims && award->run_count > 0, line = weighed(ran->before, false) > 0;
    bool permits = ran->step.call.limit->numbers.concurrency > 0;

    count("weights in an empty line", weighs && gives && !has(ran->before, ";w"));
    count("lines with a weight", line);
    count("lines with 5 weights", weighed(ran->before, false) >= 5);
    count("turns that have begun", weighed(ran->after, true) > 0);
    count("several turns that have begun", weighed(ran->after, true) > 1);
    count("turns of several shares that end",
          weighs && gives && weighed(ran->before, true) > weighed(ran->after, true));
    count("turns that come before those that were taken earlier", is_between(ran->after, claim));
    count("weights that are too high", weighs && claim->weight > TAKT_WEIGHT_MAX && line);
    count("a weight of 1 among others", gives && line && claim->weight <= 1);
    count("weights with permits", weighs && gives && line && permits);
    count("workers that are woken in a line with weights", line && award->wake_count > 0);
    count("waiters of weights that are dropped", line && award->refused > 0);
    count("requests with weights", weighs && gives && line && has(ran->after, "="));
}

/* The text has permits. */
static bool has_permits(const char *text)
{
    const char *part = text[0] == 'r' ? text : strstr(text, ";r");
    long long permits;

    return part && sscanf(part + (*part == ';'), "r%*d,%*d,%*[0-9ou],%lld", &permits) == 1;
}

static void count_holders(const agree_outcome *ran)
{
    const takt_limit *limit = ran->step.call.limit;
    const char *before = ran->before;
    bool held = holders(before) > 0, gone = held && holders(ran->after) == 0;
    bool with_rules = limit->numbers.concurrency > 0 && limit->numbers.rule_count > 0;

    count("permits alone", limit->numbers.concurrency > 0 && limit->numbers.rule_count == 0);
    count("permits with rules", with_rules);
    count("permits with several rules", with_rules && limit->numbers.rule_count > 1);
    count("ledgers with holders", held);
    count("ledgers with 5 holders", holders(before) >= 5);
    count("ledgers with holders and a line", held && has(before, ";w"));
    count("ledgers with holders that are blocked", held && has(before, ";b"));
    count("ledgers with holders that cannot be read", ran->damaged && held);
    count("ledgers that lost their holders", ran->lost_held);
    count("holders that are forgotten by a limit without permits",
          gone && !ran->damaged && limit->numbers.concurrency == 0 && !has_permits(ran->after));
    count("leases that end", has_lapsed(before, ran->step.now_us));
    count("leases that end, while others do not",
          has_lapsed(before, ran->step.now_us) && holders(ran->after) > 1);
    count("the clock goes back, with holders", held && ran->later_us < -FAR_US);
    count("permits that newer numbers have, and the caller's have not", ran->wish);
    count("permits that the caller's have, and newer numbers have not",
          !ran->damaged && limit->numbers.concurrency > 0 && ran->step.award.outdated & 1 &&
              ran->step.award.newer[0].concurrency == 0);
    count("places that lack a permit", has(before, "p;w"));
}

static void count_stated(const agree_outcome *ran)
{
    const agree_step *step = &ran->step;
    const takt_award *award = &step->award;
    bool stated = ran->five && !award->stale;
    int64_t known = held_by(ran->before, step->claim.worker), holding = step->claim.holding;
    int64_t given = takt_award_given(award);

    count("workers that state what they hold", stated && holding > 0 && holding == known);
    count("workers that release", stated && holding < known);
    count("workers that release all", stated && holding == 0 && known > 0);
    count("workers that hold more than is known", stated && holding > known);
    count("workers that lose what they hold", stated && award->holding < holding + given);
    count("workers that hold all there is",
          stated && award->holding > 0 && award->holding == step->call.limit->numbers.concurrency);
    count("statements that are stale", ran->five && award->stale);
    count("workers that are told when a lease ends",
          stated && award->in_line != 0 && award->claim_again_at_us < TAKT_NEVER &&
              has_expiry_at(ran->after, award->claim_again_at_us - 1));
    count("numbers for handing on", award->reuses > 0);
    count("numbers that are ahead of the clock", award->fence > step->now_us);
    count("workers that are woken", award->wake_count > 0);
    count("several workers that are woken", award->wake_count > 1);
    count("as many workers that are woken as can be", award->wake_count == TAKT_WAKES_MAX);
}

static void count_permit_calls(const agree_outcome *ran)
{
    const takt_store_call *call = &ran->step.call;
    bool tries = call->op == TAKT_OP_TRY, taken = call->status == 0;
    bool slot = call->standing.retry_after_us<TAKT_NEVER, free = call->standing.remaining> 0;

    count("tries that take a permit", tries && taken && call->claim && ran->five);
    count("tries that do not take one",
          tries && !taken && slot && !free && call->claim && ran->five);
    count("tries of a worker that knows of no permits", tries && !call->claim && ran->wish);
    count("tries that take a slot without permits", tries && taken && !ran->five);
}

/* Between two digits: nothing else of a text has these there. */
static bool has_between_digits(const char *text, char mark)
{
    for (const char *at = strchr(text, mark); at; at = strchr(at + 1, mark))
        if (at > text && strchr("0123456789", at[-1]) && at[1] >= '0' && at[1] <= '9')
            return true;
    return false;
}

static bool owes(const char *text)
{
    return has_between_digits(text, '!');
}

/* How low the backlog of a bucket has been. */
static bool learns(const char *text)
{
    return has_between_digits(text, '@');
}

/* What rules count: tokens, requests, or both. */
static unsigned units_of(const takt_numbers *numbers)
{
    unsigned units = 0;

    for (int i = 0; i < numbers->rule_count; i++)
        units |= 1U << numbers->rules[i].unit;
    return units;
}

static void count_units(const agree_outcome *ran)
{
    const takt_store_call *call = &ran->step.call;
    const unsigned requests = 1U << TAKT_UNIT_REQUESTS, both = requests | 1U << TAKT_UNIT_TOKENS;
    unsigned units = units_of(&call->limit->numbers);
    bool changes = strcmp(ran->before, ran->after) != 0, line = has(ran->before, ";t");
    bool gives = call->op == TAKT_OP_CLAIM && ran->step.award.run_count > 0;
    bool large = gives && ran->step.award.runs[0].cost > 1;

    count("awards of requests alone", gives && units == requests);
    count("awards of requests and tokens", large && units == both);
    count("awards of requests and tokens in a line", large && units == both && line);
    count("awards of several runs of requests and tokens",
          large && units == both && ran->step.award.run_count > 1);
    count("brakes on requests", (units & requests) && has(ran->before, ";k"));
    count("settles that give requests back",
          call->op == TAKT_OP_SETTLE && units == requests && changes && call->actual == 0);
    count("requests that are lowered", call->op == TAKT_OP_LOWER && units == requests && changes);
    count("rules that begin to count requests in a line",
          line && (units & requests) && !has(ran->before, "=") && has(ran->after, "="));
}

/* Rules of units beside the first that a limit names. */
static void count_more(const agree_outcome *ran)
{
    const takt_store_call *call = &ran->step.call;
    bool more = takt_numbers_count_more(&call->limit->numbers);
    bool changes = strcmp(ran->before, ran->after) != 0, line = has(ran->before, ";t");
    bool gives = call->op == TAKT_OP_CLAIM && ran->step.award.run_count > 0;
    bool told = gives && !takt_more_same(ran->step.award.runs[0].more, TAKT_NO_MORE);
    bool settles = more && call->op == TAKT_OP_SETTLE && changes;

    count("awards of further units", more && told);
    count("awards of further units that are not stated", more && gives && !told);
    count("awards of further units in a line", more && told && line);
    count("awards of several runs of further units",
          more && told && line && ran->step.award.run_count > 1);
    count("slots left to the need of further units",
          more && line && call->op == TAKT_OP_CLAIM && ran->step.award.news);
    count("further units that exceed what a rule gives",
          more && call->op == TAKT_OP_CLAIM && ran->step.claim.want_count > 0 &&
              ran->step.claim.wants[0].cost == 1 && ran->step.award.in_line == 0 && !gives);
    count("tries of further units", more && call->op == TAKT_OP_TRY && call->status == 0);
    count("settles of further units that were not begun", settles && call->requests > 0);
    count("settles of further units of more", settles && call->actual_more[0] > call->more[0]);
    count("settles of further units of less", settles && call->actual_more[0] < call->more[0]);
    count("further units that are lowered", more && call->op == TAKT_OP_LOWER && changes);
    count("brakes on further units",
          more && call->limit->numbers.rules[0].unit >= TAKT_UNIT_MORE && has(ran->before, ";k"));
    count("rules that begin to count further units in a line",
          line && more && !has(ran->before, "&") && has(ran->after, "&"));
    count("waiters dropped that want further units",
          more && call->op == TAKT_OP_CLAIM && ran->step.award.refused > 0);
}

static void count_settles(const agree_outcome *ran)
{
    const takt_store_call *call = &ran->step.call;
    bool settles = call->op == TAKT_OP_SETTLE;
    bool changes = settles && strcmp(ran->before, ran->after) != 0;

    count("settles of less", settles && call->actual < call->cost && call->actual > 0);
    count("settles of nothing", settles && call->actual == 0);
    count("settles of as much", settles && call->actual == call->cost);
    count("settles of more", settles && call->actual > call->cost);
    count("settles of less that give back", changes && call->actual < call->cost);
    count("settles of more that take", changes && call->actual > call->cost);
    count("settles of a slot to come", settles && call->slot_us > ran->step.now_us);
    count("settles that begin a debt", settles && !owes(ran->before) && owes(ran->after));
    count("debts that are paid", owes(ran->before) && !owes(ran->after));
    count("claims with a debt", call->op == TAKT_OP_CLAIM && owes(ran->before));
    count("settles that learn", settles && !learns(ran->before) && learns(ran->after));
    count("slots that are learnt from", !settles && learns(ran->before) && learns(ran->after) &&
                                            strcmp(ran->before, ran->after) != 0);
    count("settles with holders", settles && holders(ran->before) > 0);
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"settles by gcra", "settles by fixed windows",
                                            "settles by sliding windows",
                                            "settles by sliding logs"};
        count(names[i], changes && call->limit->numbers.rule_count > 0 &&
                            call->limit->numbers.rules[0].algorithm->letter == "gfsl"[i]);
    }
}

static void count_lowers(const agree_outcome *ran)
{
    const takt_store_call *call = &ran->step.call;
    bool lowers = call->op == TAKT_OP_LOWER;

    count("what is left is lowered", lowers && strcmp(ran->before, ran->after) != 0 &&
                                         call->standing.remaining == call->actual);
    count("less is left anyway", lowers && call->standing.remaining < call->actual);
}

/* ---- inner limits ---------------------------------------------------------------------------- */

/* Slots that were passed over. */
static bool has_gaps(const char *text)
{
    return has(text, ";v");
}

/* Gaps that passed unused: ";v1763692800100000,0,4+1763692801000000". */
static bool has_unused(const char *text)
{
    const char *part = strstr(text, ";v");

    return part && part[2 + strspn(part + 2, "0123456789,")] == '+';
}

/* A place some of whose waiters are held back: "...@1,beef,7". */
static bool holds_back(const char *text)
{
    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
        if (at[strspn(at + 1, "0123456789") + 1] == ',' &&
            at[1 + strcspn(at + 1, ",") + 1 + strspn(strchr(at, ',') + 1, "0123456789abcdef")] ==
                ',')
            return true;
    return false;
}

/* Places whose keys give the next token later: "...@1,beef,7+20000". */
static int64_t dues(const char *text)
{
    int64_t sum = 0;

    for (const char *at = strchr(text, '@'); at; at = strchr(at + 1, '@'))
        sum += at[strcspn(at, ";/+")] == '+';
    return sum;
}

static bool has_brake(const agree_outcome *ran)
{
    bool found = false;

    for (int i = 0; i < ran->step.call.inner_count; i++)
        found |= has(ran->inner[i], ";k");
    return found;
}

static bool has_other_units(const agree_step *step)
{
    for (int i = 0; i < step->call.inner_count; i++)
        if (!takt_unit_map_is_plain(step->inner[i].units))
            return true;
    return false;
}

static bool wants_more(const char *text)
{
    const char *place = strstr(text, ";w");

    return place && strchr(place, '/');
}

/* Whether a ledger counts a further unit that numbers do not. */
static bool counts_beyond(const char *ledger, const takt_numbers *numbers)
{
    for (const char *at = strchr(ledger, '&'); at; at = strchr(at + 1, '&'))
        if (at[1] - '0' >= takt_numbers_units(numbers))
            return true;
    return false;
}

/* Tries of all levels. */
static void count_inner_tries(const agree_outcome *ran)
{
    const takt_store_call *call = &ran->step.call;
    const takt_award *award = &ran->step.award;
    bool tries = call->op == TAKT_OP_TRY && call->inner_count > 0;
    bool taken = tries && call->status == 0, refused = tries && call->status != 0;

    count("tries with inner limits that take", taken);
    count("tries that an inner limit refuses", refused && call->ledger_no > 0);
    count("tries that the outermost limit refuses", refused && call->ledger_no == 0);
    count("tries that leave an inner limit the least", taken && call->ledger_no > 0);
    count("tries that leave the outermost limit the least", taken && call->ledger_no == 0);
    count("tries that take permits of inner limits",
          taken && call->claim && award->fence > 0 && has(ran->inner[0], ";h"));
    count("tries with inner limits that are stale", refused && call->claim && award->stale);
    count("tries with inner limits that can never succeed",
          refused && call->standing.retry_after_us == TAKT_NEVER);
    count("tries with inner limits where others wait", tries && has(ran->inner[0], ";w"));
    count("tries of units that the levels number differently",
          taken && has_other_units(&ran->step));
    count("tries with inner limits that wake others",
          tries && call->claim && award->wake_count > 0);
}

static void count_inner(const agree_outcome *ran)
{
    const agree_step *step = &ran->step;
    const takt_award *award = &step->award;
    bool nested = step->call.op == TAKT_OP_CLAIM && step->call.inner_count > 0 && !award->stale;
    bool gives = nested && award->run_count > 0, line = nested && has(ran->inner[0], ";w");
    bool log = nested && strchr(ran->inner[0], '#');

    count("claims with an inner limit", nested && step->call.inner_count == 1);
    count("claims with two inner limits", nested && step->call.inner_count == 2);
    count("claims with as many inner limits as can be",
          nested && step->call.inner_count == TAKT_INNER_MAX);
    count("slots of all levels", gives);
    count("slots of several runs of all levels", gives && award->run_count > 1);
    count("slots of all levels that more than one cost", gives && award->runs[0].cost > 1);
    count("claims with inner limits that wait in line", nested && award->in_line != 0);
    count("claims with inner limits that wait among others",
          nested && award->in_line != 0 && award->least_urgent >= 0);
    count("claims that are parked", nested && award->parked);
    count("claims that are parked after slots", gives && award->parked);
    count("waiters that are held back", nested && holds_back(ran->after));
    count("keys that give the next token later", nested && dues(ran->after) == 1);
    count("several places of keys that give the next token later", nested && dues(ran->after) > 1);
    count("claims that nobody gives",
          nested && step->claim.want_count > 0 && award->in_line == 0 && !award->parked && !gives);
    count("gaps that begin", !has_gaps(ran->before) && has_gaps(ran->after));
    count("gaps that end", has_gaps(ran->before) && !has_gaps(ran->after));
    count("gaps that pass unused", has_unused(ran->after));
    count("gaps that pass no longer unused", has_unused(ran->before) && !has_unused(ran->after));
    count("slots where there are gaps", gives && has_gaps(ran->before));
    count("gaps that begin in a block's pace",
          !has_gaps(ran->before) && has_gaps(ran->after) && is_paced(ran->before));
    count("slots where there are gaps in a block's pace",
          gives && has_gaps(ran->before) && is_paced(ran->before));
    count("gaps beside other rules",
          has_gaps(ran->after) && step->call.limit->numbers.rule_count > 1);
    count("claims without inner limits where there are gaps",
          step->call.op == TAKT_OP_CLAIM && step->call.inner_count == 0 && step->ledger == 0 &&
              award->run_count > 0 && has_gaps(ran->before));
    count("tries where there are gaps", step->call.op == TAKT_OP_TRY && has_gaps(ran->before));
    count("slots of the same tenants in the innermost line", gives && step->claim.inner_tenant &&
                                                                 !step->claim.within_turns &&
                                                                 parts(ran->inner[0], ";p") > 1);
    count("tenants that have waited in their workers", step->claim.waited_from > 0 &&
                                                           award->run_count == 0 &&
                                                           award->tag == step->claim.waited_from);
    count("slots of tenants within the turns of a subject", gives && step->claim.within_turns &&
                                                                parts(ran->inner[0], ";p") > 1 &&
                                                                parts(ran->before, ";w") > 1);
    count("claims that are parked for too many tenants",
          nested && step->claim.inner_tenant && award->parked && parts(ran->inner[0], ";p") > 200);
    count("claims with permits of inner limits", nested && has(ran->inner[0], ";h"));
    count("claims that lack permits of inner limits",
          nested && award->parked && has(ran->inner[0], ";h"));
    count("claims with blocked inner limits",
          nested && award->blocked_until_us > step->now_us && !has(ran->after, ";b"));
    count("claims with braked inner limits", gives && has_brake(ran));
    count("inner ledgers that cannot be read", nested && ran->damaged && !has(ran->after, ";b"));
    count("inner ledgers with a log", log);
    count("inner ledgers with a line", line);
    count("inner ledgers of newer numbers",
          nested && has(ran->inner[0], ";r") && step->inner[0].numbers->revision == 0);
    count("slots of a ledger that counts units which the claim does not state",
          gives && counts_beyond(ran->after, step->call.numbers));
    count("slots of an inner ledger that counts units which the claim does not state",
          gives && counts_beyond(ran->inner[0], step->inner[0].numbers));
    count("waiters that leave in one of several ways", nested && award->leave_count == 1);
    count("waiters that leave in several ways", nested && award->leave_count > 1);
    count("slots of levels with other units", gives && has_other_units(step));
    count("claims of other units that are parked",
          nested && award->parked && has_other_units(step));
    count("claims of other units that wait among others",
          nested && award->in_line != 0 && award->least_urgent >= 0 && has_other_units(step));
    count("inner ledgers with places that want further units", line && wants_more(ran->inner[0]));
    count("outermost ledgers with tenants that want further units",
          gives && has(ran->after, ";p") && wants_more(ran->after));
    count("claims of inner ledgers alone",
          step->call.op == TAKT_OP_CLAIM && step->ledger > 0 && award->run_count > 0);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What lua/quick.lua answers. */
static bool is_quick(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_limit *limit = ran->step.call.limit;

    return limit->numbers.rule_count == 1 && limit->numbers.rules[0].algorithm->letter == 'g' &&
           limit->numbers.revision == 0 && claim->want_count == 1 &&
           claim->waiting == claim->wants[0].count && claim->wants[0].latest_us == TAKT_NEVER &&
           !has(ran->before, ";") && !has(ran->after, ";") && ran->step.award.run_count == 1 &&
           ran->step.award.refused == 0;
}

/* What lua/quick.lua answers of several rules. */
static bool is_quick_with_rules(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_limit *limit = ran->step.call.limit;
    const char *after = ran->after;

    for (int i = 0; i < limit->numbers.rule_count; i++) {
        after += strcspn(after, ";");
        after += *after == ';' && i + 1 < limit->numbers.rule_count;
        if (limit->numbers.rules[i].algorithm->letter != 'g')
            return false;
    }
    return limit->numbers.rule_count > 1 && *after == '\0' && limit->numbers.revision == 0 &&
           limit->numbers.concurrency == 0 && claim->want_count == 1 && claim->waiting == 1 &&
           claim->wants[0].count == 1 && claim->wants[0].latest_us == TAKT_NEVER &&
           ran->step.award.run_count == 1 && ran->step.award.runs[0].first.us == ran->step.now_us;
}

/* What lua/quick_line.lua answers, mostly. */
static bool is_quick_in_line(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_limit *limit = ran->step.call.limit;
    char place[48];

    snprintf(place, sizeof place, ";w%llx,", (unsigned long long)claim->worker);
    return limit->numbers.rule_count == 1 && limit->numbers.rules[0].algorithm->letter == 'g' &&
           limit->numbers.revision == 0 && limit->numbers.max_waiting == 0 &&
           limit->numbers.concurrency == 0 && claim->want_count == 1 &&
           claim->wants[0].latest_us == TAKT_NEVER && has(ran->before, place) &&
           has(ran->after, place) && !has(ran->before, ";b") &&
           !has_silent(ran->before, ran->step.now_us) && ran->step.award.workers <= 32 &&
           ran->step.award.in_line == 1U << claim->wants[0].priority;
}

/* What lua/quick_permits.lua answers, mostly. */
static bool is_quick_with_permits(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_limit *limit = ran->step.call.limit;
    const takt_want *want = claim->wants;

    return ran->step.call.op == TAKT_OP_CLAIM && limit->numbers.rule_count == 0 &&
           limit->numbers.revision == 0 && limit->numbers.max_waiting == 0 &&
           claim->want_count <= 1 &&
           (claim->want_count == 0 ||
            (want->latest_us == TAKT_NEVER && want->cost == 1 && want->priority == 5)) &&
           ran->before[0] == 'n' && ran->after[0] == 'n' && !has(ran->before, ";b") &&
           !has(ran->before, ";m") && !has(ran->before, ",a") && !has(ran->after, ",a") &&
           claim->holding <= held_by(ran->before, claim->worker) && !ran->step.award.stale &&
           !has_silent(ran->before, ran->step.now_us) && !has_lapsed(ran->before, ran->step.now_us);
}

static void count_shares(const agree_outcome *ran)
{
    const takt_award *award = &ran->step.award;
    bool quick = is_quick_with_permits(ran), given = award->run_count > 0;
    char place[48];
    bool stood, stands = quick && award->in_line > 0;

    snprintf(place, sizeof place, ";w%llx,", (unsigned long long)ran->step.claim.worker);
    stood = quick && has(ran->before, place);
    count("claims for quick_permits.lua", quick);
    count("claims for quick_permits.lua that are given some", quick && given);
    count("claims for quick_permits.lua that are given some and still wait", stands && given);
    count("claims for quick_permits.lua that wake", quick && award->wake_count > 0);
    count("claims for quick_permits.lua that wake several", quick && award->wake_count > 1);
    count("claims for quick_permits.lua that open a line", stands && !has(ran->before, ";w"));
    count("claims for quick_permits.lua that join one", stands && !stood && award->workers > 1);
    count("claims for quick_permits.lua that stay in it", stands && stood);
    count("claims for quick_permits.lua that leave it",
          stood && award->in_line == 0 && award->workers > 0);
    count("claims for quick_permits.lua that close it", stood && award->workers == 0);
    count("claims for quick_permits.lua without a line",
          quick && award->workers == 0 && !has(ran->before, ";w"));
}

static void count_runs(const takt_award *award)
{
    const takt_run *run = award->runs;
    bool any = award->run_count > 0;

    count("awards of nothing", !any);
    count("awards of single slots", any && run->count == 1);
    count("awards at one instant", any && run->count > 1 && run->step.us + run->step.parts == 0);
    count("awards that are evenly spaced", any && run->count > 1 && run->step.us > 0);
    count("awards between whole microseconds", any && run->count > 1 && run->step.parts > 0);
    count("awards of several runs", award->run_count > 1);
    count("awards of as many runs as can be", award->run_count == TAKT_RUNS_MAX);
}

/* Waiters of other workers in the text. */
static int64_t others_waiting(const char *text, uint64_t claimer)
{
    int64_t sum = 0;

    for (const char *at = text; (at = strstr(at, ";w")) != NULL; at += 2) {
        unsigned long long name;
        long long waiting;
        if (sscanf(at, ";w%llx,%*d,%*d,%*d,%*d,%*d,%lld", &name, &waiting) == 2 && name != claimer)
            sum += waiting;
    }
    return sum;
}

static void count_overflow(const agree_outcome *ran)
{
    const takt_limit *limit = ran->step.call.limit;
    const takt_award *award = &ran->step.award;
    uint64_t claimer = ran->step.claim.worker;
    bool live = !ran->damaged && !award->stale && !has_silent(ran->before, ran->step.now_us);
    bool drops = live && others_waiting(ran->before, claimer) > others_waiting(ran->after, claimer);
    bool oldest = limit->numbers.when_full == TAKT_WHEN_FULL_DROP_OLDEST && !(award->outdated & 1);
    bool lowest = limit->numbers.when_full == TAKT_WHEN_FULL_DROP_LOWEST && !(award->outdated & 1);

    count("oldest waiters of others dropped", drops && oldest);
    count("less urgent waiters of others dropped", drops && lowest);
    count("waiters of others and of the claim dropped", drops && award->refused > 0);
    count("own waiters refused where the oldest are dropped", oldest && award->refused > 0);
    count("own waiters refused where others are dropped", lowest && award->refused > 0);
    count("waiters dropped with permits", drops && limit->numbers.concurrency > 0);
    count("waiters of as many workers dropped as can be",
          drops && award->wake_count == TAKT_WAKES_MAX);
    count("newer numbers that drop",
          award->outdated & 1 && award->newer[0].when_full != TAKT_WHEN_FULL_REFUSE);
}

static void count_claim(const agree_outcome *ran)
{
    const takt_claim *claim = &ran->step.claim;
    const takt_award *award = &ran->step.award;
    int64_t capacity =
        takt_numbers_capacity(&ran->step.call.limit->numbers, TAKT_UNIT_TOKENS, NULL);
    int64_t until_us = ran->step.now_us + ran->step.call.limit->numbers.lookahead_us;
    bool too_large = false, early = false, late = false;
    int64_t listed = 0;

    for (int i = 0; i < claim->want_count; i++) {
        too_large |= claim->wants[i].cost > capacity;
        early |= claim->wants[i].latest_us < until_us;
        late |= claim->wants[i].latest_us >= until_us && claim->wants[i].latest_us < TAKT_NEVER;
        listed += claim->wants[i].count;
    }
    count("claims of nothing", claim->want_count == 0);
    count("claims of as much as can be", claim->want_count == TAKT_WANTS_MAX);
    count("claims of several costs", claim->want_count > 1);
    count("claims with waiters that are not listed", claim->waiting > listed);
    count("claims of a cost that can never be given", too_large);
    count("claims for within the lookahead", early);
    count("claims with a deadline behind it", late);
    count("others that are to claim", award->news);
    count("claims with an offer", claim->offer.cost > 0);
    count("offers taken", award->taken);
    count("claims while there are offers", strstr(ran->before, ";e") != NULL);
    count("claims that are stale", award->stale);
    count("claims that tell newer numbers", award->outdated & 1);
    count("claims that tell newer numbers of an inner limit", award->outdated > 1);
    count("claims that tell newer permits of an inner limit",
          (award->outdated & 2 && award->newer[1].concurrency > 0 &&
           ran->step.call.inner[0].numbers->concurrency == 0));
    count("claims that tell newer numbers of several limits",
          (award->outdated & (award->outdated - 1)) != 0);
    count("claims for quick.lua", is_quick(ran));
    count("quick claims of several rules", is_quick_with_rules(ran));
    count("claims for quick_line.lua", is_quick_in_line(ran));
    count("claims for quick_line.lua that are given some",
          is_quick_in_line(ran) && award->run_count > 0);
    count("claims for quick_line.lua behind others", is_quick_in_line(ran) && award->workers > 1);
    count_shares(ran);
    count("claims that one number answers", is_quick(ran) && claim->waiting == 1 &&
                                                award->runs[0].first.us == ran->step.now_us &&
                                                award->next_slot_at_us == ran->step.now_us);
    count("claims while blocked", award->blocked_until_us > 0);
    count("waiters refused", award->refused > 0);
    count("places in line", award->in_line > 0);
    count("places with several priorities", (award->in_line & (award->in_line - 1)) != 0);
    count("places in line with others", award->in_line > 0 && award->workers > 1);
    count_overflow(ran);
    count_runs(award);
}

static void count_calls(const takt_store_call *call)
{
    bool taken = call->status == 0;

    count("claims", call->op == TAKT_OP_CLAIM);
    count("tries that take", call->op == TAKT_OP_TRY && taken);
    count("tries that do not", call->op == TAKT_OP_TRY && !taken);
    count("tries of what can never be given",
          call->op == TAKT_OP_TRY && call->standing.retry_after_us == TAKT_NEVER);
    count("peeks", call->op == TAKT_OP_PEEK);
    count("blocks", call->op == TAKT_OP_BLOCK);
    count("penalties", call->op == TAKT_OP_PENALIZE);
    count("unblocks", call->op == TAKT_OP_UNBLOCK);
    count("resets", call->op == TAKT_OP_RESET);
}

void agree_kinds_count(const agree_outcome *ran)
{
    kind_count = 0;
    count_calls(&ran->step.call);
    count_rules(ran->step.call.limit, ran->step.now_us);
    count_ledger(ran);
    count_brakes(ran);
    count_paces(ran);
    count_contests(ran);
    count_watches(ran);
    count_holders(ran);
    count_permit_calls(ran);
    count_settles(ran);
    count_units(ran);
    count_weights(ran);
    count_owing(ran);
    count_tenants(ran);
    count_inner(ran);
    count_inner_tries(ran);
    count_more(ran);
    count_lowers(ran);
    if (ran->step.call.op == TAKT_OP_CLAIM ||
        (ran->step.call.op == TAKT_OP_TRY && ran->step.call.claim))
        count_stated(ran);
    if (ran->step.call.op == TAKT_OP_CLAIM)
        count_claim(ran);
}

bool agree_kinds_print(void)
{
    bool all = true;

    for (int i = 0; i < KINDS_MAX && kinds[i].name; i++) {
        printf("# %8" PRId64 " %s\n", kinds[i].count, kinds[i].name);
        all &= kinds[i].count > 0;
    }
    return all;
}
