#include <initializer_list>

#include "engine/error.h"
#include "engine/gguf/gguf_file.h"
#include "llama/engine_choice.h"
#include "llama/header_numbers.h"
#include "targets.h"

namespace kvasir::fuzz {

static void run(const std::string & path) {
    try {
        const GgufFile file(path);
        file.fingerprint();
        session_memory(file, file.string("general.architecture").value_or(""));
        choose_engine(file);
    } catch (const Error & e) {
        for (const char * code : {"MODEL_INVALID", "MODEL_UNSUPPORTED", "MODEL_PART_MISSING"})
            if (e.code == code) return;
        throw std::logic_error(e.code + ": " + e.what());
    }
}

const Target gguf{run, nullptr};

}  // namespace kvasir::fuzz
