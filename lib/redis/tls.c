/*
 * tls.c: see tls.h.
 */
#include "redis/tls.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "crypto/openssl.h"

struct takt_tls_trust {
    SSL_CTX *context;
};

struct takt_tls {
    SSL *ssl;
    BIO *in, *out; /* owned by the SSL */
};

/* ---- trust ----------------------------------------------------------------------------------- */

/* A key with a pass phrase must not make the library ask at the terminal. */
static int no_pass_phrase(char *buffer, int size, int writing, void *data)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)data;
    return -1;
}

static int refuse(takt_error *error, const char *what, const char *advice)
{
    const char *reason = takt_openssl.ERR_reason_error_string(takt_openssl.ERR_peek_last_error());
    int code = takt_fail(error, TAKT_E_STORE_ACCESS, "rediss: %s: %s%s", what,
                         reason ? reason : "it cannot be read", advice);

    takt_openssl.ERR_clear_error();
    return code;
}

static int load(SSL_CTX *context, const takt_redis_url *url, takt_error *error)
{
    if (url->ca[0] == '\0') {
        if (takt_openssl.SSL_CTX_set_default_verify_paths(context) != 1)
            return refuse(error, "the authorities that this system trusts",
                          "; name a file of them with ca=FILE");
    } else if (takt_openssl.SSL_CTX_load_verify_locations(context, url->ca, NULL) != 1) {
        return refuse(error, "the file of ca=", "; it holds certificates in PEM");
    }
    if (url->cert[0] == '\0')
        return 0;
    if (takt_openssl.SSL_CTX_use_certificate_chain_file(context, url->cert) != 1)
        return refuse(error, "the file of cert=", "; it holds our certificate in PEM");
    if (takt_openssl.SSL_CTX_use_PrivateKey_file(context, url->key, SSL_FILETYPE_PEM) != 1)
        return refuse(error, "the file of key=",
                      "; it holds the key of the certificate in PEM, without a pass phrase");
    return 0;
}

int takt_tls_trust_open(takt_tls_trust **trust, const takt_redis_url *url, takt_error *error)
{
    const char *trouble = takt_openssl_load();
    takt_tls_trust *opened;
    int code;

    if (trouble != NULL)
        return takt_fail(error, TAKT_E_SYSTEM, "rediss: %s", trouble);
    opened = malloc(sizeof *opened);
    if (opened == NULL)
        return takt_fail(error, TAKT_E_NOMEM, "no memory for TLS");
    takt_openssl.ERR_clear_error();
    opened->context = takt_openssl.SSL_CTX_new(takt_openssl.TLS_client_method());
    if (opened->context == NULL ||
        takt_openssl.SSL_CTX_ctrl(opened->context, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION,
                                  NULL) != 1) {
        code = refuse(error, "TLS", "");
        goto close_trust;
    }
    takt_openssl.SSL_CTX_set_verify(opened->context, SSL_VERIFY_PEER, NULL);
    takt_openssl.SSL_CTX_set_default_passwd_cb(opened->context, no_pass_phrase);
    takt_openssl.SSL_CTX_ctrl(opened->context, SSL_CTRL_MODE,
                              SSL_MODE_AUTO_RETRY | SSL_MODE_RELEASE_BUFFERS, NULL);
    code = load(opened->context, url, error);
    if (code < 0)
        goto close_trust;
    *trust = opened;
    return 0;

close_trust:
    takt_tls_trust_close(opened);
    return code;
}

void takt_tls_trust_close(takt_tls_trust *trust)
{
    if (trust == NULL)
        return;
    takt_openssl.SSL_CTX_free(trust->context);
    free(trust);
}

/* ---- one connection -------------------------------------------------------------------------- */

/* The name that the certificate must have, and that the server is asked for. */
static bool expect(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *expected = takt_openssl.SSL_get0_param(ssl);

    if (takt_openssl.X509_VERIFY_PARAM_set1_ip_asc(expected, host) == 1)
        return true;
    takt_openssl.X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return takt_openssl.SSL_set1_host(ssl, host) == 1 &&
           takt_openssl.SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                                 (void *)(uintptr_t)host) == 1;
}

takt_tls *takt_tls_new(takt_tls_trust *trust, const char *host)
{
    takt_tls *tls = malloc(sizeof *tls);

    if (tls == NULL)
        return NULL;
    tls->ssl = takt_openssl.SSL_new(trust->context);
    tls->in = takt_openssl.BIO_new(takt_openssl.BIO_s_mem());
    tls->out = takt_openssl.BIO_new(takt_openssl.BIO_s_mem());
    if (tls->ssl == NULL || tls->in == NULL || tls->out == NULL) {
        takt_openssl.BIO_free(tls->in);
        takt_openssl.BIO_free(tls->out);
        goto free_tls;
    }
    takt_openssl.SSL_set_bio(tls->ssl, tls->in, tls->out); /* the SSL owns both from here on */
    if (!expect(tls->ssl, host))
        goto free_tls;
    takt_openssl.SSL_set_connect_state(tls->ssl);
    return tls;

free_tls:
    takt_openssl.ERR_clear_error();
    takt_openssl.SSL_free(tls->ssl);
    free(tls);
    return NULL;
}

void takt_tls_free(takt_tls *tls)
{
    if (tls == NULL)
        return;
    takt_openssl.SSL_free(tls->ssl);
    free(tls);
}

/* Why the last call did not complete: 0 if it needs more bytes, else -1 and a message. */
static int judge(takt_tls *tls, int result, char text[TAKT_TLS_TEXT_SIZE])
{
    int error = takt_openssl.SSL_get_error(tls->ssl, result);
    long verdict = takt_openssl.SSL_get_verify_result(tls->ssl);
    const char *reason = takt_openssl.ERR_reason_error_string(takt_openssl.ERR_peek_last_error());

    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return 0;
    if (error == SSL_ERROR_ZERO_RETURN)
        snprintf(text, TAKT_TLS_TEXT_SIZE, "it closed the connection");
    else if (verdict != X509_V_OK)
        snprintf(text, TAKT_TLS_TEXT_SIZE, "its certificate is not trusted: %s",
                 takt_openssl.X509_verify_cert_error_string(verdict));
    else
        snprintf(text, TAKT_TLS_TEXT_SIZE, "TLS failed: %s",
                 reason ? reason : "no reason is given");
    takt_openssl.ERR_clear_error();
    return -1;
}

int takt_tls_greet(takt_tls *tls, char text[TAKT_TLS_TEXT_SIZE])
{
    int result;

    takt_openssl.ERR_clear_error();
    result = takt_openssl.SSL_do_handshake(tls->ssl);
    return result == 1 ? 1 : judge(tls, result, text);
}

bool takt_tls_feed(takt_tls *tls, const char *bytes, size_t size)
{
    return size <= INT_MAX && takt_openssl.BIO_write(tls->in, bytes, (int)size) == (int)size;
}

int takt_tls_read(takt_tls *tls, char *bytes, int size, char text[TAKT_TLS_TEXT_SIZE])
{
    int result;

    takt_openssl.ERR_clear_error();
    result = takt_openssl.SSL_read(tls->ssl, bytes, size);
    return result > 0 ? result : judge(tls, result, text);
}

bool takt_tls_write(takt_tls *tls, const char *bytes, size_t size)
{
    bool written;

    takt_openssl.ERR_clear_error();
    written = size <= INT_MAX && takt_openssl.SSL_write(tls->ssl, bytes, (int)size) == (int)size;
    takt_openssl.ERR_clear_error();
    return written;
}

size_t takt_tls_take(takt_tls *tls, char *bytes, size_t size)
{
    int taken = takt_openssl.BIO_read(tls->out, bytes, size < INT_MAX ? (int)size : INT_MAX);

    return taken > 0 ? (size_t)taken : 0;
}
