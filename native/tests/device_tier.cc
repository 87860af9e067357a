// Stored chunks that stay in a device's memory, on a simulated GPU: see far_device.h.
#include "engine/chunks/device_tier.h"

#include <atomic>

#include "tests/far_device.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::encode;
using test::ids;
using test::kNone;

namespace {

using ModelPtr = std::shared_ptr<Model>;
using ChunkPtr = std::shared_ptr<const ChunkKv>;

ModelPtr far_model(const std::string & flags = "") { return test::tiny("llama", flags, {1, test::far_device()}); }

// A chunk in a file; with `pulled_in`, also in memory.
ChunkPtr stored(const std::shared_ptr<ChunkKv> & chunk, const std::string & name, bool pulled_in = false) {
    const std::string path = test::scratch(name + ".kvc");
    chunk->save(path);
    auto opened = std::make_shared<ChunkKv>(path);
    if (pulled_in) opened->pull_in();
    return opened;
}
ChunkPtr stored(const ModelPtr & m, int seed, KvDtype dtype = KvDtype::f16, bool pulled_in = false) {
    return stored(encode(m, ids(60, seed), dtype), "tier-" + std::to_string(seed), pulled_in);
}

std::vector<Segment> prompt(const std::vector<ChunkPtr> & chunks) {
    std::vector<Segment> out{{{1}, nullptr}};
    for (const ChunkPtr & chunk : chunks) out.push_back({{}, chunk});
    out.push_back({ids(20, 99), nullptr});
    return out;
}

// Uses the chunks often enough for the tier to keep them.
void use(const ModelPtr & m, const std::vector<ChunkPtr> & chunks, int times = 2) {
    for (int i = 0; i < times; ++i) test::append(m, prompt(chunks), kNone);
}

std::vector<float> without_tier(const ModelPtr & m, const std::vector<Segment> & s, const StrategySpec & strategy) {
    m->device_tier().set_budget(0);
    std::vector<float> logits = test::append(m, s, strategy).logits;
    m->device_tier().set_budget(size_t(1) << 30);
    return logits;
}

const StrategySpec kStrategies[] = {
    kNone,
    test::spread(0.2),
    {.name = "deviation", .check_layers = {1, 2}, .ratios = {0.3, 0.2}},
    {.name = "query", .ratios = {0.2}, .question_layers = {1, 2}},
};

// Size of layers [begin, end).
size_t bytes_of(const ChunkKv & chunk, int begin, int end) {
    size_t sum = 0;
    for (int il = begin; il < end; ++il) sum += chunk.layer_bytes(il);
    return sum;
}

}  // namespace

TEST(a_chunk_is_kept_on_the_device_from_its_second_use_on) {
    for (const bool pulled_in : {false, true}) {
        for (const KvDtype dtype : {KvDtype::f16, KvDtype::q8_0}) {
            const ModelPtr m = far_model();
            const ChunkPtr a = stored(m, 1, dtype, pulled_in), b = stored(m, 2, dtype, pulled_in);
            const auto segments = prompt({a, b});
            const auto wanted = without_tier(m, segments, kNone);
            const size_t all = a->bytes() + b->bytes();
            for (const bool copied : {false, true}) {
                test::far_device();
                const auto [logits, report] = test::append(m, segments, kNone);
                CHECK(logits == wanted);
                CHECK_EQ(report.bytes_crossed, all);
                CHECK_EQ(report.bytes_loaded, pulled_in ? 0 : all);
                CHECK_EQ(test::far_copies().bytes, all);
                CHECK_EQ(test::far_copies_within(), copied ? all : 0);
                CHECK_EQ(m->device_tier().holds(a->key()), copied);
            }
            test::far_device();
            const auto [logits, report] = test::append(m, segments, kNone);
            CHECK(logits == wanted);
            CHECK_EQ(report.bytes_crossed, size_t(0));
            CHECK_EQ(report.bytes_loaded, size_t(0));
            for (const LayerReport & layer : report.layers) CHECK_EQ(layer.load_end, 0.0);
            CHECK_EQ(test::far_copies().bytes, size_t(0));
            CHECK_EQ(test::far_copies_within(), size_t(0));
        }
    }
}

TEST(every_strategy_gives_the_same_bits_from_the_devices_memory) {
    const ModelPtr m = far_model();
    std::vector<ChunkPtr> chunks;
    const KvDtype dtypes[] = {KvDtype::f16, KvDtype::q8_0, KvDtype::q4};
    for (int seed = 1; seed <= 20; ++seed) chunks.push_back(stored(m, seed, dtypes[seed % 3]));
    std::vector<Segment> segments = prompt(chunks);
    segments.insert(segments.end() - 1, {{}, chunks[4], TokenRange{10, 33}});
    segments.insert(segments.end() - 1, {{}, stored(m, 50), TokenRange{7, 20}});
    for (const StrategySpec & strategy : kStrategies) {
        const auto wanted = without_tier(m, segments, strategy);
        for (int i = 0; i < 3; ++i) CHECK(test::append(m, segments, strategy).logits == wanted);
        // Some of the chunks are on the device, some are not.
        segments[3].chunk = stored(m, 60 + int(&strategy - kStrategies));
        CHECK(test::append(m, segments, strategy).logits == without_tier(m, segments, strategy));
    }
}

TEST(layers_that_no_prompt_placed_before_cross_when_one_does) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1);
    const StrategySpec from_layer_2{.name = "deviation", .check_layers = {2}, .ratios = {0.2}};
    for (int i = 0; i < 2; ++i) test::append(m, prompt({a}), from_layer_2);
    CHECK_EQ(test::append(m, prompt({a}), from_layer_2).report.bytes_crossed, size_t(0));
    CHECK_EQ(test::append(m, prompt({a}), kNone).report.bytes_crossed, bytes_of(*a, 0, 2));
    CHECK_EQ(test::append(m, prompt({a}), kNone).report.bytes_crossed, size_t(0));
}

TEST(the_least_recently_used_chunk_leaves_the_device_first) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1), b = stored(m, 2), c = stored(m, 3);
    DeviceTier & tier = m->device_tier();
    use(m, {a});
    const size_t each = tier.usage().bytes;
    CHECK(each >= a->bytes());
    tier.set_budget(2 * each);
    use(m, {b});
    use(m, {a}, 1);
    use(m, {c});
    CHECK(tier.holds(a->key()) && !tier.holds(b->key()) && tier.holds(c->key()));
    CHECK_EQ(tier.usage().bytes, 2 * each);
    CHECK_EQ(tier.usage().chunks, 2);
    // Twice again, since it was evicted.
    use(m, {b}, 1);
    CHECK(!tier.holds(b->key()));
    use(m, {b}, 1);
    CHECK(tier.holds(b->key()) && !tier.holds(a->key()));
    tier.set_budget(each);
    CHECK(tier.holds(b->key()) && !tier.holds(c->key()));
    tier.set_budget(0);
    CHECK_EQ(tier.usage().bytes, size_t(0));
    use(m, {a}, 3);
    CHECK(!tier.holds(a->key()));
}

TEST(a_prompts_chunks_are_not_evicted_for_another_of_its_chunks) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1), b = stored(m, 2);
    use(m, {a});
    DeviceTier & tier = m->device_tier();
    tier.set_budget(tier.usage().bytes);
    const auto segments = prompt({b, a});
    for (int i = 0; i < 3; ++i) test::append(m, segments, kNone);
    CHECK(tier.holds(a->key()) && !tier.holds(b->key()));
    CHECK(test::append(m, segments, kNone).logits == without_tier(m, segments, kNone));
}

TEST(a_chunk_that_occurs_twice_in_a_prompt_counts_as_used_once) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1), again = std::make_shared<ChunkKv>(a->path());
    use(m, {a, again}, 1);
    CHECK_EQ(m->device_tier().usage().chunks, 0);
    use(m, {a, again}, 1);
    CHECK_EQ(m->device_tier().usage().chunks, 1);
    const auto segments = prompt({a, again});
    const AppendReport report = test::append(m, segments, kNone).report;
    CHECK_EQ(report.bytes_crossed, size_t(0));
    CHECK(test::append(m, segments, kNone).logits == without_tier(m, segments, kNone));
}

TEST(a_chunk_with_other_bits_under_the_same_key_is_another_one) {
    const ModelPtr m = far_model();
    const auto chunk = encode(m, ids(60), KvDtype::f16);
    const ChunkPtr before = stored(chunk, "tier-before");
    use(m, {before});
    CHECK(m->device_tier().holds(before->key()));
    chunk->layer(1)[1] ^= 0x40;  // an exponent
    const ChunkPtr after = stored(chunk, "tier-after");
    CHECK_EQ(after->key(), before->key());
    const auto [logits, report] = test::append(m, prompt({after}), kNone);
    CHECK_EQ(report.bytes_crossed, after->bytes());
    CHECK(logits != test::append(m, prompt({before}), kNone).logits);
    CHECK(logits == without_tier(m, prompt({after}), kNone));
}

TEST(a_chunk_that_is_not_stored_is_not_kept) {
    const ModelPtr m = far_model();
    const ChunkPtr a = encode(m, ids(60));
    use(m, {a}, 3);
    CHECK_EQ(m->device_tier().usage().chunks, 0);
}

TEST(the_tier_takes_no_more_than_passes_and_sessions_leave) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1);
    DeviceTier & tier = m->device_tier();
    const size_t spare = size_t(512) << 20;
    test::set_far_memory((size_t(1) << 30) + spare);  // the first GiB is for passes
    m->kv_pool().set_budget(2 * spare);
    tier.set_budget(size_t(1) << 30);
    use(m, {a}, 3);
    CHECK_EQ(tier.usage().limit, size_t(0));
    CHECK_EQ(tier.usage().chunks, 0);
    m->kv_pool().set_budget(0);
    tier.set_budget(size_t(1) << 30);
    CHECK_EQ(tier.usage().limit, spare);
    tier.set_budget(std::nullopt);
    CHECK_EQ(tier.usage().limit, spare / 2);
    use(m, {a});
    CHECK_EQ(tier.usage().chunks, 1);
}

TEST(kept_chunks_are_evicted_for_other_allocations) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1), b = stored(m, 2);
    use(m, {a});
    use(m, {b});
    const DeviceTier & tier = m->device_tier();
    const size_t each = tier.usage().bytes / 2;
    std::vector<DeviceMemory::Lease> taken;
    const auto take = [&] {
        ContextPtr ctx = make_context(1);
        ggml_new_tensor_1d(ctx.get(), GGML_TYPE_I8, int64_t(each));
        taken.push_back(m->weights().device(0).memory().allocate(ctx.get()));
    };
    test::leave_far_memory(0);
    take();
    CHECK(!tier.holds(a->key()) && tier.holds(b->key()));
    take();
    CHECK_EQ(tier.usage().bytes, size_t(0));
    CHECK_EQ(test::error_code(take), std::string("OUT_OF_MEMORY"));
}

TEST(a_prompt_does_without_kept_copies_of_its_own_chunks_if_memory_is_short) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(encode(far_model(), ids(3000)), "tier-long");  // m keeps no memory from that pass
    const auto segments = [&](int question) {
        return std::vector<Segment>{{{1}, nullptr}, {{}, a, TokenRange{100, 60}}, {ids(question, 5), nullptr}};
    };
    for (int i = 0; i < 3; ++i) test::append(m, segments(20), kNone);
    const auto wanted = without_tier(far_model(), segments(300), kNone);
    CHECK(m->device_tier().holds(a->key()));
    test::leave_far_memory(0);
    CHECK(test::append(m, segments(300), kNone).logits == wanted);
    CHECK_EQ(m->device_tier().usage().bytes, size_t(0));
}

TEST(an_aborted_prompt_leaves_whole_layers) {
    const ModelPtr m = far_model();
    const ChunkPtr a = stored(m, 1);
    const auto segments = prompt({a});
    const auto wanted = without_tier(m, segments, kNone);
    use(m, {a}, 1);
    std::atomic<bool> abort = false;
    int layers = 0;
    Session session(m, 2048);
    CHECK_EQ(test::error_code([&] {
                 session.append(segments, kNone, &abort, [&](Progress) { abort = ++layers == 2; });
             }),
             std::string("ABORTED"));
    CHECK(!m->device_tier().holds(a->key()));
    const auto [logits, report] = test::append(m, segments, kNone);
    CHECK(logits == wanted);
    CHECK_EQ(report.bytes_crossed, bytes_of(*a, 2, 4));
    CHECK(m->device_tier().holds(a->key()));
    CHECK(test::append(m, segments, kNone).logits == wanted);
}

TEST(of_a_model_on_both_devices_only_host_layers_are_read) {
    const std::string far = test::far_device();
    test::set_far_memory((size_t(1) << 30) + (size_t(8) << 20));
    const auto m = test::tiny("llama", "--embd 512 --heads 8 --ff 1024 --untied", {1, far});
    test::far_device();
    int on_host = 0;
    while (m->weights().device(on_host).is_host()) ++on_host;
    CHECK(on_host > 0 && on_host < 4);
    const ChunkPtr a = stored(m, 1);
    const auto segments = prompt({a});
    const auto wanted = without_tier(m, segments, kNone);
    use(m, {a});
    const auto [logits, report] = test::append(m, segments, kNone);
    CHECK(logits == wanted);
    CHECK_EQ(report.bytes_loaded, bytes_of(*a, 0, on_host));
    CHECK_EQ(report.bytes_crossed, size_t(0));
    CHECK_EQ(m->device_tier().usage().chunks, 1);
    CHECK(!m->device_tier().holds(a->key()));
}

TEST(on_the_host_nothing_is_kept) {
    const ModelPtr m = test::tiny("llama");
    const ChunkPtr a = stored(m, 1);
    use(m, {a}, 3);
    CHECK_EQ(m->device_tier().usage().chunks, 0);
    CHECK_EQ(test::append(m, prompt({a}), kNone).report.bytes_crossed, size_t(0));
}

TEST(a_models_kept_chunks_are_freed_with_it) {
    test::far_device();
    {
        const ModelPtr m = far_model();
        use(m, {stored(m, 1), stored(m, 2)});
        CHECK_EQ(m->device_tier().usage().chunks, 2);
    }
    CHECK_EQ(test::far_buffers().made, test::far_buffers().freed);
}
