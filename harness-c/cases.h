/* Operations whose IEEE 754 answer is known, in all four rounding modes, to see whether whatever runs this
 * program computes as the standard demands. Operands are volatile, so that no compiler answers instead. */
#ifndef BITRIFT_CASES_H
#define BITRIFT_CASES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"

static uint64_t bits_of_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

struct case_operands {
    volatile double a, b, c;
};

static uint64_t case_divide(struct case_operands *x) { return bits_of_double(x->a / x->b); }
static uint64_t case_multiply(struct case_operands *x) { return bits_of_double(x->a * x->b); }
static uint64_t case_add(struct case_operands *x) { return bits_of_double(x->a + x->b); }
static uint64_t case_fma(struct case_operands *x) { return bits_of_double(fma(x->a, x->b, x->c)); }
static uint64_t case_sqrt(struct case_operands *x) { return bits_of_double(sqrt(x->a)); }
static uint64_t case_round(struct case_operands *x) { return bits_of_double(rint(x->a)); }

static uint64_t case_narrow(struct case_operands *x) {
    volatile float narrow = (float)x->a;
    return bits_of_float(narrow);
}

/* 32 bits: wider conversions are a library's on some targets, which may ignore the mode. */
static uint64_t case_signed(struct case_operands *x) {
    volatile int32_t most = INT32_MAX;
    volatile float narrow = (float)most;
    (void)x;
    return bits_of_float(narrow);
}

static uint64_t case_unsigned(struct case_operands *x) {
    volatile uint32_t most = UINT32_MAX;
    volatile float narrow = (float)most;
    (void)x;
    return bits_of_float(narrow);
}

/* Answers to nearest, up, down, towards zero. */
static const struct hard_case {
    const char *name;
    uint64_t (*run)(struct case_operands *);
    double a, b, c;
    uint64_t wanted[4];
} hard_cases[] = {
    {"1/3", case_divide, 1, 3, 0, {0x3fd5555555555555, 0x3fd5555555555556, 0x3fd5555555555555, 0x3fd5555555555555}},
    {"sqrt(2)", case_sqrt, 2, 0, 0, {0x3ff6a09e667f3bcd, 0x3ff6a09e667f3bcd, 0x3ff6a09e667f3bcc, 0x3ff6a09e667f3bcc}},
    {"1+2^-60", case_add, 1, 0x1p-60, 0, {0x3ff0000000000000, 0x3ff0000000000001, 0x3ff0000000000000, 0x3ff0000000000000}},
    {"-1-2^-60", case_add, -1, -0x1p-60, 0, {0xbff0000000000000, 0xbff0000000000000, 0xbff0000000000001, 0xbff0000000000000}},
    {"0.1*0.1", case_multiply, 0.1, 0.1, 0, {0x3f847ae147ae147c, 0x3f847ae147ae147c, 0x3f847ae147ae147b, 0x3f847ae147ae147b}},
    {"0.1 to float", case_narrow, 0.1, 0, 0, {0x3dcccccd, 0x3dcccccd, 0x3dcccccc, 0x3dcccccc}},
    {"2^-1074/2", case_multiply, 0x1p-1074, 0.5, 0, {0, 1, 0, 0}},
    {"subnormal difference", case_add, 0x1.8p-1022, -0x1p-1022, 0, {0x8000000000000, 0x8000000000000, 0x8000000000000, 0x8000000000000}},
    {"overflow", case_multiply, 0x1.fffffffffffffp+1023, 2, 0, {0x7ff0000000000000, 0x7ff0000000000000, 0x7fefffffffffffff, 0x7fefffffffffffff}},
    {"fma", case_fma, 1 + 0x1p-52, 1 + 0x1p-52, -(1 + 0x1p-51), {0x3970000000000000, 0x3970000000000000, 0x3970000000000000, 0x3970000000000000}},
    {"subnormal fma", case_fma, 0x1.0000000000001p-537, 0x1.0000000000001p-537, 0x1p-1074, {2, 3, 2, 2}},
    {"int32 to float", case_signed, 0, 0, 0, {0x4f000000, 0x4f000000, 0x4effffff, 0x4effffff}},
    {"uint32 to float", case_unsigned, 0, 0, 0, {0x4f800000, 0x4f800000, 0x4f7fffff, 0x4f7fffff}},
    {"rint(2.5)", case_round, 2.5, 0, 0, {0x4000000000000000, 0x4008000000000000, 0x4000000000000000, 0x4000000000000000}},
};

static const char *const mode_names[] = {"to nearest", "up", "down", "towards zero"};

/* Prints the number of cases, those that came out wrong, and what the standard leaves open of a NaN. */
static int show_cases(void) {
    const size_t count = sizeof hard_cases / sizeof *hard_cases;
    unsigned cases = 0;
    for (size_t i = 0; i < count; i++) {
        for (int mode = 0; mode < 4; mode++) {
            const int rounding = roundings[ROUND_NEAREST + mode];
            if (rounding < 0 || fesetround(rounding) != 0)
                continue;
            struct case_operands operands = {hard_cases[i].a, hard_cases[i].b, hard_cases[i].c};
            const uint64_t got = hard_cases[i].run(&operands), wanted = hard_cases[i].wanted[mode];
            cases++;
            if (got != wanted)
                printf("wrong %s, %s: %llx instead of %llx\n", hard_cases[i].name, mode_names[mode],
                       (unsigned long long)got, (unsigned long long)wanted);
        }
    }
    fesetround(roundings[ROUND_NEAREST]);
    struct case_operands zeros = {0, 0, 0};
    volatile double quiet;
    const uint64_t payload = 0xfff8000000001234;
    memcpy((void *)&quiet, &payload, sizeof quiet);
    printf("nan %llx %llx\n", (unsigned long long)case_divide(&zeros), (unsigned long long)bits_of_double(quiet + 1));
    return printf("cases %u\n", cases) < 0;
}

#endif
