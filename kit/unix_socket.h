/*
 * The path of a Unix socket that this process is about to listen at.
 */
#ifndef TAKT_KIT_UNIX_SOCKET_H
#define TAKT_KIT_UNIX_SOCKET_H

/* Removes a socket that a killed process left behind, and nothing else: 0; or TAKT_E_INVALID or
 * TAKT_E_SYSTEM and why this process cannot listen there. */
int takt_unix_socket_clear(const char *path, const char **why);

#endif
