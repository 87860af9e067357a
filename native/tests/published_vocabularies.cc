// The vocabularies of published models that llama.cpp tests with (`npm run models` fetches them): the tokens that it
// expects for its texts, and random Unicode. Without the files there are no such tests.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>

#include "engine/gguf/gguf_file.h"
#include "engine/gguf/vocab.h"
#include "tests/harness.h"

using namespace kvasir;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = ".setup/models/vocabularies";

std::string contents(const fs::path & path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> vocabularies() {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto & entry : fs::directory_iterator(kFolder, none))
        if (entry.path().extension() == ".gguf") found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::string> split(const std::string & text, const std::string & mark) {
    std::vector<std::string> pieces;
    size_t begin = 0;
    for (size_t end; (end = text.find(mark, begin)) != std::string::npos; begin = end + mark.size())
        pieces.push_back(text.substr(begin, end - begin));
    return pieces;  // text after the last mark is not a piece
}

std::vector<int32_t> numbers(const std::string & line) {
    std::istringstream in(line);
    return {std::istream_iterator<int32_t>(in), {}};
}

void append_utf8(std::string & text, uint32_t c) {
    if (c < 0x80) {
        text += char(c);
    } else if (c < 0x800) {
        text += {char(0xC0 | c >> 6), char(0x80 | (c & 0x3F))};
    } else if (c < 0x10000) {
        text += {char(0xE0 | c >> 12), char(0x80 | (c >> 6 & 0x3F)), char(0x80 | (c & 0x3F))};
    } else {
        text += {char(0xF0 | c >> 18), char(0x80 | (c >> 12 & 0x3F)), char(0x80 | (c >> 6 & 0x3F)),
                 char(0x80 | (c & 0x3F))};
    }
}

// Up to 24 characters: from all of Unicode, from its first plane, from Latin, or spaces and digits.
std::string random_text(std::mt19937 & random) {
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    std::string text;
    for (uint32_t n = 1 + below(24); n > 0; --n) {
        constexpr uint32_t kEnds[] = {0x110000, 0x10000, 0x250};
        const uint32_t kind = below(4);
        uint32_t c = kind < 3 ? 1 + below(kEnds[kind] - 1) : uint32_t(" \t\n  0123'"[below(10)]);
        if (c >= 0xD800 && c < 0xE000) c = 0xFFFD;  // surrogates are not characters
        append_utf8(text, c);
    }
    return text;
}

std::vector<int32_t> by_libllama(const Vocab & vocab, const std::string & text, bool special) {
    std::vector<int32_t> tokens(text.size() + 8);
    tokens.resize(size_t(llama_tokenize(vocab.get(), text.data(), int32_t(text.size()), tokens.data(),
                                        int32_t(tokens.size()), special, special)));
    return tokens;
}

void expected_tokens(const fs::path & path) {
    const Vocab vocab{GgufFile(path.string())};
    const std::string marked = contents(path.string() + ".inp") + "\n__ggml_vocab_test__\n";
    const auto texts = split(marked, "\n__ggml_vocab_test__\n");
    const auto lines = split(contents(path.string() + ".out") + "\n", "\n");
    CHECK(!texts.empty());
    CHECK(lines.size() >= texts.size());
    for (size_t i = 0; i < std::min(texts.size(), lines.size()); ++i) {
        if (vocab.tokenize(texts[i], false, false) == numbers(lines[i])) continue;
        test::fail(__FILE__, __LINE__, "other tokens than expected: " + texts[i]);
    }
}

// Texts in two pieces read as one, and words away from the boundary have the same tokens as in the whole text.
void joined(const fs::path & path) {
    const Vocab vocab{GgufFile(path.string())};
    const auto type = llama_vocab_type(vocab.get());
    if (type != LLAMA_VOCAB_TYPE_SPM && type != LLAMA_VOCAB_TYPE_BPE) return;  // encoders read whole texts
    const auto join = [&](const std::string & a, const std::string & b) {
        std::vector<int32_t> tokens = vocab.tokenize(a, false, false);
        const std::vector<int32_t> more = vocab.tokenize_behind(b, false);
        tokens.insert(tokens.end(), more.begin(), more.end());
        return tokens;
    };
    CHECK(join("The cat sat.\n", "On the mat.") == vocab.tokenize("The cat sat.\nOn the mat.", false, false));
    CHECK(join("The cat", " sat.\n\nOn the mat.") == vocab.tokenize("The cat sat.\n\nOn the mat.", false, false));
    std::mt19937 random(2);
    for (int i = 0; i < 500; ++i) {
        const std::string a = random_text(random), b = random_text(random);
        const std::string whole = vocab.detokenize(vocab.tokenize(a + b, false, false), false);
        if (vocab.detokenize(join(a, b), false) == whole) continue;
        test::fail(__FILE__, __LINE__, "joined text differs: " + a + "|" + b);
    }
}

void random_unicode(const fs::path & path) {
    const Vocab vocab{GgufFile(path.string())};
    std::mt19937 random(1);
    for (int i = 0; i < 5000; ++i) {
        const std::string text = random_text(random);
        for (const bool special : {false, true}) {
            if (vocab.tokenize(text, special, special) == by_libllama(vocab, text, special)) continue;
            test::fail(__FILE__, __LINE__, "other tokens than libllama's: " + text);
        }
    }
}

const bool registered = [] {
    for (const fs::path & path : vocabularies()) {
        static std::vector<std::unique_ptr<std::string>> names;
        const auto add = [&](const char * what, void (*body)(const fs::path &)) {
            names.push_back(std::make_unique<std::string>(path.stem().string() + what));
            test::add(names.back()->c_str(), [path, body] { body(path); });
        };
        if (fs::exists(path.string() + ".out")) add("_expected_tokens", expected_tokens);
        add("_random_unicode", random_unicode);
        add("_joined", joined);
    }
    return true;
}();

}  // namespace
