// Resident KV in q8_0: the same paths as in f16, with coarser KV.
#include <cmath>

#include "engine/kv/prefix_blocks.h"
#include "tests/fixtures.h"
#include "tests/staged.h"

using namespace kvasir;
using test::apart;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;

namespace {

std::shared_ptr<Model> tiny(const std::string & arch, KvDtype kv, int head_dim = 64) {
    return test::tiny(arch, "--head-dim " + std::to_string(head_dim), {2, "cpu", kv});
}


// BOS, two chunks in `stored`, a question; then four more tokens, one by one.
struct Answer {
    std::vector<float> logits;
    std::vector<int32_t> tokens;
};
Answer answer(const std::shared_ptr<Model> & m, KvDtype stored, const StrategySpec & strategy) {
    const auto chunk = [&](int n, int seed) { return encode(m, ids(n, seed), stored); };
    Session session(m, 1024);
    session.append({{{1}, nullptr}, {{}, chunk(130, 1)}, {{}, chunk(90, 2)}, {ids(20, 3), nullptr}}, strategy, nullptr,
                   nullptr);
    Answer a{session.logits(), {}};
    a.tokens = session.generate(4, {}, nullptr, [](const Sampled &) { return true; }).tokens;
    return a;
}

}  // namespace

TEST(conversations_in_q8_0_answer_nearly_as_those_in_f16) {
    for (const char * arch : {"llama", "qwen3"}) {
        const auto exact = tiny(arch, KvDtype::f16), compact = tiny(arch, KvDtype::q8_0);
        for (const StrategySpec & strategy : {kFull, kNone}) {
            const Answer a = answer(exact, KvDtype::f16, strategy), b = answer(compact, KvDtype::f16, strategy);
            const double distance = apart(b.logits, a.logits);
            if (!(distance > 0 && distance < 5e-2)) {
                test::fail(arch, 0, strategy.name + ": apart by " + std::to_string(distance));
            }
            CHECK_EQ(b.tokens.size(), a.tokens.size());
        }
    }
}

TEST(q8_0_takes_53_percent_of_the_memory_of_f16) {
    const auto exact = tiny("llama", KvDtype::f16), compact = tiny("llama", KvDtype::q8_0);
    CHECK_EQ(compact->kv_pool().block_bytes() * 32, exact->kv_pool().block_bytes() * 17);
}

TEST(ratio_one_is_full_prefill_in_q8_0_bit_for_bit) {
    const auto m = tiny("qwen3", KvDtype::q8_0);
    const StrategySpec all{.name = "deviation", .check_layers = {1}, .ratios = {1}};
    CHECK(answer(m, KvDtype::q8_0, all).logits == answer(m, KvDtype::q8_0, kFull).logits);
}

TEST(placing_into_q8_0_by_table_equals_placing_by_graph) {
    const auto m = tiny("qwen3", KvDtype::q8_0);
    for (const KvDtype stored : {KvDtype::f16, KvDtype::q8_0}) {
        const auto chunk = encode(m, ids(50), stored);
        KvCache a(m->kv_pool()), b(m->kv_pool());
        a.allocate(0, 110), b.allocate(0, 110);
        const std::vector<Forward::Placement> p{{chunk.get(), {chunk->layer(3)}, {0, 50}, 17},
                                                {chunk.get(), {chunk->layer(3)}, {30, 20}, 90}};
        m->forward().place(3, p, a), m->forward().place_with_graph(3, test::staged(m->weights().device(3), p), b);
        // Values may round to the other side: one step of the scale.
        CHECK(apart(a.keys(3, 0, 110), b.keys(3, 0, 110)) < 5e-3);
        CHECK(apart(a.values(3, 0, 110), b.values(3, 0, 110)) < (stored == KvDtype::q8_0 ? 1e-6 : 5e-3));
    }
}

TEST(a_prefix_in_q8_0_is_restored_from_its_file_and_is_no_prefix_of_f16) {
    const std::string path = test::scratch("prefix-q8_0");
    std::vector<int32_t> tokens = ids(3 * kKvBlock + 5);
    std::vector<float> before;
    {
        const auto m = tiny("llama", KvDtype::q8_0);
        Session session(m, 512);
        session.append({{tokens, nullptr}}, kFull, nullptr, nullptr);
        before = session.logits();
        export_prefix(*m, tokens)->save(path);
    }
    const auto m = tiny("llama", KvDtype::q8_0);
    import_prefix(*m, ChunkKv(path));
    Session session(m, 512);
    const int known = session.adopt(tokens);
    CHECK_EQ(known, 3 * kKvBlock);
    session.append({{{tokens.begin() + known, tokens.end()}, nullptr}}, kFull, nullptr, nullptr);
    CHECK(apart(session.logits(), before) < 2e-3);
    CHECK_EQ(test::error_code([&] { import_prefix(*tiny("llama", KvDtype::f16), ChunkKv(path)); }),
             std::string("CHUNK_MISMATCH"));
}

TEST(heads_not_divisible_into_q8_0_blocks_stay_f16) {
    CHECK(tiny("llama", KvDtype::q8_0, 48)->kv_pool().dtype() == KvDtype::f16);
    CHECK(tiny("llama", KvDtype::q8_0, 96)->kv_pool().dtype() == KvDtype::q8_0);
}
