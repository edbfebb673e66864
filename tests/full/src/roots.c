#include "roots.h"
double root(double a, double b, double c) { return (-b + c) / (2 * a); }
