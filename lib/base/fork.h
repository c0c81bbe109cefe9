/*
 * fork.h: detects that this process is a child of the process that opened an object. The owner of
 * the object decides what a child may still do with it.
 */
#ifndef TAKT_BASE_FORK_H
#define TAKT_BASE_FORK_H

/* The forks that led to this process since takt_fork_watch. Only a child changes the count, before
 * fork returns in it, while it has one thread. */
extern unsigned takt_fork_count;

/* Starts to count forks. Any thread may call it, also more than once. */
void takt_fork_watch(void);

#endif
