// Makes a LoRA adapter with random weights for a GGUF model, in the format of llama.cpp's converter, for tests: a pair
// for every matrix that the model multiplies with, or for those whose names contain TEXT.
//   kvasir-mklora --model FILE --out FILE [--rank 8] [--alpha 16] [--type f32] [--seed 1] [--only TEXT] [--spread 0.3]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/devices/backend.h"
#include "engine/gguf/gguf_file.h"

namespace {

struct Spec {
    std::string model, out, type = "f32", only;
    int rank = 8, seed = 1;
    float alpha = 16, spread = 0.3f;  // `spread` of the adapter's contribution; random weights give 1
};

Spec parse(int argc, char ** argv) {
    Spec s;
    const std::map<std::string, std::string *> texts{
        {"--model", &s.model}, {"--out", &s.out}, {"--type", &s.type}, {"--only", &s.only}};
    const std::map<std::string, int *> numbers{{"--rank", &s.rank}, {"--seed", &s.seed}};
    const std::map<std::string, float *> reals{{"--alpha", &s.alpha}, {"--spread", &s.spread}};
    for (int i = 1; i < argc; i += 2) {
        const std::string flag = argv[i];
        if (i + 1 == argc) throw std::runtime_error("no value for " + flag);
        if (texts.count(flag)) *texts.at(flag) = argv[i + 1];
        else if (numbers.count(flag)) *numbers.at(flag) = std::atoi(argv[i + 1]);
        else if (reals.count(flag)) *reals.at(flag) = float(std::atof(argv[i + 1]));
        else throw std::runtime_error("unknown option " + flag);
    }
    if (s.model.empty() || s.out.empty()) throw std::runtime_error("--model FILE and --out FILE are needed");
    return s;
}

ggml_type type_named(const std::string & name) {
    for (const ggml_type type : {GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0})
        if (name == ggml_type_name(type)) return type;
    throw std::runtime_error("unknown type " + name);
}

class Writer {
  public:
    explicit Writer(const Spec & s)
        : s_(s), type_(type_named(s.type)), model_(s.model), ctx_(kvasir::make_context(2 * model_.tensors().size())),
          rng_(uint32_t(s.seed)) {}

    void write() {
        gguf_set_val_str(g_.get(), "general.type", "adapter");
        gguf_set_val_str(g_.get(), "general.architecture", model_.string("general.architecture").value_or("").c_str());
        gguf_set_val_str(g_.get(), "adapter.type", "lora");
        gguf_set_val_f32(g_.get(), "adapter.lora.alpha", s_.alpha);
        for (const kvasir::GgufFile::Tensor & w : model_.tensors()) {
            if (!w.name.ends_with(".weight") || w.ne[1] == 1 || w.ne[2] > 1) continue;
            if (w.name.find(s_.only) == std::string::npos) continue;
            if (in_layer(w.name) || w.name == "output.weight") pair(w.name, w.ne[0], w.ne[1]);
            else if (w.name == "token_embd.weight" && model_.find("output.weight")) embedding(w.ne[0], w.ne[1]);
        }
        if (!gguf_write_to_file(g_.get(), s_.out.c_str(), false)) throw std::runtime_error("could not write " + s_.out);
    }

  private:
    // Only in layers that compute: the last ones may be for drafts.
    bool in_layer(const std::string & weight) const {
        const std::string arch = model_.string("general.architecture").value_or("") + ".";
        const uint64_t drafts = model_.integer(arch + "nextn_predict_layers").value_or(0);
        return weight.starts_with("blk.") &&
               uint64_t(std::atoi(weight.c_str() + 4)) + drafts < model_.integer(arch + "block_count").value_or(0);
    }
    // Inputs of about unit length give outputs of about this spread.
    void pair(const std::string & weight, int64_t width, int64_t outputs) {
        add(weight + ".lora_a", width, s_.rank, 1 / std::sqrt(float(width)));
        add(weight + ".lora_b", s_.rank, outputs, s_.spread / s_.alpha * std::sqrt(float(s_.rank)));
    }
    // Transposed: a row of A is looked up.
    void embedding(int64_t n_embd, int64_t n_vocab) {
        add("token_embd.weight.lora_a", s_.rank, n_vocab, 1);
        add("token_embd.weight.lora_b", s_.rank, n_embd, s_.spread / s_.alpha * std::sqrt(float(s_.rank)));
    }

    void add(const std::string & name, int64_t n, int64_t rows, float spread) {
        const ggml_type type = n % ggml_blck_size(type_) == 0 ? type_ : GGML_TYPE_F16;  // as the converter does
        ggml_tensor * t = ggml_new_tensor_2d(ctx_.get(), type, n, rows);
        ggml_set_name(t, name.c_str());
        std::vector<float> values(size_t(n * rows));
        for (float & v : values) v = spread * 3.46f * (float(rng_()) / 2147483646.0f - 0.5f);
        data_.emplace_back(ggml_nbytes(t));
        ggml_quantize_chunk(type, values.data(), data_.back().data(), 0, rows, n, nullptr);
        gguf_add_tensor(g_.get(), t);
        gguf_set_tensor_data(g_.get(), name.c_str(), data_.back().data());
    }

    Spec s_;
    ggml_type type_;
    kvasir::GgufFile model_;
    kvasir::ContextPtr ctx_;
    std::unique_ptr<gguf_context, kvasir::Deleter<gguf_free>> g_{gguf_init_empty()};
    std::minstd_rand rng_;
    std::vector<std::vector<uint8_t>> data_;
};

}  // namespace

int main(int argc, char ** argv) {
    try {
        Writer(parse(argc, argv)).write();
        return 0;
    } catch (const std::exception & e) {
        std::fprintf(stderr, "kvasir-mklora: %s\n", e.what());
        return 1;
    }
}
