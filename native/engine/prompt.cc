#include "prompt.h"

#include "error.h"

namespace kvasir {

namespace {

void check_chunk(const Model & model, const ChunkKv & chunk, int segment) {
    const ChunkShape & s = chunk.shape();
    const Hparams & hp = model.hparams();
    if (s.fingerprint == model.fingerprint() && s.n_layer == uint32_t(hp.n_layer) && s.n_head_kv == uint32_t(hp.n_head_kv) &&
        s.head_dim == uint32_t(hp.head_dim) && s.n_vocab == uint32_t(hp.n_vocab)) {
        return;
    }
    Error e("CHUNK_MISMATCH", "A cached chunk was computed by another model or vocabulary and cannot be used with this one.",
            "It will be computed again for this model.");
    e.chunk_index = segment;
    throw e;
}

}  // namespace

Prompt::Prompt(const Model & model, const std::vector<Segment> & segments, bool reuse, int past_, int capacity) : past(past_) {
    for (size_t i = 0; i < segments.size(); ++i) {
        const Segment & s = segments[i];
        if (s.chunk) check_chunk(model, *s.chunk, int(i));
        const std::vector<int32_t> & ids = s.chunk ? s.chunk->tokens() : s.tokens;
        const bool reused = s.chunk && reuse;
        if (reused) {
            placements.push_back({s.chunk.get(), nullptr, past + size()});
            chunks.push_back(s.chunk);
            segment_of_chunk.push_back(int(i));
            reusable_tokens += int(ids.size());
            question_begin = size() + int(ids.size());
        }
        for (size_t t = 0; t < ids.size(); ++t) {
            offset.push_back(reused ? int32_t(t) : 0);
            chunk_length.push_back(reused ? int32_t(ids.size()) : 0);
        }
        tokens.insert(tokens.end(), ids.begin(), ids.end());
        reusable.resize(tokens.size(), reused);
    }
    require(!tokens.empty(), "append needs at least one token");
    model.check_tokens(tokens);
    if (past + size() > capacity) {
        throw Error("CONTEXT_OVERFLOW", "The prompt needs " + std::to_string(past + size()) + " tokens, but the context holds " +
                                            std::to_string(capacity) + ".", "Use fewer chunks or a larger context.");
    }
    reusable.back() = false;  // its logits start the answer
}

}  // namespace kvasir
