// Small units against published vectors or a second computation.
#include <cmath>
#include <random>

#include "engine/chunks/hash.h"
#include "engine/fusing/strategy.h"
#include "engine/gguf/gguf_file.h"
#include "engine/gguf/vocab.h"
#include "engine/graph/rope.h"
#include "engine/kernels/convert.h"
#include "ggml.h"
#include "gguf.h"
#include "tests/edited_model.h"
#include "tests/harness.h"

using namespace kvasir;

TEST(sha256_matches_fips_vectors) {
    const auto of = [](const std::string & s) {
        Sha256 h;
        h.update(s.data(), s.size());
        return to_hex(h.digest());
    };
    CHECK_EQ(of(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    CHECK_EQ(of("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    CHECK_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
             std::string("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
}

TEST(sha256_does_not_depend_on_how_input_is_cut) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += char('a' + i % 26);
    Sha256 whole, parts;
    whole.update(text.data(), text.size());
    for (size_t at = 0, n = 1; at < text.size(); at += n, n = n * 2 % 97 + 1) {
        parts.update(text.data() + at, std::min(n, text.size() - at));
    }
    CHECK_EQ(to_hex(whole.digest()), to_hex(parts.digest()));
}

TEST(xxh64_matches_published_vectors) {
    CHECK_EQ(xxh64("", 0), 0xEF46DB3751D8E999ull);
    CHECK_EQ(xxh64("a", 1), 0xD24EC4F1A98C6E5Bull);
    CHECK_EQ(xxh64("abc", 3), 0x44BC2CF5AD770999ull);
    const std::string s = "Nobody inspects the spammish repetition";
    CHECK_EQ(xxh64(s.data(), s.size()), 0xFBCEA83C8A378BF1ull);
}

TEST(half_conversions_agree_with_ggml) {
    std::minstd_rand rng(5);
    std::vector<float> in(1003), back(in.size());
    for (float & v : in) v = std::ldexp(float(rng() % 20001) / 10000.0f - 1.0f, int(rng() % 34) - 20);
    std::vector<uint16_t> ours(in.size()), theirs(in.size());
    f32_to_f16(in.data(), ours.data(), in.size());
    ggml_fp32_to_fp16_row(in.data(), theirs.data(), int64_t(in.size()));
    CHECK(ours == theirs);
    f16_to_f32(ours.data(), back.data(), back.size());
    for (size_t i = 0; i < back.size(); ++i) CHECK(back[i] == ggml_fp16_to_fp32(ours[i]));
}

TEST(rotation_keeps_lengths_and_composes) {
    for (int mode : {GGML_ROPE_TYPE_NORMAL, GGML_ROPE_TYPE_NEOX}) {
        RopeParams r;
        r.n_rot = 64, r.mode = mode;
        std::vector<float> key(2 * 96), once, row(64);
        std::minstd_rand rng(3);
        for (float & v : key) v = float(rng() % 2001) / 1000.0f - 1.0f;
        once = key;
        std::vector<float> twice = key;
        const auto rotate = [&](std::vector<float> & k, int position) {
            rope_row(r, position, row.data());
            rotate_heads(k.data(), 2, 96, r, row.data());
        };
        rotate(once, 300);
        rotate(twice, 100);
        rotate(twice, 200);
        double before = 0, after = 0, apart = 0;
        for (size_t i = 0; i < key.size(); ++i) {
            before += double(key[i]) * key[i], after += double(once[i]) * once[i];
            apart = std::max(apart, double(std::fabs(once[i] - twice[i])));
        }
        CHECK(std::fabs(before - after) < 1e-3 * before);
        CHECK(apart < 1e-3);
        // Dimensions from n_rot on are unchanged.
        for (int i = 64; i < 96; ++i) {
            CHECK(once[size_t(i)] == key[size_t(i)] && once[size_t(96 + i)] == key[size_t(96 + i)]);
        }
    }
}

TEST(rotation_rotates_each_pair_by_its_angle) {
    for (const auto & [mode, n_rot] : {std::pair(GGML_ROPE_TYPE_NORMAL, 64),
                                       {GGML_ROPE_TYPE_NEOX, 64},
                                       {GGML_ROPE_TYPE_NORMAL, 20},
                                       {GGML_ROPE_TYPE_NEOX, 20}}) {
        RopeParams r;
        r.n_rot = n_rot, r.mode = mode;
        std::vector<float> key(3 * 80), row(static_cast<size_t>(n_rot));
        std::minstd_rand rng(11);
        for (float & v : key) v = float(rng() % 2001) / 1000.0f - 1.0f;
        std::vector<float> turned = key;
        rope_row(r, 77, row.data());
        rotate_heads(turned.data(), 3, 80, r, row.data());
        for (int h = 0; h < 3; ++h)
            for (int i = 0; i < n_rot / 2; ++i) {
                const size_t a = size_t(h * 80 + (mode == GGML_ROPE_TYPE_NEOX ? i : 2 * i));
                const size_t b = mode == GGML_ROPE_TYPE_NEOX ? a + size_t(n_rot / 2) : a + 1;
                const double c = row[size_t(2 * i)], s = row[size_t(2 * i + 1)];
                CHECK(std::fabs(turned[a] - (key[a] * c - key[b] * s)) < 1e-6);
                CHECK(std::fabs(turned[b] - (key[a] * s + key[b] * c)) < 1e-6);
            }
    }
}

TEST(rope_table_rows_equal_single_rows) {
    RopeParams r;
    r.n_rot = 32, r.freq_scale = 0.25f, r.ext_factor = 1.0f, r.n_ctx_orig = 1024;
    RopeTable table(r);
    table.grow(10);
    table.grow(5);  // never shrinks
    table.grow(40);
    std::vector<float> row(32);
    for (int p : {0, 9, 10, 39}) {
        rope_row(r, p, row.data());
        CHECK(std::equal(row.begin(), row.end(), table.row(p)));
    }
}

TEST(selection_takes_the_largest_and_the_earlier_of_equals) {
    const std::vector<float> scores{5, 1, 9, 9, 2};
    CHECK(top_k(scores, 0).empty());
    CHECK((top_k(scores, 1) == std::vector<int32_t>{2}));
    CHECK((top_k(scores, 3) == std::vector<int32_t>{0, 2, 3}));
    CHECK((top_k(scores, 99) == std::vector<int32_t>{0, 1, 2, 3, 4}));
}

TEST(a_budget_is_a_share_or_covers_the_mass_within_bounds) {
    const std::vector<float> scores{50, 1, 30, 9, 10};
    CHECK_EQ((Budget{0.4}).tokens(scores, 5), size_t(2));
    CHECK_EQ((Budget{0.4}).tokens(scores, 10), size_t(4));  // of all reusable tokens, not of the candidates
    CHECK_EQ((Budget{1}).tokens(scores, 10), size_t(5));
    CHECK_EQ((Budget{0, 0.8, 0, 1}).tokens(scores, 5), size_t(2));
    CHECK_EQ((Budget{0, 0.81, 0, 1}).tokens(scores, 5), size_t(3));
    CHECK_EQ((Budget{0, 0.8, 0.6, 1}).tokens(scores, 5), size_t(3));
    CHECK_EQ((Budget{0, 0.8, 0, 0.2}).tokens(scores, 5), size_t(1));
    CHECK_EQ((Budget{0, 1, 0, 1}).tokens(scores, 5), size_t(5));
    CHECK_EQ((Budget{0, 0.9, 0, 1}).tokens({0, 0, 0}, 3), size_t(0));  // nothing to cover
}

TEST(template_marks_that_no_text_yields_are_one_token_whatever_their_type) {
    const std::string path = test::edited_model(
        test::random_model("plain-marks", "--layers 1 --vocab 400"), "marks", [](gguf_context * h, ggml_context *) {
            const int64_t key = gguf_find_key(h, "tokenizer.ggml.token_type");
            const auto * types = static_cast<const int32_t *>(gguf_get_arr_data(h, key));
            std::vector<int32_t> changed(types, types + gguf_get_arr_n(h, key));
            CHECK_EQ(changed[300], 1);  // normal
            changed[301] = 5;           // unused
            gguf_set_arr_data(h, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, changed.data(), changed.size());
        });
    const Vocab vocab{GgufFile(path)};
    const auto text = [&](const std::string & s) { return vocab.tokenize(s, false, false); };
    std::vector<int32_t> wanted{1};
    for (int32_t token : text("a")) wanted.push_back(token);
    wanted.push_back(300);
    for (int32_t token : text("b c")) wanted.push_back(token);
    wanted.push_back(301);
    CHECK(vocab.tokenize("a<filler300>b c<filler301>", true, true) == wanted);
    CHECK(vocab.tokenize("<filler301>", false, true) == std::vector<int32_t>{301});
    // Marks in document text stay words, and so do those that the vocabulary lacks.
    CHECK(text("<filler300>").size() > 1);
    CHECK(vocab.tokenize("<filler999>", false, true).size() > 1);
}
