#include "tests/edited_model.h"

#include <cstring>
#include <stdexcept>

#include "tests/harness.h"

namespace kvasir::test {

std::string edited_model(const std::string & path, const std::string & name,
                         const std::function<void(gguf_context *, ggml_context *)> & edit) {
    ggml_context * tensors = nullptr;
    using Header = std::unique_ptr<gguf_context, Deleter<gguf_free>>;
    const Header read(gguf_init_from_file(path.c_str(), {false, &tensors})), header(gguf_init_empty());
    if (!read) throw std::runtime_error("could not read " + path);
    const ContextPtr own(tensors);
    gguf_set_kv(header.get(), read.get());
    for (int64_t i = 0; i < gguf_get_n_tensors(read.get()); ++i) {
        gguf_add_tensor(header.get(), ggml_get_tensor(tensors, gguf_get_tensor_name(read.get(), i)));
    }
    edit(header.get(), tensors);
    std::string out = scratch(name);
    if (!gguf_write_to_file(header.get(), out.c_str(), false)) throw std::runtime_error("could not write " + out);
    return out;
}

void add_tensor(gguf_context * header, ggml_context * tensors, const char * name, int64_t n) {
    static ContextPtr more(ggml_init({size_t(1) << 20, nullptr, false}));
    ggml_tensor * t = ggml_new_tensor_1d(more.get(), GGML_TYPE_F32, n);
    std::memset(t->data, 0, ggml_nbytes(t));
    gguf_add_tensor(header, ggml_set_name(t, name));
}

}  // namespace kvasir::test
