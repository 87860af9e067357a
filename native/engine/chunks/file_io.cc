#include "file_io.h"

#include <cerrno>
#include <cstring>

#include "engine/error.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace kvasir {

namespace {

// Says nothing about the file's contents: a drive that is gone, too many open files, no permission.
[[noreturn]] void unreadable(const std::string & path, const std::string & why) {
    throw Error("CHUNK_UNREADABLE", "The chunk file " + path + " cannot be read: " + why + ".",
                "Check the drive that holds the cache; the file is used again once it can be read.");
}

[[noreturn]] void unusable(const std::string & path, const char * why) {
    throw Error("CHUNK_CORRUPT", "The chunk file " + path + " " + why + ".");
}

[[noreturn]] void write_failed(const std::string & path, bool full, bool denied, const std::string & why) {
    if (full) {
        throw Error("DISK_FULL", "The disk is full: " + path + " could not be written.",
                    "Free some space or lower the cache budget.");
    }
    if (denied) {
        throw Error("STORE_READ_ONLY", "The cache folder cannot be written: access to " + path + " was denied.",
                    "Choose a folder you may write to.");
    }
    throw Error("ENGINE_FAILED", "Writing " + path + " failed: " + why + ".");
}

}  // namespace

#ifdef _WIN32

static std::wstring widen(const std::string & s) {
    std::wstring w(MultiByteToWideChar(CP_UTF8, 0, s.c_str(), -1, nullptr, 0), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, s.c_str(), -1, w.data(), int(w.size()));
    return w;
}

InputFile::InputFile(const std::string & path) : path_(path) {
    HANDLE h = CreateFileW(widen(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                           OPEN_EXISTING, 0, nullptr);
    if (h == INVALID_HANDLE_VALUE) {
        const DWORD error = GetLastError();
        if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) unusable(path, "does not exist");
        unreadable(path, "error " + std::to_string(error));
    }
    handle_ = intptr_t(h);
    LARGE_INTEGER size{};
    GetFileSizeEx(h, &size);
    size_ = uint64_t(size.QuadPart);
}
InputFile::~InputFile() { CloseHandle(HANDLE(handle_)); }
void InputFile::read(void * dst, size_t n, uint64_t offset) const {
    for (auto * p = static_cast<uint8_t *>(dst); n;) {
        OVERLAPPED at{};
        at.Offset = DWORD(offset), at.OffsetHigh = DWORD(offset >> 32);
        DWORD got = 0;
        const bool ok = ReadFile(HANDLE(handle_), p, DWORD(n > 1u << 30 ? 1u << 30 : n), &got, &at);
        const DWORD error = ok ? 0 : GetLastError();
        if (error && error != ERROR_HANDLE_EOF) unreadable(path_, "error " + std::to_string(error));
        if (got == 0) unusable(path_, "is truncated");
        p += got, n -= got, offset += got;
    }
}

void write_file_durably(const std::string & path, const std::vector<ByteSpan> & pieces) {
    HANDLE h = CreateFileW(widen(path).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, 0, nullptr);
    DWORD error = h == INVALID_HANDLE_VALUE ? GetLastError() : 0;
    for (auto & piece : pieces) {
        auto * p = static_cast<const uint8_t *>(piece.data);
        for (size_t left = piece.size; left && !error;) {
            DWORD put = 0;
            if (!WriteFile(h, p, DWORD(left > 1u << 30 ? 1u << 30 : left), &put, nullptr)) error = GetLastError();
            p += put, left -= put;
        }
    }
    if (!error && !FlushFileBuffers(h)) error = GetLastError();
    if (h != INVALID_HANDLE_VALUE) CloseHandle(h);
    if (!error) return;
    if (h != INVALID_HANDLE_VALUE) DeleteFileW(widen(path).c_str());
    write_failed(path, error == ERROR_DISK_FULL, error == ERROR_ACCESS_DENIED || error == ERROR_WRITE_PROTECT,
                 "error " + std::to_string(error));
}

#else

InputFile::InputFile(const std::string & path) : path_(path) {
    handle_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st {};
    if (handle_ < 0 || fstat(int(handle_), &st) != 0) {
        const int error = errno;
        if (handle_ >= 0) ::close(int(handle_));
        if (error == ENOENT || error == ENOTDIR) unusable(path, "does not exist");
        unreadable(path, std::strerror(error));
    }
    size_ = uint64_t(st.st_size);
}
InputFile::~InputFile() { ::close(int(handle_)); }
void InputFile::read(void * dst, size_t n, uint64_t offset) const {
    for (auto * p = static_cast<uint8_t *>(dst); n;) {
        const ssize_t got = pread(int(handle_), p, n, off_t(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) unreadable(path_, std::strerror(errno));
        if (got == 0) unusable(path_, "is truncated");
        p += got, n -= size_t(got), offset += uint64_t(got);
    }
}

void write_file_durably(const std::string & path, const std::vector<ByteSpan> & pieces) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : 0;
    for (auto & piece : pieces) {
        auto * p = static_cast<const uint8_t *>(piece.data);
        for (size_t left = piece.size; left && !error;) {
            const ssize_t put = ::write(fd, p, left);
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) { error = errno; break; }
            p += put, left -= size_t(put);
        }
    }
    if (!error && fsync(fd) != 0) error = errno;
    if (fd >= 0 && ::close(fd) != 0 && !error) error = errno;
    if (!error) return;
    if (fd >= 0) ::unlink(path.c_str());
    write_failed(path, error == ENOSPC || error == EDQUOT, error == EACCES || error == EROFS || error == EPERM,
                 std::strerror(error));
}

#endif

}  // namespace kvasir
