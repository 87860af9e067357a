#include "llama_seat.h"

#include <algorithm>

#include "engine/abort.h"
#include "engine/error.h"

namespace kvasir {

namespace {
constexpr int kGrain = 1024;  // tokens that a context grows by: recreating one takes time
}

LlamaSeat::LlamaSeat(llama_model * model, int threads, bool fixed_threads)
    : model_(model),
      threads_(threads, fixed_threads),
      can_cut_(!llama_model_is_recurrent(model) && !llama_model_is_hybrid(model) && llama_model_n_swa(model) == 0) {}

void LlamaSeat::make_context(int tokens) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = uint32_t((tokens + kGrain - 1) / kGrain * kGrain);
    params.n_batch = params.n_ubatch = kRows;
    params.n_seq_max = 1;
    params.n_outputs_max = 1;
    params.n_threads = params.n_threads_batch = threads_.most();
    params.abort_callback = poll;
    params.abort_callback_data = this;
    params.swa_full = false;
    params.no_perf = true;
    ctx_.reset();
    ctx_.reset(llama_init_from_model(model_, params));
    if (ctx_) return;
    throw Error("OUT_OF_MEMORY", "There is not enough memory for a context of " + std::to_string(tokens) + " tokens.",
                "Lower the context length in the settings, use a smaller model, or close other programs.");
}

void LlamaSeat::take(Beginning & sitter, int tokens) {
    if (seated_ == &sitter && tokens <= room()) return;
    if (seated_) seated_->saved = save(LLAMA_STATE_SEQ_FLAGS_NONE);
    seated_ = nullptr;
    if (tokens > room()) make_context(tokens);
    else clear();
    if (sitter.saved) {
        const auto & bytes = *sitter.saved;
        require(llama_state_seq_set_data(ctx_.get(), bytes.data(), bytes.size(), 0) > 0,
                "libllama could not restore a session's memory");
        sitter.saved.reset();
    }
    seated_ = &sitter;
}

SavedMemory LlamaSeat::copy(const Beginning & sitter) const {
    return seated_ == &sitter ? save(LLAMA_STATE_SEQ_FLAGS_NONE) : sitter.saved;
}

void LlamaSeat::stand(const Beginning & sitter) {
    if (seated_ == &sitter) seated_ = nullptr;
}

void LlamaSeat::leave(const Beginning & sitter) {
    stand(sitter);
    if (--sitters_ == 0) ctx_.reset();
}

void LlamaSeat::rewind(Beginning & sitter, int length, bool dirty) {
    require(seated_ == &sitter, "only the memory in the context can be rewound");
    if (length == int(sitter.tokens.size()) && !dirty) return;
    std::erase_if(sitter.checkpoints, [&](const Checkpoint & each) { return each.length > length; });
    const Checkpoint * checkpoint = sitter.at(length);
    if (length == 0) {
        clear();
    } else if (can_cut_) {
        require(cut(length), "libllama could not cut a session's memory");
    } else {
        require(checkpoint && checkpoint->memory, "a memory was rewound to where it has no checkpoint");
        const auto & bytes = *checkpoint->memory;
        require(llama_state_seq_set_data_ext(ctx_.get(), bytes.data(), bytes.size(), 0,
                                             LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY) > 0 &&
                    cut(length),
                "libllama could not restore a checkpoint");
    }
    sitter.tokens.resize(size_t(length));
}

bool LlamaSeat::compute(const int32_t * tokens, int count, const std::atomic<bool> * abort,
                        const std::function<void(double share)> & progress) {
    abort_ = abort;
    progress_ = progress;
    polled_ = 0;
    if (poll(this)) return false;
    const llama_batch batch = llama_batch_get_one(const_cast<int32_t *>(tokens), count);
    const int32_t status = threads_.run([&](int n) { llama_set_n_threads(ctx_.get(), n, n); },
                                        [&] { return llama_decode(ctx_.get(), batch); });
    polled_in_all_ = std::max<int64_t>(polled_, 1);
    abort_ = nullptr;
    progress_ = nullptr;
    if (status == 2) return false;
    if (status == 0) return true;
    throw Error("ENGINE_FAILED",
                "The model could not compute the prompt: libllama failed (" + std::to_string(status) + ").",
                "Load the model again; if it fails again, lower the context length in the settings.");
}

bool LlamaSeat::cut(int length) { return llama_memory_seq_rm(llama_get_memory(ctx_.get()), 0, length, -1); }

void LlamaSeat::clear(bool wiped) { llama_memory_clear(llama_get_memory(ctx_.get()), wiped); }

SavedMemory LlamaSeat::save_state() const {
    return can_cut_ ? nullptr : save(LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
}

SavedMemory LlamaSeat::save(unsigned flags) const {
    if (llama_memory_seq_pos_max(llama_get_memory(ctx_.get()), 0) < 0) return nullptr;
    auto bytes = std::make_shared<std::vector<uint8_t>>(llama_state_seq_get_size_ext(ctx_.get(), 0, flags));
    require(llama_state_seq_get_data_ext(ctx_.get(), bytes->data(), bytes->size(), 0, flags) == bytes->size(),
            "libllama could not save a session's memory");
    return bytes;
}

// Called before every operation of a pass, on the computing thread.
bool LlamaSeat::poll(void * self) {
    auto & seat = *static_cast<LlamaSeat *>(self);
    ++seat.polled_;
    if (seat.progress_ && seat.polled_in_all_ > 0) {
        seat.progress_(std::min(1.0, double(seat.polled_) / double(seat.polled_in_all_)));
    }
    return is_aborted(seat.abort_);
}

}  // namespace kvasir
