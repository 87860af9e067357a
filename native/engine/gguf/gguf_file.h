#pragma once
// A GGUF file opened by mmap. Its header is checked against the file before anything else trusts it. A model may be
// split over several files, as written by llama.cpp's gguf-split; opening the first one presents them as a single file.
// Format: docs/gguf.md of the ggml project, version 2 and 3.
//
// Thread safety: immutable once open; any thread may read it.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/devices/backend.h"
#include "gguf.h"
#include "mapped_file.h"

namespace kvasir {

class GgufFile {
  public:
    // MODEL_INVALID if the file is not GGUF, is truncated, or has tensors past its end; or if it is a split model's
    // part other than the first, or another part belongs to a different model. MODEL_PART_MISSING.
    explicit GgufFile(const std::string & path);

    const std::string & path() const { return path_; }
    // Sum over all parts.
    size_t file_size() const;
    const std::vector<std::unique_ptr<MappedFile>> & maps() const { return maps_; }
    // MappedFile::changed() of any part.
    bool changed() const;
    // Throws MODEL_CHANGED if changed(). Called before a pass, to avoid wasted work, and after it, since the file may
    // have been truncated meanwhile.
    void require_unchanged() const;
    void watch_other_mappings();

    // Typed lookups: a key of another type throws MODEL_INVALID, an absent one returns nullopt.
    std::optional<uint64_t> integer(const std::string & key) const;
    std::optional<double> number(const std::string & key) const;
    std::optional<bool> boolean(const std::string & key) const;
    std::optional<std::string> string(const std::string & key) const;
    // Number of elements of an array, 0 if absent.
    size_t array_size(const std::string & key) const;
    // The elements of a string array, empty if absent.
    std::vector<std::string> strings(const std::string & key) const;
    // The elements of an integer array, empty if absent. MODEL_INVALID for a negative one.
    std::vector<uint64_t> integers(const std::string & key) const;
    // The elements of a boolean array, empty if absent.
    std::vector<bool> booleans(const std::string & key) const;
    // All keys; and whether the value of one is empty: 0, false, or an empty string.
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
        size_t part;  // index into maps()
    };
    const std::vector<Tensor> & tensors() const { return tensors_; }
    const Tensor * find(const std::string & name) const;

    // SHA-256 over the headers and the first and last 4 KiB of every tensor: cheap on large files, and any retraining,
    // requantising or edit of the vocabulary changes it.
    std::array<uint8_t, 32> fingerprint() const;

  private:
    int64_t find_key(const std::string & key) const { return gguf_find_key(gguf_.get(), key.c_str()); }
    [[noreturn]] void invalid(const std::string & why) const;

    using Header = std::unique_ptr<gguf_context, Deleter<gguf_free>>;
    // Maps a file and reads its header.
    Header open(const std::string & path);
    // Tensors of the most recently mapped file.
    void add_tensors(const gguf_context * header);
    // Opens the other files of a split model.
    void open_parts();

    std::string path_;
    std::vector<std::unique_ptr<MappedFile>> maps_;
    std::vector<size_t> data_offsets_;  // per map: where its header ends
    Header gguf_;                       // of the first file, which has the model's keys
    std::vector<Tensor> tensors_;
};

}  // namespace kvasir
