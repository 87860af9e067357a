// Causes failures of a disk. Preloaded into a program, it counts the calls that change files below one folder and, at
// the n-th, kills the process or lets the call fail. Linux only.
//   LD_PRELOAD=build/native/kvasir-faults.so KVASIR_FAULTS_UNDER=/data KVASIR_FAULTS_AT=7 KVASIR_FAULTS_KIND=tear …
//
//   KVASIR_FAULTS_UNDER  absolute path of the folder, without symbolic links
//   KVASIR_FAULTS_AT     n, from 1; absent: no fault
//   KVASIR_FAULTS_KIND   kill       SIGKILL instead of the call
//                        tear       a write ends after its first half, then SIGKILL; other calls as with "kill"
//                        lose       SIGKILL, and all bytes that were written or truncated since the last fsync of their
//                                   file are as before: a power cut on a file system that journals names, not contents
//                        full       ENOSPC from this call on, for calls that need space
//                        error      EIO
//                        interrupt  a write writes its first half only, or fails with EINTR if it is of one byte
//   KVASIR_FAULTS_LOG    gets a line for each call: number, name, size of a written file or -1, path; "!" marks the
//                        fault
//
// Child processes run without it. It does not see mappings (SQLite's -shm files), stdio's streams and clones of files.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "path_below.h"

namespace {

// Bytes of a file before an unsynced change.
struct Undo {
    dev_t device;
    ino_t inode;
    int fd;  // never closed: that would release the program's locks on the file
    off_t at, size;
    std::string bytes;
    bool synced = false;
};

std::string of_environment(const char * name) {
    const char * value = std::getenv(name);
    return value ? value : "";
}

struct State {
    // Held during each counted call, so that calls and undone bytes have one order.
    std::mutex turn;
    std::string under = of_environment("KVASIR_FAULTS_UNDER"), kind = of_environment("KVASIR_FAULTS_KIND");
    long at = std::atol(of_environment("KVASIR_FAULTS_AT").c_str()), calls = 0;
    std::vector<Undo> undos;
    int log = int(syscall(SYS_openat, AT_FDCWD, of_environment("KVASIR_FAULTS_LOG").c_str(),
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
};

// Never freed: threads write files until the process has ended.
State & state() {
    static State * one = new State;
    return *one;
}

__attribute__((constructor)) void start() {
    state();
    unsetenv("LD_PRELOAD");
}

// As path_below(), of the folder whose calls are counted.
std::string path_of(int fd, const char * name = nullptr) {
    return path_below(state().under, fd, name);
}

off_t size_of(int fd) {
    struct stat file;
    return fstat(fd, &file) == 0 ? file.st_size : -1;
}

void note(std::string_view call, const std::string & path, off_t size, bool is_fault = false) {
    std::string line = is_fault ? "!" : "";
    line += std::to_string(state().calls) + " " + std::string(call) + " " + std::to_string(size) + " " + path + "\n";
    if (state().log >= 0) syscall(SYS_write, state().log, line.data(), line.size());
}

// Keeps bytes that are about to change, with the file's size.
void remember(int fd, off_t at, size_t bytes) {
    struct stat file;
    if (state().kind != "lose" || fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return;
    Undo undo{file.st_dev, file.st_ino, -1, at, file.st_size, {}};
    for (const auto & other : state().undos)
        if (other.inode == undo.inode && other.device == undo.device) undo.fd = other.fd;
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    if (undo.fd < 0) undo.fd = int(syscall(SYS_openat, AT_FDCWD, link.c_str(), O_RDWR | O_CLOEXEC, 0));
    undo.bytes.resize(at >= file.st_size ? 0 : std::min(bytes, size_t(file.st_size - at)));
    const ssize_t kept = pread(undo.fd, undo.bytes.data(), undo.bytes.size(), at);
    if (kept != ssize_t(undo.bytes.size())) std::abort();
    state().undos.push_back(std::move(undo));
}

void synced(int fd) {
    struct stat file;
    if (fstat(fd, &file) != 0) return;
    for (auto & undo : state().undos) {
        if (undo.inode != file.st_ino || undo.device != file.st_dev) continue;
        undo.synced = true;
        undo.bytes = {};
    }
}

[[noreturn]] void die() {
    for (size_t i = state().undos.size(); i-- > 0;) {
        const auto & undo = state().undos[i];
        if (undo.synced) continue;
        syscall(SYS_pwrite64, undo.fd, undo.bytes.data(), undo.bytes.size(), undo.at);
        syscall(SYS_ftruncate, undo.fd, undo.size);
    }
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

// Makes a counted call with `make`, which returns what the system call does, or causes the fault instead. `needs_space`
// is what a full disk refuses; `half` makes the first half of a write and is absent for other calls.
template <typename Make, typename Half>
long counted(std::string_view name, const std::string & path, int fd, bool needs_space, Make make, Half half) {
    auto & s = state();
    std::unique_lock lock(s.turn);
    const bool hit = ++s.calls == s.at;
    if (hit) note(name, path, -1, true);
    constexpr bool is_write = !std::is_same_v<Half, std::nullptr_t>;
    int error = 0;
    long result = -1;
    if (hit && s.kind == "error") {
        error = EIO;
    } else if (s.at > 0 && s.calls >= s.at && s.kind == "full" && needs_space) {
        error = ENOSPC;
    } else if (hit && (s.kind == "kill" || s.kind == "lose" || (s.kind == "tear" && !is_write))) {
        die();
    } else {
        if constexpr (is_write) {
            const bool halves = hit && (s.kind == "tear" || s.kind == "interrupt");
            result = halves ? half() : make();
        } else {
            result = make();
        }
        if (result < 0) error = errno;
        if (hit && s.kind == "tear") die();
    }
    note(name, path, fd < 0 ? -1 : size_of(fd));
    lock.unlock();
    if (error != 0) errno = error;
    return error != 0 ? -1 : result;
}

// Writes at `at`, or at the file's position if that is negative.
ssize_t put(std::string_view name, int fd, const iovec * parts, int count, off_t at) {
    const auto write_parts = [&] {
        return at < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0L);
    };
    // Signal handlers write to pipes, maybe in the midst of malloc(): nothing may be allocated for those.
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return write_parts();
    const auto path = path_of(fd);
    if (path.empty()) return write_parts();
    size_t bytes = 0;
    for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
    const bool appends = fcntl(fd, F_GETFL) & O_APPEND;
    const off_t from = at >= 0 ? at : appends ? size_of(fd) : lseek(fd, 0, SEEK_CUR);
    const auto half = [&]() -> long {
        if (bytes < 2) return errno = EINTR, -1;
        remember(fd, from, bytes);
        std::string all;
        for (int i = 0; i < count; ++i) all.append(static_cast<const char *>(parts[i].iov_base), parts[i].iov_len);
        return at < 0 ? syscall(SYS_write, fd, all.data(), bytes / 2)
                      : syscall(SYS_pwrite64, fd, all.data(), bytes / 2, at);
    };
    const auto whole = [&] {
        remember(fd, from, bytes);
        return write_parts();
    };
    return counted(name, path, fd, from + off_t(bytes) > size_of(fd), whole, half);
}

// Copies as one write of at most 64 KiB; callers repeat it.
ssize_t copy(std::string_view name, int to, off64_t * to_at, int from, off64_t * from_at, size_t bytes) {
    std::string data(std::min(bytes, size_t(1) << 16), 0);
    const off_t at = from_at ? *from_at : lseek(from, 0, SEEK_CUR);
    const ssize_t got = pread(from, data.data(), data.size(), at);
    if (got <= 0) return got;
    const iovec part{data.data(), size_t(got)};
    const ssize_t done = put(name, to, &part, 1, to_at ? *to_at : -1);
    if (done < 0) return done;
    if (to_at) *to_at += done;
    if (from_at) *from_at += done;
    else lseek(from, at + done, SEEK_SET);
    return done;
}

int sync_file(std::string_view name, long number, int fd) {
    const auto path = path_of(fd);
    if (path.empty()) return int(syscall(number, fd));
    const auto make = [&] {
        const long result = syscall(number, fd);
        if (result == 0) synced(fd);
        return result;
    };
    return int(counted(name, path, fd, false, make, nullptr));
}

int resize(std::string_view name, int fd, off_t size) {
    const auto path = path_of(fd);
    if (path.empty()) return int(syscall(SYS_ftruncate, fd, size));
    const off_t old = size_of(fd);
    const auto make = [&] {
        remember(fd, std::min(size, old), size_t(std::max<off_t>(old - size, 0)));
        return syscall(SYS_ftruncate, fd, size);
    };
    return int(counted(name, path, fd, size > old, make, nullptr));
}

// A call that changes names; `path` is the changed one.
template <typename... Args>
int rename_call(std::string_view name, const std::string & path, bool needs_space, long number, Args... args) {
    const auto make = [&] { return syscall(number, args...); };
    return int(path.empty() ? make() : counted(name, path, -1, needs_space, make, nullptr));
}

// Counted if it creates or empties a file.
int open_file(int folder, const char * name, int flags, mode_t mode) {
    struct stat file;
    const bool may_change = (flags & (O_CREAT | O_TRUNC)) && (flags & O_TMPFILE) != O_TMPFILE;
    const auto path = may_change ? path_of(folder, name) : "";
    const bool exists = !path.empty() && stat(path.c_str(), &file) == 0;
    const bool empties = exists && (flags & O_TRUNC) && file.st_size > 0;
    const auto make = [&] {
        const long old = empties ? syscall(SYS_openat, folder, name, O_RDONLY | O_CLOEXEC, 0) : -1;
        if (old >= 0) remember(int(old), 0, size_t(file.st_size));
        return syscall(SYS_openat, folder, name, flags, mode);
    };
    if (path.empty() || (exists && !empties)) return int(syscall(SYS_openat, folder, name, flags, mode));
    return int(counted("open", path, -1, !exists, make, nullptr));
}

int open_with(int folder, const char * name, int flags, va_list rest) {
    const bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
    return open_file(folder, name, flags, has_mode ? va_arg(rest, mode_t) : 0);
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void * data, size_t bytes) {
    const iovec part{const_cast<void *>(data), bytes};
    return put("write", fd, &part, 1, -1);
}
ssize_t pwrite(int fd, const void * data, size_t bytes, off_t at) {
    const iovec part{const_cast<void *>(data), bytes};
    return put("pwrite", fd, &part, 1, at);
}
ssize_t pwrite64(int fd, const void * data, size_t bytes, off64_t at) { return pwrite(fd, data, bytes, at); }
ssize_t writev(int fd, const iovec * parts, int count) { return put("writev", fd, parts, count, -1); }
ssize_t pwritev(int fd, const iovec * parts, int count, off_t at) { return put("pwritev", fd, parts, count, at); }
ssize_t pwritev64(int fd, const iovec * parts, int count, off64_t at) { return pwritev(fd, parts, count, at); }

ssize_t copy_file_range(int from, off64_t * from_at, int to, off64_t * to_at, size_t bytes, unsigned flags) {
    if (path_of(to).empty()) return syscall(SYS_copy_file_range, from, from_at, to, to_at, bytes, flags);
    return copy("copy_file_range", to, to_at, from, from_at, bytes);
}
ssize_t sendfile(int to, int from, off_t * from_at, size_t bytes) noexcept {
    if (path_of(to).empty()) return syscall(SYS_sendfile, to, from, from_at, bytes);
    return copy("sendfile", to, nullptr, from, from_at, bytes);
}
ssize_t sendfile64(int to, int from, off64_t * from_at, size_t bytes) noexcept {
    return sendfile(to, from, from_at, bytes);
}

int fsync(int fd) { return sync_file("fsync", SYS_fsync, fd); }
int fdatasync(int fd) { return sync_file("fdatasync", SYS_fdatasync, fd); }
int ftruncate(int fd, off_t size) noexcept { return resize("ftruncate", fd, size); }
int ftruncate64(int fd, off64_t size) noexcept { return resize("ftruncate", fd, size); }

int renameat2(int from_in, const char * from, int to_in, const char * to, unsigned flags) noexcept {
    return rename_call("rename", path_of(to_in, to), false, SYS_renameat2, from_in, from, to_in, to, flags);
}
int renameat(int from_in, const char * from, int to_in, const char * to) noexcept {
    return renameat2(from_in, from, to_in, to, 0);
}
int rename(const char * from, const char * to) noexcept { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }
int unlinkat(int folder, const char * path, int flags) noexcept {
    return rename_call("unlink", path_of(folder, path), false, SYS_unlinkat, folder, path, flags);
}
int unlink(const char * path) noexcept { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char * path) noexcept { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char * path) noexcept {
    const int result = unlink(path);
    return result != 0 && errno == EISDIR ? rmdir(path) : result;
}
int mkdirat(int folder, const char * path, mode_t mode) noexcept {
    const bool exists = faccessat(folder, path, F_OK, 0) == 0;
    return rename_call("mkdir", exists ? "" : path_of(folder, path), true, SYS_mkdirat, folder, path, mode);
}
int mkdir(const char * path, mode_t mode) noexcept { return mkdirat(AT_FDCWD, path, mode); }
int linkat(int from_in, const char * from, int to_in, const char * to, int flags) noexcept {
    return rename_call("link", path_of(to_in, to), true, SYS_linkat, from_in, from, to_in, to, flags);
}
int link(const char * from, const char * to) noexcept { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int open(const char * path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int fd = open_with(AT_FDCWD, path, flags, rest);
    va_end(rest);
    return fd;
}
int openat(int folder, const char * path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int fd = open_with(folder, path, flags, rest);
    va_end(rest);
    return fd;
}
int open64(const char * path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int fd = open_with(AT_FDCWD, path, flags, rest);
    va_end(rest);
    return fd;
}
int openat64(int folder, const char * path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const int fd = open_with(folder, path, flags, rest);
    va_end(rest);
    return fd;
}

// libuv has no other way to copy a range.
long syscall(long number, ...) noexcept {
    static const auto next = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
    long a[6];
    va_list rest;
    va_start(rest, number);
    for (long & each : a) each = va_arg(rest, long);
    va_end(rest);
    const int to = int(a[2]);
    if (number != SYS_copy_file_range || path_of(to).empty()) return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    return copy("copy_file_range", to, reinterpret_cast<off64_t *>(a[3]), int(a[0]), reinterpret_cast<off64_t *>(a[1]),
                size_t(a[4]));
}

}  // extern "C"
