#include "gguf_file.h"

#include <algorithm>
#include <cstring>

#include "error.h"
#include "hash.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace kvasir {

namespace {
constexpr size_t kSample = 4096;
const char * kAdvice = "The download may be incomplete or damaged; fetch the file again.";
}  // namespace

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
    if (mapping) CloseHandle(mapping);  // the view keeps what it needs of it
    if (!data_) throw Error("MODEL_INVALID", "The file " + path + " is empty or could not be mapped.", kAdvice);
}
MappedFile::~MappedFile() {
    if (data_) UnmapViewOfFile(data_);
}
void MappedFile::forget(size_t, size_t) const {}
bool MappedFile::changed() const { return false; }
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
    // Without waiting: a pipe would be waited for until somebody writes into it.
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
        throw Error("MODEL_INVALID", "The file " + path + " is empty or could not be mapped.", kAdvice);
    }
    data_ = static_cast<const uint8_t *>(p);
    fd_ = fd;
}
MappedFile::~MappedFile() {
    if (data_) munmap(const_cast<uint8_t *>(data_), size_);
    if (fd_ >= 0) ::close(fd_);
}
bool MappedFile::changed() const {
    struct stat st {};
    return fstat(fd_, &st) != 0 || size_t(st.st_size) != size_ || modified_ns(st) != modified_ns_;
}
void MappedFile::forget(size_t offset, size_t size) const {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t begin = (offset + page - 1) / page * page, end = (offset + size) / page * page;
    if (begin < end) madvise(const_cast<uint8_t *>(data_) + begin, end - begin, MADV_DONTNEED);
}
#endif

void GgufFile::invalid(const std::string & why) const {
    throw Error("MODEL_INVALID", "The file " + path_ + " is not a usable GGUF model: " + why + ".", kAdvice);
}

GgufFile::GgufFile(const std::string & path) : path_(path), map_(path) {
    if (map_.size() < 24 || std::memcmp(map_.data(), "GGUF", 4) != 0) invalid("it does not begin with a GGUF header");
    // Counts that cannot fit the file are refused here, before the parser reserves memory for them.
    uint64_t tensor_count, kv_count;
    std::memcpy(&tensor_count, map_.data() + 8, 8);
    std::memcpy(&kv_count, map_.data() + 16, 8);
    if (tensor_count > map_.size() / 24 || kv_count > map_.size() / 12) {
        invalid("its header counts more entries than the file holds");
    }
    gguf_.reset(gguf_init_from_buffer(map_.data(), map_.size(), gguf_init_params{true, nullptr}));
    if (!gguf_) invalid("its header is cut short or contradicts itself");

    const size_t data_offset = gguf_get_data_offset(gguf_.get());
    const int64_t n = gguf_get_n_tensors(gguf_.get());
    for (int64_t i = 0; i < n; ++i) {
        Tensor t;
        t.name = gguf_get_tensor_name(gguf_.get(), i);
        t.type = gguf_get_tensor_type(gguf_.get(), i);
        std::copy_n(gguf_get_tensor_ne(gguf_.get(), i), GGML_MAX_DIMS, t.ne);
        t.bytes = gguf_get_tensor_size(gguf_.get(), i);
        const size_t offset = data_offset + gguf_get_tensor_offset(gguf_.get(), i);
        if (offset < data_offset || offset > map_.size() || t.bytes > map_.size() - offset) {
            invalid("it ends before the data of tensor " + t.name + " (cut short?)");
        }
        t.data = map_.data() + offset;
        tensors_.push_back(std::move(t));
    }
    std::sort(tensors_.begin(), tensors_.end(), [](auto & a, auto & b) { return a.name < b.name; });
}

const GgufFile::Tensor * GgufFile::find(const std::string & name) const {
    auto it = std::lower_bound(tensors_.begin(), tensors_.end(), name, [](auto & t, auto & n) { return t.name < n; });
    return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

std::optional<uint64_t> GgufFile::integer(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    switch (gguf_get_kv_type(gguf_.get(), id)) {
        case GGUF_TYPE_UINT8: return gguf_get_val_u8(gguf_.get(), id);
        case GGUF_TYPE_UINT16: return gguf_get_val_u16(gguf_.get(), id);
        case GGUF_TYPE_UINT32: return gguf_get_val_u32(gguf_.get(), id);
        case GGUF_TYPE_UINT64: return gguf_get_val_u64(gguf_.get(), id);
        case GGUF_TYPE_INT32:
            if (gguf_get_val_i32(gguf_.get(), id) >= 0) return uint64_t(gguf_get_val_i32(gguf_.get(), id));
            [[fallthrough]];
        default: invalid("its entry " + key + " is not a whole number");
    }
}

std::optional<double> GgufFile::number(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    switch (gguf_get_kv_type(gguf_.get(), id)) {
        case GGUF_TYPE_FLOAT32: return gguf_get_val_f32(gguf_.get(), id);
        case GGUF_TYPE_FLOAT64: return gguf_get_val_f64(gguf_.get(), id);
        default: return double(*integer(key));
    }
}

std::optional<bool> GgufFile::boolean(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    if (gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_BOOL) invalid("its entry " + key + " is not true or false");
    return gguf_get_val_bool(gguf_.get(), id);
}

std::optional<std::string> GgufFile::string(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    if (gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_STRING) invalid("its entry " + key + " is not text");
    return gguf_get_val_str(gguf_.get(), id);
}

bool GgufFile::is_array(const std::string & key) const {
    const int64_t id = find_key(key);
    return id >= 0 && gguf_get_kv_type(gguf_.get(), id) == GGUF_TYPE_ARRAY;
}

size_t GgufFile::array_size(const std::string & key) const {
    return is_array(key) ? gguf_get_arr_n(gguf_.get(), find_key(key)) : 0;
}

std::vector<std::string> GgufFile::strings(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return {};
    if (!is_array(key) || gguf_get_arr_type(gguf_.get(), id) != GGUF_TYPE_STRING) {
        invalid("its entry " + key + " is not a list of texts");
    }
    std::vector<std::string> out;
    for (size_t i = 0; i < gguf_get_arr_n(gguf_.get(), id); ++i) out.push_back(gguf_get_arr_str(gguf_.get(), id, i));
    return out;
}

std::vector<uint64_t> GgufFile::integers(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return {};
    const gguf_type type = is_array(key) ? gguf_get_arr_type(gguf_.get(), id) : GGUF_TYPE_COUNT;
    if (type != GGUF_TYPE_UINT32 && type != GGUF_TYPE_INT32) {
        invalid("its entry " + key + " is not a list of numbers");
    }
    std::vector<uint64_t> out;
    const void * values = gguf_get_arr_data(gguf_.get(), id);
    for (size_t i = 0; i < gguf_get_arr_n(gguf_.get(), id); ++i) {
        const int64_t v = type == GGUF_TYPE_INT32 ? static_cast<const int32_t *>(values)[i]
                                                  : int64_t(static_cast<const uint32_t *>(values)[i]);
        if (v < 0) invalid("its entry " + key + " has a number below 0");
        out.push_back(uint64_t(v));
    }
    return out;
}

std::vector<bool> GgufFile::booleans(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return {};
    if (!is_array(key) || gguf_get_arr_type(gguf_.get(), id) != GGUF_TYPE_BOOL) {
        invalid("its entry " + key + " is not a list of truth values");
    }
    const auto * values = static_cast<const int8_t *>(gguf_get_arr_data(gguf_.get(), id));
    return std::vector<bool>(values, values + gguf_get_arr_n(gguf_.get(), id));
}

std::vector<std::string> GgufFile::keys() const {
    std::vector<std::string> out;
    for (int64_t i = 0; i < gguf_get_n_kv(gguf_.get()); ++i) out.push_back(gguf_get_key(gguf_.get(), i));
    return out;
}

bool GgufFile::is_real(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return false;
    const gguf_type type = gguf_get_kv_type(gguf_.get(), id);
    return type == GGUF_TYPE_FLOAT32 || type == GGUF_TYPE_FLOAT64;
}

bool GgufFile::is_neutral(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return true;
    switch (gguf_get_kv_type(gguf_.get(), id)) {
        case GGUF_TYPE_ARRAY: return gguf_get_arr_n(gguf_.get(), id) == 0;
        case GGUF_TYPE_STRING: return *gguf_get_val_str(gguf_.get(), id) == '\0';
        case GGUF_TYPE_BOOL: return !gguf_get_val_bool(gguf_.get(), id);
        case GGUF_TYPE_FLOAT32: return gguf_get_val_f32(gguf_.get(), id) == 0;
        case GGUF_TYPE_FLOAT64: return gguf_get_val_f64(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT32: return gguf_get_val_i32(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT8: return gguf_get_val_i8(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT16: return gguf_get_val_i16(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT64: return gguf_get_val_i64(gguf_.get(), id) == 0;
        default: return *integer(key) == 0;
    }
}

std::array<uint8_t, 32> GgufFile::fingerprint() const {
    Sha256 sha;
    sha.update(map_.data(), gguf_get_data_offset(gguf_.get()));
    for (const Tensor & t : tensors_) {
        const size_t n = std::min(t.bytes, kSample);
        sha.update(t.data, n);
        sha.update(t.data + t.bytes - n, n);
    }
    return sha.digest();
}

}  // namespace kvasir
