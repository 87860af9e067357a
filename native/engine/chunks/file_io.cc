#include "file_io.h"

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

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

// How long a thread without work is kept for the next call: starting one takes as long as a read.
constexpr std::chrono::seconds kKept{2};

// Threads for calls that a drive may hold up.
class CallThreads {
  public:
    void run(std::function<void()> call) {
        std::lock_guard lock(mutex_);
        calls_.push_back(std::move(call));
        if (idle_ >= calls_.size()) return added_.notify_one();
        std::thread([this] { serve(); }).detach();
    }

  private:
    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            ++idle_;
            const bool found = added_.wait_for(lock, kKept, [&] { return !calls_.empty(); });
            --idle_;
            if (!found) return;
            std::function<void()> call = std::move(calls_.front());
            calls_.pop_front();
            lock.unlock();
            call();
            call = nullptr;
            lock.lock();
        }
    }
    std::mutex mutex_;
    std::condition_variable added_;
    std::deque<std::function<void()>> calls_;  // mutex_ guards this and the next
    size_t idle_ = 0;
};

// Never freed: a call may outlive everything else.
CallThreads & call_threads() {
    static CallThreads * one = new CallThreads;
    return *one;
}

// Runs work that a drive may hold up. If it takes longer than `patience`, it continues on its thread, so it must own
// what it uses.
template <typename Work> auto within(std::chrono::milliseconds patience, const std::string & path, Work work) {
    if (patience.count() == 0) return work();
    const auto task = std::make_shared<std::packaged_task<decltype(work())()>>(std::move(work));
    auto done = task->get_future();
    call_threads().run([task] { (*task)(); });
    if (done.wait_for(patience) == std::future_status::timeout) unreadable(path, "its drive does not respond");
    return done.get();
}

}  // namespace

struct InputFile::Open {
    explicit Open(const std::string & file_path);
    ~Open();
    Open(const Open &) = delete;
    void read(void * dst, size_t n, uint64_t offset) const;

    std::string path;
    uint64_t size = 0;
    intptr_t handle = -1;
};

InputFile::InputFile(const std::string & path, std::chrono::milliseconds patience)
    : patience_(patience), open_(within(patience, path, [path] { return std::make_shared<const Open>(path); })) {}

uint64_t InputFile::size() const { return open_->size; }

void InputFile::read(void * dst, size_t n, uint64_t offset) const {
    if (patience_.count() == 0) return open_->read(dst, n, offset);
    const std::shared_ptr<uint8_t[]> bytes(new uint8_t[n]);
    within(patience_, open_->path, [=, file = open_] { file->read(bytes.get(), n, offset); });
    std::memcpy(dst, bytes.get(), n);
}

#ifdef _WIN32

static std::wstring widen(const std::string & s) {
    std::wstring w(MultiByteToWideChar(CP_UTF8, 0, s.c_str(), -1, nullptr, 0), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, s.c_str(), -1, w.data(), int(w.size()));
    return w;
}

InputFile::Open::Open(const std::string & file_path) : path(file_path) {
    HANDLE h = CreateFileW(widen(path).c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                           OPEN_EXISTING, 0, nullptr);
    if (h == INVALID_HANDLE_VALUE) {
        const DWORD error = GetLastError();
        if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) unusable(path, "does not exist");
        unreadable(path, "error " + std::to_string(error));
    }
    handle = intptr_t(h);
    LARGE_INTEGER length{};
    GetFileSizeEx(h, &length);
    size = uint64_t(length.QuadPart);
}
InputFile::Open::~Open() { CloseHandle(HANDLE(handle)); }
void InputFile::Open::read(void * dst, size_t n, uint64_t offset) const {
    for (auto * p = static_cast<uint8_t *>(dst); n;) {
        OVERLAPPED at{};
        at.Offset = DWORD(offset), at.OffsetHigh = DWORD(offset >> 32);
        DWORD got = 0;
        const bool ok = ReadFile(HANDLE(handle), p, DWORD(n > 1u << 30 ? 1u << 30 : n), &got, &at);
        const DWORD error = ok ? 0 : GetLastError();
        if (error && error != ERROR_HANDLE_EOF) unreadable(path, "error " + std::to_string(error));
        if (got == 0) unusable(path, "is truncated");
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

InputFile::Open::Open(const std::string & file_path) : path(file_path) {
    handle = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st {};
    if (handle < 0 || fstat(int(handle), &st) != 0) {
        const int error = errno;
        if (handle >= 0) ::close(int(handle));
        if (error == ENOENT || error == ENOTDIR) unusable(path, "does not exist");
        unreadable(path, std::strerror(error));
    }
    size = uint64_t(st.st_size);
}
InputFile::Open::~Open() { ::close(int(handle)); }
void InputFile::Open::read(void * dst, size_t n, uint64_t offset) const {
    for (auto * p = static_cast<uint8_t *>(dst); n;) {
        const ssize_t got = pread(int(handle), p, n, off_t(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) unreadable(path, std::strerror(errno));
        if (got == 0) unusable(path, "is truncated");
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
