/*
 * fork.h: whether this process is a child of the one in which something was opened.  What a child
 * may still do with it is left to its owner.
 */
#ifndef TAKT_BASE_FORK_H
#define TAKT_BASE_FORK_H

/* Forks that led to this process since takt_fork_watch.  Written in a child alone, before fork
 * returns there, when it has one thread. */
extern unsigned takt_fork_count;

/* From now on forks are counted.  Harmless twice, and from any thread. */
void takt_fork_watch(void);

#endif
