#pragma once
// A model's weights on its devices, and the parameters for running its layers.
//
// Thread safety: immutable once loaded, so any thread may read it; the devices it returns belong to the model's thread.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapter.h"
#include "engine/devices/device.h"
#include "engine/graph/architecture.h"

namespace kvasir {

// Weights of one model. Matrices go to the fastest buffer type of their device that can multiply them. Weights that
// stay in plain host memory are used straight from the mapped file, without a copy.
class Weights {
  public:
    // `adapter`: path, or "". MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY, ADAPTER_INVALID,
    // ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED. `progress` gets fractions from 0 to 1.
    Weights(const std::string & path, const std::string & adapter,
            const std::vector<Device *> & layer_devices_by_preference, Device & cpu,
            const std::function<void(float)> & progress);

    const GgufFile & file() const { return *file_; }
    const Architecture & arch() const { return *arch_; }
    const Hparams & hparams() const { return hparams_; }
    const Adapter * adapter() const { return adapter_.get(); }  // null if there is none

    const LayerWeights & layer(int il) const { return layers_[il]; }
    Device & device(int il) const { return *devices_[il]; }  // device of layer il
    Device & head_device() const { return *devices_.back(); }
    ggml_tensor * token_embd() const { return token_embd_; }    // [n_embd, n_vocab], host memory
    ggml_tensor * output_norm() const { return output_norm_; }  // [n_embd], on head_device()
    ggml_tensor * output() const { return output_; }            // [n_embd, n_vocab]; its device is output_device()
    Device & output_device() const { return *output_device_; }

    // Weights that compute a layer's own input, in host memory: projection [n_embd, n_embd_per_layer] of the token's
    // embedding, norm [n_embd_per_layer], and the embedding table [n_embd_per_layer, n_vocab].
    struct LayerInput {
        ggml_tensor *projection, *norm, *embeddings;
    };
    LayerInput layer_input(ggml_context * c, int il) const;

    // Buffer type name → bytes.
    const std::map<std::string, size_t> & buffers() const { return buffer_bytes_; }

  private:
    struct Pending {
        ggml_tensor * tensor;
        GgufFile::Tensor source;  // the file's tensor, or a part of it
    };
    void add_layer_inputs(Device & cpu);
    void place_layers(const std::vector<Device *> & preference, Device & cpu);
    size_t layer_bytes(int il) const;
    // Null if the file has none.
    ggml_tensor * add(const std::string & name, const std::vector<int64_t> & shape, Device & device, bool matrix,
                      TensorPart part = {});
    ggml_backend_buffer_type_t choose(const GgufFile::Tensor & t, Device & device, bool matrix) const;
    void load(const std::function<void(float)> & progress);
    void use_mapped(const std::vector<Pending> & pending);

    std::unique_ptr<GgufFile> file_;
    std::unique_ptr<Adapter> adapter_;
    const Architecture * arch_ = nullptr;
    Hparams hparams_;
    std::vector<Device *> devices_;  // one per layer, then the head's
    std::vector<LayerWeights> layers_;
    ggml_tensor *token_embd_ = nullptr, *output_norm_ = nullptr, *output_ = nullptr;
    Device * output_device_ = nullptr;
    std::vector<ggml_tensor *> input_projections_;  // [n_layer]
    ggml_tensor * input_norm_ = nullptr;
    ggml_tensor * input_embeddings_ = nullptr;      // [n_layer · n_embd_per_layer, n_vocab]: all layers side by side
    std::map<ggml_backend_buffer_type_t, std::pair<ContextPtr, std::vector<Pending>>> groups_;
    std::vector<BufferPtr> buffers_;
    std::map<std::string, size_t> buffer_bytes_;
};

}  // namespace kvasir
