// Laws about results of library functions: relations between several calls, and between the results of one call. `environment_laws.rs` reads this file.
//
// `// law: FUNCTIONS` starts a law that holds in every environment. The verdict must not be FALSE; after `// true law: FUNCTIONS` it must be TRUE.
// `// claim: FUNCTIONS` starts a claim that does not hold in some environment. The verdict must not be TRUE.
// `CHECK` states the law or claim. The standard input of native runs is `12 -7 0x1f word 2.5`.

// true law: rand srand
srand(5);
int a = rand(), b = rand();
srand(5);
CHECK(rand() == a && rand() == b);

// law: rand srand
int a = rand();
srand(1);
CHECK(rand() == a);

// true law: rand srand
srand(3);
int a = rand();
srand(4);
rand();
srand(3);
CHECK(rand() == a && a >= 0 && a <= RAND_MAX);

// true law: rand srand
unsigned seed = time(NULL);
srand(seed);
int a = rand();
srand(seed);
CHECK(rand() == a);

// law: rand srand
int numbers[40];
srand(9);
for (int i = 0; i < 40; i++)
    numbers[i] = rand();
srand(9);
for (int i = 0; i < 40; i++)
    CHECK(rand() == numbers[i]);

// true law: random srandom
srandom(7);
long a = random();
srandom(7);
CHECK(random() == a && a >= 0 && a <= 0x7fffffff);

// law: rand random srand
srand(5);
int a = rand();
random();
srand(5);
CHECK(rand() == a);

// claim: rand
CHECK(rand() != 4711);

// claim: rand srand
srand(5);
int a = rand();
srand(6);
CHECK(rand() == a);

// claim: rand
CHECK(rand() != rand());

// law: initstate random
char state[64];
initstate(5, state, sizeof state);
long a = random();
initstate(5, state, sizeof state);
CHECK(random() == a);

// true law: rand_r
unsigned s = 3, t = 3;
CHECK(rand_r(&s) == rand_r(&t) && s == t);

// true law: drand48 srand48 lrand48 mrand48
srand48(11);
double x = drand48();
long y = lrand48(), z = mrand48();
srand48(11);
CHECK(drand48() == x && lrand48() == y && mrand48() == z);

// true law: erand48 nrand48 jrand48
unsigned short a[3] = {1, 2, 3}, b[3] = {1, 2, 3};
CHECK(erand48(a) == erand48(b) && nrand48(a) == nrand48(b) && jrand48(a) == jrand48(b));

// true law: seed48 lcong48 lrand48
unsigned short seed[3] = {5, 6, 7}, parameters[7] = {1, 2, 3, 5, 0, 0, 1};
seed48(seed);
lrand48();
unsigned short *before = seed48(seed);
CHECK(before[0] != 5 || before[1] != 6 || before[2] != 7);
lcong48(parameters);
CHECK(lrand48() == (((3ll << 32 | 2 << 16 | 1) * 5 + 1) & 0xffffffffffffll) >> 17);

// true law: drand48
double x = drand48();
CHECK(x >= 0 && x < 1 && x * 281474976710656.0 == (long long)(x * 281474976710656.0));

// true law: arc4random_uniform
CHECK(arc4random_uniform(10) < 10);

// true law: dup
int a = dup(1), b = dup(1);
if (a >= 0)
    CHECK(a != 0 && a != 1 && a != 2 && a != b);

// true law: dup2 close
if (dup2(1, 7) == 7) {
    CHECK(close(7) == 0 || errno != EBADF);
    CHECK(close(7) == -1 && errno == EBADF);
}

// true law: dup2
CHECK(dup2(1, -1) == -1 && dup2(-1, 1) == -1);

// true law: dup3 open
int a = dup3(1, 9, 0), b = open("/dev/null", O_RDONLY);
if (a == 9 && b >= 0)
    CHECK(b != 9);

// true law: open
int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_RDONLY);
if (a >= 0 && b >= 0)
    CHECK(a != b && a > 2 && b > 2);

// true law: open open64 close
int a = open("/dev/null", O_RDONLY);
if (a >= 0) {
    close(a);
    int b = open64("/dev/null", O_RDONLY);
    if (b >= 0)
        CHECK(a == b);
}

// true law: open close dup
int a = dup(1);
close(0);
int b = open("/dev/null", O_RDONLY);
if (a >= 0 && b >= 0)
    CHECK(b == 0);

// true law: close read write fstat isatty fsync dup
int file = open("/dev/null", O_RDWR);
if (file >= 0) {
    char c = 0;
    struct stat status;
    close(file);
    CHECK(read(file, &c, 1) == -1 && write(file, &c, 1) == -1 && fstat(file, &status) == -1);
    CHECK(!isatty(file) && fsync(file) == -1 && dup(file) == -1 && close(file) == -1);
}

// true law: read write lseek
char c;
CHECK(read(-1, &c, 1) == -1 && write(-1, "x", 1) == -1 && lseek(-1, 0, SEEK_CUR) == -1);

// true law: read write
char c;
errno = 0;
if (read(-5, &c, 1) < 0)
    CHECK(errno == EBADF);

// true law: pipe open
int ends[2], file = open("/dev/null", O_RDONLY);
if (pipe(ends) == 0 && file >= 0)
    CHECK(ends[0] != ends[1] && ends[0] != file && ends[1] != file && ends[0] > 2 && ends[1] > 2);

// true law: pipe lseek
int ends[2];
if (pipe(ends) == 0)
    CHECK(lseek(ends[0], 0, SEEK_CUR) == -1 && lseek(ends[1], 3, SEEK_SET) == -1 && errno == ESPIPE);

// true law: pipe2 isatty
int ends[2];
if (pipe2(ends, O_CLOEXEC) == 0)
    CHECK(ends[0] != ends[1]);

// true law: socket socketpair
int ends[2], file = socket(AF_UNIX, SOCK_STREAM, 0);
if (file >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)
    CHECK(file > 2 && ends[0] != file && ends[1] != file && ends[0] != ends[1]);

// true law: accept accept4 socket
int file = socket(AF_UNIX, SOCK_STREAM, 0), other = accept(file, NULL, NULL), third = accept4(file, NULL, NULL, 0);
if (file >= 0 && other >= 0 && third >= 0)
    CHECK(file != other && other != third && third != file);

// true law: fcntl
int file = fcntl(1, F_DUPFD, 20), other = fcntl(1, F_DUPFD, 20);
if (file >= 0 && other >= 0)
    CHECK(file >= 20 && other >= 20 && file != other);

// true law: fcntl open
int file = open("/dev/null", O_RDONLY);
if (file >= 0) {
    int flags = fcntl(file, F_GETFL);
    CHECK((flags & O_ACCMODE) == O_RDONLY);
    if (fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0)
        CHECK(fcntl(file, F_GETFL) & O_NONBLOCK);
    CHECK(fcntl(file, F_GETFD) == 0);
    if (fcntl(file, F_SETFD, FD_CLOEXEC) == 0)
        CHECK(fcntl(file, F_GETFD) == FD_CLOEXEC);
}

// law: fcntl
int flags = fcntl(0, F_GETFL);
if (flags >= 0 && fcntl(0, F_SETFL, flags | O_NONBLOCK) == 0) {
    CHECK(fcntl(0, F_GETFL) & O_NONBLOCK);
    fcntl(0, F_SETFL, flags);
}

// true law: fopen fileno
FILE *a = fopen("/dev/null", "r"), *b = fopen("/dev/null", "r");
if (a && b)
    CHECK(a != b && fileno(a) != fileno(b) && fileno(a) == fileno(a) && fileno(a) > 2);

// true law: fopen fileno open fclose
FILE *a = fopen("/dev/null", "r");
int file = open("/dev/null", O_RDONLY);
if (a && file >= 0) {
    int of = fileno(a);
    CHECK(of != file);
    fclose(a);
    CHECK(close(of) == -1);
}

// true law: fileno fileno_unlocked
CHECK(fileno(stdin) == 0 && fileno(stdout) == 1 && fileno_unlocked(stderr) == 2);

// true law: fdopen fileno close
int file = open("/dev/null", O_RDONLY);
FILE *stream = file < 0 ? NULL : fdopen(file, "r");
if (stream)
    CHECK(fileno(stream) == file);
CHECK(!fdopen(-1, "r"));

// true law: popen fileno tmpfile fopen64 tmpfile64
FILE *a = tmpfile(), *b = tmpfile64(), *c = fopen64("/dev/null", "r");
if (a && b && c)
    CHECK(fileno(a) != fileno(b) && fileno(b) != fileno(c) && fileno(a) != fileno(c));

// true law: opendir dirfd closedir
DIR *folder = opendir("/");
int file = open("/dev/null", O_RDONLY);
if (folder && file >= 0) {
    int of = dirfd(folder);
    CHECK(of != file && of > 2 && dirfd(folder) == of);
    closedir(folder);
    CHECK(close(of) == -1);
}

// true law: telldir seekdir readdir opendir
DIR *folder = opendir("/");
if (folder) {
    long at = telldir(folder);
    CHECK(telldir(folder) == at);
    readdir(folder);
    seekdir(folder, at);
    CHECK(telldir(folder) == at);
}

// true law: fdopendir
CHECK(!fdopendir(-1));

// true law: mkstemp
char a[] = "/tmp/proviso-XXXXXX", b[] = "/tmp/proviso-XXXXXX";
int one = mkstemp(a), other = mkstemp(b);
if (one >= 0)
    unlink(a);
if (other >= 0)
    unlink(b);
if (one >= 0 && other >= 0)
    CHECK(one != other);

// law: mkstemp mkostemp mkstemps mkdtemp mkstemp64
char a[] = "/tmp/proviso-XXXXXX", b[] = "/tmp/proviso-XXXXXX";
int one = mkstemp(a), other = mkstemp(b);
if (one >= 0 && other >= 0)
    CHECK(strcmp(a, b) != 0);
if (one >= 0)
    unlink(a);
if (other >= 0)
    unlink(b);

// true law: tmpnam
char a[L_tmpnam], b[L_tmpnam];
if (tmpnam(a) && tmpnam(b))
    CHECK(strcmp(a, b) != 0);

// true law: lseek open
int file = open("/proc/self/exe", O_RDONLY);
if (file >= 0) {
    off_t at = lseek(file, 10, SEEK_SET);
    CHECK(at == 10 || at == -1);
    if (at == 10)
        CHECK(lseek(file, 0, SEEK_CUR) == 10 && lseek(file, 5, SEEK_CUR) == 15 && lseek(file, 0, SEEK_SET) == 0);
}

// true law: lseek read
int file = open("/proc/self/exe", O_RDONLY);
if (file >= 0 && lseek(file, 4, SEEK_SET) == 4) {
    char buffer[8];
    ssize_t n = read(file, buffer, sizeof buffer);
    if (n >= 0)
        CHECK(lseek(file, 0, SEEK_CUR) == 4 + n);
}

// true law: lseek64 pread pwrite readv writev preadv pwritev pread64 pwrite64
int file = open("/proc/self/exe", O_RDONLY);
char buffer[8];
struct iovec block = {buffer, sizeof buffer};
if (file >= 0 && lseek64(file, 4, SEEK_SET) == 4) {
    pread(file, buffer, 8, 100);
    preadv(file, &block, 1, 100);
    CHECK(lseek64(file, 0, SEEK_CUR) == 4);
    ssize_t n = readv(file, &block, 1);
    if (n >= 0)
        CHECK(lseek64(file, 0, SEEK_CUR) == 4 + n);
}

// true law: copy_file_range sendfile sendfile64
int file = open("/proc/self/exe", O_RDONLY), out = open("/dev/null", O_WRONLY);
if (file >= 0 && out >= 0 && lseek(file, 4, SEEK_SET) == 4) {
    off64_t at = 10;
    ssize_t n = copy_file_range(file, &at, out, NULL, 3, 0);
    CHECK(n <= 3 && at == 10 + (n < 0 ? 0 : n));
    off_t next = 20;
    n = sendfile(out, file, &next, 5);
    CHECK(next == 20 + (n < 0 ? 0 : n) && lseek(file, 0, SEEK_CUR) == 4);
    n = sendfile64(out, file, NULL, 2);
    CHECK(lseek(file, 0, SEEK_CUR) == 4 + (n < 0 ? 0 : n));
}

// true law: lseek dup
int file = open("/proc/self/exe", O_RDONLY), other = dup(file);
if (file >= 0 && other >= 0 && lseek(file, 10, SEEK_SET) == 10)
    CHECK(lseek(other, 0, SEEK_CUR) == 10);

// true law: lseek
int file = open("/proc/self/exe", O_RDONLY);
CHECK(lseek(file, -3, SEEK_SET) == -1 && lseek(file, 0, 77) == -1);
off_t end = lseek(file, 0, SEEK_END);
if (end >= 0)
    CHECK(lseek(file, 0, SEEK_CUR) == end);

// law: lseek
if (lseek(0, 10, SEEK_SET) == 10)
    CHECK(lseek(0, 0, SEEK_CUR) == 10);

// claim: lseek open
int file = open("/proc/self/exe", O_RDONLY);
if (file >= 0)
    CHECK(lseek(file, 0, SEEK_CUR) == 0);

// claim: lseek
CHECK(lseek(0, 0, SEEK_CUR) == 0);

// claim: open
int a = open("/dev/null", O_RDONLY);
CHECK(a == -1 || a == 3);

// claim: close open
int a = open("/dev/null", O_RDONLY);
CHECK(a < 0 || close(a) == 0);

// claim: isatty
CHECK(!isatty(0));

// claim: fileno fopen
FILE *a = fopen("/dev/null", "r");
if (a)
    CHECK(fileno(a) == 3);

// true law: fstat fstat64
struct stat a, b;
int file = open("/dev/null", O_RDONLY);
if (file >= 0 && fstat(file, &a) == 0 && fstat(file, &b) == 0)
    CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev && (a.st_mode & S_IFMT) == (b.st_mode & S_IFMT));

// true law: fstat dup
struct stat a, b;
int file = open("/dev/null", O_RDONLY), other = dup(file);
if (file >= 0 && other >= 0 && fstat(file, &a) == 0 && fstat(other, &b) == 0)
    CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);

// claim: fstat
struct stat a, b;
if (fstat(0, &a) == 0 && fstat(1, &b) == 0)
    CHECK(a.st_ino == b.st_ino);

// true law: isatty ttyname tcgetattr
struct termios terminal;
if (!isatty(0))
    CHECK(!ttyname(0) && tcgetattr(0, &terminal) == -1);

// true law: ttyname
char *name = ttyname(0);
if (name)
    CHECK(name[0] == '/' && name[1]);

// law: ttyname
char *name = ttyname(0), kept[65];
if (name) {
    strcpy(kept, name);
    name = ttyname(0);
    CHECK(name && strcmp(name, kept) == 0);
}

// law: getlogin
char *name = getlogin(), kept[65];
if (name) {
    CHECK(name[0]);
    strcpy(kept, name);
    name = getlogin();
    CHECK(name && strcmp(name, kept) == 0);
}

// true law: sysconf getpagesize
CHECK(sysconf(_SC_PAGESIZE) == getpagesize() && sysconf(_SC_PAGE_SIZE) == sysconf(_SC_PAGESIZE));

// true law: sysconf
CHECK(sysconf(_SC_NPROCESSORS_ONLN) >= 1 && sysconf(_SC_NPROCESSORS_CONF) >= 1 && sysconf(_SC_CLK_TCK) > 0);

// true law: sysconf
CHECK(sysconf(_SC_OPEN_MAX) == sysconf(_SC_OPEN_MAX) && sysconf(_SC_NGROUPS_MAX) == sysconf(_SC_NGROUPS_MAX));

// true law: sysconf getdtablesize
CHECK(sysconf(_SC_OPEN_MAX) == getdtablesize() && sysconf(_SC_LINE_MAX) != 7);

// law: getdtablesize getrlimit
struct rlimit limit;
if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 100000)
    CHECK(getdtablesize() == (int)limit.rlim_cur);

// law: sysconf setrlimit
struct rlimit limit;
long most = sysconf(_SC_OPEN_MAX);
if (most > 20 && getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 20) {
    limit.rlim_cur = 20;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        CHECK(sysconf(_SC_OPEN_MAX) != most);
}

// claim: sysconf
CHECK(sysconf(_SC_NPROCESSORS_ONLN) == sysconf(_SC_NPROCESSORS_CONF));

// true law: getrlimit setrlimit getrlimit64 setrlimit64
struct rlimit limit, again;
if (getrlimit(RLIMIT_CORE, &limit) == 0) {
    CHECK(limit.rlim_cur <= limit.rlim_max);
    CHECK(getrlimit(RLIMIT_CORE, &again) == 0 && again.rlim_cur == limit.rlim_cur && again.rlim_max == limit.rlim_max);
    limit.rlim_cur = 0;
    if (setrlimit(RLIMIT_CORE, &limit) == 0)
        CHECK(getrlimit(RLIMIT_CORE, &again) == 0 && again.rlim_cur == 0);
}

// true law: getrlimit setrlimit
struct rlimit limit = {5, 3};
CHECK(getrlimit(99, &limit) == -1 && setrlimit(RLIMIT_CORE, &limit) == -1);

// true law: pathconf
long name = pathconf("/", _PC_NAME_MAX), path = pathconf("/", _PC_PATH_MAX);
CHECK((name == -1 || name >= 14) && (path == -1 || path >= 256));

// law: fpathconf
int file = open("/", O_RDONLY);
CHECK(fpathconf(file, _PC_NAME_MAX) == fpathconf(file, _PC_NAME_MAX));

// true law: clock_gettime
struct timespec a, b;
if (clock_gettime(CLOCK_MONOTONIC, &a) == 0 && clock_gettime(CLOCK_MONOTONIC, &b) == 0)
    CHECK(b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));

// claim: clock_gettime
struct timespec a, b;
if (clock_gettime(CLOCK_REALTIME, &a) == 0 && clock_gettime(CLOCK_REALTIME, &b) == 0)
    CHECK(b.tv_sec >= a.tv_sec);

// claim: time
CHECK(time(NULL) <= time(NULL));

// true law: time
time_t t, now = time(&t);
CHECK(t == now && now >= 0);

// true law: gettimeofday timespec_get
struct timeval now;
struct timespec t;
gettimeofday(&now, NULL);
CHECK(now.tv_usec >= 0 && now.tv_usec < 1000000);
CHECK(timespec_get(&t, TIME_UTC) == TIME_UTC && t.tv_nsec >= 0 && t.tv_nsec < 1000000000);

// true law: clock_getres
struct timespec a, b;
CHECK(clock_getres(CLOCK_MONOTONIC, &a) == 0 && clock_getres(CLOCK_MONOTONIC, &b) == 0);
CHECK(a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec && a.tv_nsec > 0);

// true law: clock
clock_t a = clock(), b = clock();
CHECK(a == -1 || b == -1 || b >= a);

// true law: times
struct tms a, b;
clock_t from = times(&a), to = times(&b);
CHECK(to >= from && b.tms_utime >= a.tms_utime && b.tms_stime >= a.tms_stime && a.tms_utime >= 0);

// true law: getrusage
struct rusage a, b;
if (getrusage(RUSAGE_SELF, &a) == 0 && getrusage(RUSAGE_SELF, &b) == 0) {
    CHECK(b.ru_minflt >= a.ru_minflt && b.ru_utime.tv_sec >= a.ru_utime.tv_sec);
    CHECK(b.ru_utime.tv_sec > a.ru_utime.tv_sec || b.ru_utime.tv_usec >= a.ru_utime.tv_usec);
}

// true law: sleep nanosleep
CHECK(sleep(0) == 0);
struct timespec none = {0, -1};
CHECK(nanosleep(&none, NULL) == -1);

// true law: fork getpid getppid
int before = getpid();
pid_t child = fork();
CHECK(child == 0 ? getpid() != before : getpid() == before && child != before);

// true law: fork pthread_atfork
pthread_atfork(NULL, NULL, NULL);
CHECK(fork() >= -1);

// claim: fork wait
int status;
if (fork() > 0)
    CHECK(wait(&status) > 0);

// true law: getpid getppid gettid
CHECK(getpid() == getpid() && getpid() == gettid() && getpid() != getppid());

// claim: getppid
CHECK(getppid() == getppid());

// true law: getuid geteuid getgid getegid getresuid getresgid
uid_t real, effective, saved, again[3];
CHECK(getuid() == getuid() && getegid() == getegid() && getgid() == getgid() && geteuid() == geteuid());
getresuid(&real, &effective, &saved);
getresuid(&again[0], &again[1], &again[2]);
CHECK(real == getuid() && effective == geteuid() && again[2] == saved);
gid_t group;
getresgid(&group, &again[0], &again[1]);
CHECK(group == getgid() && again[0] == getegid());

// true law: getpgrp getpgid getsid
CHECK(getpgrp() == getpgrp() && getpgid(0) == getpgrp() && getsid(0) == getsid(0) && getpgid(getpid()) == getpgrp());

// true law: setsid getsid getpgrp
pid_t session = setsid();
if (session >= 0)
    CHECK(session == getpid() && getpgrp() == session && getsid(0) == session && setsid() == -1);

// true law: setpgid
if (setpgid(0, 0) == 0)
    CHECK(getpgrp() == getpid());

// law: setuid getuid seteuid setreuid setresuid setgid setegid setregid setresgid
uid_t user = getuid();
if (seteuid(user) == 0)
    CHECK(geteuid() == user);

// true law: getgroups
int count = getgroups(0, NULL);
gid_t groups[64];
if (count >= 0 && count <= 64)
    CHECK(getgroups(count, groups) == count && getgroups(0, NULL) == count);

// law: getgroups setgroups
gid_t group = 7;
if (setgroups(1, &group) == 0)
    CHECK(getgroups(0, NULL) == 1);

// claim: getpid
CHECK(getpid() != 4711);

// claim: getuid geteuid
CHECK(getuid() == geteuid());

// true law: umask
mode_t before = umask(022);
CHECK(umask(before) == 022);

// true law: getcwd chdir
char path[4096];
if (chdir("/") == 0 && getcwd(path, sizeof path))
    CHECK(strcmp(path, "/") == 0);

// law: getcwd
char path[4096], again[4096];
if (getcwd(path, sizeof path) && getcwd(again, sizeof again))
    CHECK(path[0] == '/' && strcmp(path, again) == 0);

// claim: getcwd
char path[4096];
if (getcwd(path, sizeof path))
    CHECK(path[1]);

// law: gethostname uname
char a[65], b[65];
if (gethostname(a, sizeof a) == 0 && gethostname(b, sizeof b) == 0)
    CHECK(strcmp(a, b) == 0);

// true law: uname
struct utsname a, b;
if (uname(&a) == 0 && uname(&b) == 0)
    CHECK(strcmp(a.sysname, b.sysname) == 0 && strcmp(a.release, b.release) == 0);

// true law: sysinfo
struct sysinfo a, b;
CHECK(sysinfo(&a) == 0 && sysinfo(&b) == 0 && b.uptime >= a.uptime && a.uptime >= 0 && b.mem_unit > 0);

// claim: sysinfo
struct sysinfo a;
CHECK(sysinfo(&a) == 0 && a.procs < 3);

// law: gethostid
CHECK(gethostid() == gethostid());

// true law: sigprocmask
sigset_t set, old;
sigemptyset(&set);
sigaddset(&set, SIGUSR1);
sigprocmask(SIG_BLOCK, &set, NULL);
sigprocmask(SIG_BLOCK, NULL, &old);
CHECK(sigismember(&old, SIGUSR1));
sigprocmask(SIG_UNBLOCK, &set, &old);
CHECK(sigismember(&old, SIGUSR1) == 1);
sigprocmask(SIG_SETMASK, NULL, &old);
CHECK(sigismember(&old, SIGUSR1) == 0 && !sigismember(&old, SIGKILL));

// true law: signal sigaction bsd_signal sysv_signal __sysv_signal
extern __sighandler_t bsd_signal(int, __sighandler_t);
struct sigaction action, former;
sigaction(SIGUSR1, NULL, &former);
CHECK(former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN);
CHECK(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == former.sa_handler);
CHECK(signal(SIGUSR1, SIG_IGN) == former.sa_handler);
CHECK(sysv_signal(SIGUSR1, SIG_DFL) == SIG_IGN);
CHECK(__sysv_signal(SIGUSR1, SIG_IGN) == SIG_DFL);
CHECK(bsd_signal(SIGUSR1, SIG_DFL) == SIG_IGN);
CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR && signal(SIGUSR2, SIG_DFL) == SIG_IGN);

// claim: signal
CHECK(signal(SIGINT, SIG_IGN) == SIG_DFL);

// claim: sigaction
struct sigaction former;
sigaction(SIGINT, NULL, &former);
CHECK(former.sa_handler == SIG_IGN);

// true law: getenv secure_getenv setenv putenv
char *home = getenv("HOME");
CHECK(getenv("HOME") == home && secure_getenv("HOME") == home);
if (home && home[0]) {
    char first = home[0];
    CHECK(getenv("HOME")[0] == first);
}
if (setenv("PROVISO", "x", 1) == 0)
    CHECK(strcmp(getenv("PROVISO"), "x") == 0);
if (putenv("PROVISO=y") == 0)
    CHECK(strcmp(getenv("PROVISO"), "y") == 0);

// true law: setlocale
CHECK(strcmp(setlocale(LC_ALL, NULL), "C") == 0);

// true law: newlocale uselocale
locale_t c = newlocale(LC_ALL_MASK, "C", 0);
locale_t former = uselocale(c);
CHECK(former == LC_GLOBAL_LOCALE && uselocale(former) == c && uselocale(0) == former);

// claim: newlocale
CHECK(!newlocale(LC_ALL_MASK, "nowhere", 0));

// true law: ftell fseek fopen
FILE *file = fopen("/proc/self/exe", "r");
if (file && fseek(file, 5, SEEK_SET) == 0) {
    CHECK(ftell(file) == 5);
    if (fgetc(file) != EOF)
        CHECK(ftell(file) == 6);
    rewind(file);
    CHECK(ftell(file) == 0);
}

// true law: ftello fseeko ftello64 fseeko64 fgetpos fsetpos fgetpos64 fsetpos64 rewind
FILE *file = fopen("/proc/self/exe", "r");
if (file && fseeko(file, 9, SEEK_SET) == 0) {
    fpos_t at;
    CHECK(ftello(file) == 9 && ftello64(file) == 9 && fgetpos(file, &at) == 0);
    fseeko64(file, 3, SEEK_CUR);
    CHECK(ftell(file) == 12);
    if (fsetpos(file, &at) == 0)
        CHECK(ftell(file) == 9);
}

// true law: scanf
int x, n = -1;
if (scanf("%d%n", &x, &n) == 1)
    CHECK(n >= 1 && (x < 10 || n >= 2) && (x > -100 || n >= 4));

// true law: scanf
int n = -1;
scanf("%n", &n);
CHECK(n == 0);

// true law: scanf
char s[5];
int n = -1;
if (scanf("%4s%n", s, &n) == 1)
    CHECK(n >= 1 && n >= (int)strlen(s));

// true law: scanf
char c;
int n = -1;
if (scanf("%c%n", &c, &n) == 1)
    CHECK(n == 1);

// true law: scanf
int x, y, m = -1, n = -1;
if (scanf("%d%n%d%n", &x, &m, &y, &n) == 2)
    CHECK(m >= 1 && n > m);

// true law: scanf
char s[9];
int n = -1;
if (scanf("%8[0-9]%n", s, &n) == 1)
    CHECK(n == (int)strlen(s));

// true law: scanf
int n = -1;
scanf("%*3d%n", &n);
CHECK(n == -1 || n >= 1);

// true law: scanf
int n = -1;
scanf("12%n", &n);
CHECK(n == -1 || n == 2);

// true law: scanf
int x;
if (scanf("%4i", &x) == 1)
    CHECK(x <= 9999 && x >= -999);

// true law: scanf
int x;
if (scanf("%3d", &x) == 1)
    CHECK(x <= 999 && x >= -99);

// true law: scanf
unsigned x;
if (scanf("%2x", &x) == 1)
    CHECK(x <= 0xff || x >= -0xfu);

// true law: scanf
long long x;
if (scanf("%17lld", &x) == 1)
    CHECK(x < 100000000000000000 && x > -10000000000000000);

// true law: scanf
double x;
if (scanf("%1lf", &x) == 1)
    CHECK(x >= 0 && x <= 9 && x == (int)x);

// true law: scanf
float x;
if (scanf("%2f", &x) == 1)
    CHECK(x >= -9 && x <= 99 && x * 10 == (int)(x * 10));

// true law: scanf
float x;
if (scanf("%3f", &x) == 1)
    CHECK(x != 123456.0f && x != 0.125f && x != 1e10f);

// true law: scanf
long double x;
if (scanf("%1Lf", &x) == 1)
    CHECK(x >= 0 && x <= 9);

// law: scanf
double x;
if (scanf("%5lf", &x) == 1)
    CHECK(x != 123456);

// law: scanf
double x;
int n;
if (scanf("%lf%n", &x, &n) == 1)
    CHECK(x != 0.12345 || n >= 6);

// true law: scanf getchar
int x;
if (scanf("%d", &x) == 1 && !ferror(stdin)) {
    int c = getchar();
    CHECK(c < '0' || c > '9');
}

// true law: ungetc getchar
if (ungetc('a', stdin) == 'a' && ungetc('b', stdin) == 'b')
    CHECK(getchar() == 'b' && getchar() == 'a');

// true law: scanf
int x;
char c;
if (scanf("%d%c", &x, &c) == 2)
    CHECK(c < '0' || c > '9');

// true law: scanf fgetc
char s[3];
int n;
if (scanf("%2s%n", s, &n) == 1 && n == 1 && !ferror(stdin)) {
    int c = fgetc(stdin);
    CHECK(c == EOF || isspace(c));
}

// true law: scanf getc
char s[9];
int n;
if (scanf("%8[^\n]%n", s, &n) == 1 && n < 8 && !ferror(stdin)) {
    int c = getc(stdin);
    CHECK(c == EOF || c == '\n');
}

// true law: scanf getchar
if (scanf("x") == 0 && !feof(stdin)) {
    char s[2] = "";
    if (scanf("%1[a-z]", s) == 0 && !feof(stdin)) {
        int c = getchar();
        CHECK(c < 'a' || c > 'z');
    }
}

// law: scanf getchar
double x;
if (scanf("%lf", &x) == 1 && !ferror(stdin)) {
    int c = getchar();
    CHECK(c < '0' || c > '9' || x != x || x - x != 0);
}

// true law: fscanf vfscanf fgets
int x, n = -1;
FILE *file = fopen("/proc/self/stat", "r");
if (file && fscanf(file, "%d%n", &x, &n) == 1 && !ferror(file)) {
    char line[3];
    CHECK(n >= 1);
    if (fgets(line, 3, file))
        CHECK(line[0] < '0' || line[0] > '9');
}

// true law: wscanf getwchar
int x, n = -1;
if (wscanf(L"%4i%n", &x, &n) == 1)
    CHECK(x <= 9999 && n >= 1);

// true law: vscanf
int x, n = -1;
if (scan_by_list("%3i%n", &x, &n) == 1)
    CHECK(x <= 999 && x >= -99 && n >= 1);

// true law: scanf
int x;
errno = 0;
if (scanf("%d", &x) == 1 && x == 5 && !ferror(stdin))
    CHECK(errno != ERANGE);

// true law: scanf
double x;
errno = 0;
if (scanf("%lf", &x) == 1 && x == 1.5 && !ferror(stdin))
    CHECK(errno != ERANGE);

// claim: scanf
int x, n = -1;
if (scanf("%d%n", &x, &n) == 1)
    CHECK(n <= 11);

// claim: scanf
int x;
if (scanf("%4i", &x) == 1)
    CHECK(x != 9999);

// claim: scanf
int x;
if (scanf("%4i", &x) == 1)
    CHECK(x != -999);

// claim: scanf
float x;
if (scanf("%3f", &x) == 1)
    CHECK(x != 9e9f);

// claim: scanf
float x;
if (scanf("%3f", &x) == 1)
    CHECK(x != -.5f);

// claim: scanf
double x;
if (scanf("%3lf", &x) == 1)
    CHECK(x - x == 0);

// claim: scanf
double x;
if (scanf("%12lf", &x) == 1)
    CHECK(x != 123456.5);

// claim: scanf getchar
int x;
if (scanf("%3d", &x) == 1) {
    int c = getchar();
    CHECK(c < '0' || c > '9');
}

// claim: scanf getchar
int x;
if (scanf("%i", &x) == 1)
    CHECK(getchar() != '8');

// claim: scanf getchar
double x;
if (scanf("%lf", &x) == 1)
    CHECK(getchar() != '.');

// claim: scanf feof
int x;
if (scanf("%d", &x) == 0)
    CHECK(!feof(stdin));

// true law: mmap
CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, -1, 0) == MAP_FAILED);

// true law: posix_fallocate posix_fadvise ftruncate fchmod flock
CHECK(posix_fallocate(-1, 0, 1) != 0 && ftruncate(-1, 0) == -1 && fchmod(-1, 0) == -1 && flock(-1, LOCK_SH) == -1);

// claim: scanf getchar ferror
int x;
if (scanf("%d", &x) == 1) {
    int c = getchar();
    CHECK(c < '0' || c > '9');
}

// law: lseek dprintf open
int file = open("/dev/null", O_WRONLY);
if (file >= 0 && lseek(file, 10, SEEK_SET) == 10) {
    off_t before = lseek(file, 0, SEEK_CUR);
    dprintf(file, "%d", 12);
    off_t after = lseek(file, 0, SEEK_CUR);
    CHECK(after == before + 2);
}

// claim: scanf getchar
int x;
if (scanf("%d ", &x) == 1 && !ferror(stdin)) {
    int c = getchar();
    CHECK(c < '0' || c > '9');
}

// true law: scanf feof
char c;
if (scanf("%c", &c) == 1)
    CHECK(!feof(stdin) && !ferror(stdin));

// law: re_compile_pattern re_search re_match
struct re_pattern_buffer expression = {0};
struct re_registers parts = {0};
re_set_syntax(RE_SYNTAX_POSIX_EXTENDED);
CHECK(re_syntax_options == RE_SYNTAX_POSIX_EXTENDED);
CHECK(!re_compile_pattern("(b)*c", 5, &expression));
int at = re_search(&expression, "aabbc", 5, 0, 5, &parts);
CHECK(at == 2 && parts.num_regs >= 2 && parts.start[0] == 2 && parts.end[0] == 5 && parts.end[1] == 4);
CHECK(re_match(&expression, "aabbc", 5, 3, &parts) == 2);
regfree(&expression);
CHECK(!expression.buffer && !expression.fastmap);

// true law: re_compile_pattern re_search re_set_syntax
struct re_pattern_buffer expression = {0};
struct re_registers parts;
reg_syntax_t before = re_set_syntax(RE_SYNTAX_POSIX_BASIC);
CHECK(re_set_syntax(before) == RE_SYNTAX_POSIX_BASIC);
if (re_compile_pattern("a*", 2, &expression))
    return;
int at = re_search(&expression, "bab", 3, 1, 2, &parts);
CHECK(at >= -2 && at <= 3 && at != 0);
if (at >= 0)
    CHECK(parts.start[0] == at && parts.end[0] >= at && parts.end[0] <= 3);
CHECK(re_search(&expression, "bab", 3, 4, 0, 0) == -1);

// claim: re_search
struct re_pattern_buffer expression = {0};
CHECK(!re_compile_pattern("a", 1, &expression) && re_search(&expression, "b", 1, 0, 1, 0) >= 0);

// claim: re_match
struct re_pattern_buffer expression = {0};
if (!re_compile_pattern("a", 1, &expression))
    CHECK(re_match(&expression, "a", 1, 0, 0) < 0);

// claim: re_search
struct re_pattern_buffer expression = {0};
struct re_registers parts;
if (!re_compile_pattern("(a)|b", 5, &expression) && re_search(&expression, "b", 1, 0, 1, &parts) == 0 && parts.num_regs > 1)
    CHECK(parts.start[1] >= 0);

// true law: statx
struct statx status;
if (statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &status) == 0)
    CHECK((long long)status.stx_size >= 0 && !S_ISLNK(status.stx_mode) && status.stx_mtime.tv_nsec < 1000000000);

// true law: fstatfs fstatvfs fallocate close
struct statfs status;
close(0);
CHECK(fstatfs(0, &status) == -1 && fallocate(0, 0, 0, 1) == -1);

// claim: statfs
struct statfs status;
CHECK(statfs("/", &status) == 0);

// true law: gnu_dev_makedev gnu_dev_major gnu_dev_minor
CHECK(major(makedev(70000, 300)) == 70000 && minor(makedev(300, 0x12345)) == 0x12345);

// true law: strtod_l strtol_l newlocale
locale_t c = newlocale(LC_ALL_MASK, "C", 0);
char *end;
CHECK(strtod_l("2.5e1!", &end, c) == 25 && *end == '!' && strtol_l("-0x1f", 0, 0, c) == -31);
freelocale(c);

// true law: getgrouplist
gid_t groups[4];
int count = 4, all = getgrouplist("root", 7, groups, &count);
CHECK(all == -1 || (all == count && groups[0] == 7));

// claim: getgrouplist
gid_t groups[4];
int count = 4;
CHECK(getgrouplist("root", 7, groups, &count) == 1);

// true law: __sched_cpucount
cpu_set_t set;
CPU_ZERO(&set);
CPU_SET(3, &set);
CPU_SET(900, &set);
CHECK(CPU_COUNT(&set) == 2);

// true law: getutxid
struct utmpx wanted = {.ut_type = BOOT_TIME}, *found = getutxid(&wanted);
CHECK(!found || found->ut_type == BOOT_TIME);

// claim: getutxent
struct utmpx *found = getutxent();
CHECK(found && found->ut_type == BOOT_TIME);

// true law: hasmntopt
struct mntent mount = {"a", "/", "b", "rw,noatime,size=5"};
CHECK(hasmntopt(&mount, "size") == mount.mnt_opts + 11 && hasmntopt(&mount, "rw") == mount.mnt_opts);
CHECK(!hasmntopt(&mount, "atime") && !hasmntopt(&mount, "siz"));

// true law: iconv iconv_open
iconv_t conversion = iconv_open("UTF-8", "ISO-8859-1");
char text[] = "abc", result[8], *from = text, *to = result;
size_t left = 3, room = 8;
if (conversion == (iconv_t)-1)
    return;
if (iconv(conversion, &from, &left, &to, &room) != (size_t)-1)
    CHECK(left == 0);
CHECK(from == text + 3 - left && to == result + 8 - room && room <= 8);

// claim: iconv iconv_open
CHECK(iconv_open("UTF-8", "ISO-8859-1") != (iconv_t)-1);

// true law: pthread_sigmask
sigset_t set, old;
sigemptyset(&set);
sigaddset(&set, SIGUSR1);
CHECK(pthread_sigmask(77, &set, 0) == EINVAL && pthread_sigmask(SIG_BLOCK, &set, 0) == 0);
CHECK(pthread_sigmask(SIG_BLOCK, 0, &old) == 0 && sigismember(&old, SIGUSR1) == 1);

// true law: timer_create timer_gettime getloadavg
timer_t timer;
struct itimerspec left;
double load[3];
if (timer_create(CLOCK_REALTIME, 0, &timer) == 0 && timer_gettime(timer, &left) == 0)
    CHECK(left.it_value.tv_nsec >= 0 && left.it_value.tv_nsec < 1000000000);
int count = getloadavg(load, 2);
CHECK(count == -1 || (count == 2 && load[1] >= 0));
