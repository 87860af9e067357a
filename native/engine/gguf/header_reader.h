#pragma once
// A model's numbers under "<architecture>.", each checked against what a real model can have, so that later arithmetic
// cannot overflow. Records the keys that were read, so that keys of the header that nobody uses can be found.
//
// Thread safety: belongs to one thread.
#include <set>
#include <string>
#include <vector>

#include "gguf_file.h"

namespace kvasir {

class HeaderReader {
  public:
    HeaderReader(const GgufFile & file, std::string arch) : file_(file), arch_(std::move(arch)) {}

    // 1 … max. `fallback` < 0: the key is required. MODEL_INVALID; MODEL_UNSUPPORTED if it differs from layer to layer.
    int count(const std::string & key, uint64_t max, int fallback = -1) const;
    // The same for each of `n` layers: one number for all, or a list of `n`. `fallback` is the value per layer.
    std::vector<int> counts(const std::string & key, uint64_t max, int n, int fallback = -1) const;
    // 0 … max; absent: 0.
    int optional_count(const std::string & key, uint64_t max) const;
    // Between least and most. NaN is never in range. MODEL_INVALID.
    float real(const std::string & key, float fallback, float least, float most) const;
    // MODEL_INVALID if the value is not a string, or not a boolean.
    std::string text(const std::string & key, const std::string & fallback) const;
    bool flag(const std::string & key, bool fallback) const;
    // A boolean for each of `n` layers; empty if the header does not list it per layer. MODEL_INVALID.
    std::vector<bool> by_layer(const std::string & key, int n) const;
    // Marks a key as known that does not affect the computation.
    void pass_over(const std::string & key) const { asked_.insert(key); }

    const std::set<std::string> & asked() const { return asked_; }
    const GgufFile & file() const { return file_; }
    std::string full(const std::string & key) const { return arch_ + "." + key; }

  private:
    [[noreturn]] void out_of_range(const std::string & key, const std::string & value) const;

    const GgufFile & file_;
    std::string arch_;
    mutable std::set<std::string> asked_;
};

}  // namespace kvasir
