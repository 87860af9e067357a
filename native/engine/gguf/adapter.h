#pragma once
// A LoRA adapter (Hu et al. 2021): for some weights W of a model it adds two thin matrices A and B, so that a product
// with W becomes W x + scale · B (A x). The file format is llama.cpp's, as written by convert_lora_to_gguf.py.
//
// Thread safety: immutable once loaded; any thread may read it then.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/devices/device.h"
#include "engine/kernels/matmul.h"
#include "gguf_file.h"

namespace kvasir {

class Adapter {
  public:
    struct Pair {
        // [width, rank], [rank, outputs]; for the token embedding, whose rows are looked up, [rank, n_vocab] and [rank,
        // n_embd].
        ggml_tensor *a, *b;
        float scale;
    };

    // Reads the file and checks it against the model that it adapts. Pairs that do not fit the model, or that it would
    // not use, are errors. MODEL_NOT_FOUND, ADAPTER_INVALID, ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED.
    Adapter(const std::string & path, const GgufFile & model);

    const std::string & path() const { return path_; }
    // SHA-256 of the whole file.
    const std::array<uint8_t, 32> & hash() const { return hash_; }
    // Size of the pairs for weights whose names start with `prefix`.
    size_t bytes(const std::string & prefix) const;

    // Call when a model weight has been placed on `device`: it holds the rows of the file's tensor `name` from `first`
    // on.
    void place(const std::string & name, const ggml_tensor * weight, int64_t first, Device & device);
    // Copies the pairs once all weights are placed; the file is not needed afterwards. ADAPTER_UNSUPPORTED (a pair
    // whose weight was not placed), OUT_OF_MEMORY.
    void load();

    // The pair for this weight, or null.
    const Pair * beside(const ggml_tensor * weight) const;

  private:
    struct Source {
        const GgufFile::Tensor *a = nullptr, *b = nullptr;
        ggml_tensor * placed_a = nullptr;  // shared by weights that are parts of one tensor
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
    std::map<std::string, Source> sources_;  // by weight name
    std::map<Device *, ContextPtr> contexts_;
    std::vector<Copy> copies_;
    std::vector<BufferPtr> buffers_;
    std::map<const ggml_tensor *, Pair> pairs_;
};

// y = w · x, plus the adapter's contribution if it has a pair for w.
ggml_tensor * adapted(ggml_context * c, const Adapter * adapter, const ggml_tensor * w, ggml_tensor * x,
                      ggml_tensor * y, Rows rows);

}  // namespace kvasir
