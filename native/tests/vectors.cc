// The compact vectors against the definition in double precision.
#include "engine/vectors/dot.h"
#include "engine/vectors/vector_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/harness.h"

using namespace kvasir;

namespace {

constexpr int64_t kChunkBase = 1000;

// Unit vectors around `topics` centres; with 0 topics in all directions.
std::vector<float> unit_vectors(size_t count, size_t dimension, size_t topics, uint32_t seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal;
    std::vector<float> centres(std::max<size_t>(topics, 1) * dimension);
    for (float & c : centres) c = topics ? 3 * normal(rng) : 0;
    std::vector<float> values(count * dimension);
    for (size_t row = 0; row < count; ++row) {
        const float * centre = &centres[topics ? rng() % topics * dimension : 0];
        double squares = 0;
        for (size_t i = 0; i < dimension; ++i) {
            float & v = values[row * dimension + i];
            v = centre[i] + normal(rng);
            squares += double(v) * v;
        }
        for (size_t i = 0; i < dimension; ++i) values[row * dimension + i] /= float(std::sqrt(squares));
    }
    return values;
}

double exact(const float * a, const float * b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) sum += double(a[i]) * b[i];
    return sum;
}

// Chunk kChunkBase + i is in document i / 10 and set i % 3.
std::vector<VectorPlace> places(size_t count) {
    std::vector<VectorPlace> all;
    for (size_t i = 0; i < count; ++i) all.push_back({kChunkBase + int64_t(i), int64_t(i / 10), int64_t(i % 3)});
    return all;
}

const VectorScope kAll{{0, 1, 2}, {}};

// Every candidate's bound holds, those left out are below all bounds, and the sums are those of the exact products.
void check_scan(const VectorScan & scan, const std::vector<float> & values, const std::vector<float> & query,
                const std::vector<size_t> & in_scope, const VectorScope & scope, size_t most, int threads) {
    const size_t n = query.size();
    const VectorScanResult result = scan.scan(query.data(), scope, most, threads);
    CHECK_EQ(result.count, in_scope.size());
    CHECK_EQ(result.candidates.size(), std::min(most, in_scope.size()));
    double sum = 0;
    for (const size_t row : in_scope) sum += exact(&values[row * n], query.data(), n);
    if (!in_scope.empty()) CHECK(std::fabs(result.mean - sum / double(in_scope.size())) < 1e-3);
    std::vector<bool> is_candidate(values.size() / n);
    for (const VectorCandidate & c : result.candidates) {
        const size_t row = size_t(c.chunk - kChunkBase);
        is_candidate[row] = true;
        CHECK(exact(&values[row * n], query.data(), n) <= double(c.bound));
        CHECK(double(c.bound) - exact(&values[row * n], query.data(), n) < 0.05);
    }
    CHECK(std::is_sorted(result.candidates.begin(), result.candidates.end(),
                         [](const auto & a, const auto & b) { return a.bound > b.bound; }));
    for (const size_t row : in_scope)
        if (!is_candidate[row])
            CHECK(exact(&values[row * n], query.data(), n) <= double(result.candidates.back().bound));
}

}  // namespace

TEST(int8_dot_products_are_exact_in_every_version) {
    size_t count = 0;
    const NamedDot * all = dot_functions(count);
    CHECK(count >= 1);
    std::mt19937 rng(3);
    for (size_t n = kDotStep; n <= kMostDimension; n = n < 1024 ? n + kDotStep : n * 2) {
        std::vector<int8_t> row(n);
        std::vector<int16_t> query(n);
        for (const bool extreme : {false, true}) {
            int64_t expected = 0;
            for (size_t i = 0; i < n; ++i) {
                row[i] = extreme ? int8_t(-127) : int8_t(int(rng() % 255) - 127);
                query[i] = extreme ? int16_t(-kQueryMost) : int16_t(int(rng() % (2 * kQueryMost + 1)) - kQueryMost);
                expected += int64_t(row[i]) * query[i];
            }
            for (size_t k = 0; k < count; ++k)
                if (all[k].dot(row.data(), query.data(), n) != expected) test::fail(all[k].name, int(n), "wrong sum");
        }
    }
}

TEST(a_scan_bounds_the_exact_similarities) {
    for (const size_t dimension : {1, 3, 64, 100, 768})
        for (const size_t topics : {0, 7}) {
            const size_t count = 3000;
            const auto values = unit_vectors(count, dimension, topics, 11);
            VectorScan scan(dimension);
            scan.put(places(count), values.data());
            std::vector<size_t> all(count);
            for (size_t i = 0; i < count; ++i) all[i] = i;
            for (uint32_t seed = 1; seed < 4; ++seed) {
                const size_t most = seed == 1 ? 5000 : 200;
                check_scan(scan, values, unit_vectors(1, dimension, topics, seed), all, kAll, most, 2);
            }
        }
}

TEST(a_scan_stays_in_its_scope) {
    const size_t count = 3000, n = 32;
    const auto values = unit_vectors(count, n, 0, 5);
    const auto query = unit_vectors(1, n, 0, 6);
    VectorScan scan(n);
    scan.put(places(count), values.data());
    const VectorScope scopes[] = {{{0, 2}, {}},
                                  {{1}, {{4, 2}, {5, 9}}},
                                  {{0, 1, 2}, {}, std::unordered_set<int64_t>{7, 200}},
                                  {{}, {}},
                                  {{0, 1}, {{7, 2}}, std::unordered_set<int64_t>{7}}};
    for (const VectorScope & scope : scopes) {
        std::vector<size_t> expected;
        for (size_t i = 0; i < count; ++i) {
            const int64_t document = int64_t(i / 10), set = int64_t(i % 3);
            const auto other = scope.stand_ins.find(document);
            const bool in_set = other == scope.stand_ins.end() ? scope.sets.count(set) > 0 : other->second == set;
            if (in_set && (!scope.documents || scope.documents->count(document))) expected.push_back(i);
        }
        check_scan(scan, values, query, expected, scope, 100, 1);
    }
}

TEST(threads_and_blocks_find_the_same) {
    const size_t count = 40000, n = 16;
    const auto values = unit_vectors(count, n, 0, 8);
    const auto query = unit_vectors(1, n, 0, 9);
    VectorScan scan(n);
    scan.put(places(count), values.data());
    const auto one = scan.scan(query.data(), kAll, 300, 1), four = scan.scan(query.data(), kAll, 300, 4);
    CHECK_EQ(one.count, four.count);
    CHECK_EQ(one.candidates.size(), four.candidates.size());
    for (size_t i = 0; i < one.candidates.size(); ++i) CHECK_EQ(one.candidates[i].chunk, four.candidates[i].chunk);
}

TEST(changed_and_removed_vectors_are_no_longer_found) {
    const size_t count = 2500, n = 64;
    auto values = unit_vectors(count, n, 0, 13);
    VectorScan scan(n);
    scan.put(places(count), values.data());
    const auto changed = unit_vectors(1, n, 0, 14);
    std::copy(changed.begin(), changed.end(), &values[7 * n]);
    scan.put({{kChunkBase + 7, 0, 1}}, changed.data());
    std::vector<int64_t> removed = {12345678};
    std::vector<size_t> left;
    for (size_t i = 0; i < count; ++i) {
        if (i % 3 == 0 || i > 1000) removed.push_back(kChunkBase + int64_t(i));
        else left.push_back(i);
    }
    scan.remove(removed);
    CHECK_EQ(scan.size(), left.size());
    check_scan(scan, values, changed, left, kAll, 50, 1);
    CHECK_EQ(scan.scan(changed.data(), kAll, 1, 1).candidates[0].chunk, kChunkBase + 7);
    for (const size_t row : left) scan.remove({kChunkBase + int64_t(row)});
    CHECK_EQ(scan.scan(changed.data(), kAll, 1, 1).count, size_t(0));
}

TEST(vectors_without_a_direction_count_as_unrelated) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float values[] = {0, 0, 1, 0, nan, 1};
    VectorScan scan(2);
    scan.put(places(3), values);
    const float query[] = {1, 0};
    const auto result = scan.scan(query, kAll, 3, 1);
    CHECK_EQ(result.candidates[0].chunk, kChunkBase + 1);
    CHECK_EQ(result.candidates[1].bound, 0.0f);
    CHECK_EQ(result.candidates[2].bound, 0.0f);
    CHECK_EQ(scan.scan(values, kAll, 3, 1).mean, 0.0);
}
