#pragma once
// Copies placements' rows from the host to a device, as the loader does.
#include "engine/chunks/staging_buffer.h"
#include "engine/graph/forward.h"

namespace kvasir::test {

inline std::vector<Forward::Placement> staged(Device & device, std::vector<Forward::Placement> placements) {
    const ChunkShape & shape = placements.front().chunk->shape();
    StagingBuffer::Size size;
    for (const auto & p : placements) {
        (shape.dtype == KvDtype::f16 ? size.f16_rows : size.q8_0_rows) += int64_t(2 * p.chunk->n_tokens());
    }
    const int64_t kv_dim = shape.kv_dim(0);
    device.staging_buffer().reserve({kv_dim}, size);
    int64_t first = 0;
    for (auto & p : placements) {
        device.staging_buffer().copy(0, shape.dtype, kv_dim, first, p.stored.host, 2 * p.chunk->n_tokens());
        p.stored = {nullptr, device.staging_buffer().rows(0, shape.dtype, kv_dim), first};
        first += int64_t(2 * p.chunk->n_tokens());
    }
    device.staging_buffer().finish();
    return placements;
}

}  // namespace kvasir::test
