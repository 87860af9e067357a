#pragma once
// A model's numbers under "<architecture>.", each within what a real model can have, so that later arithmetic cannot
// overflow. Keeps what it was asked for: what a header says besides is not used by anybody.
//
// Thread safety: one thread's.
#include <set>
#include <string>
#include <vector>

#include "gguf_file.h"

namespace kvasir {

class HeaderReader {
  public:
    HeaderReader(const GgufFile & file, std::string arch) : file_(file), arch_(std::move(arch)) {}

    // 1 … max. `fallback` < 0: it must be there. MODEL_INVALID; MODEL_UNSUPPORTED where it differs from layer to layer.
    int count(const std::string & key, uint64_t max, int fallback = -1) const;
    // The same for each of `n` layers: one number for all, or a list of as many. `fallback`: of one layer.
    std::vector<int> counts(const std::string & key, uint64_t max, int n, int fallback = -1) const;
    // 0 … max; absent: 0.
    int optional_count(const std::string & key, uint64_t max) const;
    // Within least … most. NaN is within nothing. MODEL_INVALID.
    float real(const std::string & key, float fallback, float least, float most) const;
    // MODEL_INVALID when it is not text, or not true or false.
    std::string text(const std::string & key, const std::string & fallback) const;
    bool flag(const std::string & key, bool fallback) const;
    // Whether each of `n` layers has it; empty where the header does not say so layer by layer. MODEL_INVALID.
    std::vector<bool> by_layer(const std::string & key, int n) const;
    // Notes a key as known that says nothing about what is computed.
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
