/*
 * sha256.c: see sha256.h.
 */
#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

#define BLOCK      64
#define SIZE_BYTES 8 /* at the end of the last block: how many bits were hashed */
#define ROUNDS     64
#define WORDS      8

static const uint32_t first[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t read_word(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The words of a block, extended to one for each round. */
static void extend(uint32_t words[ROUNDS], const unsigned char block[BLOCK])
{
    for (int i = 0; i < 16; i++)
        words[i] = read_word(block + 4 * i);
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t near = words[i - 2], far = words[i - 15];
        words[i] = words[i - 16] + words[i - 7] + (turn(far, 7) ^ turn(far, 18) ^ far >> 3) +
                   (turn(near, 17) ^ turn(near, 19) ^ near >> 10);
    }
}

static void take_block(uint32_t state[WORDS], const unsigned char block[BLOCK])
{
    uint32_t words[ROUNDS], at[WORDS];

    extend(words, block);
    memcpy(at, state, sizeof at);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = at[0], e = at[4];
        uint32_t one = at[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                       ((e & at[5]) ^ (~e & at[6])) + constants[i] + words[i];
        uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
                       ((a & at[1]) ^ (a & at[2]) ^ (at[1] & at[2]));
        memmove(at + 1, at, (WORDS - 1) * sizeof at[0]);
        at[4] += one;
        at[0] = one + two;
    }
    for (int i = 0; i < WORDS; i++)
        state[i] += at[i];
}

void takt_sha256(const char *bytes, size_t size, char digits[TAKT_SHA256_DIGITS])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char last[2 * BLOCK] = {0};
    uint32_t state[WORDS];
    size_t whole = size / BLOCK * BLOCK, left = size - whole, end;

    memcpy(state, first, sizeof state);
    for (size_t at = 0; at < whole; at += BLOCK)
        take_block(state, (const unsigned char *)bytes + at);
    memcpy(last, bytes + whole, left);
    last[left] = 0x80;
    end = left + 1 + SIZE_BYTES <= BLOCK ? BLOCK : 2 * BLOCK;
    for (size_t i = 0; i < SIZE_BYTES; i++)
        last[end - 1 - i] = (unsigned char)((uint64_t)size * 8 >> 8 * i);
    for (size_t at = 0; at < end; at += BLOCK)
        take_block(state, last + at);
    for (int i = 0; i < TAKT_SHA256_DIGITS; i++)
        digits[i] = hex[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
}
