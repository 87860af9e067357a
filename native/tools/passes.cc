// Runs the passes of an answer on one device, each several times, in a separate process: only that shows how a device's
// driver behaves when memory is allocated and freed. Prints the passes that differ from the processor's.
//   kvasir-passes --model FILE --device NAME [--models 1] [--prefills 6] [--blends 0] [--decodes 0] [--tokens 64]
// With --models N the model is loaded, used and freed N times, one after another.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>

#include "engine/error.h"
#include "engine/session.h"

namespace {

using namespace kvasir;

// Largest accepted difference of a pass, in units of the range of its logits.
constexpr double kBound = 1e-2;

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

// The final logits of each pass: [prefills + blends][vocab].
std::vector<std::vector<float>> run(const std::shared_ptr<Model> & model, const Options & o) {
    std::vector<std::vector<float>> out;
    const auto keep = [&](const Session & s) { out.push_back(s.logits()); };
    for (int i = 0; i < o.prefills; ++i) {
        Session session(model, 4 * o.tokens + 64);
        session.append({{tokens(*model, o.tokens, i), nullptr}}, {.name = "full"}, nullptr, nullptr);
        keep(session);
        session.generate(o.decodes, {}, nullptr, nullptr);
    }
    for (int i = 0; i < o.blends; ++i) {
        std::vector<Segment> segments{{{1}, nullptr}};
        for (int seed : {i, i + 100}) {
            const auto chunk = encode_chunk(model, tokens(*model, o.tokens, seed), {1}, KvDtype::f16);
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

// The largest difference, in units of the range of `expected`; infinite if a value is not a number.
double distance(const std::vector<float> & got, const std::vector<float> & expected) {
    const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
    double most = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        const double d = std::fabs(double(got[i]) - expected[i]);
        if (!std::isfinite(d)) return INFINITY;
        most = std::max(most, d);
    }
    return most / (double(*high) - *low);
}

}  // namespace

int main(int argc, char ** argv) {
    try {
        const Options o = parse(argc, argv);
        init_backends("build/ggml");
        if (const std::filesystem::path packs = "build/ggml/packs"; std::filesystem::exists(packs)) {
            for (const auto & pack : std::filesystem::directory_iterator(packs)) load_pack(pack.path().string());
        }
        const auto here = run(std::make_shared<Model>(o.model, ModelOptions{1, "cpu"}, nullptr), o);
        double most = 0;
        int wrong = 0;
        for (int n = 0; n < o.models; ++n) {
            const auto there = run(std::make_shared<Model>(o.model, ModelOptions{1, o.device}, nullptr), o);
            for (size_t i = 0; i < here.size(); ++i) {
                const double d = distance(there[i], here[i]);
                most = std::max(most, d);
                if (d < kBound) continue;
                ++wrong;
                std::printf("%s %zu of model %d: %.2g of the range\n", int(i) < o.prefills ? "prefill" : "blend",
                            int(i) < o.prefills ? i : i - size_t(o.prefills), n, d);
            }
        }
        std::printf("%d of %zu passes wrong; largest difference from the processor: %.2g of the range\n", wrong,
                    size_t(o.models) * here.size(), most);
        return wrong == 0 ? 0 : 1;
    } catch (const std::exception & e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
