#pragma once
// Fixtures for session tests: tiny models with random weights, tokens, chunks, and the distance between results.
#include <algorithm>
#include <cmath>

#include "engine/graph/architecture.h"
#include "engine/session.h"
#include "tests/harness.h"

namespace kvasir::test {

// Flags for kvasir-mkgguf. Four layers (Gemma 4: eight, two of which read the keys of others; GLM 4.5: a fifth for
// drafts), 600 tokens.
inline std::string tiny_shape(const std::string & arch) {
    const std::string layers = arch == "gemma4" ? "8 --shared-kv 2" : arch == "glm4moe" ? "5" : "4";
    return "--arch " + arch + " --layers " + layers + " --vocab 600 ";
}

// f16, unless `flags` override it.
inline std::shared_ptr<Model> tiny(const std::string & arch, const std::string & flags = "",
                                   const ModelOptions & options = {2, "cpu"}) {
    std::string name = arch + flags;
    std::replace(name.begin(), name.end(), ' ', '-');
    return std::make_shared<Model>(random_model(name, tiny_shape(arch) + "--type f16 " + flags), options, nullptr);
}

// Tokens of such a model, none of them special.
inline std::vector<int32_t> ids(int n, int seed = 1) {
    std::vector<int32_t> v;
    for (int i = 0; i < n; ++i) v.push_back(3 + (i * 7919 + seed * 104729 + i * i) % 590);
    return v;
}

// A chunk encoded after BOS.
inline std::shared_ptr<ChunkKv> encode(const std::shared_ptr<Model> & m, const std::vector<int32_t> & tokens,
                                       KvDtype dtype = KvDtype::f16) {
    return encode_chunk(m, tokens, {1}, dtype);
}

inline const StrategySpec kFull{.name = "full"}, kNone{.name = "none"};

// This share of a prompt's first 1,000 tokens, evenly spread: independent of any measurement.
inline StrategySpec spread(double share) {
    StrategySpec spec{.name = "given"};
    for (int i = 0; i < int(share * 1000); ++i) spec.tokens.push_back(int32_t(i / share));
    return spec;
}

struct Result {
    std::vector<float> logits;
    AppendReport report;
};

// Appends a prompt to a new session.
inline Result append(const std::shared_ptr<Model> & m, const std::vector<Segment> & s, const StrategySpec & strategy) {
    Session session(m, 2048);
    Result r;
    r.report = session.append(s, strategy, nullptr, nullptr);
    r.logits = session.logits();
    return r;
}

// L2 of a − b, relative to b's.
inline double apart(const std::vector<float> & a, const std::vector<float> & b) {
    double d = 0, n = 0;
    for (size_t i = 0; i < a.size(); ++i) d += std::pow(double(a[i]) - b[i], 2), n += std::pow(double(b[i]), 2);
    return std::sqrt(d / n);
}

}  // namespace kvasir::test
