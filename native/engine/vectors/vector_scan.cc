#include "engine/vectors/vector_scan.h"

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>

#include "engine/error.h"
#include "engine/vectors/dot.h"

namespace kvasir {

namespace {

constexpr size_t kRowsPerBlock = 1024;
// A thread's share is at least this: starting it takes as long as comparing a few hundred rows.
constexpr size_t kRowsPerThread = 8192;
// Rounding of f32 sums, relative to the vectors' lengths.
constexpr float kRounding = 1e-6f;

// Values in steps of `scale`, and the length of what the steps lose.
struct Quantised {
    float scale = 0, residual = 0, length = 0;
};

// Rounds `n` values to whole multiples of a scale, at most ±`most`. A vector that is not finite becomes zeros.
template <typename Int> Quantised quantise(const float * values, size_t n, int most, Int * out) {
    float largest = 0;
    bool finite = true;
    for (size_t i = 0; i < n; ++i) {
        largest = std::max(largest, std::fabs(values[i]));
        finite = finite && std::isfinite(values[i]);
    }
    if (largest == 0 || !finite) return std::fill(out, out + n, Int(0)), Quantised{};
    const float scale = largest / float(most);
    double lost = 0, kept = 0;
    for (size_t i = 0; i < n; ++i) {
        const int step = std::clamp(int(std::lrint(values[i] / scale)), -most, most);
        out[i] = Int(step);
        const double value = double(step) * scale;
        lost += (values[i] - value) * (values[i] - value);
        kept += value * value;
    }
    return {scale, float(std::sqrt(lost)), float(std::sqrt(kept))};
}

bool before(const VectorCandidate & a, const VectorCandidate & b) {
    return a.bound > b.bound || (a.bound == b.bound && a.chunk < b.chunk);
}

}  // namespace

struct VectorScan::Query {
    std::vector<int16_t> values;
    Quantised quantised;
    float length = 0;  // of the exact query
};

// One thread's result: a heap whose first candidate is the worst one kept, and sums over all of its rows in scope.
struct VectorScan::Part {
    size_t most = 0;
    std::vector<VectorCandidate> heap = {};
    size_t count = 0;
    double sum = 0, squares = 0;

    void add(const VectorCandidate & candidate) {
        if (heap.size() == most) {
            if (!before(candidate, heap.front())) return;
            std::pop_heap(heap.begin(), heap.end(), before);
            heap.pop_back();
        }
        heap.push_back(candidate);
        std::push_heap(heap.begin(), heap.end(), before);
    }
};

bool VectorScope::has(const VectorPlace & place) const {
    if (documents && !documents->count(place.document)) return false;
    if (!stand_ins.empty()) {
        const auto found = stand_ins.find(place.document);
        if (found != stand_ins.end()) return found->second == place.set;
    }
    return sets.count(place.set) > 0;
}

VectorScan::VectorScan(size_t dimension)
    : dimension_(dimension), stride_((dimension + kDotStep - 1) / kDotStep * kDotStep) {
    require(dimension >= 1 && dimension <= kMostDimension, "a vector's dimension is out of range");
}

int8_t * VectorScan::values(size_t row) const {
    return blocks_[row / kRowsPerBlock].get() + row % kRowsPerBlock * stride_;
}

void VectorScan::put(const std::vector<VectorPlace> & places, const float * vectors) {
    for (size_t i = 0; i < places.size(); ++i) {
        const auto found = row_of_.find(places[i].chunk);
        const size_t row = found == row_of_.end() ? append(places[i].chunk) : found->second;
        const Quantised q = quantise(vectors + i * dimension_, dimension_, INT8_MAX, values(row));
        rows_[row] = {places[i], q.scale, q.residual, q.length};
    }
}

size_t VectorScan::append(int64_t chunk) {
    const size_t row = rows_.size();
    if (row == blocks_.size() * kRowsPerBlock)
        blocks_.push_back(std::make_unique<int8_t[]>(kRowsPerBlock * stride_));
    row_of_.emplace(chunk, row);
    rows_.emplace_back();
    return row;
}

void VectorScan::remove(const std::vector<int64_t> & chunks) {
    for (const int64_t chunk : chunks) {
        const auto found = row_of_.find(chunk);
        if (found == row_of_.end()) continue;
        const size_t row = found->second, last = rows_.size() - 1;
        row_of_.erase(found);
        if (row != last) {
            std::copy_n(values(last), stride_, values(row));
            rows_[row] = rows_[last];
            row_of_[rows_[row].place.chunk] = row;
        }
        rows_.pop_back();
        if (rows_.size() % kRowsPerBlock == 0) blocks_.pop_back();
    }
}

void VectorScan::scan_rows(const Query & query, const VectorScope & scope, size_t begin, size_t end,
                           Part & part) const {
    const DotFn dot = dot_function();
    for (size_t i = begin; i < end; ++i) {
        const Row & row = rows_[i];
        if (!scope.has(row.place)) continue;
        const float score = float(dot(values(i), query.values.data(), stride_)) * row.scale * query.quantised.scale;
        const float error = row.residual * query.length + row.length * query.quantised.residual +
                            kRounding * row.length * query.length;
        part.add({row.place.chunk, score + error});
        part.count++;
        part.sum += score;
        part.squares += double(score) * score;
    }
}

VectorScanResult VectorScan::scan(const float * query, const VectorScope & scope, size_t most, int threads) const {
    require(most > 0, "a scan returns at least one candidate");
    Query q;
    q.values.resize(stride_);
    q.quantised = quantise(query, dimension_, kQueryMost, q.values.data());
    q.length = q.quantised.length + q.quantised.residual;
    const size_t parts = std::clamp<size_t>(rows_.size() / kRowsPerThread, 1, size_t(std::max(1, threads)));
    std::vector<Part> results(parts, Part{most});
    for (Part & part : results) part.heap.reserve(std::min(most, rows_.size()));  // threads must not throw
    std::vector<std::thread> others;
    others.reserve(parts);
    const auto run = [&](size_t part) {
        scan_rows(q, scope, rows_.size() * part / parts, rows_.size() * (part + 1) / parts, results[part]);
    };
    for (size_t part = 1; part < parts; ++part) {
        try {
            others.emplace_back(run, part);
        } catch (const std::system_error &) {
            run(part);  // no more threads are to be had
        }
    }
    run(0);
    for (std::thread & other : others) other.join();

    VectorScanResult result;
    double sum = 0, squares = 0;
    for (const Part & part : results) {
        result.candidates.insert(result.candidates.end(), part.heap.begin(), part.heap.end());
        result.count += part.count;
        sum += part.sum;
        squares += part.squares;
    }
    std::sort(result.candidates.begin(), result.candidates.end(), before);
    if (result.candidates.size() > most) result.candidates.resize(most);
    if (result.count > 0) {
        result.mean = sum / double(result.count);
        result.deviation = std::sqrt(std::max(0.0, squares / double(result.count) - result.mean * result.mean));
    }
    return result;
}

}  // namespace kvasir
