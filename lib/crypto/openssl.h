/*
 * openssl.h: OpenSSL, loaded when TLS or a hash is first used.
 *
 * Linking libcrypto would add 1.3 ms to the start of each process, more than everything else until
 * the first grant, and few workers need it. takt therefore does not link OpenSSL. Callers use its
 * functions through a table: takt_openssl.SSL_new(...).
 */
#ifndef TAKT_CRYPTO_OPENSSL_H
#define TAKT_CRYPTO_OPENSSL_H

#include <stdbool.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#define TAKT_OPENSSL_FUNCTIONS(F)                                                                  \
    F(BIO_free)                                                                                    \
    F(BIO_new)                                                                                     \
    F(BIO_read)                                                                                    \
    F(BIO_s_mem)                                                                                   \
    F(BIO_write)                                                                                   \
    F(ERR_clear_error)                                                                             \
    F(ERR_peek_last_error)                                                                         \
    F(ERR_reason_error_string)                                                                     \
    F(EVP_Digest)                                                                                  \
    F(EVP_sha256)                                                                                  \
    F(HMAC)                                                                                        \
    F(SSL_CTX_ctrl)                                                                                \
    F(SSL_CTX_free)                                                                                \
    F(SSL_CTX_load_verify_locations)                                                               \
    F(SSL_CTX_new)                                                                                 \
    F(SSL_CTX_set_default_passwd_cb)                                                               \
    F(SSL_CTX_set_default_verify_paths)                                                            \
    F(SSL_CTX_set_verify)                                                                          \
    F(SSL_CTX_use_PrivateKey_file)                                                                 \
    F(SSL_CTX_use_certificate_chain_file)                                                          \
    F(SSL_ctrl)                                                                                    \
    F(SSL_do_handshake)                                                                            \
    F(SSL_free)                                                                                    \
    F(SSL_get0_param)                                                                              \
    F(SSL_get_error)                                                                               \
    F(SSL_get_verify_result)                                                                       \
    F(SSL_new)                                                                                     \
    F(SSL_read)                                                                                    \
    F(SSL_set1_host)                                                                               \
    F(SSL_set_bio)                                                                                 \
    F(SSL_set_connect_state)                                                                       \
    F(SSL_write)                                                                                   \
    F(TLS_client_method)                                                                           \
    F(X509_VERIFY_PARAM_set1_ip_asc)                                                               \
    F(X509_VERIFY_PARAM_set_hostflags)                                                             \
    F(X509_verify_cert_error_string)

typedef struct takt_openssl_functions {
#define TAKT_OPENSSL_MEMBER(name) __typeof__(&name) name;
    TAKT_OPENSSL_FUNCTIONS(TAKT_OPENSSL_MEMBER)
#undef TAKT_OPENSSL_MEMBER
} takt_openssl_functions;

extern takt_openssl_functions takt_openssl;

/* Fills the table, once. Returns NULL, or the reason why OpenSSL cannot be used. */
const char *takt_openssl_load(void);

#endif
