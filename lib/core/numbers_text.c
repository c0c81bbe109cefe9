/*
 * numbers_text.c: see numbers_text.h.
 */
#include "core/numbers_text.h"

void takt_adapt_write(const takt_adapt *adapt, takt_writer *writer)
{
    takt_write_int(writer, adapt->backoff);
    takt_write_char(writer, ',');
    takt_write_int(writer, adapt->recover);
    takt_write_char(writer, ',');
    takt_write_int(writer, adapt->recover_us);
    takt_write_char(writer, ',');
    takt_write_int(writer, adapt->floor);
}

void takt_numbers_write_bound(const takt_numbers *numbers, takt_writer *writer)
{
    takt_write_int(writer, numbers->max_waiting);
    takt_when_full_write(numbers->when_full, writer);
}

void takt_when_full_write(takt_when_full way, takt_writer *writer)
{
    if (way == TAKT_WHEN_FULL_DROP_OLDEST)
        takt_write_char(writer, 'o');
    if (way == TAKT_WHEN_FULL_DROP_LOWEST)
        takt_write_char(writer, 'u');
}

takt_when_full takt_when_full_read(takt_reader *reader)
{
    return takt_read_if(reader, 'o')   ? TAKT_WHEN_FULL_DROP_OLDEST
           : takt_read_if(reader, 'u') ? TAKT_WHEN_FULL_DROP_LOWEST
                                       : TAKT_WHEN_FULL_REFUSE;
}
