#pragma once
// Drafts of an answer's next tokens (speculative decoding). One step computes the last token and drafts of the tokens
// after it; a draft is right if the sampler chooses it too, and then its step is saved. A row of a step has the bits
// that it would have alone, so the answer is the same as without drafts, sampled or not.
//
// Thread safety: belongs to the thread that has the turn.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/gguf/vocab.h"
#include "engine/scheduling/decode_batch.h"
#include "token_lookup.h"

namespace kvasir {

class Drafts {
  public:
    // `text`: the session's tokens.
    Drafts(std::vector<int32_t> text, Drafting drafting) : lookup_(std::move(text)), drafting_(drafting) {}

    // The sampler chose `token` as the next. If that is the last step's next draft, `logits` become those after it, and
    // it needs no step. Otherwise the drafts are dropped.
    bool take(int32_t token, std::vector<float> & logits);
    // The tokens after the last one, at most `most`, if computing them in the next step is expected to be faster;
    // `sequences`: in that step.
    std::vector<int32_t> next(int most, int sequences, const StepTimes & times) const;
    // Adds rows for `tokens`, which follow the row of the last token. Their logits stay here.
    void add_rows(const std::vector<int32_t> & tokens, std::vector<DecodeRow> & rows);
    // Number of the step's drafts before the first whose logits are not finite; the others are dropped.
    int drop_not_finite();

    int drafted() const { return drafted_; }
    int accepted() const { return accepted_; }

  private:
    struct Computed {
        int32_t token;
        std::vector<float> logits{};
    };

    TokenLookup lookup_;
    const Drafting drafting_;
    std::deque<Computed> pending_;  // drafts of the last step that the sampler has not reached
    // How often the guess was right, computed or not, by how much it was based on: 2, 4, 8 and 16 tokens or more. Pairs
    // occur again by chance in every text: their guesses are only computed once others were right.
    std::array<double, 4> right_{0.15, 0.6, 0.8, 0.9};
    int drafted_ = 0, accepted_ = 0;
};

}  // namespace kvasir
