#include "fuse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/abort.h"
#include "engine/error.h"

namespace kvasir {

namespace {

// Limits on the question's last tokens whose attention is read: their weights for all keys and heads are in memory
// together.
constexpr int kMaxObservers = 64;
constexpr size_t kObservedWeights = 8u << 20;
// The same limit for a trace, over all layers.
constexpr size_t kTracedWeights = 64u << 20;
// A stored token shifts by the mean change of the recomputed tokens around it: those of its block of this many tokens
// count fully, those of each block further away less by kShiftDecay.
constexpr int kShiftBlock = 64;
constexpr float kShiftDecay = 0.37f;
// The weight of the mean over the whole prompt, in tokens: it decides only where no token nearby is recomputed.
constexpr float kShiftPrior = 0.2f;

DeviationStats stats_of(std::vector<float> values) {
    DeviationStats s;
    s.tokens = int(values.size());
    if (values.empty()) return s;
    s.mean = std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
    const auto p95 = values.begin() + std::ptrdiff_t(std::ceil(0.95 * double(values.size()))) - 1;
    std::nth_element(values.begin(), p95, values.end());
    s.p95 = *p95;
    return s;
}

// Adds the mean over rows of [rows][keys] weights to `sum`.
void add_mean(const std::vector<float> & weights, std::vector<float> & sum) {
    const size_t keys = sum.size(), rows = weights.size() / keys;
    const float share = 1 / float(rows);
    for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < keys; ++i) sum[i] += share * weights[r * keys + i];
}

// Sums over blocks of `counts` rows → `share` of the mean around each block, weighted by distance.
void average(std::vector<float> & sums, const std::vector<float> & counts, float share) {
    const size_t blocks = counts.size(), width = sums.size() / blocks;
    const float rows = std::accumulate(counts.begin(), counts.end(), 0.0f);
    std::vector<float> mean(width), near(sums.size()), weight(blocks);
    for (size_t i = 0; i < sums.size(); ++i) mean[i % width] += sums[i] / rows;
    // Both sweeps add a block's own rows, so they are subtracted once.
    for (size_t i = 0; i < sums.size(); ++i) near[i] = kShiftPrior * mean[i % width] - sums[i];
    for (size_t b = 0; b < blocks; ++b) weight[b] = kShiftPrior - counts[b];
    for (const bool forward : {true, false}) {
        std::vector<float> carried(width);
        float carried_rows = 0;
        for (size_t i = 0; i < blocks; ++i) {
            const size_t b = forward ? i : blocks - 1 - i;
            weight[b] += carried_rows = kShiftDecay * carried_rows + counts[b];
            for (size_t d = 0; d < width; ++d) {
                near[b * width + d] += carried[d] = kShiftDecay * carried[d] + sums[b * width + d];
            }
        }
    }
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = share * near[i] / weight[i / width];
}

// Splits `values` into those at the indices in `in` and all others.
std::pair<std::vector<float>, std::vector<float>> part(const std::vector<float> & values,
                                                       const std::vector<int32_t> & in) {
    std::pair<std::vector<float>, std::vector<float>> out;
    size_t next = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const bool inside = next < in.size() && size_t(in[next]) == i;
        next += inside;
        (inside ? out.first : out.second).push_back(values[i]);
    }
    return out;
}

}  // namespace

Fuse::Fuse(Model & model, const KvCache & cache, const std::vector<Segment> & segments, const StrategySpec & spec,
           LoadOptions loading, int past, int capacity)
    : model_(model),
      forward_(model.forward()),
      cache_(cache),
      strategy_(make_strategy(spec, model.hparams().n_layer_kv)),
      prompt_(model, segments, strategy_->reuses(), past, capacity),
      loading_(loading),
      shift_(float(spec.shift)),
      origin_(Clock::now()),
      paused_before_(model.scheduler()->paused_ms()) {
    require(spec.shift >= 0 && spec.shift <= 1, "a strategy's shift must be between 0 and 1");
    const int n_layer = model.hparams().n_layer;
    const bool any = prompt_.reusable_tokens > 0;
    if (any) check_layers_ = strategy_->check_layers(), report_.question.layers = strategy_->question_layers();
    // Up to the first check layer every token is computed, so nothing stored is needed before it.
    first_load_ = !any ? n_layer : check_layers_.empty() ? 0 : check_layers_.front();
    next_place_ = first_load_;
    report_.tokens = prompt_.size();
    report_.reusable_tokens = prompt_.reusable_tokens;
    report_.layers.resize(size_t(n_layer));
    for (int il = 0; il < n_layer; ++il) report_.layers[size_t(il)].layer = il;
}

void Fuse::observe(AttentionTrace & trace, int count) {
    require(count <= prompt_.size() - prompt_.question_begin, "only tokens after the last chunk can be observed");
    const Hparams & hp = model_.hparams();
    const size_t each = size_t(hp.n_layer) * size_t(hp.n_head) * size_t(prompt_.past + prompt_.size());
    trace.observers = std::max(1, std::min(count, int(kTracedWeights / each)));
    trace.layers.resize(size_t(hp.n_layer));
    trace_ = &trace;
}

// Excludes the time in which others computed.
double Fuse::now() const { return ms_since(origin_) - (model_.scheduler()->paused_ms() - paused_before_); }

void Fuse::layer_done(Pass & pass, int rows, int layers_left) const {
    pass.done.done += rows;
    pass.done.total = pass.done.done + int64_t(rows) * layers_left;
    if (pass.progress) pass.progress(pass.done);
    if (is_aborted(pass.abort)) throw Error("ABORTED", "The prompt was stopped.");
}

// A batch of these prompt tokens with their embeddings, on the first layer's device.
Batch Fuse::batch_of(const std::vector<int32_t> & tokens) const {
    std::vector<int32_t> ids, positions;
    for (int32_t t : tokens) ids.push_back(prompt_.tokens[size_t(t)]), positions.push_back(prompt_.past + t);
    Batch batch(ids, std::move(positions), model_.hparams(), model_.weights().device(0), cache_);
    const std::vector<float> x = forward_.embed(ids);
    ggml_backend_tensor_set(batch.x(), x.data(), 0, x.size() * sizeof(float));
    return batch;
}

Batch Fuse::narrow(const Batch & batch, const std::vector<int32_t> & indices, int il) const {
    return batch.subset(indices, model_.weights().device(il));
}

Batch Fuse::on_device_of(Batch batch, int il) const {
    if (&model_.weights().device(il) == &batch.device()) return batch;
    std::vector<int32_t> every(size_t(batch.size()));
    std::iota(every.begin(), every.end(), 0);
    return narrow(batch, every, il);
}

std::vector<bool> Fuse::reusable_rows(const Batch & batch) const {
    std::vector<bool> out;
    for (int32_t p : batch.positions()) out.push_back(prompt_.reusable[size_t(p - prompt_.past)]);
    return out;
}

// Tokens that may be recomputed: the reusable tokens of the prompt, or of `batch`.
Candidates Fuse::candidates(const Batch * batch) const {
    Candidates c;
    c.reusable = size_t(prompt_.reusable_tokens);
    const int n = batch ? batch->size() : prompt_.size();
    for (int i = 0; i < n; ++i) {
        const auto t = size_t(batch ? batch->positions()[size_t(i)] - prompt_.past : i);
        if (!prompt_.reusable[t]) continue;
        c.tokens.push_back(int32_t(t));
    }
    const QuestionReport & q = report_.question;
    for (size_t i = 0, at = 0; i < c.size() && !q.attention.empty(); ++i) {
        while (q.candidates[at] != c.tokens[i]) ++at;
        c.attention.push_back(q.attention[at]);
    }
    return c;
}

// The tokens outside chunks starting at `first`, merged with `computed_again` (ascending): indices into the prompt,
// ascending.
std::vector<int32_t> Fuse::tokens_to_compute(const std::vector<int32_t> & computed_again, int first) const {
    std::vector<int32_t> out;
    size_t next = 0;
    for (int32_t t = 0; t < prompt_.size(); ++t) {
        const bool wanted = next < computed_again.size() && computed_again[next] == t;
        next += wanted;
        if (wanted || (t >= first && !prompt_.reusable[size_t(t)])) out.push_back(t);
    }
    return out;
}

// First token outside chunks that is computed (again) after the question pass. Text before the question keeps the KV
// that a pass through every layer has written, since computing it twice would double the cost of cache misses. Not if
// all tokens are computed: that must equal a full prefill to the bit.
int Fuse::first_after_question_pass(bool all) const {
    const std::vector<int> & seen = report_.question.layers;
    const bool whole = !seen.empty() && seen.back() + 1 == model_.hparams().n_layer_kv;
    return whole && !all ? std::min(prompt_.question_begin, prompt_.size() - 1) : 0;
}

// The chunks, with the rows of them that are already on their layers' device.
std::vector<LayerLoader::Wanted> Fuse::wanted() {
    std::vector<LayerLoader::Wanted> out;
    if (first_load_ < model_.hparams().n_layer_kv) kept_ = model_.device_tier().use(prompt_.chunks);
    kept_.resize(prompt_.chunks.size());
    for (size_t i = 0; i < kept_.size(); ++i) {
        out.push_back({prompt_.chunks[i], {}, prompt_.segment_of_chunk[i]});
        if (kept_[i]) out.back().there = kept_[i]->placeable();
    }
    return out;
}

void Fuse::place_layer(int il, Pass & pass) {
    if (il < next_place_ || il >= model_.hparams().n_layer_kv || prompt_.placements.empty()) return;
    LayerReport & layer = report_.layers[size_t(il)];
    const double asked = now();
    // Lets others compute while waiting for a network.
    if (pass.loader.is_far(il)) model_.scheduler()->away([&] { pass.loader.wait(il); });
    const LayerLoader::Loaded & loaded = pass.loader.wait(il);
    const double ready = now();
    report_.load_wait_ms += ready - asked;
    layer.load_start = loaded.start_ms, layer.load_end = loaded.end_ms, layer.load_bytes = loaded.bytes;
    report_.bytes_loaded += loaded.bytes, report_.bytes_crossed += loaded.crossed;
    for (size_t i = 0; i < prompt_.placements.size(); ++i) {
        prompt_.placements[i].stored = loaded.chunks[prompt_.chunk_of_placement[i]];
    }
    forward_.place(il, prompt_.placements, cache_);
    for (size_t i = 0; i < kept_.size(); ++i)
        if (kept_[i]) model_.device_tier().fill(*kept_[i], il, loaded.chunks[i]);
    pass.loader.release(il);
    layer.place_ms = now() - ready;
    report_.place_ms += layer.place_ms;
    next_place_ = il + 1;
}

// Runs the tokens outside chunks over the placed cache, up to the last layer whose attention the strategy requests. The
// next pass overwrites the KV written here, except as first_after_question_pass() says.
void Fuse::question_pass(Pass & pass) {
    QuestionReport & q = report_.question;
    if (q.layers.empty()) return;
    const double start = now(), waited = report_.load_wait_ms + report_.place_ms;
    const Hparams & hp = model_.hparams();
    Batch batch = batch_of(tokens_to_compute({}, 0));
    const size_t fits = kObservedWeights / (size_t(prompt_.past + prompt_.size()) * size_t(hp.n_head));
    const int observers = std::max(1, std::min({kMaxObservers, prompt_.size() - prompt_.question_begin, int(fits)}));
    std::vector<float> weights, attention(size_t(prompt_.past + prompt_.size()));
    for (int il = 0; il <= q.layers.back(); ++il) {
        place_layer(il, pass);
        batch = on_device_of(std::move(batch), il);
        LayerCall call;
        call.advance = il < q.layers.back();
        call.observers = observers;
        if (std::binary_search(q.layers.begin(), q.layers.end(), il)) call.attention = &weights;
        forward_.layer(il, batch, call, pass.abort);
        if (call.attention) add_mean(weights, attention);
        layer_done(pass, batch.size(), hp.n_layer_kv - il - 1 + hp.n_layer_kv);
    }
    for (int32_t t = 0; t < prompt_.size(); ++t) {
        if (!prompt_.reusable[size_t(t)]) continue;
        q.candidates.push_back(t);
        q.attention.push_back(attention[size_t(prompt_.past + t)] / float(q.layers.size()));
    }
    report_.question_ms = now() - start - (report_.load_wait_ms + report_.place_ms - waited);
}

// Computes and writes K and V of all rows; only the candidates that the strategy selects stay in the batch for later
// layers.
void Fuse::check(int il, size_t n, Batch & batch, Pass & pass) {
    const double start = now();
    std::vector<float> deviation;
    LayerCall call;
    call.advance = false;
    call.deviation = &deviation;
    call.deviation_of = strategy_->deviation_of();
    forward_.layer(il, batch, call, pass.abort);
    const double checked = now();
    report_.check_ms += checked - start;

    Candidates c = candidates(&batch);
    const std::vector<bool> reusable = reusable_rows(batch);
    for (size_t i = 0; i < reusable.size(); ++i)
        if (reusable[i]) c.deviation.push_back(deviation[i]);
    const std::vector<int32_t> chosen = strategy_->at_check(n, c);
    report_.selected.clear();
    for (int32_t i : chosen) report_.selected.push_back(c.tokens[size_t(i)]);

    LayerReport & layer = report_.layers[size_t(il)];
    auto [recomputed, stored] = part(c.deviation, chosen);
    layer.recomputed = stats_of(std::move(recomputed)), layer.stored = stats_of(std::move(stored));
    std::vector<int32_t> kept;
    for (int32_t i = 0, at = 0; i < batch.size(); ++i) {
        const int32_t token = batch.positions()[size_t(i)] - prompt_.past;
        const bool stays = at < int32_t(report_.selected.size()) && report_.selected[size_t(at)] == token;
        at += stays;
        if (stays || !reusable[size_t(i)]) kept.push_back(i);
    }
    if (int(kept.size()) != batch.size()) batch = narrow(batch, kept, il);
    const float ratio = float(report_.selected.size()) / float(prompt_.reusable_tokens);
    if (n + 1 == check_layers_.size()) keep_stored(candidates(nullptr).tokens);
    report_.checks.push_back({il, ratio, std::move(c.tokens), std::move(c.deviation), report_.selected});
    report_.select_ms += now() - checked;
}

// Records the reusable tokens that are not selected, if these are shifted.
void Fuse::keep_stored(const std::vector<int32_t> & reusable) {
    if (shift_ == 0 || report_.selected.empty()) return;
    std::set_difference(reusable.begin(), reusable.end(), report_.selected.begin(), report_.selected.end(),
                        std::back_inserter(stored_));
    for (int32_t & t : stored_) block_of_stored_.push_back(t / kShiftBlock), t += prompt_.past;
}

// Writes the rows' keys and values, and shifts the stored ones accordingly; attention is left to `call`.
void Fuse::write_and_shift(int il, Batch & batch, LayerCall & call, Pass & pass) {
    KvShift shift;
    shift.groups = (prompt_.size() + kShiftBlock - 1) / kShiftBlock;
    std::vector<float> counts(size_t(shift.groups));
    for (int32_t p : batch.positions()) {
        const int32_t t = p - prompt_.past;
        shift.group.push_back(prompt_.reusable[size_t(t)] ? t / kShiftBlock : -1);
        if (shift.group.back() >= 0) ++counts[size_t(shift.group.back())];
    }
    LayerCall kv = call;
    kv.advance = false, kv.attention = nullptr, kv.shift = &shift;
    forward_.layer(il, batch, kv, pass.abort);
    for (auto * sums : {&shift.k, &shift.v}) average(*sums, counts, shift_);
    forward_.shift(il, shift, stored_, block_of_stored_, cache_);
    call.write_kv = false, call.deviation = nullptr;
}

// Runs the layer for all rows. If chunks were placed, compares the new KV with the stored KV.
void Fuse::compute(int il, Batch & batch, bool write_kv, Pass & pass) {
    const std::vector<bool> reusable = reusable_rows(batch);
    const bool placed = il >= first_load_ && report_.checks.size() == check_layers_.size();
    std::vector<float> deviation;
    LayerCall call;
    call.write_kv = write_kv;
    call.deviation_of = strategy_->deviation_of();
    if (write_kv && placed && std::find(reusable.begin(), reusable.end(), true) != reusable.end()) {
        call.deviation = &deviation;
    }
    if (trace_) call.observers = trace_->observers, call.attention = &trace_->layers[size_t(il)];
    const Hparams & hp = model_.hparams();
    if (write_kv && !stored_.empty() && hp.layer(il).kv_of == il) write_and_shift(il, batch, call, pass);
    // Once every token's K and V are written, only the rows whose attention is recorded need an output; in the last
    // layer, only the last row.
    const bool last = il + 1 == hp.n_layer, kv_done = il + 1 >= hp.n_layer_kv;
    const int needed = !kv_done ? batch.size() : trace_ && !last ? call.observers : 1;
    if (needed < batch.size()) {
        if ((call.write_kv && hp.layer(il).kv_of == il) || trace_) {
            LayerCall kv = call;
            kv.advance = false;
            forward_.layer(il, batch, kv, pass.abort);
        }
        std::vector<int32_t> tail(static_cast<size_t>(needed));
        std::iota(tail.begin(), tail.end(), batch.size() - needed);
        batch = narrow(batch, tail, il);
        forward_.layer(il, batch, {.write_kv = false}, pass.abort);
    } else {
        forward_.layer(il, batch, call, pass.abort);
    }
    if (deviation.empty()) return;
    std::vector<float> recomputed;
    for (size_t i = 0; i < reusable.size(); ++i)
        if (reusable[i]) recomputed.push_back(deviation[i]);
    report_.layers[size_t(il)].recomputed = stats_of(std::move(recomputed));
}

AppendReport Fuse::run(std::vector<float> & logits, const std::atomic<bool> * abort, const ProgressFn & progress) {
    const int n_layer = model_.hparams().n_layer;
    LayerLoader loader(wanted(), first_load_, model_.weights(), loading_, origin_, abort);
    Pass pass{loader, abort, progress, {}};
    question_pass(pass);

    const Candidates all = candidates(nullptr);
    std::vector<int32_t> computed_again = all.tokens;
    if (check_layers_.empty()) {
        for (int32_t i : strategy_->at_start(all)) report_.selected.push_back(all.tokens[size_t(i)]);
        computed_again = report_.selected;
        keep_stored(all.tokens);
    }
    const int first = first_after_question_pass(computed_again.size() == all.size());
    Batch batch = batch_of(tokens_to_compute(computed_again, first));
    for (int il = 0; il < n_layer; ++il) {
        if (is_aborted(abort)) throw Error("ABORTED", "The prompt was stopped.");
        if (il >= first_load_) place_layer(il, pass);
        batch = on_device_of(std::move(batch), il);
        LayerReport & layer = report_.layers[size_t(il)];
        layer.compute_start = now();
        const auto at = std::find(check_layers_.begin(), check_layers_.end(), il);
        if (at != check_layers_.end()) check(il, size_t(at - check_layers_.begin()), batch, pass);
        layer.rows = batch.size();
        const double start = now();
        compute(il, batch, at == check_layers_.end(), pass);
        layer.compute_end = now();
        report_.compute_ms += layer.compute_end - start;
        layer_done(pass, layer.rows, std::max(0, model_.hparams().n_layer_kv - il - 1));
    }
    const double start = now();
    forward_.head(batch, logits, abort);
    report_.head_ms = now() - start;
    report_.recomputed_tokens = int(report_.selected.size());
    report_.processed_tokens = report_.tokens - report_.reusable_tokens + report_.recomputed_tokens;
    report_.total_ms = now();
    return report_;
}

}  // namespace kvasir
