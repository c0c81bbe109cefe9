/*
 * sink.h: a mail server that takes everything at once and keeps nothing: what is left is the
 * sender's own work.
 */
#ifndef TAKT_BENCH_SINK_H
#define TAKT_BENCH_SINK_H

/* A process of its own on a port of the loopback, until this one ends; the port. */
int sink_start(void);

#endif
