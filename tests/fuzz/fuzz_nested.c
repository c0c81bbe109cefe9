/*
 * Any bytes as the records of a limit and of two limits within it (the first byte chooses their
 * rules): nested claims on them succeed, their slots are in no block of any level, no level has
 * more permits than exist, and an unreadable record begins again once.
 */
#include "fuzz.h"

#include "core/holders.h"
#include "core/line.h"
#include "core/tenant_name.h"
#include "store/record.h"

#define NOW    INT64_C(1763692800000000)
#define SECOND INT64_C(1000000)
#define BIG    (INT64_C(1) << 53)
#define LEVELS 3 /* the outermost limit and those within it */
#define CLAIMS 4

typedef struct world {
    takt_limit limits[LEVELS];
    takt_store_inner inner[LEVELS - 1];
    takt_record_part parts[LEVELS];
    char *texts[LEVELS]; /* of the parts */
    takt_record_scratch scratch;
    bool damaged[LEVELS]; /* was begun anew */
} world;

static takt_limit limit_of(int number)
{
    takt_limit limit = {.name = "fuzz", .numbers.lookahead_us = TAKT_LOOKAHEAD_US};
    takt_numbers *numbers = &limit.numbers;

    numbers->rules[0] =
        (takt_rule){.algorithm = &takt_gcra, .limit = 10, .period_us = SECOND, .burst = 5};
    numbers->rules[1] = (takt_rule){.algorithm = &takt_fixed_window,
                                    .align = TAKT_ALIGN_CLOCK,
                                    .limit = 20,
                                    .period_us = 30 * SECOND};
    numbers->rule_count = number == 3 ? 0 : 1 + number % 2;
    if (number >= 2) {
        numbers->concurrency = 3;
        numbers->lease_us = 30 * SECOND;
    }
    for (int i = 0; i < numbers->rule_count; i++)
        require(takt_rule_prepare(&numbers->rules[i], NULL) == 0);
    return limit;
}

static takt_ledger *ledger_of(world *self, int level)
{
    return level == 0 ? &self->scratch.ledger : &self->scratch.inner[level - 1].ledger;
}

/* In millions of years the numbers run out; no record is as old. */
static bool is_old(world *self)
{
    for (int i = 0; i < LEVELS; i++)
        if (ledger_of(self, i)->turn >= BIG - TAKT_PRIORITIES * 8 * TAKT_TURN_STEP ||
            ledger_of(self, i)->fence >= BIG - 8 * TAKT_REUSES)
            return true;
    return false;
}

static void check_slots(world *self, const takt_award *award, int64_t now_us)
{
    for (int i = 0; i < award->run_count; i++) {
        const takt_run *run = &award->runs[i];
        require(run->count >= 1 && takt_run_slot(run, 0) >= now_us);
        require(takt_run_slot(run, run->count - 1) <= now_us + TAKT_LOOKAHEAD_MAX_US);
        for (int level = 0; level < LEVELS; level++)
            require(takt_run_slot(run, 0) >= ledger_of(self, level)->blocked_until_us);
    }
}

/* A record may have had more permits than exist; then none was given. */
static void check_permits(world *self, const int64_t held[LEVELS])
{
    for (int level = 0; level < LEVELS; level++) {
        const takt_ledger *ledger = ledger_of(self, level);
        int64_t max = takt_max(ledger->numbers->concurrency, held[level]);
        require(ledger->numbers->concurrency == 0 || takt_holders_held(ledger) <= max);
    }
}

/* What the store does with the records after a call. */
static void change(world *self)
{
    for (int i = 0; i < LEVELS; i++) {
        takt_record_part *part = &self->parts[i];
        char *old = self->texts[i];
        require(!part->change.damaged || !self->damaged[i]);
        self->damaged[i] |= part->change.damaged;
        if (part->change.what == TAKT_RECORD_KEEP)
            continue;
        bool stays = part->change.what == TAKT_RECORD_PUT;
        self->texts[i] = stays ? fuzz_copy(part->change.text, part->change.size) : NULL;
        part->text = self->texts[i];
        part->size = stays ? part->change.size : 0;
        free(old);
    }
}

/* A claim of one of two workers, whose work holds `holding` permits.  False: no more claims. */
static bool claim(world *self, int number, int64_t now_us, int64_t held[LEVELS])
{
    takt_award award;
    takt_claim claim = {.worker = takt_tenant_worker(0xbeef + (uint64_t)number % 2, "k"),
                        .seq = number + 1,
                        .holding = number / 2,
                        .waiting = 50,
                        .tenant = "k",
                        .tenant_weight = 1 + number % 2,
                        .want_count = 2};
    takt_store_call call = {.op = TAKT_OP_CLAIM,
                            .limit = &self->limits[0],
                            .numbers = &self->limits[0].numbers,
                            .key = "",
                            .claim = &claim,
                            .inner = self->inner,
                            .inner_count = LEVELS - 1,
                            .award = &award};

    claim.wants[0] = (takt_want){20, TAKT_NEVER, 1, TAKT_PRIORITY_DEFAULT, {{0}}};
    claim.wants[1] = (takt_want){20, now_us + SECOND / 10, 1, TAKT_PRIORITY_DEFAULT + 1, {{0}}};
    takt_record_run_nested(&self->scratch, self->parts, now_us, &call);
    require(call.status == 0);
    if (is_old(self))
        return false;
    if (number > 0 && !award.stale)
        check_permits(self, held);
    if (!award.stale)
        check_slots(self, &award, now_us);
    for (int level = 0; level < LEVELS; level++)
        held[level] = takt_holders_held(ledger_of(self, level));
    change(self);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world self;
    int64_t held[LEVELS] = {0};
    uint8_t kinds = size > 0 ? *data++ : 0;

    size -= size > 0;
    memset(&self, 0, sizeof self);
    for (int i = 0; i < LEVELS; i++) {
        self.limits[i] = limit_of(kinds >> 2 * i & 3);
        self.texts[i] = fuzz_cut(&data, &size, '\n');
        self.parts[i].text = self.texts[i];
        self.parts[i].size = strlen(self.texts[i]);
    }
    for (int i = 0; i < LEVELS - 1; i++)
        self.inner[i] = (takt_store_inner){
            .limit = &self.limits[i + 1], .numbers = &self.limits[i + 1].numbers, .key = "k"};
    for (int number = 0; number < CLAIMS; number++)
        if (!claim(&self, number, NOW + number * SECOND / 5, held))
            break;
    for (int i = 0; i < LEVELS; i++)
        free(self.texts[i]);
    takt_record_scratch_free(&self.scratch);
    return 0;
}
