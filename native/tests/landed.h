#pragma once
// Brings placements' rows from the host to a device, as the loader does.
#include "engine/forward.h"
#include "engine/landing.h"

namespace kvasir::test {

inline std::vector<Forward::Placement> landed(Compute & device, std::vector<Forward::Placement> placements) {
    const ChunkShape & shape = placements.front().chunk->shape();
    Landing::Size size;
    for (const auto & p : placements) (shape.dtype == KvDtype::f16 ? size.f16_rows : size.q8_0_rows) += int64_t(2 * p.chunk->n_tokens());
    device.landing().reserve(int64_t(shape.n_head_kv) * shape.head_dim, size);
    int64_t first = 0;
    for (auto & p : placements) {
        device.landing().copy(0, shape.dtype, first, p.stored.host, 2 * p.chunk->n_tokens());
        p.stored = {nullptr, device.landing().rows(0, shape.dtype), first};
        first += int64_t(2 * p.chunk->n_tokens());
    }
    device.landing().finish();
    return placements;
}

}  // namespace kvasir::test
