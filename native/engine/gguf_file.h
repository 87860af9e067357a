#pragma once
// A GGUF file opened by mmap, its header checked against the file before anything else trusts it. A model may be split
// over several files, as llama.cpp's gguf-split writes them; opened by its first, it is as if it lay in one.
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
#include "mapped_file.h"

namespace kvasir {

class GgufFile {
  public:
    // MODEL_INVALID when the file is not GGUF, is cut short, or its tensors reach beyond its end; when it is split, and
    // not the first of its parts, or another one is of another model. MODEL_PART_MISSING.
    explicit GgufFile(const std::string & path);

    const std::string & path() const { return path_; }
    // Of all parts.
    size_t file_size() const;
    const std::vector<std::unique_ptr<MappedFile>> & maps() const { return maps_; }
    // As MappedFile::changed(), of any part.
    bool changed() const;
    // MODEL_CHANGED where it is. Before a pass, so that nothing is computed for naught; and behind it, since it may
    // have been cut meanwhile.
    void require_unchanged() const;
    void watch_other_mappings();

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
        size_t part;  // which of maps() it lies in
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
    // Of the file that was mapped last.
    void add_tensors(const gguf_context * header);
    // The other files of a model that is split.
    void open_parts();

    std::string path_;
    std::vector<std::unique_ptr<MappedFile>> maps_;
    std::vector<size_t> data_offsets_;  // by map: where its header ends
    Header gguf_;                       // of the first file: it holds the model's keys
    std::vector<Tensor> tensors_;
};

}  // namespace kvasir
