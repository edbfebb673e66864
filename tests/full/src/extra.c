void prepare(void) {}
