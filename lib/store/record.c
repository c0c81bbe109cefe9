/*
 * record.c: runs a call on a record and decides how the record changes (record.h). The operations
 * themselves are takt_store_run; the stores write and remove the records.
 */
#include "store/record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/ledger_text.h"
#include "store/policy_record.h"

int64_t takt_record_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Appends a part with its NUL; the caller drops the last NUL. */
static char *append(char *at, const char *part, size_t max)
{
    size_t size;

    if (at == NULL || (size = strnlen(part, max + 1)) > max)
        return NULL;
    memcpy(at, part, size);
    at[size] = '\0';
    return at + size + 1;
}

size_t takt_record_name(char name[TAKT_RECORD_NAME_MAX], const char *name_space, const char *limit,
                        const char *key)
{
    char *at = append(append(name, name_space, TAKT_NAME_SIZE_MAX), limit, TAKT_NAME_SIZE_MAX);
    size_t size = strnlen(key, TAKT_KEY_SIZE_MAX + 1);

    if (at == NULL || size > TAKT_KEY_SIZE_MAX)
        return 0;
    memcpy(at, key, size);
    return (size_t)(at - name) + size;
}

/* What a call leaves of a ledger in the record. */
static void keep(takt_record_scratch *scratch, const char *text, size_t size, int64_t now_us,
                 takt_record_change *change)
{
    const takt_ledger *ledger = &scratch->ledger;

    change->what = TAKT_RECORD_KEEP;
    change->expires_at_us = takt_ledger_expires_at(ledger);
    if (change->expires_at_us <= now_us) {
        change->what = text ? TAKT_RECORD_DROP : TAKT_RECORD_KEEP;
        return;
    }
    change->text = scratch->text;
    change->size = takt_ledger_encode(ledger, scratch->text, scratch->text_capacity);
    if (text == NULL || change->size != size || memcmp(change->text, text, size) != 0)
        change->what = TAKT_RECORD_PUT;
}

/* Decides what happens to the record after the call on its ledger. */
static void tell_change(takt_record_scratch *scratch, const char *text, size_t size, int64_t now_us,
                        const takt_store_call *call, takt_record_change *change)
{
    change->what = TAKT_RECORD_KEEP;
    if (call->op == TAKT_OP_PEEK && call->for_us == 0 && !change->damaged)
        return;
    if (call->op == TAKT_OP_PEEK && !text && call->numbers->revision < 0)
        return; /* a peek without rules creates no record */
    keep(scratch, text, size, now_us, change);
}

/* An unreadable page makes the result of the call invalid. A damaged page gives a fresh ledger, and
 * the call runs again. False: the call failed, and the record is unchanged. */
static bool handle_trouble(takt_record_scratch *scratch, int64_t now_us, takt_store_call *call,
                           takt_record_change *change)
{
    takt_pages *pages = scratch->ledger.pages;

    if (pages->trouble == TAKT_PAGES_FINE)
        return true;
    if (pages->trouble == TAKT_PAGES_DAMAGED) {
        change->damaged = true;
        pages->clear(pages);
        /* a fresh ledger */
        takt_ledger_decode(&scratch->ledger, call->numbers, &scratch->kept, now_us, "", 0);
        takt_store_run(&scratch->ledger, now_us, call);
    }
    if (pages->trouble == TAKT_PAGES_FINE)
        return true;
    call->status = TAKT_E_NOMEM;
    return false;
}

/* Reads a record's ledger, for a call on it. False: no memory. */
static bool open_ledger(takt_record_scratch *scratch, const takt_numbers *numbers,
                        const takt_store_call *call, const char *text, size_t size, int64_t now_us,
                        takt_record_change *change)
{
    int places = (text ? takt_ledger_text_places(text, size) : 0) + TAKT_PRIORITIES;
    int holders = (text ? takt_ledger_text_holders(text, size) : 0) + 1;
    int tenants = text ? takt_ledger_text_tenants(text, size) : 0;
    takt_ledger *ledger = &scratch->ledger;

    if (call->claim && (tenants > 0 || call->claim->tenant || call->inner_count > 0))
        tenants += 2 * TAKT_PRIORITIES;
    if (call->tenant && tenants > 0)
        tenants++;
    if (!takt_record_scratch_line(scratch, places) ||
        !takt_record_scratch_holders(scratch, holders) ||
        (tenants > 0 && !takt_record_scratch_tenants(scratch, tenants)) ||
        !takt_record_scratch_text(scratch, takt_ledger_text_size(places, holders, tenants)))
        return false;
    if (text == NULL)
        takt_ledger_init(ledger, numbers, now_us);
    else if (takt_ledger_decode(ledger, numbers, &scratch->kept, now_us, text, size) < 0)
        change->damaged = true;
    if (change->damaged && ledger->pages)
        ledger->pages->clear(ledger->pages);
    return true;
}

void takt_record_run(takt_record_scratch *scratch, const char *text, size_t size, int64_t now_us,
                     takt_store_call *call, takt_record_change *change)
{
    takt_ledger *ledger = &scratch->ledger;

    *change = (takt_record_change){.what = TAKT_RECORD_KEEP};
    if (call->exchange) {
        takt_policy_record_run(scratch, text, size, now_us, call, change);
        return;
    }
    ledger->inner_count = 0;
    if (!open_ledger(scratch, call->numbers, call, text, size, now_us, change)) {
        call->status = TAKT_E_NOMEM;
        return;
    }
    takt_store_run(ledger, now_us, call);
    if (ledger->pages && !handle_trouble(scratch, now_us, call, change))
        return;
    tell_change(scratch, text, size, now_us, call, change);
}

/* ---- calls with inner limits ------------------------------------------------------------------
 */

static takt_record_scratch *scratch_of(takt_record_scratch *scratch, int part)
{
    return part == 0 ? scratch : &scratch->inner[part - 1];
}

static bool open_part(takt_record_scratch *scratch, takt_record_part *parts, int i, int64_t now_us,
                      const takt_store_call *call)
{
    takt_record_scratch *own = scratch_of(scratch, i);
    const takt_numbers *numbers = i == 0 ? call->numbers : call->inner[i - 1].numbers;

    own->ledger.pages = parts[i].pages;
    own->ledger.inner_count = 0;
    if (!open_ledger(own, numbers, call, parts[i].text, parts[i].size, now_us, &parts[i].change))
        return false;
    own->ledger.lease_min_us = i > 0 && numbers->concurrency > 0 ? numbers->lease_us : 0;
    return true;
}

static bool open_all(takt_record_scratch *scratch, takt_record_part *parts, int64_t now_us,
                     const takt_store_call *call)
{
    bool opened = takt_record_scratch_inner(scratch);

    for (int i = 0; i <= call->inner_count; i++) {
        parts[i].change = (takt_record_change){.what = TAKT_RECORD_KEEP};
        opened = opened && open_part(scratch, parts, i, now_us, call);
    }
    return opened;
}

/* The ledger whose page is damaged is begun anew, and nothing is given: the worker is to claim
 * again.  False: a page cannot be had. */
static bool begin_anew(takt_record_scratch *scratch, takt_record_part *part, int64_t now_us,
                       const takt_numbers *numbers)
{
    if (part->pages->trouble != TAKT_PAGES_DAMAGED)
        return false;
    part->change.damaged = true;
    part->pages->clear(part->pages);
    takt_ledger_decode(&scratch->ledger, numbers, &scratch->kept, now_us, "", 0);
    keep(scratch, part->text, part->size, now_us, &part->change);
    return true;
}

/* Nothing is given, because of that level. */
static void refuse(takt_record_scratch *scratch, int ledger_no, int64_t now_us,
                   takt_store_call *call)
{
    if (call->claim)
        *call->award = (takt_award){.now_us = now_us, .stale = true};
    if (call->op != TAKT_OP_TRY)
        return;
    call->status = TAKT_E_NO_SLOT;
    call->ledger_no = ledger_no;
    takt_ledger_peek(&scratch_of(scratch, ledger_no)->ledger, now_us, &call->standing);
}

/* Whether a page of a part was of no use; then all decisions are void. */
static bool is_void(takt_record_scratch *scratch, takt_record_part *parts, int64_t now_us,
                    takt_store_call *call)
{
    bool trouble = false, begun = true;

    for (int i = 0; i <= call->inner_count; i++) {
        if (!parts[i].pages || parts[i].pages->trouble == TAKT_PAGES_FINE)
            continue;
        trouble = true;
        begun = begun && begin_anew(scratch_of(scratch, i), &parts[i], now_us,
                                    i == 0 ? call->numbers : call->inner[i - 1].numbers);
        refuse(scratch, i, now_us, call);
    }
    if (!begun)
        call->status = TAKT_E_NOMEM;
    return trouble;
}

void takt_record_run_nested(takt_record_scratch *scratch, takt_record_part *parts, int64_t now_us,
                            takt_store_call *call)
{
    takt_ledger *inner[TAKT_INNER_MAX];

    if (!open_all(scratch, parts, now_us, call)) {
        call->status = TAKT_E_NOMEM;
        return;
    }
    for (int i = 0; i < call->inner_count; i++) {
        (inner[i] = &scratch->inner[i].ledger)->units = call->inner[i].units;
        inner[i]->units.units = (int8_t)takt_numbers_units(call->inner[i].numbers);
    }
    scratch->ledger.units.units = (int8_t)takt_numbers_units(call->numbers);
    scratch->ledger.inner = inner;
    scratch->ledger.inner_count = call->inner_count;
    takt_store_run(&scratch->ledger, now_us, call);
    scratch->ledger.inner_count = 0;
    scratch->ledger.units = TAKT_UNIT_MAP_PLAIN;
    if (is_void(scratch, parts, now_us, call))
        return;
    for (int i = 0; i <= call->inner_count; i++)
        keep(scratch_of(scratch, i), parts[i].text, parts[i].size, now_us, &parts[i].change);
}
