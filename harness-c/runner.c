/* Runs the functions of one build that cannot be loaded beside the others: another target, another
 * libm, another environment. Requests come on standard input, answers go to standard output. Linked
 * with the build's objects and its own flags, so it starts in the environment those give a program.
 *
 * Code under test may loop, crash, exit or write anywhere. In hot mode that costs this process, and
 * bitrift starts another; in the fork modes it costs a child, and the parent names the input. */
#define _GNU_SOURCE
#include "runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

/* A sign of life is due this often, in nanoseconds. */
#define BEAT_NS 200000000ll

struct request {
    uint64_t function, arity, width, count, mode, timeout_us, token;
};

/* Shared with the forks. */
struct batch {
    volatile uint64_t index;    /* the input whose call is under way */
    volatile uint64_t finished; /* all calls came back */
    volatile uint64_t spent_ns;
    volatile uint64_t flawed; /* some status is not STATUS_OK */
    /* A request: head and inputs come in one piece, so that most are read at once. */
    uint64_t asked[9];
    uint64_t in[MOST_INPUTS * MOST_WORDS];
    /* The answer: head and results go out in one piece, so that its reader wakes once. */
    uint64_t head[6];
    uint64_t out[MOST_INPUTS * MOST_RESULTS];
    uint64_t status[MOST_INPUTS];
};

static const int roundings[] = {
    -1,
#ifdef FE_TONEAREST
    FE_TONEAREST,
#else
    -1,
#endif
#ifdef FE_UPWARD
    FE_UPWARD,
#else
    -1,
#endif
#ifdef FE_DOWNWARD
    FE_DOWNWARD,
#else
    -1,
#endif
#ifdef FE_TOWARDZERO
    FE_TOWARDZERO,
#else
    -1,
#endif
};

#include "cases.h"
#include "pipes.h"

static struct batch *batch;
static struct control setting;

/* ---- Clocks ---- */

static int64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0)
        return -1;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Calls ---- */

/* Reading the registers takes an emulator as long as a tenth of a small function, so hot batches look at
 * them after this many calls. A fork looks after each: what it has seen must outlive its death at the next. */
#define LOOK_EVERY 16

/* Makes the calls of a block again, to see which of them changed the registers. */
static void find_changes(const struct request *request, size_t begin, size_t end) {
    bitrift_shim *const shim = bitrift_table[request->function];
    const size_t arity = (size_t)request->arity, width = (size_t)request->width;
    const struct control wanted = setting;
    for (size_t i = begin; i < end; i++) {
        batch->index = i;
        control_write(wanted);
        shim(batch->in + i * arity, batch->out + i * width);
        if (control_differs(control_read(), wanted)) {
            batch->status[i] = STATUS_FPENV;
            batch->flawed = 1;
        }
    }
    control_write(wanted);
}

/* Runs the inputs from `begin` to before `end` in this process. */
static void call_all(const struct request *request, size_t begin, size_t end) {
    bitrift_shim *const shim = bitrift_table[request->function];
    struct batch *const shared = batch;
    const struct control wanted = setting;
    const size_t arity = (size_t)request->arity, width = (size_t)request->width;
    const size_t every = request->mode == MODE_HOT ? LOOK_EVERY : 1;
    const uint64_t *in = shared->in + begin * arity;
    uint64_t *out = shared->out + begin * width;
    /* Whoever asks can see the clock of this process, but not of its forks. */
    const int timed = request->mode != MODE_HOT;
    const int64_t begun = timed ? nanoseconds(CLOCK_PROCESS_CPUTIME_ID) : 0;
    control_write(wanted);
    for (size_t block = begin; block < end; block += every) {
        const size_t stop = end - block < every ? end : block + every;
        for (size_t i = block; i < stop; i++, in += arity, out += width) {
            shared->index = i;
            shim(in, out);
        }
        if (__builtin_expect(control_differs(control_read(), wanted), 0))
            find_changes(request, block, stop);
    }
    if (timed)
        batch->spent_ns += (uint64_t)(nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - begun);
    batch->finished = 1;
}

/* ---- Forks ---- */

struct watched {
    pid_t pid;
    clockid_t clock;
    int has_clock;
    int alive; /* ready to read when the child is gone */
    uint64_t index;
    int64_t since_cpu, since_wall, beaten;
};

static void beat(struct watched *child) {
    const int64_t now = nanoseconds(CLOCK_MONOTONIC);
    if (now - child->beaten >= BEAT_NS) {
        uint64_t words[] = {TAG_BEAT, 0};
        put_words(words, 2);
        child->beaten = now;
    }
}

static int64_t cpu_of(const struct watched *child) {
    const int64_t used = child->has_clock ? nanoseconds(child->clock) : -1;
    return used < 0 ? child->since_cpu : used;
}

/* Whether the call under way has used up its time. Counts those that nearly did. */
static int is_overdue(struct watched *child, int64_t timeout, uint64_t *near) {
    const int64_t cpu = cpu_of(child), wall = nanoseconds(CLOCK_MONOTONIC);
    if (batch->index != child->index) {
        *near += cpu - child->since_cpu >= timeout / 2;
        child->index = batch->index;
        child->since_cpu = cpu;
        child->since_wall = wall;
        return 0;
    }
    const int64_t used = cpu - child->since_cpu, waited = wall - child->since_wall;
    const int64_t asleep = 10 * timeout + 2000000000;
    return used >= timeout || (waited >= asleep && used < waited / 64) || waited >= 20 * asleep;
}

/* Waits for a child; its status word is 0 when all its calls came back. */
static uint64_t watch(struct watched *child, int64_t timeout, uint64_t *near) {
    /* As often as a sign of life is due: silence means that this process is lost, and not that a call is slow. */
    const int64_t wait = timeout / 16 > BEAT_NS ? BEAT_NS : timeout / 16;
    const int tick = wait < 1000000 ? 1 : (int)(wait / 1000000);
    struct pollfd fd = {child->alive, POLLIN, 0};
    int status = 0;
    for (;;) {
        poll(&fd, 1, tick);
        const pid_t ended = waitpid(child->pid, &status, WNOHANG | WUNTRACED);
        if (ended == child->pid)
            break;
        if (is_overdue(child, timeout, near)) {
            kill(-child->pid, SIGKILL);
            kill(child->pid, SIGKILL);
            waitpid(child->pid, &status, 0);
            return STATUS_TIMEOUT;
        }
        beat(child);
    }
    kill(-child->pid, SIGKILL);
    if (WIFSTOPPED(status)) {
        kill(child->pid, SIGKILL);
        waitpid(child->pid, NULL, 0);
        return STATUS_SIGNAL(WSTOPSIG(status));
    }
    if (WIFSIGNALED(status))
        return STATUS_SIGNAL(WTERMSIG(status));
    return batch->finished ? STATUS_OK : STATUS_EXIT(WEXITSTATUS(status));
}

static _Noreturn void be_child(const struct request *request, size_t begin, size_t end) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(requests);
    close(replies);
    call_all(request, begin, end);
    _exit(0);
}

/* Runs every input in forks; 0 when there can be none. */
static int run_forks(const struct request *request, uint64_t *near) {
    const int64_t timeout = (int64_t)request->timeout_us * 1000;
    const size_t count = (size_t)request->count;
    int64_t beaten = nanoseconds(CLOCK_MONOTONIC);
    size_t begin = 0;
    while (begin < count) {
        const size_t end = request->mode == MODE_ALONE ? begin + 1 : count;
        int ends[2];
        if (pipe(ends) != 0)
            return 0;
        batch->finished = 0;
        batch->index = begin;
        const pid_t pid = fork();
        if (pid < 0)
            return 0;
        if (pid == 0) {
            close(ends[0]);
            be_child(request, begin, end);
        }
        setpgid(pid, pid);
        close(ends[1]);
        struct watched child = {.pid = pid, .alive = ends[0], .index = begin, .beaten = beaten};
        child.has_clock = clock_getcpuclockid(pid, &child.clock) == 0;
        child.since_cpu = cpu_of(&child);
        child.since_wall = nanoseconds(CLOCK_MONOTONIC);
        const uint64_t status = watch(&child, timeout, near);
        beat(&child);
        beaten = child.beaten;
        close(ends[0]);
        if (status == STATUS_OK) {
            begin = end;
            continue;
        }
        /* A page that was overwritten can name anything; the first is then the best guess. */
        const uint64_t index = batch->index;
        const size_t guilty = index >= begin && index < end ? (size_t)index : begin;
        batch->status[guilty] = status;
        batch->flawed = 1;
        begin = guilty + 1;
    }
    return 1;
}

/* ---- Requests ---- */

/* Makes the environment that all calls run in; the reason when this target cannot. */
static uint64_t settle(uint64_t flush, uint64_t rounding, uint64_t precision) {
    if (flush > FLUSH_ON || rounding > ROUND_ZERO)
        return REFUSED_NOISE;
    if (rounding != ROUND_LEAVE && (roundings[rounding] < 0 || fesetround(roundings[rounding]) != 0))
        return REFUSED_ROUNDING;
    setting = control_read();
    if (flush != FLUSH_LEAVE && !control_set_flush(&setting, flush == FLUSH_ON))
        return REFUSED_FLUSH;
    if (precision != 0 && !control_set_precision(&setting, (unsigned)precision))
        return REFUSED_PRECISION;
    return 0;
}

static uint64_t rounding_now(void) {
    const int now = fegetround();
    for (uint64_t i = ROUND_NEAREST; i <= ROUND_ZERO; i++)
        if (roundings[i] == now)
            return i;
    return 0;
}

static int greet(void) {
    uint64_t hello[6];
    get_words(hello, 6);
    uint64_t refused = REFUSED_NOISE;
    if (hello[0] == TAG_HELLO && hello[1] == 4 && hello[2] == BITRIFT_PROTOCOL)
        refused = settle(hello[3], hello[4], hello[5]);
    if (refused != 0) {
        refuse(refused);
        return 0;
    }
    if (bitrift_setup_function != NULL)
        bitrift_setup_function();
    control_write(setting);
    const int big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint64_t ready[] = {TAG_READY,        6,           BITRIFT_PROTOCOL,
                        bitrift_functions, sizeof(void *), (uint64_t)big,
                        (uint64_t)control_flushes(setting), rounding_now()};
    put_words(ready, sizeof ready / sizeof *ready);
    return 1;
}

static int is_sound(const uint64_t head[9]) {
    return head[0] == TAG_RUN && head[3] >= 1 && head[3] <= MOST_WORDS && head[4] >= 1 &&
           head[4] <= MOST_RESULTS && head[5] <= MOST_INPUTS && head[6] <= MODE_ALONE &&
           head[1] == 7 + head[3] * head[5];
}

/* The next request, with its inputs in the page; 0 when what came is none. The next one is sent after the
 * answer to this, so nothing of it can be here yet. */
static int get_request(struct request *request) {
    uint64_t *const head = batch->asked;
    const size_t least = sizeof batch->asked;
    size_t have = get_bytes(head, 0, least, least + sizeof batch->in);
    swap_words(head, 9);
    if (!is_sound(head))
        return 0;
    const size_t inputs = (size_t)(head[3] * head[5]), whole = least + inputs * sizeof *batch->in;
    have = get_bytes(head, have, whole, whole);
    swap_words(batch->in, inputs);
    *request = (struct request){head[2], head[3], head[4], head[5], head[6], head[7], head[8]};
    /* Code under test has no reason to find it. */
    head[8] = 0;
    return have == whole;
}

static void serve(const struct request *request) {
    const size_t count = (size_t)request->count, results = count * (size_t)request->width;
    uint64_t faults = 0, near = 0;
    batch->spent_ns = 0;
    if (request->mode == MODE_HOT) {
        call_all(request, 0, count);
    } else if (!run_forks(request, &near)) {
        refuse(REFUSED_SYSTEM);
        return;
    }
    /* An emulator takes long to look at every status for nothing. */
    for (size_t i = 0; batch->flawed && i < count; i++)
        faults += batch->status[i] != STATUS_OK;
    const uint64_t length = 4 + results + (faults > 0 ? count : 0);
    const uint64_t head[] = {TAG_DONE, length, request->token, faults, near, batch->spent_ns};
    memcpy(batch->head, head, sizeof head);
    put_words(batch->head, 6 + results);
    if (faults > 0)
        put_words(batch->status, count);
    if (batch->flawed) {
        memset(batch->status, 0, sizeof batch->status);
        batch->flawed = 0;
    }
}

/* Takes the pipes out of the reach of code that prints. */
static int take_pipes(void) {
    const int null = open("/dev/null", O_RDWR);
    requests = fcntl(0, F_DUPFD_CLOEXEC, 100);
    replies = fcntl(1, F_DUPFD_CLOEXEC, 100);
    for (int standard = 0; standard <= 2; standard++)
        dup2(null, standard);
    close(null);
    return requests >= 0 && replies >= 0;
}

/* Each C library has one of these. */
extern const char *gnu_get_libc_version(void) __attribute__((weak));
extern const char __libc_version[] __attribute__((weak));

static void show_libc(void) {
    if (gnu_get_libc_version)
        printf("libc glibc %s\n", gnu_get_libc_version());
    else if (__libc_version)
        printf("libc musl %s\n", __libc_version);
    else
        printf("libc unknown\n");
}

/* Says what this program starts with, in the words of x86-64 (see probe.c), and how it computes. */
static int show_probe(void) {
    const struct control control = control_read();
#if defined(__x86_64__) || defined(__i386__)
    printf("mxcsr %x x87 %x\n", (unsigned)control.main, (unsigned)control.extra);
#else
    printf("mxcsr %x x87 37f\n", control_flushes(control) ? 0x9fc0u : 0x1f80u);
#endif
    show_libc();
    struct control plain = control;
    control_set_flush(&plain, 0);
    control_write(plain);
    return show_cases();
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1)
        return show_probe();
    if (!take_pipes())
        return 1;
    batch = mmap(NULL, sizeof *batch, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (batch == MAP_FAILED) {
        refuse(REFUSED_SYSTEM);
        return 1;
    }
    if (!greet())
        return 1;
    for (;;) {
        struct request request;
        if (!get_request(&request)) {
            refuse(REFUSED_NOISE);
            return 1;
        }
        if (request.function >= bitrift_functions || bitrift_table[request.function] == NULL)
            refuse(REFUSED_FUNCTION);
        else
            serve(&request);
    }
}
