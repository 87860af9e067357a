#pragma once
// The vectors of an embedding model's chunks in a compact form, for exact search: int8 with a scale per vector, a
// quarter of f32's memory. A scan returns candidates with bounds on their exact similarity; the caller, who has the
// exact vectors, compares as many of them as the bounds leave open.
//
// Thread safety: none; its owner calls it from one thread at a time. A scan uses several threads itself.
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kvasir {

// A chunk and where it belongs.
struct VectorPlace {
    int64_t chunk = 0;
    int64_t document = 0;
    int64_t set = 0;
};

// The chunks to compare: those of the sets, but of a document with a stand-in those of that set instead.
struct VectorScope {
    std::unordered_set<int64_t> sets;
    std::unordered_map<int64_t, int64_t> stand_ins;             // document → set
    std::optional<std::unordered_set<int64_t>> documents = {};  // absent: all
    bool has(const VectorPlace & place) const;
};

struct VectorCandidate {
    int64_t chunk = 0;
    float bound = 0;  // the exact dot product is at most this
};

struct VectorScanResult {
    std::vector<VectorCandidate> candidates;  // by bound, largest first; then by chunk
    size_t count = 0;                         // vectors in scope
    double mean = 0;                          // of the dot products of all vectors in scope
    double deviation = 0;
};

class VectorScan {
  public:
    // `dimension`: 1 to kMostDimension.
    explicit VectorScan(size_t dimension);
    // `vectors`: [places][dimension]. A chunk that is known gets the new vector and place.
    void put(const std::vector<VectorPlace> & places, const float * vectors);
    void remove(const std::vector<int64_t> & chunks);
    size_t size() const { return rows_.size(); }
    size_t dimension() const { return dimension_; }
    // The `most` vectors in scope with the largest bounds. `query`: [dimension]. Uses up to `threads` threads.
    VectorScanResult scan(const float * query, const VectorScope & scope, size_t most, int threads) const;

  private:
    struct Row {
        VectorPlace place;
        float scale = 0;
        float residual = 0;  // length of the difference from the exact vector
        float length = 0;    // of the values times scale
    };
    struct Query;
    struct Part;
    int8_t * values(size_t row) const;
    size_t append(int64_t chunk);
    void scan_rows(const Query & query, const VectorScope & scope, size_t begin, size_t end, Part & part) const;

    size_t dimension_, stride_;
    std::vector<Row> rows_;
    std::vector<std::unique_ptr<int8_t[]>> blocks_;  // of kRowsPerBlock rows: growing copies nothing
    std::unordered_map<int64_t, size_t> row_of_;     // by chunk
};

}  // namespace kvasir
