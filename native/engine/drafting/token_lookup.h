#pragma once
// Guesses the next tokens of a text that repeats itself, such as an answer that quotes its prompt: those that followed
// the longest earlier occurrence of the last tokens (prompt lookup decoding). Pairs of tokens are indexed in chains, as
// in LZ77.
//
// Thread safety: belongs to one thread.
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvasir {

class TokenLookup {
  public:
    static constexpr int kMostMatched = 32;

    explicit TokenLookup(std::vector<int32_t> text);
    void add(int32_t token);
    // How many of the last tokens the guess is based on: from 2 to kMostMatched, or 0 if there is none.
    int matched() const { return matched_; }
    // The next `count` tokens; empty without a guess. Repeats itself where the occurrence reaches the end of the text.
    std::vector<int32_t> guess(int count) const;

  private:
    int32_t & latest(size_t end);
    void index(size_t end);
    void find(size_t end);
    int common(size_t a, size_t b) const;

    std::vector<int32_t> tokens_;
    std::vector<int32_t> latest_;   // by hash of a pair: position of its second token; −1: none
    std::vector<int32_t> earlier_;  // [tokens]: the same for the occurrence before; −1: none
    size_t next_ = 0;               // position of the guess's first token
    int matched_ = 0;
};

}  // namespace kvasir
