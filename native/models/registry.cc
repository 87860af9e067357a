#include "engine/graph/architecture.h"

// The families that the engine runs. To add one: a file here that defines make_<family>(), and a line in this list.
#define FAMILIES(FAMILY) \
    FAMILY(llama)        \
    FAMILY(qwen2)        \
    FAMILY(qwen3)        \
    FAMILY(mistral3)     \
    FAMILY(qwen3moe)     \
    FAMILY(phi3)         \
    FAMILY(granite)      \
    FAMILY(smollm3)      \
    FAMILY(glm4)         \
    FAMILY(glm4moe)      \
    FAMILY(olmo2)        \
    FAMILY(qwen3vl)      \
    FAMILY(gemma2)       \
    FAMILY(gemma3)       \
    FAMILY(gemma4)       \
    FAMILY(gpt_oss)

namespace kvasir {

#define DECLARE(family) std::unique_ptr<Architecture> make_##family();
FAMILIES(DECLARE)

namespace {

const std::vector<std::unique_ptr<Architecture>> & architectures() {
    static const auto list = [] {
        std::vector<std::unique_ptr<Architecture>> v;
#define ADD(family) v.push_back(make_##family());
        FAMILIES(ADD)
        return v;
    }();
    return list;
}

}  // namespace

const Architecture * find_architecture(const std::string & name) {
    for (auto & a : architectures())
        if (name == a->name()) return a.get();
    return nullptr;
}

std::vector<std::string> architecture_names() {
    std::vector<std::string> names;
    for (auto & a : architectures()) names.push_back(a->name());
    return names;
}

}  // namespace kvasir
