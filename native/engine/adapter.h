#pragma once
// A LoRA adapter (Hu et al. 2021): beside some of a model's weights W stand two thin matrices, by which a product with
// W becomes W x + scale · B (A x). Its file is llama.cpp's, as convert_lora_to_gguf.py writes it.
//
// Thread safety: does not change once it is loaded; any thread may read it then.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "gguf_file.h"
#include "matmul.h"

namespace kvasir {

class Adapter {
  public:
    struct Pair {
        // [width, rank], [rank, outputs]; beside the token embedding, whose rows are looked up, [rank, n_vocab] and
        // [rank, n_embd].
        ggml_tensor *a, *b;
        float scale;
    };

    // Reads the file and holds it against the model that it is to change: what does not fit, or would not be used, is
    // an error. MODEL_NOT_FOUND, ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED.
    Adapter(const std::string & path, const GgufFile & model);

    const std::string & path() const { return path_; }
    // SHA-256 of the whole file.
    const std::array<uint8_t, 32> & hash() const { return hash_; }
    // Of the pairs beside weights whose names begin like this.
    size_t bytes(const std::string & prefix) const;

    // Where a weight of the model was given its place on `device`: rows from `first` on of the file's tensor `name`.
    void place(const std::string & name, const ggml_tensor * weight, int64_t first, Device & device);
    // Copies the pairs, once all weights were placed: the file is not needed from then on. ADAPTER_UNSUPPORTED (a pair
    // beside none of them), OUT_OF_MEMORY.
    void load();

    // Null where there is none.
    const Pair * beside(const ggml_tensor * weight) const;

  private:
    struct Source {
        const GgufFile::Tensor *a = nullptr, *b = nullptr;
        ggml_tensor * placed_a = nullptr;  // weights that are parts of one tensor share it
    };
    struct Copy {
        ggml_tensor * tensor;
        const uint8_t * from;
    };
    void read_alpha();
    void read_pairs();
    void check_pair(const std::string & name, const Source & pair, const GgufFile & model) const;
    ggml_tensor * copy_of(const GgufFile::Tensor & source, int64_t first, int64_t rows, Device & device);

    std::string path_;
    std::array<uint8_t, 32> hash_;
    std::unique_ptr<GgufFile> file_;
    float alpha_ = 0;  // 0: the scale is 1
    std::map<std::string, Source> sources_;  // by the weight's name
    std::map<Device *, ContextPtr> contexts_;
    std::vector<Copy> copies_;
    std::vector<BufferPtr> buffers_;
    std::map<const ggml_tensor *, Pair> pairs_;
};

// y = w · x, and what an adapter that may be there adds to it.
ggml_tensor * adapted(ggml_context * c, const Adapter * adapter, const ggml_tensor * w, ggml_tensor * x,
                      ggml_tensor * y, Rows rows);

}  // namespace kvasir
