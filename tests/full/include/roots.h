double root(double a, double b, double c);
