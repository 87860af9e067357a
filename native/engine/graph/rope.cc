#include "rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kvasir {

namespace {

// YaRN (Peng et al. 2023, §3.2): the dimension that completes `beta` rotations within the trained context.
float correction_dim(const RopeParams & r, float beta) {
    return r.n_rot * std::log(r.n_ctx_orig / (beta * 2 * std::numbers::pi_v<float>)) / (2 * std::log(r.freq_base));
}

}  // namespace

void rope_row(const RopeParams & r, int32_t position, float * out) {
    float low = 0, high = 0, mscale = r.attn_factor;
    if (r.ext_factor != 0) {
        low = std::max(0.0f, std::floor(correction_dim(r, r.beta_fast)));
        high = std::min(float(r.n_rot - 1), std::ceil(correction_dim(r, r.beta_slow)));
        mscale *= 1.0f + 0.1f * std::log(1.0f / r.freq_scale);
    }
    const float theta_scale = std::pow(r.freq_base, -2.0f / r.n_rot);
    float theta = float(position);
    for (int i = 0; i < r.n_rot / 2; ++i, theta *= theta_scale) {
        const float extrapolated = r.freq_factors.empty() ? theta : theta / r.freq_factors[i];
        float angle = r.freq_scale * extrapolated;
        if (r.ext_factor != 0) {
            const float ramp = (i - low) / std::max(0.001f, high - low);
            const float mix = (1 - std::clamp(ramp, 0.0f, 1.0f)) * r.ext_factor;
            angle = angle * (1 - mix) + extrapolated * mix;
        }
        out[2 * i] = std::cos(angle) * mscale;
        out[2 * i + 1] = std::sin(angle) * mscale;
    }
}

void RopeTable::grow(int32_t positions) {
    const size_t have = rows_.size() / rope_.n_rot;
    if (size_t(positions) <= have) return;
    rows_.resize(size_t(positions) * rope_.n_rot);
    for (size_t p = have; p < size_t(positions); ++p) rope_row(rope_, int32_t(p), rows_.data() + p * rope_.n_rot);
}

}  // namespace kvasir
