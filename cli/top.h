/*
 * The parts of `takt top`: the limits that are watched and what is known of each, the view of them,
 * the screen.  top.c puts them together; no part knows it.
 */
#ifndef TAKT_CLI_TOP_H
#define TAKT_CLI_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <takt/takt.h>
#include <uv.h>

#include "options.h"
#include "page.h"
#include "session.h"

#define TAKT_CLI_TOP_SAMPLES    64
#define TAKT_CLI_TOP_HISTORY    30
#define TAKT_CLI_TOP_STRETCH_US INT64_C(10000000)
#define TAKT_CLI_TOP_LINE       512 /* bytes that a person can write in answer to a question */

/* ---- top_rows.c ------------------------------------------------------------------------------ */

typedef struct takt_cli_rows takt_cli_rows;

/* One limit, or one key of it. */
typedef struct takt_cli_row {
    takt_cli_rows *rows;
    takt_cli_target target;
    char *own_text; /* the target's, if it is the row's; NULL */
    takt_call look, steer;
    bool looking;           /* a look is under way */
    int status;             /* of the last look; 1: there was none yet */
    bool seen;              /* the standing is one: */
    takt_standing standing; /* the last that was told */
    uint64_t asked_ns;
    int64_t quota_tokens, quota_us; /* the first rule's rate; 0: there are no rules */
    struct {
        int64_t at_us, taken;
    } samples[TAKT_CLI_TOP_SAMPLES]; /* of the last while, to tell the present rate */
    unsigned sample_count;
    double rate; /* tokens per second; below 0: not known yet */
    /* The highest part of the quota that was used in each of the last stretches of
     * TAKT_CLI_TOP_STRETCH_US, in hundredths, by their number; -1: not known. */
    int16_t history[TAKT_CLI_TOP_HISTORY];
    int64_t stretch; /* the number of the last one */
} takt_cli_row;

/* All that is watched. */
struct takt_cli_rows {
    /* the caller's */
    takt_cli_session *session;
    int64_t interval_us;        /* between two looks; 0: there is one, and nothing is counted */
    void (*looked)(void *data); /* all looks of a round have been answered */
    /* a block or an unblock has been; as takt_call_cb says it */
    void (*steered)(void *data, const takt_cli_row *row, int status, const takt_standing *standing);
    void *data;
    bool closed; /* nothing is called any more */

    /* read-only */
    takt_cli_row **all;
    size_t count;

    /* private */
    size_t capacity;
    int under_way; /* looks */
    int64_t latencies_us[TAKT_CLI_TOP_SAMPLES];
    unsigned latency_count;
};

/* Adds the limits of the policy, as a whole, that are not among the rows yet, or the target.
 * False: no memory. */
bool takt_cli_rows_add_policy(takt_cli_rows *rows);
bool takt_cli_rows_add(takt_cli_rows *rows, const takt_cli_target *target);

/* Looks at `count` rows from `first` on, but for those of which an answer is awaited. */
void takt_cli_rows_look(takt_cli_rows *rows, size_t first, size_t count);

/* The median of how long the last looks took; below 0: none was answered yet. */
int64_t takt_cli_rows_latency(const takt_cli_rows *rows);

void takt_cli_rows_free(takt_cli_rows *rows);

/* ---- top_text.c ------------------------------------------------------------------------------ */

#define TAKT_CLI_CELL_SIZE 64

/* Short forms, for tables: "12345", "123k"; "9m58s", "120ms"; "100/s", "5/250ms". */
const char *takt_cli_short_count(int64_t count, char text[TAKT_CLI_CELL_SIZE]);
const char *takt_cli_short_span(int64_t span_us, char text[TAKT_CLI_CELL_SIZE]);
const char *takt_cli_short_quota(int64_t tokens, int64_t period_us, char text[TAKT_CLI_CELL_SIZE]);

/* The store's URL without what may be secret. */
const char *takt_cli_store_shown(const char *url, char *text, size_t size);

/* ---- top_page.c ------------------------------------------------------------------------------ */

/* What of the rows is on the screen, and what else. */
typedef struct takt_cli_view {
    char store[256];      /* its URL, as it is shown */
    size_t chosen, first; /* rows: which one, and the first on the screen */
    bool help;
    bool asking; /* for how long and why to block the chosen row */
    char line[TAKT_CLI_TOP_LINE];
    char message[TAKT_CLI_TOP_LINE];
    char event[TAKT_CLI_TOP_LINE]; /* the last one of the client */
    char note[256];                /* what the rows leave out; "": nothing */
    bool foreign;                  /* there is no policy */
} takt_cli_view;

/* Draws a screen of that size, and moves the view so that the chosen row is on it. */
void takt_cli_page_draw(takt_cli_view *view, const takt_cli_rows *rows, FILE *file, int columns,
                        int lines);

/* How many rows such a screen shows. */
size_t takt_cli_page_rows(int lines);

/* ---- top_table.c ----------------------------------------------------------------------------- */

/* How much of the quota goes, in hundredths; -1: not known. */
int takt_cli_table_percent(const takt_cli_row *row);

/* The rate in the quota's own unit. */
const char *takt_cli_table_rate(const takt_cli_row *row, char text[TAKT_CLI_CELL_SIZE]);

/* Columns of what a row shows. */
typedef struct takt_cli_layout {
    int name;
    int bar;     /* of what is used now; 0: there is no room for it */
    int waiting; /* and of the workers that they are in, if there is room */
    int history; /* 0: no room, or no terminal */
} takt_cli_layout;

/* For so many columns; narrow screens show less of each. */
takt_cli_layout takt_cli_table_layout(const takt_cli_rows *rows, int columns);

void takt_cli_table_titles(takt_cli_page *page, const takt_cli_layout *layout);
void takt_cli_table_row(takt_cli_page *page, const takt_cli_row *row,
                        const takt_cli_layout *layout);

/* All rows on standard output: as a table, or as an object on a line for each. */
void takt_cli_table_print(const takt_cli_rows *rows);
void takt_cli_table_print_json(const takt_cli_rows *rows);

/* ---- top.c ----------------------------------------------------------------------------------- */

/* `takt peek` without a limit: one look at all that `takt top` would list. */
int takt_cli_top_print_all(takt_cli_settings *settings);

/* ---- top_keys.c ------------------------------------------------------------------------------ */

typedef enum takt_cli_key {
    KEY_CHARACTER, /* a byte of one */
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

/* The next byte of a keyboard.  Calls pressed() for each key that it ends. */
void takt_cli_keys_feed(takt_cli_keys *keys, char byte,
                        void (*pressed)(void *data, takt_cli_key key, char byte), void *data);

/* Nothing has followed for a while: an escape that was the beginning of nothing is a key. */
void takt_cli_keys_settle(takt_cli_keys *keys,
                          void (*pressed)(void *data, takt_cli_key key, char byte), void *data);

/* ---- top_screen.c ---------------------------------------------------------------------------- */

/* A terminal on a loop.  One at a time in a process: a signal must find it. */
typedef struct takt_cli_screen {
    uv_tty_t in, out;
    uv_os_fd_t fd;     /* of out */
    uv_timer_t escape; /* for what follows an escape */
    uv_signal_t resized, stopped, continued;
    uv_write_t write;
    char *frame; /* that is being written; NULL: none is */
    takt_cli_keys keys;
    int columns, lines;
    bool open, shown;
    bool stale; /* what is being written is not the latest */
    void (*pressed)(void *data, takt_cli_key key, char byte);
    void (*changed)(void *data); /* it is to be drawn anew */
    void (*gone)(void *data);    /* the terminal went away */
    void *data;
} takt_cli_screen;

/* Whether there is a terminal that can do what is needed, to read from and to write to. */
bool takt_cli_screen_is_there(void);

/* Takes over the terminal.  0, or a code of libuv's, and the terminal is as it was. */
int takt_cli_screen_open(takt_cli_screen *screen, uv_loop_t *loop);

/* Writes a frame, which becomes the screen's to free; false: the one before is not written yet, or
 * the screen is not ours at present, and this one is left out. */
bool takt_cli_screen_write(takt_cli_screen *screen, char *frame, size_t size);

/* Stops the process as Ctrl-Z does, with the terminal as it was. */
void takt_cli_screen_suspend(takt_cli_screen *screen);

/* Gives the terminal back.  Safe twice. */
void takt_cli_screen_close(takt_cli_screen *screen);

/* ---- top_steer.c ----------------------------------------------------------------------------- */

/* What a key asks for beyond the view and the rows. */
typedef enum takt_cli_act { ACT_NONE, ACT_END, ACT_SUSPEND } takt_cli_act;

/* A key was pressed. */
takt_cli_act takt_cli_steer_press(takt_cli_view *view, takt_cli_rows *rows, takt_cli_key key,
                                  char byte);

/* Says what came of a block or an unblock of the row. */
void takt_cli_steer_answer(takt_cli_view *view, const takt_cli_row *row, int status,
                           const takt_standing *standing);

/* What the foot says until the next key. */
__attribute__((format(printf, 2, 3))) void takt_cli_steer_tell(takt_cli_view *view,
                                                               const char *format, ...);

#endif
