// The pool of resident KV: its bookkeeping against a simple model, and sessions that share it.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "engine/error.h"
#include "engine/kv/pages.h"
#include "engine/kv/prefix_blocks.h"
#include "tests/fixtures.h"

#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

using namespace kvasir;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;

namespace {

BlockHash hash_of(int n) {
    const int32_t t = n;
    return hash_block({}, &t, 1);
}

}  // namespace

TEST(pages_hold_zeros_and_keep_what_was_written_when_touched) {
    Pages pages(5 << 20);
    pages.data()[70'000] = 7;
    pages.advise_huge_pages(1 << 20, 4 << 20);
    pages.prefault(0, pages.size());
    const Pages moved = std::move(pages);
    CHECK_EQ(std::count(moved.data(), moved.data() + moved.size(), 0), std::ptrdiff_t(moved.size()) - 1);
    CHECK_EQ(int(moved.data()[70'000]), 7);
    CHECK(!pages.data());
    CHECK_EQ(test::error_code([] { Pages(size_t(1) << 60); }), std::string("OUT_OF_MEMORY"));
}

#ifdef __linux__
TEST(only_touched_pages_are_resident) {
    const auto page = size_t(sysconf(_SC_PAGESIZE));
    Pages pages(64 * page);
    const auto resident = [&] {
        std::vector<unsigned char> in(64);
        CHECK_EQ(mincore(pages.data(), pages.size(), in.data()), 0);
        return std::count_if(in.begin(), in.end(), [](unsigned char c) { return c & 1; });
    };
    CHECK_EQ(resident(), 0);
    pages.prefault(8 * page, 16 * page);
    CHECK(resident() >= 16 && resident() < 64);  // the system may add a few
}
#endif

TEST(a_table_stays_contiguous_even_next_to_another) {
    BlockPool pool;
    pool.grow(64);
    int a = -1, b = -1, breaks = 0;
    for (int i = 0; i < 20; ++i)
        for (int * last : {&a, &b}) {
            const int id = pool.allocate(*last);
            breaks += *last >= 0 && id != *last + 1;
            *last = id;
        }
    CHECK_EQ(breaks, 0);
    CHECK_EQ(pool.used_count(), 40);
}

TEST(the_tail_of_a_chain_is_evicted_first_and_older_chains_before_newer) {
    BlockPool pool;
    pool.grow(6);
    std::vector<int> chains[2];
    for (auto & chain : chains)
        for (int i = 0; i < 3; ++i) {
            const int n = int(&chain - chains) * 3 + i;
            chain.push_back(pool.allocate(chain.empty() ? -1 : chain.back()));
            CHECK_EQ(pool.cache(chain.back(), hash_of(n), {n}), chain.back());
        }
    for (int which : {1, 0})
        for (int i = 2; i >= 0; --i) pool.unref(chains[which][size_t(i)]);
    CHECK_EQ(pool.evictable_count(), 6);
    CHECK_EQ(pool.allocate(-1), -1);
    for (int n : {5, 4, 3, 2, 1, 0}) {
        int32_t token = n;
        CHECK(pool.find(hash_of(n), &token, 1) >= 0);
        CHECK(pool.evict());
        CHECK_EQ(pool.find(hash_of(n), &token, 1), -1);
    }
    CHECK(!pool.evict());
    CHECK_EQ(pool.free_count(), 6);
}

TEST(a_key_alone_finds_nothing_when_the_tokens_differ) {
    BlockPool pool;
    pool.grow(2);
    const int id = pool.allocate(-1);
    pool.cache(id, hash_of(1), {7, 8});
    const std::vector<int32_t> same{7, 8}, other{7, 9};
    CHECK_EQ(pool.find(hash_of(1), same.data(), 2), id);
    CHECK_EQ(pool.find(hash_of(1), other.data(), 2), -1);
    CHECK_EQ(pool.find(hash_of(1), same.data(), 1), -1);
    CHECK(!pool.writable(id));
}

// Random operations on the pool and on a simple model of it, which tracks references, cached blocks and the release
// order.
TEST(blocks_behave_like_a_simple_model) {
    std::mt19937 rng(7);
    for (int round = 0; round < 40; ++round) {
        BlockPool pool;
        pool.grow(1 + int(rng() % 24));
        std::map<int, int> ref_counts;       // used block → number of references
        std::map<int, int> cached;      // block → its key
        std::vector<int> evictable;         // in release order
        int next = 0;
        const auto any = [&](const std::map<int, int> & m) {
            return std::next(m.begin(), int(rng() % m.size()))->first;
        };
        for (int step = 0; step < 400; ++step) {
            const int what = int(rng() % 7);
            if (what == 0) {
                const int id = pool.allocate(int(rng() % size_t(pool.size())));
                const bool full = int(ref_counts.size() + evictable.size()) == pool.size();
                CHECK_EQ(id < 0, full);
                if (id < 0) continue;
                CHECK(!ref_counts.count(id) && !cached.count(id));
                ref_counts[id] = 1;
            } else if (what == 1 && !ref_counts.empty()) {
                const int id = any(ref_counts);
                pool.unref(id);
                if (--ref_counts[id] == 0) {
                    ref_counts.erase(id);
                    if (cached.count(id)) evictable.push_back(id);
                }
            } else if (what == 2 && !ref_counts.empty()) {
                const int id = any(ref_counts);
                pool.ref(id), ++ref_counts[id];
            } else if (what == 3 && !evictable.empty()) {
                const size_t i = rng() % evictable.size();
                pool.ref(evictable[i]), ref_counts[evictable[i]] = 1;
                evictable.erase(evictable.begin() + std::ptrdiff_t(i));
            } else if (what == 4 && !ref_counts.empty()) {
                const int id = any(ref_counts);
                if (cached.count(id)) continue;
                // Sometimes under a key that is already taken.
                const int name = !cached.empty() && rng() % 4 == 0 ? cached.begin()->second : next++;
                const auto same =
                    std::find_if(cached.begin(), cached.end(), [&](auto & k) { return k.second == name; });
                const int expected = same == cached.end() ? id : same->first;
                CHECK_EQ(pool.cache(id, hash_of(name), {name}), expected);
                if (expected == id) cached[id] = name;
            } else if (what == 5) {
                CHECK_EQ(pool.evict(), !evictable.empty());
                if (evictable.empty()) continue;
                cached.erase(evictable.front());
                evictable.erase(evictable.begin());
            } else if (what == 6 && step % 50 == 0) {
                pool.grow(pool.size() + int(rng() % 4));
            }
            CHECK_EQ(pool.used_count(), int(ref_counts.size()));
            CHECK_EQ(pool.evictable_count(), int(evictable.size()));
            for (auto [id, n] : ref_counts) {
                CHECK_EQ(pool.ref_count(id), n);
                CHECK_EQ(pool.writable(id), n == 1 && !cached.count(id));
            }
            for (auto [id, name] : cached) {
                const int32_t token = name;
                CHECK_EQ(pool.find(hash_of(name), &token, 1), id);
            }
        }
    }
}

namespace {

std::shared_ptr<Model> tiny(const std::string & type = "f16", KvDtype kv = KvDtype::f16) {
    return test::tiny("qwen3", "--layers 3 --type " + type, {1, "cpu", kv});
}

std::vector<int32_t> operator+(std::vector<int32_t> a, const std::vector<int32_t> & b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

const StrategySpec kSome{.name = "deviation", .check_layers = {1}, .ratios = {0.2}};

std::vector<float> add(Session & s, const std::vector<Segment> & segments, const StrategySpec & strategy = kFull) {
    s.append(segments, strategy, nullptr, nullptr);
    return s.logits();
}

// The contents of a session's memory, layer by layer.
std::vector<float> contents(const Session & s) {
    std::vector<float> all;
    for (int il = 0; il < 3; ++il)
        for (auto rows : {&KvCache::keys, &KvCache::values})
            for (float x : (s.cache().*rows)(il, 0, s.length())) all.push_back(x);
    return all;
}

}  // namespace

TEST(a_blend_after_a_cached_prefix_equals_the_blend_without_it_bit_for_bit) {
    for (const char * type : {"f16", "q8_0", "q4_K"}) {
        const auto alone = tiny(type), shared = tiny(type);
        const std::vector<int32_t> system = ids(200), question = ids(9, 3);
        for (auto & strategy : {kFull, kNone, kSome}) {
            const auto prompt = [&](const std::shared_ptr<Model> & m, const std::vector<int32_t> & head) {
                return std::vector<Segment>{
                    {head, nullptr}, {{}, encode(m, ids(120, 5))}, {{}, encode(m, ids(80, 2))}, {question, nullptr}};
            };
            Session a(alone, 1024), before(shared, 1024), b(shared, 1024);
            // Evicts blocks left by the previous strategy.
            alone->kv_pool().set_budget(0);
            alone->kv_pool().set_budget(SIZE_MAX);
            add(a, prompt(alone, system), strategy);
            add(before, {{system + ids(30, 8), nullptr}});
            CHECK_EQ(b.adopt(system), 192);
            add(b, prompt(shared, {system.begin() + 192, system.end()}), strategy);
            CHECK(a.logits() == b.logits());
            CHECK(contents(a) == contents(b));
        }
    }
}

TEST(warmed_memory_keeps_its_contents_and_takes_new_ones) {
    for (KvDtype dtype : {KvDtype::f16, KvDtype::q8_0}) {
        const auto cold = tiny("f16", dtype), warm = tiny("f16", dtype);
        Session a(cold, 2048), b(warm, 2048);
        add(a, {{ids(100), nullptr}}), add(b, {{ids(100), nullptr}});
        b.reserve(1500);
        b.warm(0, 2000);
        CHECK(contents(a) == contents(b));
        for (Session * s : {&a, &b}) add(*s, {{{}, encode(cold, ids(700, 4))}, {ids(20, 2), nullptr}}, kNone);
        CHECK(contents(a) == contents(b));
        CHECK(a.logits() == b.logits());
        b.truncate(0);
        b.warm(0, 100);  // nothing is reserved, so this has no effect
    }
}

TEST(only_text_computed_as_text_is_cached) {
    const auto m = tiny();
    const std::vector<int32_t> head = ids(100), chunk = ids(128, 2), question = ids(80, 3);
    Session s(m, 1024);
    add(s, {{head, nullptr}, {{}, encode(m, chunk)}, {question, nullptr}}, kSome);
    const std::vector<int32_t> all = head + chunk + question;
    Session later(m, 1024);
    CHECK_EQ(later.adopt(all), 64);  // the whole blocks of the text before the chunk
    add(s, {{ids(100, 9), nullptr}});  // text after blended KV depends on it
    Session third(m, 1024);
    CHECK_EQ(third.adopt(all + ids(100, 9)), 64);
    // The same tokens in a full prefill are exact; tokens decoded after them are not.
    Session full(m, 1024);
    add(full, {{head, nullptr}, {{}, encode(m, chunk)}, {question, nullptr}});
    const auto written = full.generate(200, {}, nullptr, nullptr).tokens;
    add(full, {{ids(70, 4), nullptr}});
    Session fourth(m, 1024);
    CHECK_EQ(fourth.adopt(all + written + ids(70, 4)), 256);
}

TEST(the_last_two_tokens_are_always_left_to_compute) {
    const auto m = tiny();
    Session s(m, 512);
    add(s, {{ids(192), nullptr}});
    for (auto [tokens, taken] :
         {std::pair(128, 64), {129, 64}, {130, 128}, {191, 128}, {192, 128}, {194, 192}, {1, 0}, {0, 0}}) {
        Session t(m, 512);
        CHECK_EQ(t.adopt(ids(tokens)), taken);
    }
    Session small(m, 100);
    CHECK_EQ(small.adopt(ids(192)), 64);
}

TEST(branches_share_their_prefix_and_diverge) {
    const auto m = tiny();
    const std::vector<int32_t> head = ids(100);
    const auto chunk = encode(m, ids(90, 2));
    Session trunk(m, 1024);
    add(trunk, {{head, nullptr}, {{}, chunk}, {ids(20, 3), nullptr}}, kSome);
    const auto before = contents(trunk);
    const int used = m->kv_pool().blocks().used_count();
    const auto branch = trunk.fork(205);
    CHECK_EQ(m->kv_pool().blocks().used_count(), used);
    const auto left = add(trunk, {{ids(30, 6), nullptr}}), right = add(*branch, {{ids(40, 7), nullptr}});
    CHECK(m->kv_pool().blocks().used_count() <= used + 3);
    // Each as in a separate session.
    const auto other = tiny();
    Session a(other, 1024), b(other, 1024);
    for (Session * s : {&a, &b}) {
        add(*s, {{head, nullptr}, {{}, encode(other, ids(90, 2))}, {ids(20, 3), nullptr}}, kSome);
    }
    CHECK(contents(a) == before);
    b.truncate(205);
    CHECK(add(a, {{ids(30, 6), nullptr}}) == left);
    CHECK(add(b, {{ids(40, 7), nullptr}}) == right);
    CHECK(contents(a) == contents(trunk) && contents(b) == contents(*branch));
}

TEST(interleaved_sessions_equal_separate_ones) {
    const std::vector<int32_t> system = ids(150);
    const auto talk = [&](Session & s, int seed, int turn) {
        if (turn == 0) {
            const int cached = s.adopt(system + ids(40, seed));
            const std::vector<int32_t> first = system + ids(40, seed);
            add(s, {{{first.begin() + cached, first.end()}, nullptr}});
        } else {
            add(s, {{ids(50, seed + turn), nullptr}});
        }
        s.generate(30, {}, nullptr, nullptr);
    };
    std::vector<std::vector<float>> alone;
    for (int seed : {11, 12}) {
        Session s(tiny(), 2048);
        for (int turn = 0; turn < 4; ++turn) talk(s, seed, turn);
        alone.push_back(contents(s));
    }
    const auto m = tiny();
    Session a(m, 2048), b(m, 2048);
    for (int turn = 0; turn < 4; ++turn) talk(a, 11, turn), talk(b, 12, turn);
    CHECK(contents(a) == alone[0]);
    CHECK(contents(b) == alone[1]);
    CHECK(b.cache().block_table().front() == a.cache().block_table().front());
}

TEST(eviction_takes_cached_prefixes_never_blocks_of_a_session) {
    const auto m = tiny();
    KvPool & pool = m->kv_pool();
    pool.set_budget(6 * pool.block_bytes());
    Session running(m, 2048);
    add(running, {{ids(250), nullptr}});
    const auto before = contents(running);
    for (int i = 0; i < 30; ++i) {
        Session other(m, 2048);
        add(other, {{ids(120, 20 + i), nullptr}});
        CHECK(contents(running) == before);
        CHECK(pool.blocks().used_count() == 6);
    }
    CHECK(pool.blocks().size() <= 8);
    CHECK(pool.blocks().used_count() + pool.blocks().evictable_count() <= pool.blocks().size());
    // A session that needs more than the budget gets it.
    add(running, {{ids(900, 3), nullptr}});
    Session alone(tiny(), 2048);
    add(alone, {{ids(250), nullptr}});
    CHECK(add(alone, {{ids(900, 3), nullptr}}) == running.logits());
}

// Reserving addresses is free there.
#ifdef __linux__
TEST(a_pool_within_its_budget_grows_in_place) {
    const auto m = test::tiny("llama");
    KvPool & pool = m->kv_pool();
    pool.ensure_free(1);
    const void *k = pool.k(0)->data, *v = pool.v(1)->data;
    const int64_t slots = pool.k(0)->ne[1], generation = pool.generation();
    pool.ensure_free(40);
    CHECK(pool.k(0)->data == k && pool.v(1)->data == v);
    CHECK(pool.k(0)->ne[1] > slots && pool.generation() != generation);
}
#endif

TEST(two_hundred_questions_take_no_more_memory_than_a_few) {
    const auto m = tiny();
    KvPool & pool = m->kv_pool();
    pool.set_budget(40 * pool.block_bytes());
    Session s(m, 4096);
    const auto chunk = encode(m, ids(100, 2));
    const std::vector<int32_t> head = ids(80);
    for (int i = 0; i < 200; ++i) {
        s.truncate(0);
        s.adopt(head);
        add(s, {{{head.begin() + s.length(), head.end()}, nullptr}, {{}, chunk}, {ids(10 + i % 50, i), nullptr}},
            kSome);
        s.reserve(s.length() + 64);
        s.generate(3, {}, nullptr, nullptr);
        s.truncate(s.length());
        CHECK(pool.blocks().used_count() <= 4);
        CHECK(pool.blocks().size() <= 40);
    }
    s.truncate(0);
    CHECK_EQ(pool.blocks().used_count(), 0);
}

TEST(a_stored_prefix_equals_the_prefix) {
    const std::vector<int32_t> system = ids(200), rest = ids(30, 4);
    const std::string path = test::scratch("prefix.kvc");
    const auto first = tiny();
    Session s(first, 1024);
    CHECK(export_prefix(*first, system) == nullptr);
    const auto logits = add(s, {{system + rest, nullptr}});
    export_prefix(*first, system)->save(path);

    const auto restarted = tiny();
    const ChunkKv file(path);
    import_prefix(*restarted, file);
    import_prefix(*restarted, file);  // repeating it changes nothing
    CHECK_EQ(restarted->kv_pool().blocks().used_count(), 0);
    CHECK_EQ(restarted->kv_pool().blocks().evictable_count(), 3);
    Session t(restarted, 1024);
    CHECK_EQ(t.adopt(system + rest), 192);
    CHECK(add(t, {{std::vector<int32_t>(system.begin() + 192, system.end()) + rest, nullptr}}) == logits);
    CHECK(contents(t) == contents(s));
    // A prefix is not a chunk, nor a chunk a prefix.
    CHECK_EQ(test::error_code([&] {
                 add(t, {{{}, std::make_shared<ChunkKv>(path)}, {rest, nullptr}});
             }),
             std::string("CHUNK_MISMATCH"));
    CHECK_EQ(test::error_code([&] { import_prefix(*restarted, *encode(restarted, ids(64))); }),
             std::string("CHUNK_MISMATCH"));
}
