#include "header_reader.h"

#include "engine/error.h"

namespace kvasir {

void HeaderReader::out_of_range(const std::string & key, const std::string & value) const {
    throw Error("MODEL_INVALID",
                "The model " + file_.path() + " has " + full(key) + " = " + value + ", which is out of range.");
}

int HeaderReader::count(const std::string & key, uint64_t max, int fallback) const {
    asked_.insert(key);
    if (file_.is_array(full(key))) {
        throw Error("MODEL_UNSUPPORTED",
                    "The model differs from layer to layer (" + full(key) + " is a list), which is not supported.");
    }
    const auto v = file_.integer(full(key));
    if (!v && fallback >= 0) return fallback;
    if (!v) throw Error("MODEL_INVALID", "The model " + file_.path() + " has no entry " + full(key) + ".");
    if (*v == 0 || *v > max) out_of_range(key, std::to_string(*v));
    return int(*v);
}

std::vector<int> HeaderReader::counts(const std::string & key, uint64_t max, int n, int fallback) const {
    if (!file_.is_array(full(key))) return std::vector<int>(size_t(n), count(key, max, fallback));
    asked_.insert(key);
    std::vector<int> out;
    for (const uint64_t v : file_.integers(full(key))) {
        if (v == 0 || v > max) out_of_range(key, "a list with " + std::to_string(v));
        out.push_back(int(v));
    }
    if (int(out.size()) != n) out_of_range(key, "a list of " + std::to_string(out.size()));
    return out;
}

int HeaderReader::optional_count(const std::string & key, uint64_t max) const {
    const bool none = !file_.is_array(full(key)) && file_.integer(full(key)).value_or(0) == 0;
    asked_.insert(key);
    return none ? 0 : count(key, max);
}

float HeaderReader::real(const std::string & key, float fallback, float least, float most) const {
    asked_.insert(key);
    const auto v = file_.number(full(key));
    if (!v) return fallback;
    if (*v >= double(least) && *v <= double(most)) return float(*v);
    out_of_range(key, std::to_string(*v));
}

std::string HeaderReader::text(const std::string & key, const std::string & fallback) const {
    asked_.insert(key);
    return file_.string(full(key)).value_or(fallback);
}

bool HeaderReader::flag(const std::string & key, bool fallback) const {
    asked_.insert(key);
    return file_.boolean(full(key)).value_or(fallback);
}

std::vector<bool> HeaderReader::by_layer(const std::string & key, int n) const {
    if (!file_.is_array(full(key))) return {};
    asked_.insert(key);
    std::vector<bool> out = file_.booleans(full(key));
    if (int(out.size()) != n) out_of_range(key, "a list of " + std::to_string(out.size()));
    return out;
}

}  // namespace kvasir
