#include "stored_beginning.h"

#include "engine/chunks/hash.h"
#include "engine/error.h"
#include "engine/kv/block_pool.h"
#include "ggml.h"

namespace kvasir {

namespace {

ChunkShape state_shape(const LlamaModel & model) {
    ChunkShape shape;
    shape.fingerprint = model.fingerprint();
    shape.prefix_hash = state_root(model);
    shape.layers = {kOpaque};
    shape.n_vocab = uint32_t(model.vocab().size());
    return shape;
}

Error mismatch() {
    return Error("CHUNK_MISMATCH", "A stored checkpoint was computed by another model or another build of libllama.",
                 "Kvasir recomputes it.");
}

// Uses the model's context for a memory that belongs to no session.
class Visit {
  public:
    Visit(LlamaModel & model, Beginning & memory) : seat_(model.seat()), memory_(memory) {
        seat_.enter();
        try {
            seat_.take(memory_, int(memory_.tokens.size()));
        } catch (...) {
            seat_.leave(memory_);
            throw;
        }
    }
    ~Visit() { seat_.leave(memory_); }
    Visit(const Visit &) = delete;
    Visit & operator=(const Visit &) = delete;

  private:
    LlamaSeat & seat_;
    Beginning & memory_;
};

}  // namespace

Digest state_root(const LlamaModel & model) {
    Sha256 sha;
    const std::string kind = std::string("kvasir memory of libllama ") + ggml_version() + " " + ggml_commit();
    sha.update(kind.c_str(), kind.size() + 1);
    sha.update(model.fingerprint().data(), model.fingerprint().size());
    return sha.digest();
}

std::shared_ptr<ChunkKv> export_prefix(LlamaModel & model, const std::vector<int32_t> & tokens) {
    LlamaSeat & seat = model.seat();
    std::vector<int32_t> longer = tokens;
    longer.push_back(-1);  // a checkpoint behind the last token counts, whether its logits are known or not
    const Beginning * source = model.beginnings().furthest(longer, seat.can_cut());
    const int length = source ? source->reach(longer, seat.can_cut()) : 0;
    if (length < kKvBlock) return nullptr;
    Beginning memory{source->tokens, source->checkpoints, seat.copy(*source)};
    const Visit visit(model, memory);
    seat.rewind(memory, length);
    return std::make_shared<ChunkKv>(state_shape(model), memory.tokens, *seat.copy(memory));
}

void check_prefix(const LlamaModel & model, const ChunkKv & stored) {
    if (stored.shape() != state_shape(model)) throw mismatch();
}

void import_prefix(LlamaModel & model, const ChunkKv & stored) {
    check_prefix(model, stored);
    auto bytes = std::make_shared<std::vector<uint8_t>>(stored.bytes());
    if (stored.in_memory()) std::copy_n(stored.layer(0), bytes->size(), bytes->data());
    else stored.read_layer(*stored.file(), 0, bytes->data());
    Beginning memory{stored.tokens(), {}, std::move(bytes)};
    Beginning tried = memory;
    try {
        const Visit visit(model, tried);
    } catch (const std::logic_error &) {  // libllama refuses its bytes
        throw mismatch();
    }
    model.beginnings().keep(std::move(memory));
}

}  // namespace kvasir
