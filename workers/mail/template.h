/*
 * template.h: texts with fields of the job: "Hello {name}", "{order.total}"; "{{" is a brace.
 *
 * A field that the job does not have is an error. A field's value is escaped for its place, so that
 * it stays one value: in HTML <, >, & and quotes become entities; in a URL everything but letters
 * and digits becomes %XX; in a header line ends are refused.
 */
#ifndef TAKT_WORKERS_TEMPLATE_H
#define TAKT_WORKERS_TEMPLATE_H

#include <jansson.h>
#include <takt/error.h>

#include "jobs/text/buffer.h"

typedef enum takt_mail_template_form {
    TEMPLATE_TEXT,
    TEMPLATE_HTML,
    TEMPLATE_HEADER,
    TEMPLATE_URL /* in a header, too */
} takt_mail_template_form;

/* Appends to `out`. `what` names the template in messages ("subject"). Without `fields` the
 * template is only checked and nothing is written. 0, or TAKT_E_INVALID and why. */
int takt_mail_template_expand(const char *what, const char *text, const json_t *fields,
                              takt_mail_template_form form, takt_buffer *out, takt_error *error);

#endif
