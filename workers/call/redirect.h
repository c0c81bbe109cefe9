/*
 * redirect.h: whether a call follows where an answer points to.
 */
#ifndef TAKT_WORKERS_CALL_REDIRECT_H
#define TAKT_WORKERS_CALL_REDIRECT_H

#include <stdbool.h>

#define REDIRECTS_MAX 5

typedef enum takt_caller_redirect_rule {
    REDIRECT_NONE,
    REDIRECT_SAME_HOST,
    REDIRECT_ANY
} takt_caller_redirect_rule;

typedef enum takt_caller_redirect_verdict {
    REDIRECT_REFUSED, /* *why says it; else it is NULL */
    REDIRECT_HOME,    /* to where the first call went */
    REDIRECT_ABROAD   /* to somebody else, who gets no secrets */
} takt_caller_redirect_verdict;

/* Whether a status is that of a redirect that a call may follow. */
bool takt_caller_redirect_is_one(long status);

/*
 * From one absolute URL to another.  The same host is the same name and port, or the same name
 * with https's usual port instead of http's.  From https to http nothing is followed, and nothing
 * to a host that `hosts` (NULL: none) does not list.
 */
takt_caller_redirect_verdict takt_caller_redirect_judge(takt_caller_redirect_rule rule,
                                                        const char *hosts, const char *from,
                                                        const char *to, const char **why);

/* The method of the next call: NULL where it stays. 303, and by custom a POST's 301 and 302, ask
 * for a GET without the body. */
const char *takt_caller_redirect_method(long status, const char *method);

/* Whether somebody else may get a header: one of those that only say what is sent and wanted. */
bool takt_caller_redirect_is_for_all(const char *name);

#endif
