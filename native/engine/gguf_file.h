#pragma once
// A GGUF file opened by mmap, its header checked against the file before anything else trusts it.
// Format: docs/gguf.md of the ggml project, version 2 and 3.
//
// Thread safety: does not change once it is open; any thread may read it.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend.h"
#include "gguf.h"

namespace kvasir {

class MappedFile {
  public:
    explicit MappedFile(const std::string & path);
    ~MappedFile();
    MappedFile(const MappedFile &) = delete;
    const uint8_t * data() const { return data_; }
    size_t size() const { return size_; }
    // Whether the file was written to or cut since it was opened; reading what was cut off ends the process. A file
    // that
    // another one took the place of is as it was, as long as it is open. False where the system keeps open files as
    // they are.
    bool changed() const;
    // Tells the system that a range will not be read again (its pages stay reloadable from the file).
    void forget(size_t offset, size_t size) const;

  private:
    const uint8_t * data_ = nullptr;
    size_t size_ = 0;
    int fd_ = -1;
    int64_t modified_ns_ = 0;
};

class GgufFile {
  public:
    // MODEL_INVALID when the file is not GGUF, is cut short, or its tensors reach beyond its end.
    explicit GgufFile(const std::string & path);

    const std::string & path() const { return path_; }
    size_t file_size() const { return map_.size(); }
    const MappedFile & map() const { return map_; }

    // Typed lookups: a key of another type counts as MODEL_INVALID, an absent one as nullopt.
    std::optional<uint64_t> integer(const std::string & key) const;
    std::optional<double> number(const std::string & key) const;
    std::optional<bool> boolean(const std::string & key) const;
    std::optional<std::string> string(const std::string & key) const;
    // Number of elements of an array, 0 when absent.
    size_t array_size(const std::string & key) const;
    // The elements of an array of text, empty when absent.
    std::vector<std::string> strings(const std::string & key) const;
    // The elements of an array of integers, empty when absent. MODEL_INVALID for one below 0.
    std::vector<uint64_t> integers(const std::string & key) const;
    // The elements of an array of truth values, empty when absent.
    std::vector<bool> booleans(const std::string & key) const;
    // All keys, and whether one holds nothing: 0, false, or no text.
    std::vector<std::string> keys() const;
    bool is_neutral(const std::string & key) const;
    // Whether `key` is a floating-point number.
    bool is_real(const std::string & key) const;
    // Whether `key` is an array (some models give one value per layer).
    bool is_array(const std::string & key) const;

    struct Tensor {
        std::string name;
        ggml_type type;
        int64_t ne[GGML_MAX_DIMS];
        const uint8_t * data;
        size_t bytes;
    };
    const std::vector<Tensor> & tensors() const { return tensors_; }
    const Tensor * find(const std::string & name) const;

    // SHA-256 over the header and the first and last 4 KiB of every tensor: cheap on large files, and any retraining,
    // requantising or edit of the vocabulary changes it.
    std::array<uint8_t, 32> fingerprint() const;

  private:
    int64_t find_key(const std::string & key) const { return gguf_find_key(gguf_.get(), key.c_str()); }
    [[noreturn]] void invalid(const std::string & why) const;

    std::string path_;
    MappedFile map_;
    std::unique_ptr<gguf_context, Deleter<gguf_free>> gguf_;
    std::vector<Tensor> tensors_;
};

}  // namespace kvasir
