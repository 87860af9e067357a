#include "llama_session.h"

#include <algorithm>

#include "engine/clock.h"
#include "engine/error.h"
#include "engine/numbers.h"

namespace kvasir {

namespace {

// The prompt's head and the latest states: before the last turn, and before its answer.
constexpr size_t kStates = 4;

Error stopped() { return Error("ABORTED", "The computation was stopped."); }

}  // namespace

LlamaSession::LlamaSession(std::shared_ptr<LlamaModel> model, int capacity)
    : model_(std::move(model)),
      capacity_(capacity) {
    model_->seat().enter();
}

LlamaSession::~LlamaSession() { model_->seat().leave(sitter_); }

AppendReport LlamaSession::append(const std::vector<Segment> & segments, const StrategySpec &,
                                  const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions, int) {
    const auto start = Clock::now();
    std::vector<int32_t> wanted = tokens_;
    for (const Segment & s : segments) {
        require(!s.chunk, "a model that libllama runs places no chunks");
        wanted.insert(wanted.end(), s.tokens.begin(), s.tokens.end());
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
    const int head = tokens_.empty() && segments.size() > 1 ? int(segments.front().tokens.size()) : 0;
    const auto begun = Clock::now();
    report.processed_tokens = hold(wanted, head, abort, progress);
    report.compute_ms = ms_since(begun);
    tokens_ = std::move(wanted);
    report.total_ms = ms_since(start);
    return report;
}

// Makes memory hold exactly `wanted` and computes the logits of its last token. Returns the number of tokens computed.
int LlamaSession::hold(const std::vector<int32_t> & wanted, int head, const std::atomic<bool> * abort,
                       const ProgressFn & progress) {
    model_->seat().take(sitter_, int(wanted.size()));
    const int begin = go_back(wanted), end = int(wanted.size());
    if (begin == end) {
        logits_ = state_at(end)->logits;
        return 0;
    }
    if (begin > 0 && !state_at(begin)) keep_state(false);
    attempt([&] {
        // Memory that can be truncated needs no state at `head`: a separate pass would read all weights once more.
        if (!model_->seat().can_cut() && begin < head && head < end) {
            compute(wanted, head, abort, progress, begin, end - begin);
            keep_state(false);
        }
        compute(wanted, end, abort, progress, begin, end - begin);
        logits_ = computed_logits();
        keep_state(true);
    });
    return end - begin;
}

// Restores as much of `wanted` as memory can hold, excluding its last token unless that one's logits are known. Returns
// the length.
int LlamaSession::go_back(const std::vector<int32_t> & wanted) {
    const auto same = std::mismatch(held_.begin(), held_.end(), wanted.begin(), wanted.end()).first - held_.begin();
    const int last = int(wanted.size());
    int length = 0;
    if (model_->seat().can_cut() || same == std::ptrdiff_t(held_.size())) length = std::min(int(same), last - 1);
    if (!model_->seat().can_cut() && length < int(held_.size())) length = 0;
    for (const State & state : states_) {
        const bool usable = state.length <= int(same) && (state.length < last || !state.logits.empty());
        if (usable) length = std::max(length, state.length);
    }
    if (length < int(held_.size())) restore(length);
    return length;
}

const LlamaSession::State * LlamaSession::state_at(int length) const {
    const auto found =
        std::find_if(states_.begin(), states_.end(), [&](const State & s) { return s.length == length; });
    return found == states_.end() ? nullptr : &*found;
}

// Reduces memory to its first `length` tokens, which must be possible by truncation or from a state of that length.
void LlamaSession::restore(int length) {
    LlamaSeat & seat = model_->seat();
    std::erase_if(states_, [&](const State & s) { return s.length > length; });
    const State * state = state_at(length);
    if (length == 0) seat.clear();
    else if (seat.can_cut()) require(seat.cut(length), "libllama could not cut a session's memory");
    else if (state && state->memory) require(seat.restore_state(state->memory, length), "libllama lost a state");
    held_.resize(size_t(length));
}

// If a pass fails, discards what it wrote and keeps earlier results as far as possible.
void LlamaSession::attempt(const std::function<void()> & pass) {
    const auto fall_back = [&] {
        const int kept = states_.empty() ? 0 : states_.back().length;
        restore(model_->seat().can_cut() ? int(held_.size()) : kept);
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
    held_.clear();
    states_.clear();
}

void LlamaSession::keep_state(bool with_logits) {
    const int length = int(held_.size());
    std::erase_if(states_, [&](const State & s) { return s.length >= length; });
    const bool can_cut = model_->seat().can_cut();
    if (can_cut && !with_logits) return;
    states_.push_back({length, can_cut ? nullptr : model_->seat().save_state(),
                       with_logits ? logits_ : std::vector<float>()});
    if (states_.size() > kStates) states_.erase(states_.begin() + 1);
}

void LlamaSession::compute(const std::vector<int32_t> & wanted, int end, const std::atomic<bool> * abort,
                           const ProgressFn & progress, int begin, int total) {
    const int64_t layers = model_->n_layer();
    while (int(held_.size()) < end) {
        const int at = int(held_.size()), rows = std::min(end - at, LlamaSeat::kRows);
        const auto tell = [&](double share) {
            if (progress) progress({int64_t((at - begin + share * rows) * double(layers)), total * layers});
        };
        if (!model_->seat().compute(wanted.data() + at, rows, abort, tell)) throw stopped();
        held_.insert(held_.end(), wanted.begin() + at, wanted.begin() + at + rows);
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
    const auto aborted = [&] { return abort && abort->load(); };
    try {
        if (held_ != tokens_ && !aborted()) hold(tokens_, 0, abort, nullptr);
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
    LlamaSeat & seat = model_->seat();
    seat.take(sitter_, length() + 1);
    attempt([&] {
        if (!seat.compute(&token, 1, abort)) throw stopped();
        logits_.clear();  // they belong to no token that the session holds
        logits_ = computed_logits();
        held_.push_back(token);
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
    copy->held_ = held_;
    copy->states_ = states_;
    copy->sitter_.saved = model_->seat().copy(sitter_);
    return copy;
}

void LlamaSession::reserve(int tokens) {
    model_->seat().take(sitter_, std::min(std::max(tokens, length()), capacity_));
}

}  // namespace kvasir
