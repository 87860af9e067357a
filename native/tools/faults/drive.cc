// Makes the files below one folder those of a drive that refuses locks or shared mappings, or hangs, as network drives
// do.
// Preloaded into a program. Linux only.
//   LD_PRELOAD=build/native/kvasir-drive.so KVASIR_DRIVE_UNDER=/data KVASIR_DRIVE_REFUSES=locks KVASIR_DRIVE_ERROR=37 \
//     PROGRAM
//
//   KVASIR_DRIVE_UNDER    absolute path of the folder, without symbolic links
//   KVASIR_DRIVE_REFUSES  locks     fcntl's locks and flock
//                         mappings  mmap with MAP_SHARED, which SQLite's -shm files need
//   KVASIR_DRIVE_ERROR    errno of what is refused
//   KVASIR_DRIVE_HANGS    path of a file: while it exists, files below the folder are not opened until it is gone
//
// Child processes run without it.
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

#include "path_below.h"

namespace {

std::string of_environment(const char * name) {
    const char * value = std::getenv(name);
    return value ? value : "";
}

struct Drive {
    std::string under = of_environment("KVASIR_DRIVE_UNDER"), refuses = of_environment("KVASIR_DRIVE_REFUSES");
    std::string hangs = of_environment("KVASIR_DRIVE_HANGS");
    int error = std::atoi(of_environment("KVASIR_DRIVE_ERROR").c_str());
};

// Never freed: threads use files until the process has ended.
const Drive & drive() {
    static const Drive * one = new Drive;
    return *one;
}

__attribute__((constructor)) void start() {
    drive();
    unsetenv("LD_PRELOAD");
}

// Whether the drive of an open file refuses this; errno is set then.
bool refused(const char * what, int fd) {
    if (drive().refuses != what || path_below(drive().under, fd).empty()) return false;
    errno = drive().error;
    return true;
}

void wait_for(const std::string & path) {
    if (path.empty() || drive().hangs.empty()) return;
    while (access(drive().hangs.c_str(), F_OK) == 0) usleep(10'000);
}

int open_at(int folder, const char * name, int flags, mode_t mode) {
    const int saved = errno;
    wait_for(path_below(drive().under, folder, name));
    errno = saved;
    return int(syscall(SYS_openat, folder, name, flags, mode));
}

// The mode that open() was called with, if it takes one.
mode_t mode_of(int flags, va_list rest) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

int control(int fd, int command, void * value) {
    switch (command) {
        case F_GETLK:
        case F_SETLK:
        case F_SETLKW:
        case F_OFD_GETLK:
        case F_OFD_SETLK:
        case F_OFD_SETLKW:
            if (refused("locks", fd)) return -1;
    }
    return int(syscall(SYS_fcntl, fd, command, value));
}

}  // namespace

extern "C" {

int open(const char * name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_at(AT_FDCWD, name, flags, mode);
}

int open64(const char * name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = mode_of(flags, rest);
    va_end(rest);
    return open_at(AT_FDCWD, name, flags | O_LARGEFILE, mode);
}

int fcntl(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void * value = va_arg(rest, void *);
    va_end(rest);
    return control(fd, command, value);
}

int fcntl64(int fd, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void * value = va_arg(rest, void *);
    va_end(rest);
    return control(fd, command, value);
}

int flock(int fd, int operation) noexcept {
    return refused("locks", fd) ? -1 : int(syscall(SYS_flock, fd, operation));
}

void * mmap(void * at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
    if ((flags & MAP_SHARED) && fd >= 0 && refused("mappings", fd)) return MAP_FAILED;
    return reinterpret_cast<void *>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

void * mmap64(void * at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
    return mmap(at, bytes, protection, flags, fd, offset);
}

}  // extern "C"
