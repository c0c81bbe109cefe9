/*
 * The parts of `takt top`: the limits that are watched and their state, the view of them, the
 * screen. top.c joins the parts, which do not know it.
 */
#ifndef TAKT_CLI_TOP_H
#define TAKT_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <takt/takt.h>
#include <uv.h>

#include "common/options.h"
#include "common/page.h"
#include "common/session.h"

#define TAKT_CLI_TOP_SAMPLES    64
#define TAKT_CLI_TOP_HISTORY    30
#define TAKT_CLI_TOP_STRETCH_US INT64_C(10000000)
#define TAKT_CLI_TOP_LINE       512 /* bytes of an answer that a person can type */

/* ---- rows.c ---------------------------------------------------------------------------------- */

typedef struct takt_cli_rows takt_cli_rows;

/* One limit, or one key of it. */
typedef struct takt_cli_row {
    takt_cli_rows *rows;
    takt_cli_target target;
    char *own_text; /* the target's text if the row owns it; NULL */
    bool listed;    /* it came from a list of keys in use */
    bool gone;      /* to be removed when its look is answered */
    takt_call look, steer;
    bool looking;                  /* a look is under way */
    int status;                    /* of the last look; 1: no look yet */
    bool seen;                     /* `standing` is set */
    takt_standing standing;        /* the last one */
    takt_tenant_standing *tenants; /* the standing's */
    const char *subject;           /* what they are, as takt_cli_standing_subject says */
    uint64_t asked_ns;
    int64_t quota_tokens, quota_us; /* the first rule's rate; 0: no rules */
    /* The limits around this one that may delay its work, the next one first. */
    char outer[TAKT_LEVELS_MAX - 1][TAKT_NAME_SIZE_MAX + 1];
    int outer_count;
    struct {
        int64_t at_us, taken;
    } samples[TAKT_CLI_TOP_SAMPLES]; /* recent samples, for the present rate */
    unsigned sample_count;
    double rate; /* tokens per second; below 0: unknown yet */
    /* The highest part of the quota used in each of the last stretches of TAKT_CLI_TOP_STRETCH_US,
     * in hundredths, indexed by the stretch's number; -1: unknown. */
    int16_t history[TAKT_CLI_TOP_HISTORY];
    int64_t stretch; /* the number of the last stretch */
} takt_cli_row;

/* The rows that are watched. */
struct takt_cli_rows {
    /* set by the caller */
    takt_cli_session *session;
    int64_t interval_us;        /* between two looks; 0: only one look, without a count */
    void (*looked)(void *data); /* all looks of a round were answered */
    /* a block or an unblock was answered, as takt_call_cb says */
    void (*steered)(void *data, const takt_cli_row *row, int status, const takt_standing *standing);
    void *data;
    /* Listed rows go when a list no longer has them. Those at rest are looked at without a count,
     * since a ledger that is counted is never back in its unused state. */
    bool forgets;
    bool closed; /* no callback from now on */

    /* read-only */
    takt_cli_row **all;
    size_t count;

    /* private */
    size_t capacity;
    int under_way; /* looks under way */
    int64_t latencies_us[TAKT_CLI_TOP_SAMPLES];
    unsigned latency_count;
};

/* Adds the limits of the policy that have no row yet, or the target. False: no memory. */
bool takt_cli_rows_add_policy(takt_cli_rows *rows);
bool takt_cli_rows_add(takt_cli_rows *rows, const takt_cli_target *target);

/* Peeks at `count` rows from `first` on, except rows whose last peek is not answered yet. */
void takt_cli_rows_look(takt_cli_rows *rows, size_t first, size_t count);

/* Removes the rows from `first` on, which a list no longer has. */
void takt_cli_rows_forget(takt_cli_rows *rows, size_t first);

/* The median time of the last looks; below 0: none was answered yet. */
int64_t takt_cli_rows_latency(const takt_cli_rows *rows);

void takt_cli_rows_free(takt_cli_rows *rows);

/* ---- delay.c --------------------------------------------------------------------------------- */

/* The row that delays the work of this one most: itself, or that of a limit that it is within, with
 * its key or without one. Other keys, by which work may name the outer limits, are not known. */
const takt_cli_row *takt_cli_delaying(const takt_cli_row *row);

/* ---- text.c ---------------------------------------------------------------------------------- */

#define TAKT_CLI_CELL_SIZE 64

/* Short forms, for tables: "12345", "123k"; "9m58s", "120ms"; "100/s", "5/250ms". */
const char *takt_cli_short_count(int64_t count, char text[TAKT_CLI_CELL_SIZE]);
const char *takt_cli_short_span(int64_t span_us, char text[TAKT_CLI_CELL_SIZE]);
const char *takt_cli_short_quota(int64_t tokens, int64_t period_us, char text[TAKT_CLI_CELL_SIZE]);

/* The store's URL without secrets. */
const char *takt_cli_store_shown(const char *url, char *text, size_t size);

/* ---- page.c ---------------------------------------------------------------------------------- */

/* What the screen shows. */
typedef struct takt_cli_view {
    char store[256];      /* its URL, as shown */
    size_t chosen, first; /* the chosen row, and the first row on the screen */
    bool help;
    bool tenants; /* those of the chosen row instead of the rows */
    bool asking;  /* asking for how long and why to block the chosen row */
    char line[TAKT_CLI_TOP_LINE];
    char message[TAKT_CLI_TOP_LINE];
    char event[TAKT_CLI_TOP_LINE]; /* the client's last event */
    char note[256];                /* what the rows leave out; "" */
    bool foreign;                  /* there is no policy */
} takt_cli_view;

/* Draws a screen of that size, and scrolls so that the chosen row is on it. */
void takt_cli_page_draw(takt_cli_view *view, const takt_cli_rows *rows, FILE *file, int columns,
                        int lines);

/* The number of rows on such a screen. */
size_t takt_cli_page_rows(int lines);

/* ---- tenants.c ------------------------------------------------------------------------------- */

void takt_cli_tenants_titles(takt_cli_page *page, const takt_cli_row *row);

/* Draws the tenants of a row that have waiters, in that many lines: those that have waited longest
 * first. */
void takt_cli_tenants_draw(takt_cli_page *page, const takt_cli_row *row, int lines);

/* ---- table.c --------------------------------------------------------------------------------- */

/* The used part of the quota, in hundredths; -1: unknown. */
int takt_cli_table_percent(const takt_cli_row *row);

/* The rate in the unit of the quota. */
const char *takt_cli_table_rate(const takt_cli_row *row, char text[TAKT_CLI_CELL_SIZE]);

/* When the row's limit has its next slot: "free", "next 20ms", "blocked 8s". */
const char *takt_cli_table_next(const takt_cli_row *row, char text[TAKT_CLI_CELL_SIZE]);

/* The columns of a row. */
typedef struct takt_cli_layout {
    int name;
    int bar;     /* of the present use; 0: no room for it */
    int waiting; /* includes the number of workers, if there is room */
    int history; /* 0: no room, or no terminal */
} takt_cli_layout;

/* The layout for a number of columns; narrow screens show less. */
takt_cli_layout takt_cli_table_layout(const takt_cli_rows *rows, int columns);

void takt_cli_table_titles(takt_cli_page *page, const takt_cli_layout *layout);
void takt_cli_table_row(takt_cli_page *page, const takt_cli_row *row,
                        const takt_cli_layout *layout);

/* Prints all rows on standard output: a table, or one JSON object per line. */
void takt_cli_table_print(const takt_cli_rows *rows);
void takt_cli_table_print_json(const takt_cli_rows *rows);

/* ---- top.c ----------------------------------------------------------------------------------- */

/* `takt peek` without a limit: one look at everything that `takt top` would list. */
int takt_cli_top_print_all(takt_cli_settings *settings);

/* ---- keys.c ---------------------------------------------------------------------------------- */

typedef enum takt_cli_key {
    KEY_CHARACTER, /* a byte of a character */
    KEY_UP,
    KEY_DOWN,
    KEY_ENTER,
    KEY_ERASE,
    KEY_ERASE_ALL,
    KEY_ESCAPE,
    KEY_INTERRUPT, /* Ctrl-C */
    KEY_SUSPEND,   /* Ctrl-Z */
    KEY_OTHER
} takt_cli_key;

typedef struct takt_cli_keys {
    enum { KEYS_PLAIN, KEYS_ESCAPE, KEYS_SEQUENCE } state;
} takt_cli_keys;

/* Feeds a byte from the keyboard. Calls pressed() for each complete key. */
void takt_cli_keys_feed(takt_cli_keys *keys, char byte,
                        void (*pressed)(void *data, takt_cli_key key, char byte), void *data);

/* No byte has followed for a while: a pending escape is the Escape key. */
void takt_cli_keys_pause(takt_cli_keys *keys,
                         void (*pressed)(void *data, takt_cli_key key, char byte), void *data);

/* ---- screen.c -------------------------------------------------------------------------------- */

/* The terminal, on a loop. Only one per process: a signal handler must find it. */
typedef struct takt_cli_screen {
    uv_tty_t in, out;
    uv_os_fd_t fd;     /* out's descriptor */
    uv_timer_t escape; /* waits for bytes after an escape */
    uv_signal_t resized, stopped, continued;
    uv_write_t write;
    char *frame; /* being written; NULL: none */
    takt_cli_keys keys;
    int columns, lines;
    bool open, shown;
    bool stale; /* the frame being written is not the latest */
    void (*pressed)(void *data, takt_cli_key key, char byte);
    void (*changed)(void *data); /* the screen must be redrawn */
    void (*gone)(void *data);    /* the terminal was closed */
    void *data;
} takt_cli_screen;

/* Whether input and output are terminals with the needed features. */
bool takt_cli_screen_is_there(void);

/* Takes over the terminal. 0, or an error of libuv, and the terminal is unchanged. */
int takt_cli_screen_open(takt_cli_screen *screen, uv_loop_t *loop);

/* Writes a frame, which the screen frees. False: the last frame is still being written, or the
 * terminal belongs to another job; this frame is dropped. */
bool takt_cli_screen_write(takt_cli_screen *screen, char *frame, size_t size);

/* Stops the process as Ctrl-Z does, with the terminal restored. */
void takt_cli_screen_suspend(takt_cli_screen *screen);

/* Restores the terminal. A second call is harmless. */
void takt_cli_screen_close(takt_cli_screen *screen);

/* ---- steer.c --------------------------------------------------------------------------------- */

/* What a key asks for, apart from changes of view and rows. */
typedef enum takt_cli_act { ACT_NONE, ACT_END, ACT_SUSPEND } takt_cli_act;

/* Handles a key. */
takt_cli_act takt_cli_steer_press(takt_cli_view *view, takt_cli_rows *rows, takt_cli_key key,
                                  char byte);

/* Shows the result of a block or an unblock of the row. */
void takt_cli_steer_answer(takt_cli_view *view, const takt_cli_row *row, int status,
                           const takt_standing *standing);

/* Shows a text in the foot until the next key. */
__attribute__((format(printf, 2, 3))) void takt_cli_steer_tell(takt_cli_view *view,
                                                               const char *format, ...);

#endif
