#include "fuse.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

}  // namespace

Fuse::Fuse(Model & model, Forward & forward, const std::vector<Segment> & segments, const StrategySpec & strategy, int past, int capacity)
    : model_(model), forward_(forward), past_(past), origin_(Clock::now()) {
    const int n_layer = model.hparams().n_layer;
    const bool reuse = strategy.kind != StrategySpec::Kind::full;
    for (size_t i = 0; i < segments.size(); ++i) {
        const Segment & s = segments[i];
        if (s.chunk) check_chunk(model, *s.chunk, int(i));
        const std::vector<int32_t> & ids = s.chunk ? s.chunk->tokens() : s.tokens;
        if (s.chunk && reuse) {
            placements_.push_back({s.chunk.get(), nullptr, past + int32_t(tokens_.size())});
            chunks_.push_back(s.chunk);
            segment_of_chunk_.push_back(int(i));
        }
        tokens_.insert(tokens_.end(), ids.begin(), ids.end());
        reusable_.resize(tokens_.size(), s.chunk && reuse);
    }
    require(!tokens_.empty(), "append needs at least one token");
    model.check_tokens(tokens_);
    if (past + int(tokens_.size()) > capacity) {
        throw Error("CONTEXT_OVERFLOW", "The prompt needs " + std::to_string(past + int(tokens_.size())) + " tokens, but the context holds " +
                                            std::to_string(capacity) + ".", "Use fewer chunks or a larger context.");
    }
    report_.tokens = int(tokens_.size());
    report_.reusable_tokens = int(std::count(reusable_.begin(), reusable_.end(), true));
    reusable_.back() = false;  // its logits start the answer

    require(strategy.check_layers.size() == strategy.ratios.size(), "one ratio a check layer");
    for (size_t i = 0; i < strategy.check_layers.size(); ++i) {
        require(strategy.check_layers[i] >= 0 && strategy.check_layers[i] < n_layer, "check layer out of range");
        require(strategy.ratios[i] >= 0 && strategy.ratios[i] <= 1, "ratio out of range");
        require(i == 0 || (strategy.check_layers[i] > strategy.check_layers[i - 1] && strategy.ratios[i] <= strategy.ratios[i - 1]),
                "check layers must ascend and ratios must not");
        if (strategy.kind == StrategySpec::Kind::deviation && report_.reusable_tokens) checks_.emplace_back(strategy.check_layers[i], strategy.ratios[i]);
    }
    require(strategy.kind != StrategySpec::Kind::deviation || !strategy.check_layers.empty(), "deviation needs a check layer");
    compute_all_ = !checks_.empty() || report_.reusable_tokens == 0;
    // Before the first check layer every token is computed, so nothing stored is needed there.
    first_load_ = report_.reusable_tokens == 0 ? n_layer : checks_.empty() ? 0 : checks_.front().first;
}

double Fuse::now() const { return std::chrono::duration<double, std::milli>(Clock::now() - origin_).count(); }

const std::pair<int, float> * Fuse::check_at(int il) const {
    for (auto & c : checks_)
        if (c.first == il) return &c;
    return nullptr;
}

void Fuse::load_and_place(int il, LayerLoader & loader, LayerReport & layer) {
    const double asked = now();
    const LayerLoader::Loaded & loaded = loader.wait(il);
    const double ready = now();
    report_.load_wait_ms += ready - asked;
    layer.load_start = loaded.start_ms, layer.load_end = loaded.end_ms, layer.load_bytes = loaded.bytes;
    report_.bytes_loaded += loaded.bytes;
    for (size_t i = 0; i < placements_.size(); ++i) placements_[i].data = loaded.chunks[i];
    forward_.place(il, placements_);
    layer.place_ms = now() - ready;
    report_.place_ms += layer.place_ms;
}

RowSet Fuse::narrow(const RowSet & rows, const std::vector<int32_t> & indices, int il) const {
    return rows.subset(indices, model_.hparams(), model_.weights().device(il), forward_.cache().capacity());
}

std::vector<bool> Fuse::reusable_rows(const RowSet & rows) const {
    std::vector<bool> out;
    for (int32_t p : rows.positions()) out.push_back(reusable_[size_t(p - past_)]);
    return out;
}

// K and V of all candidates are computed and kept; those whose V deviates most stay for the layers to come.
void Fuse::check(int il, float ratio, RowSet & rows, LayerReport & layer, const std::atomic<bool> * abort) {
    const double start = now();
    CheckReport c;
    c.layer = il, c.ratio = ratio;
    std::vector<float> deviation;
    LayerCall call;
    call.advance = false;
    call.deviation = &deviation;
    forward_.layer(il, rows, call, abort);
    const double checked = now();
    report_.check_ms += checked - start;

    const std::vector<bool> reusable = reusable_rows(rows);
    const auto keep = size_t(std::lround(double(ratio) * report_.reusable_tokens));
    const std::vector<int32_t> kept = select_by_deviation(deviation, reusable, keep);
    std::vector<float> recomputed, stored;
    size_t next = 0;
    for (int32_t i = 0; i < rows.size(); ++i) {
        const bool stays = next < kept.size() && kept[next] == i;
        next += stays;
        if (!reusable[size_t(i)]) continue;
        c.candidates.push_back(rows.positions()[size_t(i)] - past_);
        c.deviation.push_back(deviation[size_t(i)]);
        if (stays) c.selected.push_back(c.candidates.back());
        (stays ? recomputed : stored).push_back(deviation[size_t(i)]);
    }
    layer.recomputed = stats_of(std::move(recomputed)), layer.stored = stats_of(std::move(stored));
    report_.checks.push_back(std::move(c));
    if (int(kept.size()) != rows.size()) rows = narrow(rows, kept, il);
    report_.select_ms += now() - checked;
}

// The layer for all rows; where chunks were placed, what they replace is compared with what was there.
void Fuse::compute(int il, RowSet & rows, bool write_kv, LayerReport & layer, const std::atomic<bool> * abort) {
    const std::vector<bool> reusable = reusable_rows(rows);
    std::vector<float> deviation;
    LayerCall call;
    call.write_kv = write_kv;
    if (write_kv && loads_layer(il) && std::find(reusable.begin(), reusable.end(), true) != reusable.end()) call.deviation = &deviation;
    if (il + 1 == model_.hparams().n_layer && rows.size() > 1) {
        // Only the last token's output is needed; the others' K and V are.
        if (write_kv) {
            LayerCall kv = call;
            kv.advance = false;
            forward_.layer(il, rows, kv, abort);
        }
        rows = narrow(rows, {int32_t(rows.size() - 1)}, il);
        forward_.layer(il, rows, {.write_kv = false}, abort);
    } else {
        forward_.layer(il, rows, call, abort);
    }
    if (!call.deviation) return;
    std::vector<float> recomputed;
    for (size_t i = 0; i < reusable.size(); ++i)
        if (reusable[i]) recomputed.push_back(deviation[i]);
    layer.recomputed = stats_of(std::move(recomputed));
}

AppendReport Fuse::run(std::vector<float> & logits, const std::atomic<bool> * abort, const ProgressFn & progress) {
    const Hparams & hp = model_.hparams();
    const Weights & weights = model_.weights();
    std::vector<int32_t> ids, positions;
    for (size_t i = 0; i < tokens_.size(); ++i) {
        if (!compute_all_ && reusable_[i]) continue;
        ids.push_back(tokens_[i]);
        positions.push_back(past_ + int32_t(i));
    }
    LayerLoader loader(chunks_, first_load_, hp.n_layer, origin_);
    RowSet rows(positions, hp, weights.device(0), forward_.cache().capacity());
    const std::vector<float> x = forward_.embed(ids);
    ggml_backend_tensor_set(rows.x(), x.data(), 0, x.size() * sizeof(float));

    Progress done{0, int64_t(rows.size()) * hp.n_layer};
    for (int il = 0; il < hp.n_layer; ++il) {
        if (abort && abort->load()) throw Error("ABORTED", "The prompt was stopped.");
        LayerReport layer;
        layer.layer = il;
        if (loads_layer(il)) {
            try {
                load_and_place(il, loader, layer);
            } catch (Error & e) {
                if (e.chunk_index >= 0) e.chunk_index = segment_of_chunk_[size_t(e.chunk_index)];
                throw;
            }
        }
        if (&weights.device(il) != &rows.device()) {
            std::vector<int32_t> every(size_t(rows.size()));
            std::iota(every.begin(), every.end(), 0);
            rows = narrow(rows, every, il);
        }
        layer.compute_start = now();
        const auto * c = check_at(il);
        if (c) check(il, c->second, rows, layer, abort);
        layer.rows = rows.size();
        const double start = now();
        compute(il, rows, !c, layer, abort);
        layer.compute_end = now();
        report_.compute_ms += layer.compute_end - start;
        report_.layers.push_back(layer);
        done.done += layer.rows;
        done.total = done.done + int64_t(layer.rows) * (hp.n_layer - il - 1);
        if (progress) progress(done);
    }
    const double start = now();
    forward_.head(rows, logits, abort);
    report_.head_ms = now() - start;
    report_.recomputed_tokens = checks_.empty() ? 0 : int(report_.checks.back().selected.size());
    report_.total_ms = now();
    return report_;
}

}  // namespace kvasir
