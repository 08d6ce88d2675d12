/* Faults of a disk for the fault laboratory, preloaded into a process: see disk.py, which compiles and arms it.

   Calls that change files below a folder are counted. One of them, or all from one on, can fail with an error number, or
   the process can be killed there, before the call or in the middle of a write. Every call can be logged with its data, so
   that a power cut can be simulated from the log. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 'o', WRITE = 'w', TRUNCATE = 't', SYNC = 's', RENAME = 'r', UNLINK = 'u', RMDIR = 'd', MKDIR = 'm' };
enum { KILL = -1, TORN = -2 };

static char root[PATH_MAX];
static size_t root_length;
static long at, counted;
static int fault, persistent, logged = -1;
static __thread int inside;

/* Arm the shim for this process. fault: an error number, KILL, TORN (killed in the middle of a write), 0 for none.
   log: a descriptor that gets all calls, or -1. */
void faults_arm(const char *folder, long number, int kind, int on, int log) {
    root_length = strlen(folder);
    memcpy(root, folder, root_length + 1);
    at = number, fault = kind, persistent = on, logged = log, counted = 0;
}

static int below(const char *path) {
    return root_length && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/* The absolute path of a name, without "." and ".." ; 0 if it is not below the root. */
static int absolute(int folder, const char *name, char *path) {
    char whole[2 * PATH_MAX], link[64];
    if (!root_length || inside) return 0;
    if (name[0] == '/') snprintf(whole, sizeof whole, "%s", name);
    else {
        ssize_t size;
        if (folder == AT_FDCWD) {
            if (!getcwd(whole, PATH_MAX)) return 0;
            size = strlen(whole);
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            size = readlink(link, whole, PATH_MAX - 1);
            if (size < 0) return 0;
        }
        snprintf(whole + size, sizeof whole - size, "/%s", name);
    }
    size_t end = 0;
    for (char *part = whole; *part;) {
        while (*part == '/') part++;
        size_t length = strcspn(part, "/");
        if (length == 2 && part[0] == '.' && part[1] == '.') {
            while (end && path[--end] != '/') {}
        } else if (length && !(length == 1 && part[0] == '.')) {
            path[end++] = '/';
            memcpy(path + end, part, length);
            end += length;
        }
        part += length;
    }
    path[end] = 0;
    return below(path);
}

static int of_descriptor(int descriptor, char *path) {
    char link[64];
    if (!root_length || inside) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, path, PATH_MAX - 1);
    if (size <= 0) return 0;
    path[size] = 0;
    return below(path);
}

static void put(const void *data, size_t size) {
    while (size) {
        ssize_t done = syscall(SYS_write, logged, data, size);
        if (done <= 0) _exit(99);
        data = (const char *)data + done, size -= done;
    }
}

static void note(char kind, const char *path, const char *other, int64_t offset, const void *data, uint64_t size) {
    if (logged < 0) return;
    struct __attribute__((packed)) { char kind; uint32_t path, other; int64_t offset; uint64_t size; } head =
        {kind, (uint32_t)strlen(path), (uint32_t)strlen(other), offset, data ? size : 0};
    put(&head, sizeof head), put(path, head.path), put(other, head.other);
    if (data) put(data, size);
}

/* Count a call; 1 if it is to fail, with errno set; kills the process if that is the fault. */
static int fails(int torn_kills) {
    long number = __sync_add_and_fetch(&counted, 1);
    if (!fault || !(number == at || (persistent && number > at))) return 0;
    if (fault == KILL || (fault == TORN && torn_kills)) kill(getpid(), SIGKILL), pause();
    if (fault == TORN) return 2;
    errno = fault;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define STORED(name) static __typeof__(&name) real; if (!real) real = REAL(name)

static ssize_t writes(int descriptor, const void *data, size_t size, int64_t offset, int positioned) {
    char path[PATH_MAX];
    if (!of_descriptor(descriptor, path)) goto plain;
    int failing = fails(0);
    if (failing == 2 || (failing == 1 && errno == ENOSPC && size > 1)) {
        /* A disk that is full takes what still fits; a process killed in a write has written a part. */
        size_t part = size / 2;
        if (!positioned) syscall(SYS_write, descriptor, data, part);
        if (failing == 2) kill(getpid(), SIGKILL), pause();
        errno = ENOSPC;
        return -1;
    }
    if (failing) return -1;
    int64_t begin = positioned ? offset : lseek(descriptor, 0, SEEK_CUR);
    if (!positioned && (fcntl(descriptor, F_GETFL) & O_APPEND)) begin = lseek(descriptor, 0, SEEK_END);
    note(WRITE, path, "", begin, data, size);
plain:
    return positioned ? syscall(SYS_pwrite64, descriptor, data, size, offset) : syscall(SYS_write, descriptor, data, size);
}

ssize_t write(int descriptor, const void *data, size_t size) { return writes(descriptor, data, size, 0, 0); }
ssize_t pwrite(int descriptor, const void *data, size_t size, off_t offset) { return writes(descriptor, data, size, offset, 1); }
ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t offset) { return writes(descriptor, data, size, offset, 1); }

ssize_t writev(int descriptor, const struct iovec *parts, int number) {
    STORED(writev);
    char path[PATH_MAX];
    if (!of_descriptor(descriptor, path)) return real(descriptor, parts, number);
    for (int part = 0; part < number; part++)
        if (parts[part].iov_len) return writes(descriptor, parts[part].iov_base, parts[part].iov_len, 0, 0);
    return 0;
}

static int opens(int folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    if ((flags & (O_CREAT | O_TRUNC)) && absolute(folder, name, path)) {
        struct stat known;
        int exists = !fstatat(folder, name, &known, 0);
        if (fails(1) == 1) return -1;
        int descriptor = syscall(SYS_openat, folder, name, flags, mode);
        if (descriptor >= 0 && (!exists || (flags & O_TRUNC))) note(OPEN, path, "", !exists, 0, 0);
        return descriptor;
    }
    return syscall(SYS_openat, folder, name, flags, mode);
}

#define MODE va_list rest; va_start(rest, flags); mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; va_end(rest)
int open(const char *name, int flags, ...) { MODE; return opens(AT_FDCWD, name, flags, mode); }
int open64(const char *name, int flags, ...) { MODE; return opens(AT_FDCWD, name, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *name, int flags, ...) { MODE; return opens(folder, name, flags, mode); }
int openat64(int folder, const char *name, int flags, ...) { MODE; return opens(folder, name, flags | O_LARGEFILE, mode); }

static int truncates(int descriptor, off_t size) {
    char path[PATH_MAX];
    if (of_descriptor(descriptor, path)) {
        if (fails(1) == 1) return -1;
        note(TRUNCATE, path, "", size, 0, 0);
    }
    return syscall(SYS_ftruncate, descriptor, size);
}
int ftruncate(int descriptor, off_t size) { return truncates(descriptor, size); }
int ftruncate64(int descriptor, off64_t size) { return truncates(descriptor, size); }

/* Log an fsync with all that the file holds: libraries also write by calls that no preloaded library sees. */
static void log_content(int descriptor, const char *path) {
    struct stat known;
    if (logged < 0 || fstat(descriptor, &known)) return;
    if (!S_ISREG(known.st_mode)) {
        note(SYNC, path, "", 0, 0, 0);
        return;
    }
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
    char *content = malloc(known.st_size + 1);
    ssize_t size = file < 0 ? 0 : pread(file, content, known.st_size, 0);
    if (file >= 0) close(file);
    note(SYNC, path, "", 1, content, size < 0 ? 0 : size);
    free(content);
}

static int syncs(int descriptor) {
    char path[PATH_MAX];
    if (of_descriptor(descriptor, path)) {
        if (fails(1) == 1) return -1;
        log_content(descriptor, path);
    }
    return 0; /* the kernel keeps what is written: power cuts are simulated from the log */
}
int fsync(int descriptor) { return syncs(descriptor); }
int fdatasync(int descriptor) { return syncs(descriptor); }

static int renames(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    char from[PATH_MAX], to[PATH_MAX];
    int counts = absolute(new_folder, new, to) && absolute(old_folder, old, from);
    if (counts && fails(1) == 1) return -1;
    int done = syscall(SYS_renameat2, old_folder, old, new_folder, new, flags);
    if (counts && !done) note(RENAME, from, to, 0, 0, 0);
    return done;
}
int rename(const char *old, const char *new) { return renames(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int old_folder, const char *old, int new_folder, const char *new) { return renames(old_folder, old, new_folder, new, 0); }
int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) { return renames(old_folder, old, new_folder, new, flags); }

static int removes(int folder, const char *name, int flags) {
    char path[PATH_MAX];
    int counts = absolute(folder, name, path);
    struct stat known;
    /* Removing what is not there changes nothing. */
    counts = counts && !fstatat(folder, name, &known, AT_SYMLINK_NOFOLLOW);
    if (counts && fails(1) == 1) return -1;
    int done = syscall(SYS_unlinkat, folder, name, flags);
    if (counts && !done) note(flags & AT_REMOVEDIR ? RMDIR : UNLINK, path, "", 0, 0, 0);
    return done;
}
int unlink(const char *name) { return removes(AT_FDCWD, name, 0); }
int unlinkat(int folder, const char *name, int flags) { return removes(folder, name, flags); }
int rmdir(const char *name) { return removes(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) { return removes(AT_FDCWD, name, 0); }

static int makes(int folder, const char *name, mode_t mode) {
    char path[PATH_MAX];
    int counts = absolute(folder, name, path);
    struct stat known;
    counts = counts && fstatat(folder, name, &known, 0);
    if (counts && fails(1) == 1) return -1;
    int done = syscall(SYS_mkdirat, folder, name, mode);
    if (counts && !done) note(MKDIR, path, "", 0, 0, 0);
    return done;
}
int mkdir(const char *name, mode_t mode) { return makes(AT_FDCWD, name, mode); }
int mkdirat(int folder, const char *name, mode_t mode) { return makes(folder, name, mode); }

/* The date stands still, so that records of two runs are the same. */
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    if (root_length && clock == CLOCK_REALTIME) {
        now->tv_sec = 1700000000, now->tv_nsec = 0;
        return 0;
    }
    return syscall(SYS_clock_gettime, clock, now);
}
