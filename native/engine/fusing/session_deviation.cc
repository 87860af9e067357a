#include "session_deviation.h"

#include <cmath>

#include "engine/error.h"

namespace kvasir {

namespace {

double squared_distance(const float * a, const float * b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += double(a[i] - b[i]) * double(a[i] - b[i]);
    return sum;
}

// Appends the distance of each pair of rows of `width` values to `out`.
void add_rows(const std::vector<float> & a, const std::vector<float> & b, size_t width, std::vector<float> & out) {
    for (size_t at = 0; at < a.size(); at += width) out.push_back(float(squared_distance(&a[at], &b[at], width)));
}

}  // namespace

SessionDeviation deviation(const Session & a, const Session & b, int begin, int count) {
    require(&a.model() == &b.model(), "only sessions of the same model can be compared");
    require(begin >= 0 && count > 0 && begin + count <= std::min(a.length(), b.length()),
            "both sessions must hold the tokens to compare");
    const Hparams & hp = a.model().hparams();
    SessionDeviation out;
    for (int il = 0; il < hp.n_layer; ++il) {
        const auto width = size_t(hp.layer(il).kv_dim());
        add_rows(a.cache().keys(il, begin, count), b.cache().keys(il, begin, count), width, out.k);
        add_rows(a.cache().values(il, begin, count), b.cache().values(il, begin, count), width, out.v);
    }
    const AttentionTrace &s = a.trace(), &t = b.trace();
    if (!s.observers || !t.observers) return out;
    for (int il = 0; il < hp.n_layer; ++il) {
        const auto &x = s.layers[size_t(il)], &y = t.layers[size_t(il)];
        require(s.observers == t.observers && x.size() == y.size(), "the observed attention covers different tokens");
        const double rows = double(hp.layer(il).n_head * s.observers);
        out.attention.push_back(float(std::sqrt(squared_distance(x.data(), y.data(), x.size()) / rows)));
    }
    return out;
}

}  // namespace kvasir
