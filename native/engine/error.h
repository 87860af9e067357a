#pragma once
// Thread safety: a failed decode step throws one Error on several threads, which only read it. Any thread may call
// require().
#include <stdexcept>
#include <string>
#include <utility>

namespace kvasir {

// A failure that the user may see. `code` is one of src-shared/errors.ts; the message is one sentence.
struct Error : std::runtime_error {
    std::string code;
    std::string advice;
    int chunk_index = -1;  // the segment of an append that caused it, if any

    Error(std::string code_, const std::string & message, std::string advice_ = "")
        : std::runtime_error(message), code(std::move(code_)), advice(std::move(advice_)) {}
};

// A broken invariant of ours, or misuse across the addon's boundary; never the user's fault.
inline void require(bool ok, const char * what) {
    if (!ok) throw std::logic_error(what);
}

}  // namespace kvasir
