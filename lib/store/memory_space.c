/*
 * memory_space.c: see memory_space.h. The only scarce resource is memory: a call that gets none
 * fails alone.
 */
#include "store/memory_space.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory_pages.h"
#include "base/table.h"

/* Records checked per call, so that few expired ones remain. */
#define SWEEP 2

typedef struct record {
    takt_entry entry;
    takt_link link; /* in the ring of the sweep */
    int64_t expires_at_us;
    char *text;
    size_t size, capacity;
    takt_memory_pages pages; /* the pages of its logs */
    char name[];
} record;

struct takt_space {
    takt_link link; /* in `spaces` */
    char name[TAKT_SPACE_NAME_MAX + 1];
    unsigned users; /* protected by spaces_mutex */

    pthread_mutex_t mutex; /* protects the fields below */
    takt_table table;
    takt_link ring;
    takt_record_scratch scratch;
};

static pthread_mutex_t spaces_mutex = PTHREAD_MUTEX_INITIALIZER;
static takt_link spaces = {&spaces, &spaces};

static uint64_t seed(const takt_space *space)
{
    uint64_t random;

    if (getentropy(&random, sizeof random) != 0)
        random = (uint64_t)takt_record_clock_us() ^ (uint64_t)(uintptr_t)space;
    return random;
}

static takt_space *new_space(const char *name)
{
    takt_space *space = calloc(1, sizeof *space);

    if (space == NULL)
        return NULL;
    if (takt_table_init(&space->table, seed(space)) != 0) {
        free(space);
        return NULL;
    }
    memcpy(space->name, name, strnlen(name, TAKT_SPACE_NAME_MAX));
    pthread_mutex_init(&space->mutex, NULL);
    takt_list_init(&space->ring);
    takt_list_append(&spaces, &space->link);
    return space;
}

static takt_space *find_space(const char *name)
{
    for (takt_link *at = spaces.next; at != &spaces; at = at->next) {
        takt_space *space = TAKT_HOLDER(at, takt_space, link);
        if (strcmp(space->name, name) == 0)
            return space;
    }
    return NULL;
}

takt_space *takt_space_open(const char *name)
{
    takt_space *space;

    pthread_mutex_lock(&spaces_mutex);
    space = *name ? find_space(name) : NULL;
    if (space == NULL)
        space = new_space(name);
    if (space != NULL)
        space->users++;
    pthread_mutex_unlock(&spaces_mutex);
    return space;
}

static void forget(takt_space *space, record *forgotten)
{
    takt_table_remove(&space->table, &forgotten->entry);
    takt_list_remove(&forgotten->link);
    takt_memory_pages_close(&forgotten->pages);
    free(forgotten->text);
    free(forgotten);
}

void takt_space_close(takt_space *space)
{
    pthread_mutex_lock(&spaces_mutex);
    if (--space->users > 0) {
        pthread_mutex_unlock(&spaces_mutex);
        return;
    }
    takt_list_remove(&space->link);
    pthread_mutex_unlock(&spaces_mutex);
    while (!takt_list_empty(&space->ring))
        forget(space, TAKT_HOLDER(space->ring.next, record, link));
    takt_table_close(&space->table);
    takt_record_scratch_free(&space->scratch);
    pthread_mutex_destroy(&space->mutex);
    free(space);
}

static record *add(takt_space *space, const char *name, size_t size)
{
    record *added = calloc(1, sizeof *added + size);

    if (added == NULL)
        return NULL;
    memcpy(added->name, name, size);
    takt_memory_pages_init(&added->pages);
    added->entry.key = added->name;
    added->entry.size = size;
    takt_table_add(&space->table, &added->entry);
    takt_list_append(&space->ring, &added->link);
    return added;
}

/* Makes room for a text; the present one stays.  False: no memory. */
static bool reserve_text(record *kept, size_t size)
{
    size_t capacity = kept->capacity ? 2 * size : size;
    char *text;

    if (size <= kept->capacity)
        return true;
    text = malloc(capacity);
    if (text == NULL)
        return false;
    if (kept->size > 0)
        memcpy(text, kept->text, kept->size);
    free(kept->text);
    kept->text = text;
    kept->capacity = capacity;
    return true;
}

static bool keep_text(record *kept, const takt_record_change *change)
{
    if (!reserve_text(kept, change->size))
        return false;
    memcpy(kept->text, change->text, change->size);
    kept->size = change->size;
    kept->expires_at_us = change->expires_at_us;
    return true;
}

/* Stores the record as a call has left it; `fresh` are its pages if the record is new. */
static void keep(takt_space *space, record *found, const char *name, size_t size,
                 takt_memory_pages *fresh, const takt_record_change *change, takt_store_call *call)
{
    bool kept;

    if (found == NULL) {
        found = add(space, name, size);
        if (found == NULL)
            takt_memory_pages_close(fresh);
        else
            found->pages = *fresh;
    }
    kept = found != NULL && keep_text(found, change);
    if (!kept)
        call->status = TAKT_E_NOMEM; /* an award must not be given if it cannot be stored */
    if (found != NULL && found->text == NULL)
        forget(space, found);
    else if (found != NULL)
        takt_memory_pages_end(&found->pages, kept);
}

/* An expired record is empty: its numbers no longer hold.  Its memory stays for the next text. */
static record *find(takt_space *space, const char *name, size_t size, int64_t now_us)
{
    takt_entry *entry = takt_table_find(&space->table, name, size);
    record *found = entry ? TAKT_HOLDER(entry, record, entry) : NULL;

    if (found != NULL && found->expires_at_us <= now_us) {
        found->size = 0;
        takt_memory_pages_close(&found->pages);
    }
    return found;
}

/* NULL: there is none. */
static const char *text_of(const record *found)
{
    return found != NULL && found->size > 0 ? found->text : NULL;
}

/* Changes a record as a call has left it. */
static void change_record(takt_space *space, record *found, const char *name, size_t size,
                          takt_memory_pages *fresh, const takt_record_change *change,
                          takt_store_call *call)
{
    if (change->what == TAKT_RECORD_PUT) {
        keep(space, found, name, size, fresh, change, call);
        return;
    }
    if (found == NULL)
        takt_memory_pages_close(fresh);
    else if (change->what == TAKT_RECORD_DROP)
        forget(space, found);
    else
        takt_memory_pages_end(&found->pages, false);
}

/* The records of a call with inner limits. */
typedef struct nested {
    char names[TAKT_LEVELS_MAX][TAKT_RECORD_NAME_MAX];
    size_t sizes[TAKT_LEVELS_MAX];
    record *found[TAKT_LEVELS_MAX];
    bool made[TAKT_LEVELS_MAX]; /* by this call */
    takt_memory_pages fresh[TAKT_LEVELS_MAX];
    takt_record_part parts[TAKT_LEVELS_MAX];
} nested;

/* Makes sure that the change can be kept. */
static bool reserve(takt_space *space, nested *all, int i)
{
    takt_record_part *part = &all->parts[i];

    if (part->change.what != TAKT_RECORD_PUT)
        return true;
    if (all->found[i] == NULL) {
        all->found[i] = add(space, all->names[i], all->sizes[i]);
        if (all->found[i] == NULL)
            return false;
        all->made[i] = true;
        all->found[i]->pages = all->fresh[i];
    }
    return reserve_text(all->found[i], part->change.size);
}

static void run_nested(takt_space *space, const char *name_space, int64_t now_us,
                       takt_store_call *call)
{
    nested all;
    int count = call->inner_count + 1;
    bool kept = true;

    for (int i = 0; i < count; i++) {
        const takt_store_inner *inner = &call->inner[i - (i > 0)];
        all.sizes[i] = takt_record_name(all.names[i], name_space,
                                        i == 0 ? call->limit->name : inner->limit->name,
                                        i == 0 ? call->key : inner->key);
        if (all.sizes[i] == 0) {
            call->status = TAKT_E_INVALID;
            return;
        }
    }
    for (int i = 0; i < count; i++) {
        record *found = all.found[i] = find(space, all.names[i], all.sizes[i], now_us);
        all.made[i] = false;
        takt_memory_pages_init(&all.fresh[i]);
        all.parts[i] =
            (takt_record_part){.text = text_of(found),
                               .size = found ? found->size : 0,
                               .pages = found ? &found->pages.pages : &all.fresh[i].pages};
    }
    takt_record_run_nested(&space->scratch, all.parts, now_us, call);
    for (int i = 0; i < count; i++)
        kept = kept && call->status != TAKT_E_NOMEM && reserve(space, &all, i);
    if (!kept)
        call->status = TAKT_E_NOMEM; /* no level has changed */
    for (int i = 0; i < count; i++) {
        if (!kept)
            all.parts[i].change.what = all.made[i] ? TAKT_RECORD_DROP : TAKT_RECORD_KEEP;
        change_record(space, all.found[i], all.names[i], all.sizes[i], &all.fresh[i],
                      &all.parts[i].change, call);
    }
}

static void run_call(takt_space *space, const char *name_space, int64_t now_us,
                     takt_store_call *call)
{
    char name[TAKT_RECORD_NAME_MAX];
    size_t size = takt_record_name(name, name_space, call->limit->name, call->key);
    takt_memory_pages fresh;
    takt_record_change change;
    record *found;

    if (size == 0) {
        call->status = TAKT_E_INVALID;
        return;
    }
    if (call->inner_count > 0) {
        run_nested(space, name_space, now_us, call);
        return;
    }
    found = find(space, name, size, now_us);
    takt_memory_pages_init(&fresh);
    space->scratch.ledger.pages = found ? &found->pages.pages : &fresh.pages;
    takt_record_run(&space->scratch, text_of(found), found ? found->size : 0, now_us, call,
                    &change);
    change_record(space, found, name, size, &fresh, &change, call);
}

static void sweep(takt_space *space, int64_t now_us)
{
    for (int i = 0; i < SWEEP && !takt_list_empty(&space->ring); i++) {
        record *first = TAKT_HOLDER(space->ring.next, record, link);
        if (first->expires_at_us <= now_us) {
            forget(space, first);
            continue;
        }
        takt_list_remove(&first->link);
        takt_list_append(&space->ring, &first->link);
    }
}

void takt_space_run(takt_space *space, const char *name_space, takt_link *calls)
{
    int64_t now_us;

    pthread_mutex_lock(&space->mutex);
    now_us = takt_record_clock_us();
    for (takt_link *at = calls->next; at != calls; at = at->next) {
        run_call(space, name_space, now_us, TAKT_HOLDER(at, takt_store_call, link));
        sweep(space, now_us);
    }
    pthread_mutex_unlock(&space->mutex);
}

/* The limit's name after the namespace; NULL: not a ledger of this namespace. */
static const char *limit_of(const record *at, const char *name_space)
{
    const char *limit = at->name + strlen(at->name) + 1;

    return strcmp(at->name, name_space) == 0 && *limit != '\0' ? limit : NULL;
}

void takt_space_list(takt_space *space, const char *name_space, size_t max, takt_list_found found,
                     void *data)
{
    char key[TAKT_KEY_SIZE_MAX + 1];
    int64_t now_us = takt_record_clock_us();

    pthread_mutex_lock(&space->mutex);
    for (takt_link *link = space->ring.next; link != &space->ring && max > 0; link = link->next) {
        const record *at = TAKT_HOLDER(link, record, link);
        const char *limit = limit_of(at, name_space);
        const char *from = limit ? limit + strlen(limit) + 1 : NULL;
        if (limit == NULL || at->expires_at_us <= now_us)
            continue;
        size_t size = at->entry.size - (size_t)(from - at->name);
        memcpy(key, from, size);
        key[size] = '\0';
        found(data, limit, key, at->text, at->size);
        max--;
    }
    pthread_mutex_unlock(&space->mutex);
}

size_t takt_space_count(takt_space *space)
{
    size_t count;

    pthread_mutex_lock(&space->mutex);
    count = space->table.count;
    pthread_mutex_unlock(&space->mutex);
    return count;
}
