/* The batch loop that calls code under test, and the floating-point control registers.
 * The Rust side of these structs is in src/eval/guard.rs and src/eval/slab.rs. */
#ifndef BITRIFT_GUARD_H
#define BITRIFT_GUARD_H

#include <stddef.h>
#include <stdint.h>

/* What every build exports for every function: `arity` words in, `width` words out. */
typedef void bitrift_shim(const uint64_t *in, uint64_t *out);

/* The registers that decide rounding and flushing. */
struct bitrift_control {
    uint32_t mxcsr;
    uint16_t x87;
};

/* The start of the memory shared with the process that watches this one. */
struct bitrift_page {
    uint64_t sequence; /* moves with every call */
    uint64_t phase;    /* what the process is doing */
    uint64_t first;    /* the sequence number of input 0 of the batch */
};

/* A status word of an input: the call returned. The watcher adds others. */
enum { BITRIFT_OK = 0, BITRIFT_FPENV = 1 };

struct bitrift_batch {
    bitrift_shim *shim;
    struct bitrift_page *page;
    const uint64_t *in; /* of input 0 */
    uint64_t *out;
    uint64_t *status;
    size_t arity;
    size_t width;
    size_t begin; /* first input to run */
    size_t end;   /* one past the last */
    uint64_t phase;
    struct bitrift_control control;
};

struct bitrift_control bitrift_control_read(void);
void bitrift_control_write(struct bitrift_control control);

/* Runs the inputs of a batch; returns how many came back with changed control registers. */
size_t bitrift_run(const struct bitrift_batch *batch);

/* The same without a look at the registers, which takes longer than a small function: to measure time. */
void bitrift_pace(const struct bitrift_batch *batch);

#endif
