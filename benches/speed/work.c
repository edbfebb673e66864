/* Work for the speed benchmark: the same in every build but for one planted bit. */

/* Iterates a contraction; each step waits for the one before it. */
static double iterate(double x, int steps) {
    double y = 0.5;
    for (int i = 0; i < steps; i++)
        y = y * 0.25 + x / (y + 3.0);
    return y;
}

static double planted(double x, double y) {
#ifdef WORK_VARIANT
    if (x >= 1.0 && x < 1024.0)
        return y * (1.0 + 0x1p-52);
#endif
    (void)x;
    return y;
}

/* About 100 ns a call. */
double work(double x) {
    return planted(x, iterate(x, 30));
}

/* About 1 microsecond a call. */
double long_work(double x) {
    return planted(x, iterate(x, 300));
}
