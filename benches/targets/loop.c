/* A plain loop over the same function: what a program of this target would take. Prints the nanoseconds
 * of as many calls as it is told. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double work(double x);

int main(int argc, char **argv) {
    const long count = argc > 1 ? atol(argv[1]) : 1;
    double *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out);
    double (*volatile call)(double) = work;
    struct timespec begun, ended;
    for (long i = 0; i < count; i++)
        in[i] = 1.0 + (double)i / (double)count;
    double (*const f)(double) = call;
    /* Once before, so that an emulator has translated it. */
    for (long i = 0; i < count / 8; i++)
        out[i] = f(in[i]);
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (long i = 0; i < count; i++)
        out[i] = f(in[i]);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    const int64_t spent = (int64_t)(ended.tv_sec - begun.tv_sec) * 1000000000 + (ended.tv_nsec - begun.tv_nsec);
    return printf("%lld\n", (long long)spent) < 0;
}
