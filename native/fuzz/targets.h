#pragma once
// Parsers of files from outside, as fuzzing runs them: fuzz/libfuzzer.cc with inputs that it mutates, and
// tests/fuzzed_files.cc with the stored ones.
//
// Thread safety: any thread may call the functions.
#include <cstddef>
#include <cstdint>
#include <string>

namespace kvasir::fuzz {

struct Target {
    // Reads the file as a program would. Throws std::logic_error if it breaks a rule: an error without a documented
    // code, or two readers that disagree.
    void (*run)(const std::string & path);
    // Makes the checksums of mutated bytes right, so that a mutation reaches what is behind them. Null: there are none.
    void (*repair)(uint8_t * data, size_t size);
};

extern const Target gguf;   // header, tensor table and model checks
extern const Target chunk;  // chunk files of every version, from a file and arriving in parts

}  // namespace kvasir::fuzz
