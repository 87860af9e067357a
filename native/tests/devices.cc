// Layers on a device other than the processor, compared with the processor: see far_device.h.
#include <algorithm>
#include <iterator>
#include <cmath>
#include <fstream>

#include "engine/error.h"
#include "tests/far_device.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::apart;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;

namespace {

using ModelPtr = std::shared_ptr<Model>;

// The same model on the processor and on the far device.
struct Pair {
    ModelPtr here, there;
};
Pair tiny(const std::string & arch = "llama", const std::string & flags = "") {
    return {test::tiny(arch, flags, {1, "cpu"}), test::tiny(arch, flags, {1, test::far_device()})};
}

const StrategySpec kStrategies[] = {
    kFull,
    kNone,
    test::spread(0.2),
    {.name = "deviation", .check_layers = {1, 2}, .ratios = {0.3, 0.2}},
    {.name = "deviation", .check_layers = {1}, .ratios = {0.2}, .of = DeviationOf::kv},
    {.name = "query", .ratios = {0.2}, .question_layers = {0, 1, 2, 3}},
};

// A first token, two chunks, a question; the chunks are encoded on the model's device.
std::vector<Segment> prompt(const ModelPtr & m, KvDtype dtype = KvDtype::f16) {
    return {
        {{1}, nullptr}, {{}, encode(m, ids(150), dtype)}, {{}, encode(m, ids(90, 2), dtype)}, {ids(20, 3), nullptr}};
}

// The prompt with its chunks in files, starting at segment `from`.
std::vector<Segment> in_files(std::vector<Segment> segments, size_t from = 1) {
    for (size_t i = from; i < segments.size(); ++i) {
        if (!segments[i].chunk) continue;
        const std::string path = test::scratch("far-" + std::to_string(i) + ".kvc");
        segments[i].chunk->save(path);
        segments[i].chunk = std::make_shared<ChunkKv>(path);
    }
    return segments;
}

struct Blended {
    std::vector<float> logits;
    std::vector<int32_t> selected;
};

Blended blended(const ModelPtr & m, const std::vector<Segment> & s, const StrategySpec & strategy,
                LoadOptions loading = {}) {
    Session session(m, 2048);
    const AppendReport report = session.append(s, strategy, nullptr, nullptr, loading);
    return {session.logits(), report.selected};
}

std::vector<float> logits_of(const ModelPtr & m, const std::vector<Segment> & s, const StrategySpec & strategy,
                             LoadOptions loading = {}) {
    return blended(m, s, strategy, loading).logits;
}

// The number of tokens in `a` that are not in `b`.
size_t differing(const std::vector<int32_t> & a, const std::vector<int32_t> & b) {
    std::vector<int32_t> only;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only));
    return only.size();
}

}  // namespace

TEST(every_strategy_gives_on_another_device_what_it_gives_on_the_processor) {
    for (const std::string & arch : architecture_names()) {
        const auto [here, there] = tiny(arch, "--experts-used 8");  // all experts: rounding must not affect the choice
        CHECK_EQ(there->weights().device(0).name(), test::far_device());
        const auto near = prompt(here), far = prompt(there);
        for (const StrategySpec & strategy : kStrategies) {
            const Blended a = blended(there, far, strategy), b = blended(here, near, strategy);
            // Rounding may swap tokens with nearly equal scores.
            CHECK_EQ(a.selected.size(), b.selected.size());
            CHECK(differing(a.selected, b.selected) <= 1);
            // This does not compare the tokens of earlier checks: one more or less changes the logits.
            const double bound = strategy.check_layers.size() > 1 ? 5e-2 : 1e-2;
            if (a.selected == b.selected) CHECK(apart(a.logits, b.logits) < bound);
        }
    }
}

TEST(recomputing_everything_on_another_device_is_its_full_prefill) {
    const auto [here, there] = tiny();
    for (KvDtype dtype : {KvDtype::f16, KvDtype::q8_0}) {
        const auto s = prompt(there, dtype);
        CHECK(apart(logits_of(there, s, {.name = "deviation", .check_layers = {1}, .ratios = {1}}),
                    logits_of(there, s, kFull)) < 1e-5);
    }
}

TEST(pipelined_loading_to_another_device_equals_serial_loading) {
    const auto [here, there] = tiny();
    const std::vector<Segment> memory = prompt(there), files = in_files(memory);
    for (const StrategySpec & strategy : kStrategies) {
        const auto wanted = logits_of(there, memory, strategy);
        CHECK(logits_of(there, files, strategy) == wanted);
        CHECK(logits_of(there, files, strategy, {.serial = true}) == wanted);
    }
}

TEST(chunks_of_both_number_formats_from_memory_and_files_go_to_another_device) {
    const auto [here, there] = tiny();
    std::vector<Segment> mixed = prompt(there);
    mixed[2] = prompt(there, KvDtype::q8_0)[2];
    mixed.insert(mixed.end() - 1, {{}, mixed[1].chunk, TokenRange{30, 70}});
    for (const StrategySpec & strategy : kStrategies) {
        const auto wanted = logits_of(here, mixed, strategy);
        CHECK(apart(logits_of(there, mixed, strategy), wanted) < 1e-2);
        CHECK(apart(logits_of(there, in_files(mixed, 2), strategy), wanted) < 1e-2);
    }
}

TEST(packed_chunks_go_to_another_device_as_their_unpacked_values) {
    const auto [here, there] = tiny();
    for (const KvDtype dtype : {KvDtype::k8v4, KvDtype::q4}) {
        std::vector<Segment> packed = prompt(there, dtype), plain = prompt(there);
        for (size_t i : {1, 2}) {
            const ChunkShape & shape = packed[i].chunk->shape();
            auto chunk = std::make_shared<ChunkKv>(plain[i].chunk->shape(), packed[i].chunk->tokens());
            for (int il = 0; il < shape.n_layer(); ++il) {
                unpack_layer(dtype, shape.layers[size_t(il)], chunk->n_tokens(), packed[i].chunk->layer(il),
                             reinterpret_cast<uint16_t *>(chunk->layer(il)));
            }
            plain[i].chunk = chunk;
        }
        for (const StrategySpec & strategy : kStrategies) {
            const auto wanted = logits_of(there, plain, strategy);
            CHECK(logits_of(there, packed, strategy) == wanted);
            CHECK(logits_of(there, in_files(packed), strategy) == wanted);
        }
    }
}

TEST(one_layer_arrives_on_another_device_while_the_one_before_computes) {
    using std::chrono::milliseconds;
    const auto [here, there] = tiny();
    const auto memory = prompt(there), files = in_files(memory);
    for (const auto * segments : {&memory, &files}) {
        for (const bool serial : {false, true}) {
            test::far_device();
            bool first = true, next = false, too_far = false;
            test::before_far_graphs([&] {
                // The first layer is about to be placed: the second arrives meanwhile, and the third waits for its
                // slot.
                if (!std::exchange(first, false)) return;
                next = test::far_arrivals(2, milliseconds(serial ? 20 : 10'000));
                too_far = test::far_arrivals(3, milliseconds(20));
            });
            logits_of(there, *segments, kNone, {.serial = serial});
            CHECK_EQ(next, !serial);
            CHECK(!too_far);
            const test::FarCopies copies = test::far_copies();
            CHECK_EQ(copies.bytes, memory[1].chunk->bytes() + memory[2].chunk->bytes());
            CHECK_EQ(copies.page_locked, segments == &memory ? 0 : copies.bytes);
            CHECK_EQ(copies.under_way, 0);
        }
    }
    test::far_device();
}

TEST(a_damaged_file_leaves_no_copy_in_progress) {
    const auto [here, there] = tiny();
    const auto files = in_files(prompt(there), 2);
    std::fstream(files[2].chunk->path(), std::ios::in | std::ios::out | std::ios::binary)
        .seekp(-100, std::ios::end)
        .put('x');
    test::far_device();
    CHECK_EQ(test::error_code([&, m = there] { logits_of(m, files, kNone); }), std::string("CHUNK_CORRUPT"));
    CHECK(test::far_copies().bytes > 0);
    CHECK_EQ(test::far_copies().under_way, 0);
}

TEST(decoding_on_another_device_continues_its_prefill) {
    const auto [here, there] = tiny();
    Session session(there, 1024);
    session.append({{ids(250), nullptr}}, kFull, nullptr, nullptr);
    const auto generated = session.generate(20, {}, nullptr, nullptr).tokens;
    std::vector<int32_t> all = ids(250);
    all.insert(all.end(), generated.begin(), generated.end());
    CHECK(apart(session.logits(), logits_of(there, {{all, nullptr}}, kFull)) < 1e-2);
}

TEST(layers_that_all_have_a_window_decode_on_another_device) {
    const auto [here, there] = tiny("olmo2", "--layers 2 --window 40");  // a third layer would have no window
    CHECK(here->hparams().layer(0).windowed && here->hparams().layer(1).windowed);
    const auto decoded = [](const ModelPtr & m) {
        Session session(m, 2048);
        session.append({{ids(100), nullptr}}, kFull, nullptr, nullptr);
        session.generate(8, {}, nullptr, nullptr);
        return session.logits();
    };
    CHECK(apart(decoded(there), decoded(here)) < 1e-2);
}

TEST(sessions_on_another_device_with_scattered_and_moving_blocks) {
    const auto [here, there] = tiny();
    KvPool pool(there->weights(), {}, KvDtype::f16);
    Session a(there, 2048, &pool), b(there, 2048, &pool);
    std::vector<int32_t> all;
    for (int turn = 0; turn < 4; ++turn) {
        const auto next = ids(70 * (turn + 1), turn + 1);
        all.insert(all.end(), next.begin(), next.end());
        a.append({{next, nullptr}}, kFull, nullptr, nullptr);
        b.append({{ids(90, 9), nullptr}}, kFull, nullptr, nullptr);
    }
    CHECK_EQ(a.cache().first_row(a.length()), -1);
    CHECK(apart(a.logits(), logits_of(there, {{all, nullptr}}, kFull)) < 1e-2);
    const auto fork = a.fork(400);
    fork->append({{ids(30, 5), nullptr}}, kFull, nullptr, nullptr);
    all.resize(400);
    const auto more = ids(30, 5);
    all.insert(all.end(), more.begin(), more.end());
    CHECK(apart(fork->logits(), logits_of(there, {{all, nullptr}}, kFull)) < 1e-2);
}

TEST(passes_on_another_device_reuse_the_memory_of_earlier_ones) {
    const auto [here, there] = tiny();
    there->kv_pool().set_budget(0);  // blocks that no session uses are evicted for the next one
    there->device_tier().set_budget(0);
    for (const StrategySpec & strategy : kStrategies) {
        const auto blend_and_decode = [&, m = there] {
            Session session(m, 2048);
            session.append(in_files(prompt(m), 2), strategy, nullptr, nullptr);
            session.generate(3, {}, nullptr, nullptr);
        };
        blend_and_decode();
        test::far_device();
        blend_and_decode();
        CHECK_EQ(test::far_buffers().made, 0);
        CHECK_EQ(test::far_buffers().freed, 0);
    }
}

TEST(on_llvmpipe_a_backend_computes_one_graph) {
    const std::string far = test::far_device();
    test::make_far_device_llvmpipe();
    const auto there = test::tiny("llama", "--embd 256 --ff 512", {1, far});
    for (const StrategySpec & strategy : kStrategies) {
        Session session(there, 2048);
        session.append(in_files(prompt(there), 2), strategy, nullptr, nullptr);
        CHECK_EQ(session.generate(3, {}, nullptr, nullptr).tokens.size(), size_t(3));
    }
}

TEST(memory_of_passes_on_another_device_is_bounded_by_the_longest) {
    const auto [here, there] = tiny();
    there->kv_pool().set_budget(0);
    const auto prefill = [&, m = there](int tokens) { logits_of(m, {{ids(tokens), nullptr}}, kFull); };
    prefill(1000);
    test::far_device();
    for (int tokens = 1000; tokens > 1; tokens -= 37) prefill(tokens);
    CHECK_EQ(test::far_buffers().made, 0);
}

TEST(a_model_that_fits_another_device_in_part_runs_on_both) {
    const std::string flags = "--embd 512 --heads 8 --ff 1024 --untied", far = test::far_device();
    const auto here = test::tiny("llama", flags, {1, "cpu"});
    test::set_far_memory((size_t(1) << 30) + (size_t(8) << 20));
    const auto both = test::tiny("llama", flags, {1, far});
    CHECK_EQ(both->weights().device(0).name(), std::string("CPU"));
    CHECK_EQ(both->weights().device(3).name(), far);
    const auto near = prompt(here), split = prompt(both);
    for (const StrategySpec & strategy : kStrategies) {
        const auto wanted = logits_of(both, split, strategy);
        CHECK(apart(wanted, logits_of(here, near, strategy)) < 1e-2);
        CHECK(logits_of(both, in_files(split), strategy) == wanted);
    }
}

TEST(tied_output_weights_go_to_the_last_layers_device) {
    const auto [here, there] = tiny();
    CHECK(here->weights().output() == here->weights().token_embd());
    CHECK_EQ(there->weights().output_device().name(), test::far_device());
}

TEST(without_a_kernel_for_the_head_size_attention_is_computed_by_products) {
    const auto [here, there] = tiny("llama", "--heads 8 --kv-heads 2 --head-dim 32");
    const auto near = prompt(here), far = prompt(there);
    for (const StrategySpec & strategy : kStrategies) {
        CHECK(apart(logits_of(there, far, strategy), logits_of(here, near, strategy)) < 1e-2);
    }
}

TEST(an_operation_that_another_device_lacks_is_an_error_with_a_code) {
    const auto [here, there] = tiny();
    test::refuse_on_far_device(GGML_OP_ROPE);
    CHECK_EQ(test::error_code([&, m = there] {
                 logits_of(m, {{ids(20), nullptr}}, kFull);
             }),
             std::string("ENGINE_FAILED"));
    test::far_device();
    logits_of(there, {{ids(20), nullptr}}, kFull);
}
