#pragma once
// A minimal test framework: TEST registers, CHECK records, main() prints "N passed, N failed".
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace kvasir::test {

struct Case {
    const char * name;
    std::function<void()> body;
};
std::vector<Case> & cases();
bool add(const char * name, std::function<void()> body);
void fail(const char * file, int line, const std::string & what);

// A random-weight model that kvasir-mkgguf makes with these flags, in the build folder; made once.
std::string random_model(const std::string & name, const std::string & flags);
// A LoRA adapter with random weights for a model file, made by kvasir-mklora with these flags on every call.
std::string random_adapter(const std::string & model, const std::string & name, const std::string & flags = "");
// A model file split into `parts` files in the scratch folder by kvasir-splitgguf. Returns the first; split_part()
// returns any, counting from 1.
std::string split_model(const std::string & model, const std::string & name, int parts);
std::string split_part(const std::string & name, int part, int parts);
std::string scratch(const std::string & name);

// Runs `body` and returns the code of the Error it throws, "" if none.
std::string error_code(const std::function<void()> & body);

}  // namespace kvasir::test

#define TEST(name)                                                                      \
    static void test_##name();                                                          \
    static const bool registered_##name = kvasir::test::add(#name, test_##name);        \
    static void test_##name()
#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) kvasir::test::fail(__FILE__, __LINE__, #condition);           \
    } while (0)
#define CHECK_EQ(a, b)                                                                  \
    do {                                                                                \
        const auto a_ = (a);                                                            \
        const auto b_ = (b);                                                            \
        if (!(a_ == b_)) {                                                              \
            std::ostringstream s_;                                                      \
            s_ << #a << " == " << #b << ": " << a_ << " and " << b_;                    \
            kvasir::test::fail(__FILE__, __LINE__, s_.str());                           \
        }                                                                               \
    } while (0)
