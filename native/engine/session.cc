#include "session.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>
#include <utility>

#include "engine/abort.h"
#include "engine/fusing/fuse.h"
#include "error.h"
#include "numbers.h"

namespace kvasir {

namespace {
constexpr int kMomentsToFree = 10, kMomentMs = 20;
constexpr int kRoomAhead = 4 * kKvBlock;  // tokens
}

Session::Session(std::shared_ptr<Model> model, int capacity, KvPool * pool)
    : model_(std::move(model)),
      capacity_(capacity),
      cache_(pool ? *pool : model_->kv_pool()) {}

AppendReport Session::append(const std::vector<Segment> & segments, const StrategySpec & strategy,
                             const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading,
                             int observe) {
    try {
        return append_once(segments, strategy, abort, progress, loading, observe);
    } catch (const Error & e) {
        // The chunks that the append placed from the device's memory could not be evicted while it held them.
        if (e.code != "OUT_OF_MEMORY" || !model_->device_tier().clear()) throw;
    }
    return append_once(segments, strategy, abort, progress, loading, observe);
}

AppendReport Session::append_once(const std::vector<Segment> & segments, const StrategySpec & strategy,
                                  const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading,
                                  int observe) {
    trace_ = {};
    recipe_.reset();
    std::optional<Recipe> recipe;
    const int begin = length();
    if (exact_ == begin) recipe = Recipe{tokens_, segments, strategy, loading};
    Fuse fuse(*model_, cache_, segments, strategy, loading, begin, capacity_);
    const int end = begin + fuse.prompt().size();
    if (observe > 0) fuse.observe(trace_, observe);
    model_->require_unchanged();
    priority_ = model_->scheduler()->priority();
    wait_for_memory(end, abort);
    try {
        cache_.allocate(begin, end);
        model_->scheduler()->memory().has_memory();
        cache_.advise_huge_pages(begin, end);
        std::vector<float> logits;
        AppendReport report = fuse.run(logits, abort, progress);
        require_numbers(logits, end);
        logits_ = std::move(logits);
        const Prompt & prompt = fuse.prompt();
        tokens_.insert(tokens_.end(), prompt.tokens.begin(), prompt.tokens.end());
        if (exact_ == begin && prompt.size() > 1) exact_ += prompt.plain_tokens(), cache_full_blocks();
        if (recipe && recipe->hold_files()) recipe_ = std::move(recipe);
        return report;
    } catch (...) {
        cache_.truncate(begin);
        throw;
    }
}

bool Session::Recipe::hold_files() {
    try {
        for (const Segment & segment : segments)
            if (segment.chunk && !segment.chunk->in_memory() && !segment.chunk->arrives())
                files.push_back(segment.chunk->file());
        return true;
    } catch (const Error &) {
        return false;
    }
}

// Running answers continue and release their memory at the end: a prompt waits for that rather than taking more.
void Session::wait_for_memory(int end, const std::atomic<bool> * abort) {
    MemoryArbiter & memory = model_->scheduler()->memory();
    const int missing = cache_.missing(length(), end), own = int(cache_.block_table().size());
    if (missing == 0) return;
    const auto may = [&] {
        if (memory.is_spoken_for()) return false;
        while (!cache_.pool().fits(missing) && memory.take_back_from_less_urgent()) {}
        return cache_.pool().fits(missing);
    };
    // A finished request frees its memory a moment later, since its session belongs to the caller; or it goes on to
    // write the answer to its prompt.
    for (int moments = 0; !may();) {
        if (memory.wait_for_others(abort)) continue;
        if (moments++ == kMomentsToFree || cache_.pool().blocks().used_count() == own) return;
        model_->scheduler()->away([] { std::this_thread::sleep_for(std::chrono::milliseconds(kMomentMs)); });
    }
}

Generated Session::generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                            const OnToken & on_token) {
    require(!logits_.empty(), "generate needs an append before it");
    model_->require_unchanged();
    const auto start = Clock::now();
    Sampler sampler(sampling, model_->vocab());
    Generated out;
    std::optional<Turn> turn;
    std::optional<Drafts> drafts;
    const struct AtEnd {
        Session & session;
        const int reserved;
        ~AtEnd() {
            session.recipe_.reset();
            session.cache_.truncate(std::max(session.length(), reserved));  // releases the memory of wrong drafts
        }
    } at_end{*this, int(cache_.block_table().size()) * kKvBlock};
    out.stop = "length";
    const auto aborted = [&] { return is_aborted(abort); };
    while (int(out.tokens.size()) < max_tokens) {
        if (aborted()) { out.stop = "aborted"; break; }
        const Sampled sampled = sampler.sample(logits_);
        const int32_t token = sampled.token;
        if (model_->vocab().ends_generation(token)) { out.stop = "eos"; break; }
        if (length() >= capacity_) { out.stop = "context"; break; }
        out.tokens.push_back(token);
        if (on_token && !on_token(sampled)) { out.stop = "aborted"; break; }
        // Not before: the first token is sampled from the prompt's logits, and must not wait for another request's
        // layer.
        if (out.tokens.size() == 1) begin_steps(turn);
        if (!drafts) drafts.emplace(tokens_, sampling.drafting);
        try {
            step(token, *drafts, max_tokens - int(out.tokens.size()), abort);
        } catch (const Error & e) {
            logits_.clear();  // they belong to no token that the session holds
            if (e.code != "ABORTED") {
                if (std::exchange(given_back_, false)) truncate(0);
                throw;
            }
            out.stop = "aborted";
            break;
        }
        tokens_.push_back(token);
        if (recipe_) recipe_->generated.push_back(token);
    }
    if (given_back_) restore();
    if (drafts) out.drafted = drafts->drafted(), out.accepted = drafts->accepted();
    out.ms = ms_since(start);
    return out;
}

void Session::begin_steps(std::optional<Turn> & turn) {
    Scheduler & scheduler = *model_->scheduler();
    if (!scheduler.has_turn()) turn.emplace(scheduler, Turn::Request{.is_short = true, .priority = priority_});
    // On a device an append needs the staging buffer, which a paused append may be using.
    if (uses_devices()) recipe_.reset();
    if (recipe_) scheduler.memory().may_give_back([this] { give_back(); });
}

// Makes logits_ those after `token`.
void Session::step(int32_t token, Drafts & drafts, int most_drafts, const std::atomic<bool> * abort) {
    if (drafts.take(token, logits_)) return;
    DecodeBatch & batch = model_->scheduler()->batch();
    std::vector<DecodeRow> rows;
    do {
        make_room_for_token();
        const int begin = length();
        const int most = std::min(most_drafts, capacity_ - begin - 1);
        std::vector<int32_t> next = drafts.next(most, batch.sequences_in_step(), batch.times());
        const int end = begin + 1 + int(next.size());
        // Drafts do not take memory from other answers.
        if (cache_.pool().fits(cache_.missing(begin, end))) cache_.allocate(begin, end);
        else next.clear();
        rows = {{token, begin, &cache_, &logits_}};
        drafts.add_rows(next, rows);
    } while (!batch.decode(rows, abort));
    const int end = length() + int(rows.size());
    require_numbers(logits_, end);
    const int finite = length() + 1 + drafts.drop_not_finite();
    // Drafts outlive their memory: restore() recomputes those that became tokens.
    if (!given_back_) cache_.wipe(finite, end);
}

void Session::make_room_for_token() {
    if (given_back_) restore();
    const int missing = cache_.missing(length(), length() + 1);
    while (missing > 0 && !given_back_ && !cache_.pool().fits(missing) && model_->scheduler()->memory().take_back()) {}
    if (given_back_) restore();  // this session was last in line, and has been admitted again
    cache_.allocate(length(), length() + 1);
}

// The thread that has the turn calls this.
void Session::give_back() {
    // What the step wrote, which may not be finite, and was not checked.
    const int end = std::min(length() + DecodeBatch::kMostRows, int(cache_.block_table().size()) * kKvBlock);
    if (cache_.missing(length(), end) == 0) cache_.wipe(length(), end);
    cache_.truncate(0);
    given_back_ = true;
}

// Recomputes the released KV once there is room, to the bit as it was: decoded tokens are decoded again. An abort does
// not interrupt it, since a session must hold the tokens that it reports.
void Session::restore() {
    given_back_ = false;
    // Takes as long as a prompt, so others take turns meanwhile.
    const Scheduler::AsPrompt as_prompt(*model_->scheduler(), length());
    const Recipe recipe = std::move(*recipe_);
    const std::vector<float> logits = std::move(logits_);
    const int end = length();
    tokens_.clear(), exact_ = 0, hashes_.clear();
    adopt(recipe.adopted);
    // Some more than it had: otherwise the next block that an older answer needs would take it back again.
    wait_for_memory(std::min(end + kRoomAhead, capacity_), nullptr);
    cache_.allocate(length(), end);
    // Separately, as before: a single row uses another kernel than one among others.
    if (length() < int(recipe.adopted.size())) {
        append({{{recipe.adopted.begin() + length(), recipe.adopted.end()}}}, {.name = "full"}, nullptr, nullptr);
    }
    append(recipe.segments, recipe.strategy, nullptr, nullptr, recipe.loading);
    for (const int32_t token : recipe.generated) {
        cache_.allocate(length(), length() + 1);
        model_->scheduler()->batch().decode({{token, length(), &cache_, &logits_}}, nullptr);
        tokens_.push_back(token);
    }
    require(length() == end, "a restored session has its former length");
    recipe_ = recipe;
    logits_ = logits;
    model_->scheduler()->memory().may_give_back([this] { give_back(); });
}

void Session::truncate(int length) {
    recipe_.reset();
    require(length >= 0 && length <= this->length(), "truncate: length out of range");
    if (length < this->length()) logits_.clear();  // they belong to the longer text
    tokens_.resize(size_t(length));
    cache_.truncate(length);
    exact_ = std::min(exact_, length);
    hashes_.resize(std::min(hashes_.size(), size_t(length / kKvBlock)));
}

// Checks that the text up to position `end` gave finite numbers, from unchanged weights. If not, the KV written for it
// is wiped: where keys are masked rather than skipped, a NaN among them would reach whatever occupies these blocks
// next. MODEL_NUMBERS, MODEL_CHANGED.
void Session::require_numbers(const std::vector<float> & logits, int end) {
    const bool numbers = all_finite(logits);
    if (!numbers && !given_back_) cache_.wipe(length(), end);
    model_->require_unchanged();
    if (!numbers) throw no_numbers();
}

// Makes whole blocks findable by their tokens. Blended KV never is, since it is valid only next to its chunks; nor is
// decoded KV, whose last bits differ from those of a prefill.
void Session::cache_full_blocks() {
    while (int(hashes_.size() + 1) * kKvBlock <= exact_) {
        const size_t i = hashes_.size();
        const int32_t * tokens = tokens_.data() + i * kKvBlock;
        hashes_.push_back(hash_block(i == 0 ? cache_.pool().root() : hashes_.back(), tokens, kKvBlock));
        cache_.cache_block(i, hashes_.back(), {tokens, tokens + kKvBlock});
    }
}

int Session::adopt(const std::vector<int32_t> & tokens) {
    require(tokens_.empty(), "adopt: the session must be empty");
    for (const auto & [hash, block] : cache_.pool().cached_prefix(tokens)) {
        const int end = exact_ + kKvBlock;
        if (end + 2 > int(tokens.size()) || end > capacity_) break;
        cache_.append_block(block);
        hashes_.push_back(hash);
        exact_ = end;
    }
    tokens_.assign(tokens.begin(), tokens.begin() + exact_);
    logits_.clear();
    return exact_;
}

std::shared_ptr<Session> Session::fork(int length) const {
    require(length >= 0 && length <= this->length(), "fork: length out of range");
    auto copy = std::make_shared<Session>(model_, capacity_, &cache_.pool());
    copy->cache_.share_prefix(cache_, length);
    copy->tokens_ = tokens_, copy->exact_ = exact_, copy->hashes_ = hashes_;
    copy->truncate(length);
    return copy;
}

void Session::reserve(int tokens) { cache_.allocate(length(), std::min(std::max(tokens, length()), capacity_)); }

void Session::warm(int begin, int end) {
    const int last = std::min(end, int(cache_.block_table().size()) * kKvBlock);
    if (begin < last) cache_.prefault(begin, last);
}

bool Session::uses_devices() const {
    for (int il = 0; il < model_->hparams().n_layer; ++il)
        if (!model_->weights().device(il).is_host()) return true;
    return false;
}

std::vector<std::shared_ptr<ChunkKv>> encode_chunks(const std::shared_ptr<Model> & model,
                                                    const std::vector<std::vector<int32_t>> & texts,
                                                    const std::vector<int32_t> & prefix, KvDtype dtype,
                                                    const std::atomic<bool> * abort, const ProgressFn & progress) {
    model->require_unchanged();
    std::vector<int32_t> all = prefix;
    std::vector<std::shared_ptr<ChunkKv>> chunks;
    for (const std::vector<int32_t> & tokens : texts) {
        require(!tokens.empty(), "a chunk has at least one token");
        chunks.push_back(std::make_shared<ChunkKv>(model->chunk_shape(dtype, all), tokens));
        all.insert(all.end(), tokens.begin(), tokens.end());
    }
    model->check_tokens(all);
    const int n = int(all.size());
    const Hparams & hp = model->hparams();
    KvCache cache(model->chunk_pool());
    cache.allocate(0, n);
    Forward & forward = model->forward();

    std::vector<int32_t> positions(static_cast<size_t>(n));
    std::iota(positions.begin(), positions.end(), 0);
    const std::vector<float> x = forward.embed(all);
    Batch batch(all, positions, hp, model->weights().device(0), cache);
    ggml_backend_tensor_set(batch.x(), x.data(), 0, x.size() * sizeof(float));
    std::vector<int32_t> every(positions);
    std::vector<float> k, v;
    for (int il = 0; il < hp.n_layer_kv; ++il) {
        Device & device = model->weights().device(il);
        if (&device != &batch.device()) batch = batch.subset(every, device);
        LayerCall call;
        call.raw_k = &k, call.raw_v = &v;
        call.advance = il + 1 < hp.n_layer_kv;
        forward.layer(il, batch, call, abort);
        if (!all_finite(k) || !all_finite(v)) {
            cache.wipe(0, n);
            model->require_unchanged();
            throw no_numbers();
        }
        size_t row = prefix.size();
        for (const auto & chunk : chunks) {
            const size_t at = row * size_t(hp.layer(il).kv_dim()), count = chunk->tokens().size();
            chunk->store_rows(il, 0, count, k.data() + at, v.data() + at);
            row += count;
        }
        if (progress) progress({int64_t(il + 1) * n, int64_t(hp.n_layer_kv) * n});
    }
    model->require_unchanged();
    return chunks;
}

std::shared_ptr<ChunkKv> encode_chunk(const std::shared_ptr<Model> & model, const std::vector<int32_t> & tokens,
                                      const std::vector<int32_t> & prefix, KvDtype dtype) {
    return encode_chunks(model, {tokens}, prefix, dtype, nullptr, nullptr).front();
}

}  // namespace kvasir
