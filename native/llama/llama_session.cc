#include "llama_session.h"

#include <algorithm>

#include "engine/abort.h"
#include "engine/clock.h"
#include "engine/error.h"
#include "engine/kv/block_pool.h"
#include "engine/numbers.h"

namespace kvasir {

namespace {

Error stopped() { return Error("ABORTED", "The computation was stopped."); }

// Those of the segments' `ends` after which the pass stops to take a checkpoint. Each stop costs up to one batch.
std::vector<int> stops(const std::vector<int> & ends, int begin, int end) {
    std::vector<int> out;
    for (size_t i = 0; i < ends.size(); ++i) {
        if (ends[i] <= begin || ends[i] >= end) continue;
        const int previous = out.empty() ? begin : out.back();
        const bool last = i + 1 == ends.size() || ends[i + 1] >= end;
        if (previous == 0 || last || ends[i] - previous >= LlamaSeat::kRows) out.push_back(ends[i]);
    }
    return out;
}

}  // namespace

LlamaSession::LlamaSession(std::shared_ptr<LlamaModel> model, int capacity)
    : model_(std::move(model)),
      capacity_(capacity) {
    model_->seat().enter();
}

LlamaSession::~LlamaSession() {
    Beginnings & beginnings = model_->beginnings();
    beginnings.leave(memory_);
    try {
        if (beginnings.keeps() && !memory_.tokens.empty()) {
            memory_.saved = model_->seat().copy(memory_);
            beginnings.keep(std::move(memory_));
        }
    } catch (const std::exception &) {  // out of memory: it is computed again
    }
    model_->seat().leave(memory_);
}

AppendReport LlamaSession::append(const std::vector<Segment> & segments, const StrategySpec &,
                                  const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions, int) {
    const auto start = Clock::now();
    std::vector<int32_t> wanted = tokens_;
    std::vector<int> ends;
    for (const Segment & s : segments) {
        require(!s.chunk, "a model that libllama runs places no chunks");
        wanted.insert(wanted.end(), s.tokens.begin(), s.tokens.end());
        ends.push_back(int(wanted.size()));
    }
    require(wanted.size() > tokens_.size(), "append needs at least one token");
    model_->check_tokens(wanted);
    if (int(wanted.size()) > capacity_) {
        throw Error("CONTEXT_OVERFLOW",
                    "The prompt needs " + std::to_string(wanted.size()) + " tokens, but the context holds " +
                        std::to_string(capacity_) + ".",
                    "Use fewer passages or a larger context.");
    }
    model_->require_unchanged();
    AppendReport report;
    report.tokens = int(wanted.size() - tokens_.size());
    const auto begun = Clock::now();
    report.processed_tokens = hold(wanted, ends, abort, progress);
    report.compute_ms = ms_since(begun);
    tokens_ = std::move(wanted);
    report.total_ms = ms_since(start);
    return report;
}

void LlamaSession::take(int tokens) {
    model_->beginnings().join(memory_);
    try {
        model_->seat().take(memory_, tokens);
    } catch (const Error & e) {
        if (e.code != "OUT_OF_MEMORY" || !model_->beginnings().clear()) throw;
        model_->seat().take(memory_, tokens);
    }
}

// Makes memory hold exactly `wanted` and computes the logits of its last token. Returns the number of tokens computed.
int LlamaSession::hold(const std::vector<int32_t> & wanted, const std::vector<int> & ends,
                       const std::atomic<bool> * abort, const ProgressFn & progress) {
    LlamaSeat & seat = model_->seat();
    take(int(wanted.size()));
    const int begin = memory_.reach(wanted, seat.can_cut()), end = int(wanted.size());
    seat.rewind(memory_, begin);
    if (begin == end) {
        logits_ = memory_.at(end)->logits;
        return 0;
    }
    if (begin > 0 && !memory_.at(begin)) keep_checkpoint(false);
    attempt([&] {
        // Memory that can be truncated needs no checkpoints: each pass would read all weights once more.
        for (const int stop : seat.can_cut() ? std::vector<int>{} : stops(ends, begin, end)) {
            compute(wanted, stop, abort, progress, begin, end - begin);
            keep_checkpoint(false);
        }
        compute(wanted, end, abort, progress, begin, end - begin);
        logits_ = computed_logits();
        keep_checkpoint(true);
    });
    return end - begin;
}

int LlamaSession::adopt(const std::vector<int32_t> & tokens) {
    LlamaSeat & seat = model_->seat();
    int length = memory_.reach(tokens, seat.can_cut());
    const Beginning * other = model_->beginnings().furthest(tokens, seat.can_cut());
    // Copying a memory is not worth a few tokens.
    if (other && other->reach(tokens, seat.can_cut()) >= length + kKvBlock) {
        Beginning copy{other->tokens, other->checkpoints, seat.copy(*other)};
        seat.stand(memory_);
        memory_ = std::move(copy);
        model_->beginnings().join(memory_);
        length = memory_.reach(tokens, seat.can_cut());
    }
    length = std::max(0, std::min(length, int(tokens.size()) - 2));
    tokens_.assign(tokens.begin(), tokens.begin() + length);
    logits_.clear();
    return length;
}

// If a pass fails, discards what it wrote and keeps earlier results as far as possible.
void LlamaSession::attempt(const std::function<void()> & pass) {
    const auto fall_back = [&] {
        LlamaSeat & seat = model_->seat();
        const auto & checkpoints = memory_.checkpoints;
        const int held = int(memory_.tokens.size());
        const int kept = seat.can_cut() ? held : checkpoints.empty() ? 0 : checkpoints.back().length;
        seat.rewind(memory_, kept, true);
    };
    try {
        pass();
    } catch (const Error & e) {
        if (e.code == "MODEL_NUMBERS") forget();
        else fall_back();
        throw;
    } catch (...) {
        fall_back();
        throw;
    }
}

// Including the bytes: masked memory is still read, and would spread NaN.
void LlamaSession::forget() {
    model_->seat().clear(true);
    memory_.tokens.clear();
    memory_.checkpoints.clear();
}

void LlamaSession::keep_checkpoint(bool with_logits) {
    const LlamaSeat & seat = model_->seat();
    if (seat.can_cut() && !with_logits) return;
    memory_.add({int(memory_.tokens.size()), seat.save_state(), with_logits ? logits_ : std::vector<float>()});
}

void LlamaSession::compute(const std::vector<int32_t> & wanted, int end, const std::atomic<bool> * abort,
                           const ProgressFn & progress, int begin, int total) {
    const int64_t layers = model_->n_layer();
    std::vector<int32_t> & held = memory_.tokens;
    while (int(held.size()) < end) {
        const int at = int(held.size()), rows = std::min(end - at, LlamaSeat::kRows);
        const auto tell = [&](double share) {
            if (progress) progress({int64_t((at - begin + share * rows) * double(layers)), total * layers});
        };
        if (!model_->seat().compute(wanted.data() + at, rows, abort, tell)) throw stopped();
        held.insert(held.end(), wanted.begin() + at, wanted.begin() + at + rows);
        tell(1);
    }
}

std::vector<float> LlamaSession::computed_logits() {
    const float * l = model_->seat().logits();
    require(l, "libllama gave no logits");
    std::vector<float> out(l, l + model_->vocab().size());
    model_->require_unchanged();
    if (!all_finite(out)) throw no_numbers();
    return out;
}

Generated LlamaSession::generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                                 const OnToken & on_token) {
    require(!logits_.empty(), "generate needs an append before it");
    model_->require_unchanged();
    const auto start = Clock::now();
    Generated out;
    out.stop = "length";
    const auto aborted = [&] { return is_aborted(abort); };
    try {
        if (memory_.tokens != tokens_ && !aborted()) hold(tokens_, {}, abort, nullptr);
        Sampler sampler(sampling, model_->vocab());
        while (int(out.tokens.size()) < max_tokens) {
            if (aborted()) { out.stop = "aborted"; break; }
            const Sampled sampled = sampler.sample(logits_);
            const int32_t token = sampled.token;
            if (model_->vocab().ends_generation(token)) { out.stop = "eos"; break; }
            if (length() >= capacity_) { out.stop = "context"; break; }
            out.tokens.push_back(token);
            if (on_token && !on_token(sampled)) { out.stop = "aborted"; break; }
            decode(token, abort);
        }
    } catch (const Error & e) {
        if (e.code != "ABORTED") throw;
        out.stop = "aborted";
    }
    out.ms = ms_since(start);
    return out;
}

// Appends one token. If aborted, the session is unchanged.
void LlamaSession::decode(int32_t token, const std::atomic<bool> * abort) {
    take(length() + 1);
    attempt([&] {
        if (!model_->seat().compute(&token, 1, abort)) throw stopped();
        logits_.clear();  // they belong to no token that the session holds
        logits_ = computed_logits();
        memory_.tokens.push_back(token);
        tokens_.push_back(token);
    });
}

void LlamaSession::truncate(int length) {
    require(length >= 0 && length <= this->length(), "truncate: length out of range");
    if (length < this->length()) logits_.clear();  // they belong to the longer text
    tokens_.resize(size_t(length));
}

std::shared_ptr<AnySession> LlamaSession::branch(int length) const {
    require(length >= 0 && length <= this->length(), "branch: length out of range");
    auto copy = std::make_shared<LlamaSession>(model_, capacity_);
    copy->tokens_.assign(tokens_.begin(), tokens_.begin() + length);
    copy->memory_ = {memory_.tokens, memory_.checkpoints, model_->seat().copy(memory_)};
    return copy;
}

void LlamaSession::reserve(int tokens) {
    take(std::min(std::max(tokens, length()), capacity_));
}

}  // namespace kvasir
