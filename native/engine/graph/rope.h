#pragma once
// Rotary position embedding: parameters from GGUF, and the rotation table for realignment.
//
// Thread safety: any thread may read a RopeTable while no thread makes it grow.
#include <cstdint>
#include <vector>

#include "ggml.h"

namespace kvasir {

struct RopeParams {
    int n_rot = 0;                     // rotated dimensions of a head
    int mode = GGML_ROPE_TYPE_NORMAL;  // NORMAL: pairs (2i, 2i+1); NEOX: pairs (i, i + n_rot/2)
    int n_ctx_orig = 0;                // YaRN: context the model was trained with
    float freq_base = 10000.0f;
    float freq_scale = 1.0f;  // linear and YaRN: 1 / factor
    float ext_factor = 0.0f;  // YaRN: 1, else 0
    float attn_factor = 1.0f;
    float beta_fast = 32.0f;
    float beta_slow = 1.0f;
    std::vector<float> freq_factors;  // llama3 scaling: [n_rot / 2], or empty
};

// cos and sin of every pair at one position: out[2i] = cos, out[2i+1] = sin, [n_rot]. The arithmetic follows ggml's CPU
// rope step by step (theta grows by repeated f32 multiplication), so that placed keys and computed keys agree.
void rope_row(const RopeParams & rope, int32_t position, float * out);

// cos/sin rows for positions 0 … n-1, grown on demand: [n][n_rot].
class RopeTable {
  public:
    explicit RopeTable(RopeParams rope) : rope_(std::move(rope)) {}
    const RopeParams & params() const { return rope_; }
    void grow(int32_t positions);
    const float * row(int32_t position) const { return rows_.data() + size_t(position) * rope_.n_rot; }

  private:
    RopeParams rope_;
    std::vector<float> rows_;
};

}  // namespace kvasir
