// Splits a GGUF model into several files, as llama.cpp's gguf-split does, for tests: the first has the model's keys,
// and all have about the same number of tensors. Writes OUT-00001-of-0000N.gguf and so on.
//   kvasir-splitgguf --model FILE --out OUT [--parts 2]
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "engine/devices/backend.h"
#include "gguf.h"

namespace {

using Header = std::unique_ptr<gguf_context, kvasir::Deleter<gguf_free>>;

void split(const std::string & model, const std::string & out, int parts) {
    ggml_context * read_tensors = nullptr;
    const Header read(gguf_init_from_file(model.c_str(), {false, &read_tensors}));
    const kvasir::ContextPtr tensors(read_tensors);
    if (!read) throw std::runtime_error("could not read " + model);
    const int64_t all = gguf_get_n_tensors(read.get());
    if (parts < 1 || parts > all) throw std::runtime_error("--parts must be between 1 and the number of tensors");
    for (int part = 0; part < parts; ++part) {
        const Header header(gguf_init_empty());
        if (part == 0) gguf_set_kv(header.get(), read.get());
        gguf_set_val_u16(header.get(), "split.no", uint16_t(part));
        gguf_set_val_u16(header.get(), "split.count", uint16_t(parts));
        gguf_set_val_i32(header.get(), "split.tensors.count", int32_t(all));
        for (int64_t i = all * part / parts; i < all * (part + 1) / parts; ++i) {
            gguf_add_tensor(header.get(), ggml_get_tensor(tensors.get(), gguf_get_tensor_name(read.get(), i)));
        }
        char suffix[32];
        std::snprintf(suffix, sizeof suffix, "-%05d-of-%05d.gguf", part + 1, parts);
        if (!gguf_write_to_file(header.get(), (out + suffix).c_str(), false)) {
            throw std::runtime_error("could not write " + out + suffix);
        }
    }
}

}  // namespace

int main(int argc, char ** argv) {
    try {
        std::string model, out;
        int parts = 2;
        for (int i = 1; i + 1 < argc; i += 2) {
            const std::string flag = argv[i];
            if (flag == "--model") model = argv[i + 1];
            else if (flag == "--out") out = argv[i + 1];
            else if (flag == "--parts") parts = std::atoi(argv[i + 1]);
            else throw std::runtime_error("unknown option " + flag);
        }
        if (model.empty() || out.empty()) throw std::runtime_error("--model FILE and --out OUT are needed");
        split(model, out, parts);
        return 0;
    } catch (const std::exception & e) {
        std::fprintf(stderr, "kvasir-splitgguf: %s\n", e.what());
        return 1;
    }
}
