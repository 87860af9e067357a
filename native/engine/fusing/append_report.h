#pragma once
// What an append reports while it runs and when it is done.
//
// Thread safety: plain data; the model's thread fills it in and calls the ProgressFn.
#include <cstdint>
#include <functional>
#include <vector>

namespace kvasir {

struct Progress {
    int64_t done, total;  // rows × layers
};
using ProgressFn = std::function<void(Progress)>;

// Squared L2 of fresh − stored V, K or both (as the strategy's DeviationOf says), summed over KV heads, over some
// tokens.
struct DeviationStats {
    int tokens = 0;  // 0: nothing to compare
    double mean = 0, p95 = 0;
};

struct LayerReport {
    int layer = 0, rows = 0;
    double load_start = 0, load_end = 0;  // ms since the append began
    size_t load_bytes = 0;
    double place_ms = 0, compute_start = 0, compute_end = 0;
    DeviationStats recomputed;  // reusable tokens that this layer and later ones recompute
    DeviationStats stored;      // reusable tokens that were checked and stay as stored from the next layer on
};

struct CheckReport {
    int layer = 0;
    float ratio = 0;                  // selected, as a share of all reusable tokens
    std::vector<int32_t> candidates;  // positions relative to the append
    std::vector<float> deviation;
    std::vector<int32_t> selected;
};

// Attention that the question pays to the placed KV cache.
struct QuestionReport {
    std::vector<int> layers;
    std::vector<int32_t> candidates;  // positions relative to the append
    std::vector<float> attention;     // per candidate: mean over heads, layers and the question's tokens
};

struct AppendReport {
    int tokens = 0, reusable_tokens = 0, recomputed_tokens = 0;
    int processed_tokens = 0;  // through the model: appended tokens, and older ones that had to be recomputed
    std::vector<int32_t> selected;  // reusable tokens computed after the last check: positions relative to the append
    QuestionReport question;        // no layers: the pass did not run
    size_t bytes_loaded = 0, bytes_crossed = 0;  // read from files; copied to a device with separate memory
    std::vector<LayerReport> layers;
    std::vector<CheckReport> checks;
    double total_ms = 0, question_ms = 0, place_ms = 0, check_ms = 0, select_ms = 0, compute_ms = 0, load_wait_ms = 0;
    double head_ms = 0;
};

// The attention that a prompt's last tokens pay to every key, kept for comparison.
struct AttentionTrace {
    int observers = 0;  // 0: keep nothing
    std::vector<std::vector<float>> layers;  // each [heads][observers][keys]
};

}  // namespace kvasir
