// Chunks that are placed while they arrive: same numbers as from a file, and every wait ends.
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "engine/chunks/layer_loader.h"
#include "engine/error.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::append;
using test::encode;
using test::error_code;
using test::ids;
using test::kFull;
using test::kNone;
using test::tiny;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes file_of(const ChunkKv & chunk) {
    const std::string path = test::scratch("arriving");
    chunk.save(path);
    std::ifstream f(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(f), {}};
}

// A chunk whose bytes after the header arrive step by step.
struct Arriving {
    explicit Arriving(Bytes file_) : file(std::move(file_)) {
        ChunkHeader header = read_chunk_header(ByteSpan{file.data(), file.size()}, file.size(), "of a test");
        at = header.data_offset;
        chunk = std::make_shared<ChunkKv>(std::move(header));
    }
    void receive(size_t n) {
        n = std::min(n, file.size() - at);
        chunk->receive({file.data() + at, n});
        at += n;
    }
    void receive_all(size_t step) {
        while (at < file.size()) {
            receive(step);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
    Bytes file;
    size_t at = 0;
    std::shared_ptr<ChunkKv> chunk;
};

StrategySpec deviation() { return {.name = "deviation", .check_layers = {1}, .ratios = {0.2}}; }

std::vector<Segment> prompt(const std::shared_ptr<ChunkKv> & a, const std::shared_ptr<ChunkKv> & b) {
    return {{{1}, nullptr}, {{}, a}, {{}, b}, {ids(10, 3), nullptr}};
}

}  // namespace

TEST(a_chunk_that_arrives_gives_the_same_bits) {
    for (const char * arch : {"llama", "gemma4"}) {
        auto m = tiny(arch);
        for (KvDtype dtype : {KvDtype::f16, KvDtype::q8_0, KvDtype::q4}) {
            auto a = encode(m, ids(90), dtype), b = encode(m, ids(70, 2), dtype);
            for (const StrategySpec & strategy : {kNone, deviation()}) {
                Arriving far_a(file_of(*a)), far_b(file_of(*b));
                std::thread first([&] { far_a.receive_all(4099); });
                std::thread second([&] { far_b.receive_all(777); });
                const auto arrived = append(m, prompt(far_a.chunk, far_b.chunk), strategy);
                first.join(), second.join();
                CHECK(arrived.logits == append(m, prompt(a, b), strategy).logits);
                CHECK(far_a.chunk->in_memory() && far_b.chunk->in_memory());
                size_t bytes = 0;
                for (int il = strategy.check_layers.empty() ? 0 : 1; il < a->shape().n_layer(); ++il)
                    bytes += a->layer_bytes(il) + b->layer_bytes(il);
                CHECK_EQ(arrived.report.bytes_loaded, bytes);
            }
        }
    }
}

TEST(an_arrived_chunk_can_be_saved_and_used_again) {
    auto m = tiny("llama");
    auto a = encode(m, ids(60));
    Arriving far(file_of(*a));
    CHECK_EQ(far.chunk->key(), a->key());
    far.receive_all(1000);
    const Bytes copy = file_of(*far.chunk);
    CHECK(copy == far.file);
    CHECK(append(m, prompt(far.chunk, a), kNone).logits == append(m, prompt(a, a), kNone).logits);
}

TEST(a_changed_byte_in_arriving_data_is_noticed) {
    auto m = tiny("llama");
    auto a = encode(m, ids(60)), b = encode(m, ids(50, 2));
    Bytes bad = file_of(*b);
    bad[bad.size() - 5] ^= 1;  // in the last layer
    Arriving far(bad);
    std::string thrown;
    std::thread network([&] { thrown = error_code([&] { far.receive_all(999); }); });
    Session session(m, 512);
    int segment = -1;
    const std::string code = error_code([&] {
        try {
            session.append(prompt(a, far.chunk), kNone, nullptr, nullptr);
        } catch (const Error & e) {
            segment = e.chunk_index;
            throw;
        }
    });
    network.join();
    CHECK_EQ(code, std::string("CHUNK_CORRUPT"));
    CHECK_EQ(thrown, code);
    CHECK_EQ(segment, 2);
    CHECK(!far.chunk->in_memory());
}

TEST(the_header_of_an_arriving_chunk_is_checked_like_a_files) {
    auto m = tiny("llama");
    const Bytes good = file_of(*encode(m, ids(20)));
    for (size_t at = 0; at < 128 + 4 * 20 + 4 * 8 + 8; ++at) {
        Bytes bad = good;
        bad[at] ^= 4;
        const std::string code = error_code([&] { Arriving far(bad); });
        CHECK(code == "CHUNK_CORRUPT" || (code == "CHUNK_VERSION" && at >= 8 && at < 12));
    }
    for (size_t n : {size_t(0), size_t(100), size_t(200)})
        CHECK_EQ(error_code([&] { read_chunk_header(ByteSpan{good.data(), n}, good.size(), "of a test"); }),
                 std::string("CHUNK_CORRUPT"));
}

TEST(a_failure_during_loading_ends_the_append_and_names_the_chunk) {
    auto m = tiny("llama");
    auto a = encode(m, ids(60)), b = encode(m, ids(50, 2));
    for (bool twice : {false, true}) {
        Arriving far(file_of(*a));
        far.receive(far.chunk->layer_bytes(0) + 10);
        std::thread network([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            far.chunk->fail(Error("SHARED_TIER_FAILED", "It was cut."));
            if (twice) far.chunk->fail(Error("CHUNK_CORRUPT", "Too late."));
        });
        Session session(m, 512);
        int segment = -1;
        const std::string code = error_code([&] {
            try {
                session.append(prompt(far.chunk, b), kNone, nullptr, nullptr);
            } catch (const Error & e) {
                segment = e.chunk_index;
                throw;
            }
        });
        network.join();
        CHECK_EQ(code, std::string("SHARED_TIER_FAILED"));
        CHECK_EQ(segment, 1);
        // The session remains usable.
        session.truncate(0);
        session.append(prompt(a, b), kNone, nullptr, nullptr);
        CHECK(session.logits() == append(m, prompt(a, b), kNone).logits);
    }
}

TEST(an_abort_ends_waiting_for_missing_layers) {
    auto m = tiny("llama");
    Arriving far(file_of(*encode(m, ids(60))));
    std::atomic<bool> abort{false};
    std::thread stop([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        abort = true;
    });
    Session session(m, 512);
    CHECK_EQ(error_code([&] { session.append(prompt(far.chunk, encode(m, ids(50, 2))), kNone, &abort, nullptr); }),
             std::string("ABORTED"));
    stop.join();
}

TEST(a_loader_can_be_destroyed_while_it_waits) {
    auto m = tiny("llama");
    Arriving far(file_of(*encode(m, ids(60))));
    LayerLoader loader({{far.chunk, {}}}, 0, m->weights(), {}, Clock::now(), nullptr);
    CHECK(loader.is_far(0));
}

TEST(others_compute_while_an_append_waits_for_a_network) {
    auto m = tiny("llama");
    auto a = encode(m, ids(60)), b = encode(m, ids(50, 2));
    Arriving far(file_of(*a));
    std::vector<float> logits;
    std::atomic<bool> began{false};
    std::thread waiting([&] {
        const Turn turn(*m->scheduler(), {.rows = 100});
        Session session(m, 512);
        // Its first layer needs no stored KV; the next one does.
        session.append(prompt(far.chunk, b), deviation(), nullptr, [&](Progress) { began = true; });
        logits = session.logits();
    });
    while (!began) std::this_thread::yield();
    {
        const Turn turn(*m->scheduler(), {.rows = 1000});  // would never get the turn
        CHECK(!append(m, prompt(a, b), kFull).logits.empty());
    }
    far.receive_all(5000);
    waiting.join();
    CHECK(logits == append(m, prompt(a, b), deviation()).logits);
}
