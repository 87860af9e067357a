// Runs the passes of an answer on one device, each several times, in a separate process: only that shows how a device's
// driver behaves when memory is allocated and freed. Prints the largest difference from the processor.
//   kvasir-passes --model FILE --device NAME [--models 1] [--prefills 6] [--blends 0] [--decodes 0] [--tokens 64]
// With --models N the model is loaded, used and freed N times, one after another.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "engine/error.h"
#include "engine/session.h"

namespace {

using namespace kvasir;

struct Options {
    std::string model, device;
    int models = 1, prefills = 6, blends = 0, decodes = 0, tokens = 64;
};

Options parse(int argc, char ** argv) {
    Options o;
    const std::map<std::string, std::string *> texts{{"--model", &o.model}, {"--device", &o.device}};
    const std::map<std::string, int *> numbers{
        {"--models", &o.models},
        {"--prefills", &o.prefills},
        {"--blends", &o.blends},
        {"--decodes", &o.decodes},
        {"--tokens", &o.tokens}};
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string flag = argv[i];
        if (texts.count(flag)) *texts.at(flag) = argv[i + 1];
        else if (numbers.count(flag)) *numbers.at(flag) = std::atoi(argv[i + 1]);
        else throw std::runtime_error("unknown option " + flag);
    }
    if (o.model.empty() || o.device.empty()) throw std::runtime_error("--model FILE and --device NAME are needed");
    return o;
}

std::vector<int32_t> tokens(const Model & model, int n, int seed) {
    std::vector<int32_t> out;
    for (int i = 0; i < n; ++i) out.push_back(3 + (i * 7919 + seed * 104729 + i * i) % (model.hparams().n_vocab - 3));
    return out;
}

// The final logits of each pass, concatenated.
std::vector<float> run(const std::shared_ptr<Model> & model, const Options & o) {
    std::vector<float> out;
    const auto keep = [&](const Session & s) { out.insert(out.end(), s.logits().begin(), s.logits().end()); };
    for (int i = 0; i < o.prefills; ++i) {
        Session session(model, 4 * o.tokens + 64);
        session.append({{tokens(*model, o.tokens, i), nullptr}}, {.name = "full"}, nullptr, nullptr);
        keep(session);
        session.generate(o.decodes, {}, nullptr, nullptr);
    }
    for (int i = 0; i < o.blends; ++i) {
        std::vector<Segment> segments{{{1}, nullptr}};
        for (int seed : {i, i + 100}) {
            const auto chunk = encode_chunk(model, tokens(*model, o.tokens, seed), {1}, KvDtype::f16, nullptr, nullptr);
            segments.push_back({{}, chunk});
        }
        segments.push_back({tokens(*model, 20, i + 200), nullptr});
        Session session(model, 4 * o.tokens + 64);
        session.append(segments, {.name = "deviation", .check_layers = {1}, .ratios = {0.2}}, nullptr, nullptr);
        keep(session);
        session.generate(o.decodes, {}, nullptr, nullptr);
    }
    return out;
}

}  // namespace

int main(int argc, char ** argv) {
    try {
        const Options o = parse(argc, argv);
        init_backends("build/ggml");
        ggml_backend_load_all_from_path("build/ggml/packs");
        const auto here = run(std::make_shared<Model>(o.model, ModelOptions{1, "cpu"}, nullptr), o);
        const auto [low, high] = std::minmax_element(here.begin(), here.end());
        double most = 0;
        for (int n = 0; n < o.models; ++n) {
            const auto there = run(std::make_shared<Model>(o.model, ModelOptions{1, o.device}, nullptr), o);
            for (size_t i = 0; i < here.size(); ++i) most = std::max(most, double(std::fabs(there[i] - here[i])));
        }
        std::printf("largest difference from the processor: %.2g of the range\n", most / double(*high - *low));
        return most / double(*high - *low) < 1e-2 ? 0 : 1;
    } catch (const std::exception & e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
