// Invalid, truncated and modified files give a typed error, never a crash.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#ifndef _WIN32
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "engine/chunks/chunk_kv.h"
#include "engine/error.h"
#include "engine/gguf/model_check.h"
#include "engine/model.h"
#include "tests/harness.h"

using namespace kvasir;
using test::error_code;
using test::scratch;

namespace {

std::vector<char> slurp(const std::string & path) {
    std::ifstream f(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(f), {}};
}

void spit(const std::string & path, const std::vector<char> & bytes) {
    std::ofstream f(path, std::ios::binary);
    f.write(bytes.data(), std::streamsize(bytes.size()));
}

const std::vector<KvRow> kAlike{{2, 32}, {2, 32}, {2, 32}}, kDifferent{{2, 32}, {1, 96}, {2, 32}};

std::string make_chunk(KvDtype dtype, const std::vector<KvRow> & rows = kAlike) {
    ChunkShape shape;
    shape.dtype = dtype, shape.layers = rows, shape.n_vocab = 100;
    ChunkKv chunk(shape, {5, 6, 7, 8, 9});
    std::minstd_rand rng(1);
    for (int il = 0; il < shape.n_layer(); ++il) {
        std::vector<float> k(5 * size_t(shape.kv_dim(il))), v(k.size());
        for (float & x : k) x = float(rng() % 1000) / 500.0f - 1;
        for (float & x : v) x = float(rng() % 1000) / 500.0f - 1;
        chunk.store_rows(il, 0, 5, k.data(), v.data());
    }
    const std::string path = scratch(std::string("chunk-") + dtype_name(dtype) + (rows == kAlike ? "" : "-by-layer"));
    chunk.save(path);
    return path;
}

// The memory of five tokens as bytes of another program.
std::string make_opaque(const std::vector<uint8_t> & bytes) {
    ChunkShape shape;
    shape.layers = {kOpaque}, shape.n_vocab = 100;
    const std::string path = scratch("chunk-opaque");
    ChunkKv(shape, {5, 6, 7, 8, 9}, bytes).save(path);
    return path;
}

}  // namespace

#ifndef _WIN32
TEST(a_path_that_is_not_a_file_is_not_a_model) {
    const std::string pipe = scratch("pipe");
    mkfifo(pipe.c_str(), 0600);
    CHECK_EQ(error_code([&] { GgufFile file(pipe); }), std::string("MODEL_NOT_FOUND"));
    CHECK_EQ(error_code([&] { GgufFile file(scratch("")); }), std::string("MODEL_NOT_FOUND"));
}
#endif

TEST(chunk_file_round_trip) {
    for (KvDtype dtype : {KvDtype::f16, KvDtype::q8_0, KvDtype::k8v4, KvDtype::q4})
        for (const auto & rows : {kAlike, kDifferent}) {
            const std::string path = make_chunk(dtype, rows);
            verify_chunk_file(path);
            ChunkKv read(path);
            CHECK(!read.in_memory() && read.shape().layers == rows);
            CHECK((read.tokens() == std::vector<int32_t>{5, 6, 7, 8, 9}));
            read.pull_in();
            const std::string copy = scratch("copy");
            read.save(copy);
            CHECK(slurp(path) == slurp(copy));
            // Older versions can read what they support.
            CHECK_EQ(int(slurp(path)[8]), is_packed(dtype) ? 3 : rows == kAlike ? 1 : 2);
        }
}

TEST(chunk_file_of_opaque_bytes_round_trip) {
    std::vector<uint8_t> bytes(12'345);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i * i);
    const std::string path = make_opaque(bytes);
    verify_chunk_file(path);
    ChunkKv read(path);
    CHECK_EQ(read.bytes(), bytes.size());
    CHECK((read.tokens() == std::vector<int32_t>{5, 6, 7, 8, 9}));
    read.pull_in();
    CHECK(std::equal(bytes.begin(), bytes.end(), read.layer(0)));
    CHECK_EQ(int(slurp(path)[8]), 4);
}

TEST(chunk_file_any_changed_byte_is_noticed) {
    const std::string bad = scratch("bad");
    std::minstd_rand rng(11);
    for (const auto & rows : {kAlike, kDifferent}) {
        const std::vector<char> good = slurp(make_chunk(KvDtype::f16, rows));
        // The used part of the header byte by byte, the data at random. Padding zeros in the header carry no meaning.
        const size_t used = 128 + 5 * 4 + (rows == kAlike ? 0 : 3 * 8) + 3 * 8 + 8;
        for (size_t n = 0; n < used + 200; ++n) {
            const size_t at = n < used ? n : 4096 + rng() % (good.size() - 4096);
            std::vector<char> bytes = good;
            bytes[at] = char(bytes[at] ^ (1 << rng() % 8));
            spit(bad, bytes);
            const std::string code = error_code([&] { verify_chunk_file(bad); });
            CHECK(code == "CHUNK_CORRUPT" || (code == "CHUNK_VERSION" && at >= 8 && at < 12));
        }
    }
    const std::vector<char> good = slurp(make_opaque(std::vector<uint8_t>(5000, 7)));
    for (size_t n = 0; n < 128 + 5 * 4 + 8 + 8 + 200; ++n) {
        const size_t at = n < 128 + 5 * 4 + 8 + 8 ? n : 4096 + rng() % (good.size() - 4096);
        std::vector<char> bytes = good;
        bytes[at] = char(bytes[at] ^ (1 << rng() % 8));
        spit(bad, bytes);
        const std::string code = error_code([&] { verify_chunk_file(bad); });
        CHECK(code == "CHUNK_CORRUPT" || (code == "CHUNK_VERSION" && at >= 8 && at < 12));
    }
}

TEST(a_chunk_file_truncated_anywhere_is_noticed) {
    const std::string path = make_chunk(KvDtype::q8_0), bad = scratch("bad");
    const std::vector<char> good = slurp(path);
    for (size_t n = 0; n < good.size(); n += n < 300 ? 7 : 397) {
        spit(bad, {good.begin(), good.begin() + std::ptrdiff_t(n)});
        CHECK_EQ(error_code([&] { verify_chunk_file(bad); }), std::string("CHUNK_CORRUPT"));
    }
}

#ifdef __linux__
TEST(a_chunk_file_that_the_system_cannot_read_is_not_damaged) {
    const std::string path = make_chunk(KvDtype::f16), aside = scratch("aside");
    ChunkKv chunk(path);
    std::rename(path.c_str(), aside.c_str());
    CHECK_EQ(symlink("/proc/self/mem", path.c_str()), 0);  // opens; reading its beginning fails with EIO
    CHECK_EQ(error_code([&] { uint8_t byte; InputFile(path).read(&byte, 1, 0); }), std::string("CHUNK_UNREADABLE"));
    unlink(path.c_str());
    CHECK_EQ(symlink(path.c_str(), path.c_str()), 0);  // opening it fails with ELOOP
    CHECK_EQ(error_code([&] { ChunkKv unreadable(path); }), std::string("CHUNK_UNREADABLE"));
    CHECK_EQ(error_code([&] { chunk.pull_in(); }), std::string("CHUNK_UNREADABLE"));
    unlink(path.c_str());
    CHECK_EQ(error_code([&] { chunk.pull_in(); }), std::string("CHUNK_CORRUPT"));  // it does not exist
    std::rename(aside.c_str(), path.c_str());
    chunk.pull_in();
    CHECK(chunk.in_memory());
}

size_t threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return size_t(std::distance(begin(tasks), end(tasks)));
}

TEST(a_chunk_file_on_a_drive_that_does_not_respond_is_given_up) {
    const size_t before = threads();
    const std::string path = make_chunk(KvDtype::f16), aside = scratch("aside");
    const std::chrono::milliseconds shortly(10), patience(1000);
    ChunkKv chunk(path, patience);
    std::rename(path.c_str(), aside.c_str());
    CHECK_EQ(mkfifo(path.c_str(), 0600), 0);  // opening it waits for a writer
    CHECK_EQ(error_code([&] { ChunkKv hangs(path, shortly); }), std::string("CHUNK_UNREADABLE"));
    CHECK_EQ(error_code([&] { chunk.pull_in(); }), std::string("CHUNK_UNREADABLE"));
    close(open(path.c_str(), O_WRONLY));  // the threads that wait end
    unlink(path.c_str());
    std::rename(aside.c_str(), path.c_str());
    chunk.pull_in();
    CHECK(chunk.in_memory());
    // Those that the drive held up end when no call needs them.
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (threads() > before && std::chrono::steady_clock::now() < until) usleep(10'000);
    CHECK(threads() <= before);
}
#endif

TEST(a_chunk_file_of_a_newer_version_has_its_own_error) {
    const std::string path = make_chunk(KvDtype::f16), newer = scratch("newer");
    std::vector<char> bytes = slurp(path);
    bytes[8] = 5;
    spit(newer, bytes);
    CHECK_EQ(error_code([&] { ChunkKv chunk(newer); }), std::string("CHUNK_VERSION"));
}

TEST(a_truncated_or_mutated_gguf_gives_a_typed_error_or_a_model) {
    const std::string path =
        test::random_model("fuzz", "--layers 2 --embd 64 --head-dim 32 --heads 2 --kv-heads 1 --ff 64 --vocab 300");
    const std::vector<char> good = slurp(path);
    const std::string bad = scratch("mutant.gguf");
    std::minstd_rand rng(17);
    int refused = 0;
    const auto attempt = [&] {
        const std::string code = error_code([&] {
            check_model(GgufFile(bad));
        });
        CHECK(code == "" || code == "MODEL_INVALID" || code == "MODEL_UNSUPPORTED");
        refused += !code.empty();
    };
    for (size_t n = 0; n < good.size(); n += 1 + good.size() / 150) {
        spit(bad, {good.begin(), good.begin() + std::ptrdiff_t(n)});
        attempt();
    }
    for (int i = 0; i < 400; ++i) {
        std::vector<char> bytes = good;
        for (int k = 0; k < 3; ++k) bytes[rng() % 8000] = char(rng());  // the header, where invalid values do harm
        spit(bad, bytes);
        attempt();
    }
    CHECK(refused > 150);
}

TEST(gguf_that_overstates_a_tensor_is_refused_before_use) {
    const std::string path =
        test::random_model("lies", "--layers 1 --embd 64 --head-dim 32 --heads 2 --kv-heads 1 --ff 64 --vocab 300");
    std::vector<char> bytes = slurp(path);
    // A tensor's name is followed by the number of dimensions (u32) and the dimensions (u64 each).
    const std::string name = "token_embd.weight";
    const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) - bytes.begin() +
                    std::ptrdiff_t(name.size()) + 4 + 8;
    const uint64_t rows = 1u << 20;
    std::memcpy(bytes.data() + at, &rows, 8);
    const std::string bad = scratch("lies-bad.gguf");
    spit(bad, bytes);
    CHECK_EQ(error_code([&] { Model model(bad, {2, "cpu"}, nullptr); }), std::string("MODEL_INVALID"));
}

TEST(a_chunk_returns_its_store_key) {
    ChunkShape shape;
    shape.fingerprint.fill(0xab);
    shape.prefix_hash = hash_tokens({1});
    shape.layers = {{2, 32}};
    CHECK_EQ(ChunkKv(shape, {10, 11, 12}).key(),
             std::string("c6c56de36c066cec481294d1d47f7cf479050d3324e126fc51843bdd27c1a7a4"));
}
