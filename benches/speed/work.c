/* Work for the speed benchmark: about 100 ns a call, the same in every build. */

/* Iterates a contraction; each step waits for the one before it. */
double work(double x) {
    double y = 0.5;
    for (int i = 0; i < 18; i++)
        y = y * 0.25 + x * 0.125;
    return y;
}

/* The same with a difference that a search has to look at: one bit on a binade. */
double work_apart(double x) {
    double y = work(x);
#ifdef WORK_VARIANT
    if (x >= 1.0 && x < 1024.0)
        y *= 1.0 + 0x1p-52;
#endif
    return y;
}
