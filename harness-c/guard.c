/* Calls code under test. There is no signal handler and no jump: a call that does not return is
 * seen from outside, by a process that reads the page. */
#include "guard.h"

#if !defined(__x86_64__)
#error "guard.c knows the control registers of x86-64 only"
#endif

/* The low six bits of MXCSR are sticky exception flags: every inexact operation sets one. */
#define MXCSR_FLAGS 0x3fu

static inline uint32_t read_mxcsr(void) {
    uint32_t word;
    __asm__ volatile("stmxcsr %0" : "=m"(word) : : "memory");
    return word;
}

static inline uint16_t read_x87(void) {
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word) : : "memory");
    return word;
}

struct bitrift_control bitrift_control_read(void) {
    struct bitrift_control control = {read_mxcsr(), read_x87()};
    return control;
}

void bitrift_control_write(struct bitrift_control control) {
    /* fldcw raises what code under test left pending and unmasked, so clear that first. emms gives
     * the x87 stack back when code that used MMX did not. */
    __asm__ volatile("fnclex\n\temms\n\tfldcw %0" : : "m"(control.x87) : "memory");
    __asm__ volatile("ldmxcsr %0" : : "m"(control.mxcsr) : "memory");
}

/* `check`: whether the registers are looked at after every call; a constant where this is inlined. */
static inline size_t run(const struct bitrift_batch *batch, int check) {
    const struct bitrift_batch b = *batch;
    const struct bitrift_control caller = bitrift_control_read();
    const uint32_t mxcsr = b.control.mxcsr & ~MXCSR_FLAGS;
    const uint16_t x87 = b.control.x87;
    const uint64_t first = b.page->sequence + 1;
    const uint64_t before = b.page->phase;
    const uint64_t *in = b.in + b.begin * b.arity;
    uint64_t *out = b.out + b.begin * b.width;
    size_t broken = 0;

    __atomic_store_n(&b.page->first, first, __ATOMIC_RELAXED);
    __atomic_store_n(&b.page->sequence, first + b.begin, __ATOMIC_RELAXED);
    __atomic_store_n(&b.page->phase, b.phase, __ATOMIC_RELAXED);
    bitrift_control_write(b.control);
    for (size_t i = b.begin; i < b.end; i++, in += b.arity, out += b.width) {
        __atomic_store_n(&b.page->sequence, first + i, __ATOMIC_RELAXED);
        b.shim(in, out);
        if (check && __builtin_expect((read_mxcsr() & ~MXCSR_FLAGS) != mxcsr || read_x87() != x87, 0)) {
            bitrift_control_write(b.control);
            b.status[i] = BITRIFT_FPENV;
            broken++;
        }
    }
    __atomic_store_n(&b.page->phase, before, __ATOMIC_RELAXED);
    bitrift_control_write(caller);
    return broken;
}

size_t bitrift_run(const struct bitrift_batch *batch) {
    return run(batch, 1);
}

void bitrift_pace(const struct bitrift_batch *batch) {
    run(batch, 0);
}
