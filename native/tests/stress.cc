// Everything at once on one model: turns that answer, are cancelled, or lose their memory, while chunk files are
// evicted and sessions are closed. For AddressSanitizer (`npm run sanitize`) as well.
#include <atomic>
#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

#include "engine/error.h"
#include "engine/scheduling/scheduler.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::encode;
using test::ids;

namespace {

constexpr int kThreads = 8, kTurns = 6, kTokens = 12;

std::vector<Segment> prompt(const std::shared_ptr<ChunkKv> & a, const std::shared_ptr<ChunkKv> & b, int i) {
    return {{{1}, nullptr}, {{}, a}, {{}, b}, {ids(20 + i, 3 + i), nullptr}};
}

struct Job {
    std::shared_ptr<ChunkKv> a, b;  // in memory
    std::string files[2];
    std::vector<int32_t> expected;
};

std::vector<int32_t> run(const std::shared_ptr<Model> & m, const std::vector<Segment> & segments,
                         const std::atomic<bool> * abort) {
    const Turn turn(*m->scheduler(), {.rows = 100});
    Session session(m, 2048);
    session.append(segments, {.name = "deviation", .check_layers = {1}, .ratios = {0.3}}, abort, nullptr);
    return session.generate(kTokens, {}, abort, nullptr).tokens;
}

}  // namespace

TEST(concurrent_turns_survive_cancelling_eviction_and_closing) {
    auto m = test::tiny("qwen3");
    std::vector<Job> jobs(kThreads);
    for (int i = 0; i < kThreads; ++i) {
        Job & job = jobs[size_t(i)];
        job.a = encode(m, ids(70 + 10 * i, i)), job.b = encode(m, ids(90, 20 - i));
        for (int n = 0; n < 2; ++n) {
            job.files[n] = test::scratch("stress-" + std::to_string(i) + "-" + std::to_string(n));
            (n ? job.b : job.a)->save(job.files[n]);
        }
        job.expected = run(m, prompt(job.a, job.b, i), nullptr);
    }
    m->kv_pool().set_budget(24 * m->kv_pool().block_bytes());  // too little for all of them

    std::atomic<int> whole{0}, cancelled{0}, evicted{0};
    std::mutex mutex;
    std::string wrong;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, m, i] {  // the last thread to end closes the model
            const Job & job = jobs[size_t(i)];
            std::minstd_rand random(unsigned(i + 1));
            for (int n = 0; n < kTurns; ++n) {
                std::atomic<bool> abort{false};
                std::thread canceller;
                std::string code;
                const bool cancels = random() % 3 == 0, evicts = random() % 3 == 0;
                try {
                    const auto a = std::make_shared<ChunkKv>(job.files[0]), b = std::make_shared<ChunkKv>(job.files[1]);
                    if (cancels) canceller = std::thread([&] {
                        std::this_thread::sleep_for(std::chrono::milliseconds(1 + n * 3));
                        abort = true;
                    });
                    if (evicts) std::filesystem::remove(job.files[n % 2]);
                    const std::vector<int32_t> tokens = run(m, prompt(a, b, i), &abort);
                    // A cancelled answer is a beginning of the whole one.
                    const bool begins = tokens.size() <= job.expected.size() &&
                                        std::equal(tokens.begin(), tokens.end(), job.expected.begin());
                    if (!begins || (!cancels && tokens != job.expected)) code = "other tokens than alone";
                    else if (tokens == job.expected) ++whole;
                } catch (const Error & e) {
                    const bool expected = (cancels && e.code == "ABORTED") || (evicts && e.code == "CHUNK_CORRUPT");
                    if (!expected) code = e.code + ": " + e.what();
                    (e.code == "ABORTED" ? cancelled : evicted) += 1;
                }
                if (canceller.joinable()) canceller.join();
                if (evicts) (n % 2 ? job.b : job.a)->save(job.files[n % 2]);
                const std::lock_guard lock(mutex);
                if (!code.empty()) wrong = "thread " + std::to_string(i) + ", turn " + std::to_string(n) + ": " + code;
            }
        });
    }
    m.reset();
    for (std::thread & t : threads) t.join();
    CHECK_EQ(wrong, "");
    CHECK(whole > kThreads);
    CHECK(evicted > 0);
}
