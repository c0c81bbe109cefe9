/*
 * redirect.h: whether a call follows a redirect.
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
    REDIRECT_REFUSED, /* *why says the reason; in the other cases it is NULL */
    REDIRECT_HOME,    /* to the host of the first call */
    REDIRECT_ABROAD   /* to another host, which gets no secrets */
} takt_caller_redirect_verdict;

/* Whether the status is a redirect that a call may follow. */
bool takt_caller_redirect_is_one(long status);

/*
 * Judges a redirect from one absolute URL to another. The same host is the same name and port, or
 * the same name with https's default port instead of http's. A redirect from https to http is
 * refused, and so is one to a host that `hosts` (NULL: none) does not list.
 */
takt_caller_redirect_verdict takt_caller_redirect_judge(takt_caller_redirect_rule rule,
                                                        const char *hosts, const char *from,
                                                        const char *to, const char **why);

/* The method of the next call; NULL: unchanged. 303, and by convention 301 and 302 after a POST,
 * change to GET without the body. */
const char *takt_caller_redirect_method(long status, const char *method);

/* Whether another host may receive a header: only headers that describe the content sent or
 * wanted. */
bool takt_caller_redirect_is_for_all(const char *name);

#endif
