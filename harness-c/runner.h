/* What a build's runner and bitrift say to each other. The Rust side is src/eval/runner.rs.
 *
 * Words are 64 bits, little-endian. A message is a tag, the number of words that follow, and those.
 *
 *   bitrift: HELLO version flush rounding precision
 *   runner:  READY version functions pointer_bytes big_endian flushes rounding
 *            or REFUSED reason, and it ends
 *   bitrift: RUN function arity width count mode timeout_us token, then count * arity words of inputs
 *   runner:  BEAT as often as it likes while calls come back, then
 *            DONE token faults near spent_ns, count * width results and, when there are faults, count statuses
 *            or REFUSED reason
 *
 * The token is drawn anew for each request and must come back with its answer, so that an answer that code under
 * test writes by itself is none.
 */
#ifndef BITRIFT_RUNNER_H
#define BITRIFT_RUNNER_H

#include <stdint.h>

enum { BITRIFT_PROTOCOL = 3 };

enum tag {
    TAG_HELLO = 0x62720001,
    TAG_READY = 0x62720002,
    TAG_RUN = 0x62720003,
    TAG_BEAT = 0x62720004,
    TAG_DONE = 0x62720005,
    TAG_REFUSED = 0x62720006
};

enum refusal {
    REFUSED_NOISE = 1,     /* a request that makes no sense */
    REFUSED_FLUSH = 2,     /* this target cannot flush subnormals */
    REFUSED_ROUNDING = 3,  /* this target cannot round that way */
    REFUSED_PRECISION = 4, /* this target has no x87 */
    REFUSED_FUNCTION = 5,  /* no such function in this build */
    REFUSED_SYSTEM = 6     /* no memory, no fork */
};

/* How flushing and rounding are to be; 0 leaves what the executable started with. */
enum { FLUSH_LEAVE = 0, FLUSH_OFF = 1, FLUSH_ON = 2 };
enum { ROUND_LEAVE = 0, ROUND_NEAREST = 1, ROUND_UP = 2, ROUND_DOWN = 3, ROUND_ZERO = 4 };

/* In this process; all in one fork of it; each in a fork of its own. */
enum { MODE_HOT = 0, MODE_FORK = 1, MODE_ALONE = 2 };

/* Status words, as in src/eval/slab.rs. */
#define STATUS_OK 0u
#define STATUS_FPENV 1u
#define STATUS_SIGNAL(n) ((uint64_t)2 << 32 | (uint32_t)(n))
#define STATUS_EXIT(n) ((uint64_t)3 << 32 | (uint32_t)(n))
#define STATUS_TIMEOUT ((uint64_t)4 << 32)

/* Most inputs of one request, words of an input, and results of a call. */
enum { MOST_INPUTS = 4096, MOST_WORDS = 16, MOST_RESULTS = 64 };

typedef void bitrift_shim(const uint64_t *in, uint64_t *out);

/* Generated for each build: its functions, null where one is missing. */
extern bitrift_shim *const bitrift_table[];
extern const uint64_t bitrift_functions;
extern void (*const bitrift_setup_function)(void);

#endif
