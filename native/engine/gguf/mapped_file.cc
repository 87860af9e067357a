#include "mapped_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/error.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace kvasir {

#ifdef _WIN32
MappedFile::MappedFile(const std::string & path) {
    std::wstring wide(MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, nullptr, 0), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, path.c_str(), -1, wide.data(), int(wide.size()));
    HANDLE file = CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING, 0, nullptr);
    if (file == INVALID_HANDLE_VALUE) throw Error("MODEL_NOT_FOUND", "The file " + path + " could not be opened.");
    LARGE_INTEGER size{};
    GetFileSizeEx(file, &size);
    size_ = size_t(size.QuadPart);
    HANDLE mapping = size_ ? CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr) : nullptr;
    CloseHandle(file);
    data_ = mapping ? static_cast<const uint8_t *>(MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0)) : nullptr;
    if (mapping) CloseHandle(mapping);  // the view keeps a reference
    if (!data_) throw Error("MODEL_INVALID", "The file " + path + " is empty or could not be mapped.", kFetchAgain);
}
MappedFile::~MappedFile() {
    if (data_) UnmapViewOfFile(data_);
}
void MappedFile::forget(size_t, size_t) const {}
bool MappedFile::changed() const { return false; }
void MappedFile::watch_other_mappings() {}
#else
namespace {
int64_t modified_ns(const struct stat & st) {
#ifdef __APPLE__
    return int64_t(st.st_mtimespec.tv_sec) * 1'000'000'000 + st.st_mtimespec.tv_nsec;
#else
    return int64_t(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec;
#endif
}
}  // namespace

MappedFile::MappedFile(const std::string & path) {
    // Non-blocking: opening a pipe would otherwise wait for a writer.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        throw Error("MODEL_NOT_FOUND", "The file " + path + " could not be opened: " + std::strerror(errno) + ".");
    }
    struct stat st {};
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        ::close(fd);
        throw Error("MODEL_NOT_FOUND", path + " is not a file.");
    }
    size_ = size_t(st.st_size);
    modified_ns_ = modified_ns(st);
    void * p = size_ ? mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (p == MAP_FAILED) {
        ::close(fd);
        throw Error("MODEL_INVALID", "The file " + path + " is empty or could not be mapped.", kFetchAgain);
    }
    data_ = static_cast<const uint8_t *>(p);
    fd_ = fd;
    watched_.emplace(data_, size_);
}
MappedFile::~MappedFile() {
    watched_.reset();
    if (data_) munmap(const_cast<uint8_t *>(data_), size_);
    if (fd_ >= 0) ::close(fd_);
}
bool MappedFile::changed() const {
    struct stat st {};
    const bool lost = std::any_of(others_.begin(), others_.end(), [](auto & range) { return range->lost(); });
    return lost || watched_->lost() || fstat(fd_, &st) != 0 || size_t(st.st_size) != size_ ||
           modified_ns(st) != modified_ns_;
}
void MappedFile::watch_other_mappings() { others_ = watch_mappings_of(fd_); }
void MappedFile::forget(size_t offset, size_t size) const {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
    if (begin < end) madvise(const_cast<uint8_t *>(data_) + begin, end - begin, MADV_DONTNEED);
}
#endif

}  // namespace kvasir
