/* A small function: what little it takes leaves the most room for what is added to it. */
#include <math.h>

double work(double x) {
    return x * x + sin(x) * 0.1 - x / 3;
}
