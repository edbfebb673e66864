/* What an executable built with a build's own flags starts with: prints MXCSR and the x87 control
 * word in hex. Plain C89 without headers, so that no warning flag of a build rejects it. */
int printf(const char *, ...);

int main(void)
{
    unsigned int mxcsr = 0;
    unsigned short x87 = 0;
#if defined(__x86_64__) || defined(__i386__)
    /* stmxcsr (%rax), as bytes because tcc's assembler does not know the instruction. */
    __asm__ __volatile__(".byte 0x0f, 0xae, 0x18" : : "a"(&mxcsr) : "memory");
    __asm__ __volatile__("fnstcw %0" : "=m"(x87));
#endif
    return printf("mxcsr %x x87 %x\n", mxcsr, (unsigned int)x87) < 0;
}
