/*
 * Decodes keys from the bytes of a terminal. Of the escape sequences only the arrow keys are used;
 * others are skipped as a whole.
 */
#include "top.h"

#define ESCAPE 0x1b

static takt_cli_key plain_key(unsigned char byte)
{
    switch (byte) {
    case '\r':
    case '\n':
        return KEY_ENTER;
    case 0x7f:
    case 0x08:
        return KEY_ERASE;
    case 0x15: /* Ctrl-U */
        return KEY_ERASE_ALL;
    case 0x03:
        return KEY_INTERRUPT;
    case 0x1a:
        return KEY_SUSPEND;
    default:
        return byte < ' ' ? KEY_OTHER : KEY_CHARACTER;
    }
}

void takt_cli_keys_pause(takt_cli_keys *keys,
                         void (*pressed)(void *data, takt_cli_key key, char byte), void *data)
{
    bool alone = keys->state == KEYS_ESCAPE;

    keys->state = KEYS_PLAIN;
    if (alone)
        pressed(data, KEY_ESCAPE, 0);
}

void takt_cli_keys_feed(takt_cli_keys *keys, char byte,
                        void (*pressed)(void *data, takt_cli_key key, char byte), void *data)
{
    if (byte == ESCAPE) {
        takt_cli_keys_pause(keys, pressed, data);
        keys->state = KEYS_ESCAPE;
    } else if (keys->state == KEYS_ESCAPE && (byte == '[' || byte == 'O')) {
        keys->state = KEYS_SEQUENCE;
    } else if (keys->state == KEYS_SEQUENCE) {
        if (byte < '@' || byte > '~')
            return;
        keys->state = KEYS_PLAIN;
        pressed(data, byte == 'A' ? KEY_UP : byte == 'B' ? KEY_DOWN : KEY_OTHER, 0);
    } else {
        takt_cli_keys_pause(keys, pressed, data);
        pressed(data, plain_key((unsigned char)byte), byte);
    }
}
