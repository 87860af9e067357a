// Packed chunk formats (k8v4, q4): unpacking against a slow second path, and prompts that contain such chunks.
#include <cmath>
#include <random>

#include "engine/kernels/convert.h"
#include "engine/kernels/rotated.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::append;
using test::apart;
using test::encode;
using test::ids;
using test::kNone;
using test::tiny;

namespace {

constexpr KvRow kRows[] = {{4, 8}, {2, 16}, {1, 32}, {2, 48}, {4, 72}, {2, 80}, {1, 96}, {8, 128}, {2, 256}, {1, 512}};
constexpr KvDtype kPackedDtypes[] = {KvDtype::k8v4, KvDtype::q4};

// Normal numbers; one channel of each head is `outlier` times as large.
std::vector<float> numbers(const KvRow & row, size_t tokens, float outlier = 1) {
    std::mt19937 rng(row.head_dim);
    std::normal_distribution<float> normal;
    std::vector<float> out(size_t(row.size()) * tokens);
    for (size_t i = 0; i < out.size(); ++i) out[i] = normal(rng) * (i % row.head_dim == 3 ? outlier : 1);
    return out;
}

std::vector<float> floats(const uint16_t * half, size_t n) {
    std::vector<float> out(n);
    f16_to_f32(half, out.data(), n);
    return out;
}

// ggml's q4_0, then Hadamard's matrix by its definition, H[i][j] = (−1)^popcount(i & j).
std::vector<float> unpacked_slowly(const std::vector<uint8_t> & blocks, size_t n, size_t width) {
    std::vector<float> rotated(n), out(n);
    ggml_get_type_traits(GGML_TYPE_Q4_0)->to_float(blocks.data(), rotated.data(), int64_t(n));
    for (size_t at = 0; at < n; at += width) {
        for (size_t i = 0; i < width; ++i) {
            double sum = 0;
            for (size_t j = 0; j < width; ++j) sum += rotated[at + j] * (__builtin_popcountll(i & j) % 2 ? -1 : 1);
            out[at + i] = float(sum / std::sqrt(double(width)));
        }
    }
    return out;
}

// The same chunk in f16, from what `chunk` unpacks to.
std::shared_ptr<ChunkKv> unpacked(const ChunkKv & chunk) {
    ChunkShape shape = chunk.shape();
    shape.dtype = KvDtype::f16;
    auto out = std::make_shared<ChunkKv>(shape, chunk.tokens());
    for (int il = 0; il < shape.n_layer(); ++il)
        unpack_layer(chunk.shape().dtype, shape.layers[size_t(il)], chunk.n_tokens(), chunk.layer(il),
                     reinterpret_cast<uint16_t *>(out->layer(il)));
    return out;
}

std::shared_ptr<ChunkKv> in_file(const ChunkKv & chunk, const std::string & name) {
    const std::string path = test::scratch(name);
    chunk.save(path);
    return std::make_shared<ChunkKv>(path);
}

std::vector<uint8_t> bytes_of(const ChunkKv & chunk) { return {chunk.layer(0), chunk.layer(0) + chunk.bytes()}; }

}  // namespace

TEST(unpacking_four_bits_equals_hadamards_matrix_by_its_definition) {
    for (const KvRow & row : kRows) {
        const size_t tokens = 3, n = size_t(row.size()) * tokens, width = rotation_width(row.head_dim);
        std::vector<float> values = numbers(row, tokens);
        std::vector<uint8_t> blocks(ggml_row_size(GGML_TYPE_Q4_0, int64_t(n)));
        rotated_from_f32(values.data(), blocks.data(), n, width);
        std::vector<uint16_t> fast(n), scalar(n);
        rotated_to_f16(blocks.data(), fast.data(), n, width);
        detail::rotated_to_f16_scalar(blocks.data(), scalar.data(), n, width);
        CHECK(fast == scalar);
        const double distance = apart(floats(fast.data(), n), unpacked_slowly(blocks, n, width));
        if (!(distance < 5e-4)) test::fail("head", int(row.head_dim), std::to_string(distance));
    }
}

TEST(packed_layers_return_the_values_with_the_error_of_their_bits) {
    for (const KvRow & row : kRows) {
        const size_t tokens = kSafeTokens + 20, n = size_t(row.size()) * tokens;
        const size_t safe = size_t(row.size()) * kSafeTokens;
        const std::vector<float> k = numbers(row, tokens), v = numbers(row, tokens);
        for (const KvDtype dtype : kPackedDtypes) {
            std::vector<uint8_t> layer(layer_bytes(dtype, row, tokens));
            store_rows(dtype, row, tokens, layer.data(), 0, 7, k.data(), v.data());  // in two parts
            const size_t done = 7 * size_t(row.size());
            store_rows(dtype, row, tokens, layer.data(), 7, tokens - 7, k.data() + done, v.data() + done);
            std::vector<uint16_t> out(2 * n);
            unpack_layer(dtype, row, tokens, layer.data(), out.data());
            const auto error = [&](const std::vector<float> & of, size_t half, size_t from, size_t to) {
                return apart(floats(out.data() + half * n + from, to - from),
                             {of.begin() + std::ptrdiff_t(from), of.begin() + std::ptrdiff_t(to)});
            };
            const double four = dtype == KvDtype::q4 ? error(k, 0, safe, n) : error(v, 1, safe, n);
            CHECK(four > 0.03 && four < 0.12);
            CHECK(error(k, 0, 0, safe) < 0.01 && error(v, 1, 0, safe) < 0.01);
            if (dtype == KvDtype::k8v4) CHECK(error(k, 0, safe, n) < 0.01);
        }
    }
}

TEST(rotation_spares_the_other_channels_from_an_outlier) {
    const KvRow row{8, 128};
    const size_t tokens = 64, n = size_t(row.size()) * tokens;
    const std::vector<float> values = numbers(row, tokens, 40);
    const auto error = [&](size_t width) {
        std::vector<float> x = values;
        std::vector<uint8_t> blocks(ggml_row_size(GGML_TYPE_Q4_0, int64_t(n)));
        std::vector<uint16_t> half(n);
        rotated_from_f32(x.data(), blocks.data(), n, width);
        rotated_to_f16(blocks.data(), half.data(), n, width);
        const std::vector<float> back = floats(half.data(), n);
        double sum = 0, all = 0;
        for (size_t i = 0; i < n; ++i) {
            if (i % 128 / 32 != 0 || i % 128 == 3) continue;  // the channels that share the outlier's block
            sum += std::pow(double(back[i]) - values[i], 2), all += std::pow(double(values[i]), 2);
        }
        return std::sqrt(sum / all);
    };
    CHECK(error(128) < 0.6 * error(1));
}

TEST(packed_chunks_of_512_tokens_take_30_and_42_percent_of_f16) {
    const KvRow row{8, 128};
    const auto share = [&](KvDtype dtype) {
        return double(layer_bytes(dtype, row, 512)) / double(layer_bytes(KvDtype::f16, row, 512));
    };
    CHECK(share(KvDtype::q4) <= 0.30);
    CHECK(share(KvDtype::k8v4) <= 0.42);
}

TEST(a_prompt_with_packed_chunks_equals_one_with_their_unpacked_values) {
    for (const char * arch : {"llama", "qwen3", "gemma4"}) {
        const auto m = tiny(arch);
        for (const KvDtype dtype : kPackedDtypes) {
            const auto a = encode(m, ids(90), dtype), b = encode(m, ids(20, 2), dtype), c = encode(m, ids(60, 3));
            const auto d = encode(m, ids(50, 4), KvDtype::q8_0);
            // Chunks of all formats, and parts of a packed one.
            const auto prompt = [&](const auto & first, const auto & second) {
                return std::vector<Segment>{{{1}, nullptr},           {{}, first}, {{}, c}, {{}, second}, {{}, d},
                                            {{}, first, TokenRange{40, 30}}, {ids(10, 5), nullptr}};
            };
            const auto fa = in_file(*a, "packed-a"), fb = in_file(*b, "packed-b");
            for (const StrategySpec & strategy :
                 {kNone, test::spread(0.2), StrategySpec{.name = "deviation", .check_layers = {1}, .ratios = {0.2}}}) {
                const auto wanted = append(m, prompt(unpacked(*a), unpacked(*b)), strategy).logits;
                CHECK(append(m, prompt(a, b), strategy).logits == wanted);
                CHECK(append(m, prompt(fa, fb), strategy).logits == wanted);
                CHECK(append(m, prompt(fa, b), strategy).logits == wanted);
                Session serial(m, 2048);
                serial.append(prompt(fa, fb), strategy, nullptr, nullptr, {.serial = true});
                CHECK(serial.logits() == wanted);
            }
        }
    }
}

TEST(an_f16_chunk_is_converted_to_the_bytes_that_encoding_gives) {
    const auto m = tiny("qwen3");
    const auto exact = encode(m, ids(90));
    const auto file = in_file(*exact, "exact");
    for (const KvDtype dtype : {KvDtype::f16, KvDtype::q8_0, KvDtype::k8v4, KvDtype::q4}) {
        const auto encoded = encode(m, ids(90), dtype);
        for (const auto & from : {exact, file}) {
            const auto converted = from->converted(dtype);
            CHECK_EQ(converted->key(), encoded->key());
            CHECK(bytes_of(*converted) == bytes_of(*encoded));
        }
    }
}

TEST(consecutive_chunks_in_one_pass_are_what_each_is_behind_those_before_it) {
    for (const char * arch : {"llama", "qwen3", "gemma4"}) {
        const auto m = tiny(arch);
        const std::vector<std::vector<int32_t>> texts{ids(90), ids(1, 2), ids(60, 3)};
        std::vector<int32_t> before = ids(70, 4);
        const auto together = encode_chunks(m, texts, before, KvDtype::q8_0, nullptr, nullptr);
        CHECK_EQ(together.size(), texts.size());
        for (size_t i = 0; i < texts.size(); ++i) {
            const auto alone = encode_chunk(m, texts[i], before, KvDtype::q8_0);
            CHECK_EQ(together.at(i)->key(), alone->key());
            CHECK(bytes_of(*together.at(i)) == bytes_of(*alone));
            before.insert(before.end(), texts[i].begin(), texts[i].end());
        }
    }
}

TEST(packed_chunks_return_from_their_file_bit_for_bit) {
    const auto m = tiny("gemma4");
    for (const KvDtype dtype : kPackedDtypes) {
        const auto chunk = encode(m, ids(40), dtype);
        const auto read = in_file(*chunk, "packed");
        CHECK(read->shape() == chunk->shape());
        read->pull_in();
        CHECK(bytes_of(*read) == bytes_of(*chunk));
    }
}
