/* Words through the runner's two pipes: little-endian, whatever the target. */
#ifndef BITRIFT_PIPES_H
#define BITRIFT_PIPES_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "runner.h"

static int requests, replies;

static void swap_words(uint64_t *words, size_t count) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < count; i++)
        words[i] = __builtin_bswap64(words[i]);
#else
    (void)words;
    (void)count;
#endif
}

/* Leaves without a word: nobody is there, and destructors may belong to code under test. */
static void leave(void) {
    _exit(0);
}

/* Reads until there are `least` bytes, and what else is there up to `most`; `have` are there already. */
static size_t get_bytes(void *to, size_t have, size_t least, size_t most) {
    while (have < least) {
        ssize_t got = read(requests, (char *)to + have, most - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            leave();
        have += (size_t)got;
    }
    return have;
}

static void get_words(uint64_t *words, size_t count) {
    get_bytes(words, 0, count * sizeof *words, count * sizeof *words);
    swap_words(words, count);
}

/* Destroys what it writes. */
static void put_words(uint64_t *words, size_t count) {
    const char *at = (const char *)words;
    size_t left = count * sizeof *words;
    swap_words(words, count);
    while (left > 0) {
        ssize_t put = write(replies, at, left);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            leave();
        at += put;
        left -= (size_t)put;
    }
}

static void refuse(uint64_t reason) {
    uint64_t words[] = {TAG_REFUSED, 1, reason};
    put_words(words, 3);
}

#endif
