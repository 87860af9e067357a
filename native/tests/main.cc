#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stdexcept>

#include "engine/devices/backend.h"
#include "engine/error.h"
#include "tests/harness.h"

namespace kvasir::test {

std::vector<Case> & cases() {
    static std::vector<Case> list;
    return list;
}

bool add(const char * name, std::function<void()> body) {
    cases().push_back({name, std::move(body)});
    return true;
}

static int failures = 0;
void fail(const char * file, int line, const std::string & what) {
    ++failures;
    std::printf("  %s:%d: %s\n", file, line, what.c_str());
}

// Unique to this run: another may be running concurrently.
static const std::filesystem::path & scratch_dir() {
    static const auto dir =
        std::filesystem::temp_directory_path() / ("kvasir-native-tests-" + std::to_string(std::random_device{}()));
    return dir;
}

std::string scratch(const std::string & name) {
    const auto & dir = scratch_dir();
    std::filesystem::create_directories(dir);
    return (dir / name).string();
}

static void run_tool(const std::string & arguments) {
    const std::string command = "build/native/kvasir-" + arguments;
    if (std::system(command.c_str()) == 0) return;
    throw std::runtime_error("could not run: " + command + " (run from the project's root)");
}

std::string random_model(const std::string & name, const std::string & flags) {
    const std::string path = scratch(name + ".gguf");
    static std::vector<std::string> made;
    for (auto & m : made)
        if (m == path) return path;
    run_tool("mkgguf --out " + path + " " + flags);
    made.push_back(path);
    return path;
}

std::string random_adapter(const std::string & model, const std::string & name, const std::string & flags) {
    std::string path = scratch(name + ".gguf");
    run_tool("mklora --model " + model + " --out " + path + " " + flags);
    return path;
}

std::string split_model(const std::string & model, const std::string & name, int parts) {
    run_tool("splitgguf --model " + model + " --out " + scratch(name) + " --parts " + std::to_string(parts));
    return split_part(name, 1, parts);
}

std::string split_part(const std::string & name, int part, int parts) {
    char suffix[32];
    std::snprintf(suffix, sizeof suffix, "-%05d-of-%05d.gguf", part, parts);
    return scratch(name + suffix);
}

std::string error_code(const std::function<void()> & body) {
    try {
        body();
    } catch (const Error & e) {
        return e.code;
    }
    return "";
}

}  // namespace kvasir::test

// Arguments: a part of the names of the tests to run; or `--part 1 2`: the first of two parts of all.
int main(int argc, char ** argv) {
    using namespace kvasir::test;
    kvasir::init_backends("build/ggml");
    const bool part = argc == 4 && std::string(argv[1]) == "--part";
    const int first = part ? std::atoi(argv[2]) - 1 : 0, step = part ? std::max(1, std::atoi(argv[3])) : 1;
    const std::string name = argc > 1 && !part ? argv[1] : "";
    int passed = 0, failed = 0;
    for (size_t i = size_t(first); i < cases().size(); i += size_t(step)) {
        const Case & c = cases()[i];
        if (std::string(c.name).find(name) == std::string::npos) continue;
        failures = 0;
        try {
            c.body();
        } catch (const std::exception & e) {
            fail(c.name, 0, std::string("threw: ") + e.what());
        }
        std::printf("%s %s\n", failures ? "FAIL" : "ok  ", c.name);
        (failures ? failed : passed) += 1;
    }
    std::filesystem::remove_all(scratch_dir());
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
