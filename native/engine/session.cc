#include "session.h"

#include <algorithm>
#include <numeric>

#include "error.h"
#include "fuse.h"

namespace kvasir {

Session::Session(std::shared_ptr<Model> model, int capacity)
    : model_(std::move(model)),
      capacity_(capacity),
      cache_(model_->weights(), capacity),
      forward_(model_->weights(), model_->cpu(), cache_, model_->rope_table()) {}

AppendReport Session::append(const std::vector<Segment> & segments, const StrategySpec & strategy, const std::atomic<bool> * abort,
                             const ProgressFn & progress, LoadPlan plan, int observe) {
    trace_ = {};
    Fuse fuse(*model_, forward_, segments, strategy, plan, length_, capacity_);
    if (observe > 0) fuse.observe(trace_, observe);
    AppendReport report = fuse.run(logits_, abort, progress);
    length_ += report.tokens;
    return report;
}

Generated Session::generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                            const std::function<bool(int32_t)> & on_token) {
    require(!logits_.empty(), "generate needs an append before it");
    const auto start = Clock::now();
    Sampler sampler(sampling, model_->vocab().size());
    Generated out;
    out.stop = "length";
    const auto aborted = [&] { return abort && abort->load(); };
    while (int(out.tokens.size()) < max_tokens) {
        if (aborted()) { out.stop = "aborted"; break; }
        const int32_t token = sampler.sample(logits_);
        if (model_->vocab().ends_generation(token)) { out.stop = "eos"; break; }
        if (length_ >= capacity_) { out.stop = "context"; break; }
        out.tokens.push_back(token);
        if (on_token && !on_token(token)) { out.stop = "aborted"; break; }
        try {
            forward_.decode(token, length_, logits_, abort);
        } catch (const Error & e) {
            if (e.code != "ABORTED") throw;
            out.stop = "aborted";
            break;
        }
        ++length_;
    }
    out.ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    return out;
}

void Session::truncate(int length) {
    require(length >= 0 && length <= length_, "truncate: length out of range");
    length_ = length;
}

std::shared_ptr<ChunkKv> encode_chunk(const std::shared_ptr<Model> & model, const std::vector<int32_t> & tokens, const std::vector<int32_t> & prefix,
                                      KvDtype dtype, const std::atomic<bool> * abort, const ProgressFn & progress) {
    require(!tokens.empty(), "a chunk holds at least one token");
    model->check_tokens(tokens);
    model->check_tokens(prefix);
    std::vector<int32_t> all = prefix;
    all.insert(all.end(), tokens.begin(), tokens.end());
    const int n = int(all.size());
    const Hparams & hp = model->hparams();
    Session session(model, n);
    session.prepare();
    Forward & forward = session.forward_;
    auto chunk = std::make_shared<ChunkKv>(model->chunk_shape(dtype, prefix), tokens);

    std::vector<int32_t> positions(static_cast<size_t>(n));
    std::iota(positions.begin(), positions.end(), 0);
    const std::vector<float> x = forward.embed(all);
    RowSet rows(positions, hp, model->weights().device(0), session.cache_.capacity());
    ggml_backend_tensor_set(rows.x(), x.data(), 0, x.size() * sizeof(float));
    std::vector<int32_t> every(positions);
    std::vector<float> k, v;
    const size_t skip = prefix.size() * size_t(hp.kv_dim());
    for (int il = 0; il < hp.n_layer; ++il) {
        Compute & device = model->weights().device(il);
        if (&device != &rows.device()) rows = rows.subset(every, hp, device, session.cache_.capacity());
        LayerCall call;
        call.raw_k = &k, call.raw_v = &v;
        call.advance = il + 1 < hp.n_layer;
        forward.layer(il, rows, call, abort);
        chunk->store_rows(il, 0, tokens.size(), k.data() + skip, v.data() + skip);
        if (progress) progress({int64_t(il + 1) * n, int64_t(hp.n_layer) * n});
    }
    return chunk;
}

}  // namespace kvasir
