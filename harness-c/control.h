/* The floating-point control registers of the target this is compiled for. */
#ifndef BITRIFT_CONTROL_H
#define BITRIFT_CONTROL_H

#include <fenv.h>
#include <stdint.h>

/* What decides rounding, flushing and precision; the sticky exception flags are left out. */
struct control {
    uint32_t main;
    uint32_t extra;
};

#if defined(__x86_64__) || defined(__i386__)

#define FLUSH_BITS 0x8040u

static inline struct control control_read(void) {
    struct control control;
    uint16_t x87;
    /* stmxcsr (%rax), as bytes because tcc's assembler does not know the instruction. */
    __asm__ volatile(".byte 0x0f, 0xae, 0x18" : : "a"(&control.main) : "memory");
    __asm__ volatile("fnstcw %0" : "=m"(x87) : : "memory");
    control.main &= ~0x3fu;
    control.extra = x87;
    return control;
}

static inline void control_write(struct control control) {
    uint16_t x87 = (uint16_t)control.extra;
    /* fldcw raises what is pending and unmasked, so that is cleared first. */
    __asm__ volatile("fnclex\n\temms\n\tfldcw %0" : : "m"(x87) : "memory");
    /* ldmxcsr (%rax) */
    __asm__ volatile(".byte 0x0f, 0xae, 0x10" : : "a"(&control.main) : "memory");
}

#elif defined(__aarch64__)

#define FLUSH_BITS 0x01000000u

static inline struct control control_read(void) {
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return (struct control){(uint32_t)word, 0};
}

static inline void control_write(struct control control) {
    uint64_t word = control.main;
    __asm__ volatile("msr fpcr, %0" : : "r"(word));
}

#elif defined(__arm__) && defined(__VFP_FP__) && !defined(__SOFTFP__)

#define FLUSH_BITS 0x01000000u
/* The flags of comparisons and of exceptions are in the same register. */
#define ARM_FLAGS 0xf800009fu

static inline struct control control_read(void) {
    uint32_t word;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(word));
    return (struct control){word & ~ARM_FLAGS, 0};
}

static inline void control_write(struct control control) {
    __asm__ volatile("vmsr fpscr, %0" : : "r"(control.main));
}

#elif defined(__riscv) && defined(__riscv_flen)

static inline struct control control_read(void) {
    unsigned long word;
    __asm__ volatile("frrm %0" : "=r"(word));
    return (struct control){(uint32_t)word, 0};
}

static inline void control_write(struct control control) {
    unsigned long word = control.main;
    __asm__ volatile("fsrm %0" : : "r"(word));
}

#else

/* Rounding alone, through the C library. */
static inline struct control control_read(void) {
    return (struct control){(uint32_t)fegetround(), 0};
}

static inline void control_write(struct control control) {
    fesetround((int)control.main);
}

#endif

static inline int control_differs(struct control a, struct control b) {
    return a.main != b.main || a.extra != b.extra;
}

/* Whether subnormals are flushed to zero. */
static inline int control_flushes(struct control control) {
#ifdef FLUSH_BITS
    return (control.main & FLUSH_BITS) != 0;
#else
    (void)control;
    return 0;
#endif
}

/* Makes flushing as wanted; 0 when this target cannot. */
static inline int control_set_flush(struct control *control, int flush) {
#ifdef FLUSH_BITS
    control->main = flush ? control->main | FLUSH_BITS : control->main & ~FLUSH_BITS;
    return 1;
#else
    (void)control;
    return !flush;
#endif
}

/* Sets the significand of the x87 to 24, 53 or 64 bits; 0 when this target has none. */
static inline int control_set_precision(struct control *control, unsigned bits) {
#if defined(__x86_64__) || defined(__i386__)
    unsigned field = bits == 24 ? 0 : bits == 53 ? 2 : 3;
    control->extra = (control->extra & ~0x300u) | field << 8;
    return 1;
#else
    (void)control;
    return bits == 0;
#endif
}

#endif
