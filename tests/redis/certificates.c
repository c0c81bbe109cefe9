/*
 * certificates.c: see certificates.h.
 */
#include "redis/certificates.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#define DAY_S 86400

static void must(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "certificate: %s\n", what);
    abort();
}

static FILE *file_of(const char *directory, const char *name, const char *end, const char *mode)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.%s", directory, name, end);
    file = fopen(path, mode);
    must(file != NULL, path);
    return file;
}

static void add_extension(X509 *certificate, X509 *issuer, int which, const char *value)
{
    X509V3_CTX context;
    X509_EXTENSION *extension;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, which, value);
    must(extension != NULL && X509_add_ext(certificate, extension, -1) == 1, value);
    X509_EXTENSION_free(extension);
}

static void describe(X509 *certificate, X509 *issuer, const char *name, const char *host)
{
    unsigned char address[16];
    char names[300];
    bool is_address;

    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
    if (host == NULL) {
        add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:TRUE");
        add_extension(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
        return;
    }
    is_address = inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
    snprintf(names, sizeof names, "%s:%s", is_address ? "IP" : "DNS", host);
    add_extension(certificate, issuer, NID_subject_alt_name, names);
}

void certificate_make(const char *directory, const char *name, const char *issuer, const char *host,
                      int from_days, int until_days)
{
    EVP_PKEY *key = EVP_EC_gen("P-256"), *signing_key = key;
    X509 *certificate = X509_new(), *signer = certificate;
    unsigned serial = 0;
    FILE *file;

    must(key != NULL && certificate != NULL && RAND_bytes((unsigned char *)&serial, 4) == 1, name);
    if (issuer != NULL) {
        file = file_of(directory, issuer, "crt", "r");
        signer = PEM_read_X509(file, NULL, NULL, NULL);
        fclose(file);
        file = file_of(directory, issuer, "key", "r");
        signing_key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
        fclose(file);
    }
    must(signer != NULL && signing_key != NULL, "issuer");
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), (long)(serial >> 1));
    X509_gmtime_adj(X509_getm_notBefore(certificate), (long)from_days * DAY_S);
    X509_gmtime_adj(X509_getm_notAfter(certificate), (long)until_days * DAY_S);
    X509_set_pubkey(certificate, key);
    describe(certificate, signer, name, host);
    must(X509_sign(certificate, signing_key, EVP_sha256()) > 0, "sign");
    file = file_of(directory, name, "crt", "w");
    must(PEM_write_X509(file, certificate) == 1 && fclose(file) == 0, "write");
    file = file_of(directory, name, "key", "w");
    must(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 && fclose(file) == 0,
         "write");
    if (issuer != NULL) {
        X509_free(signer);
        EVP_PKEY_free(signing_key);
    }
    X509_free(certificate);
    EVP_PKEY_free(key);
}
