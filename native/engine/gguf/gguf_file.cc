#include "gguf_file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "engine/chunks/hash.h"
#include "engine/error.h"

namespace kvasir {

namespace {
constexpr size_t kSample = 4096;

// The suffix that gguf-split appends to a model's name: "-00002-of-00003.gguf"; `part` counts from 0.
std::string part_suffix(uint64_t part, uint64_t parts) {
    char suffix[48];
    std::snprintf(suffix, sizeof suffix, "-%05u-of-%05u.gguf", unsigned(part + 1), unsigned(parts));
    return suffix;
}

std::string file_name(const std::string & path) { return path.substr(path.find_last_of("/\\") + 1); }

// nullopt if the value has another type.
std::optional<uint64_t> whole_number(const gguf_context * header, int64_t id) {
    switch (gguf_get_kv_type(header, id)) {
        case GGUF_TYPE_UINT8: return gguf_get_val_u8(header, id);
        case GGUF_TYPE_UINT16: return gguf_get_val_u16(header, id);
        case GGUF_TYPE_UINT32: return gguf_get_val_u32(header, id);
        case GGUF_TYPE_UINT64: return gguf_get_val_u64(header, id);
        case GGUF_TYPE_INT32:
            if (gguf_get_val_i32(header, id) >= 0) return uint64_t(gguf_get_val_i32(header, id));
            [[fallthrough]];
        default: return std::nullopt;
    }
}

// "split.count" and similar keys; 0 if the file is not split.
uint64_t split_number(const gguf_context * header, const char * key) {
    const int64_t id = gguf_find_key(header, key);
    return id < 0 ? 0 : whole_number(header, id).value_or(0);
}
}  // namespace

void GgufFile::invalid(const std::string & why) const {
    throw Error("MODEL_INVALID", "The file " + path_ + " is not a usable GGUF model: " + why + ".", kFetchAgain);
}

GgufFile::GgufFile(const std::string & path) : path_(path), gguf_(open(path)) {
    add_tensors(gguf_.get());
    if (split_number(gguf_.get(), "split.count") > 1) open_parts();
    const auto by_name = [](const Tensor & a, const Tensor & b) { return a.name < b.name; };
    std::sort(tensors_.begin(), tensors_.end(), by_name);
    const auto same = [](const Tensor & a, const Tensor & b) { return a.name == b.name; };
    const auto twice = std::adjacent_find(tensors_.begin(), tensors_.end(), same);
    if (twice != tensors_.end()) invalid("it contains the tensor " + twice->name + " twice");
}

GgufFile::Header GgufFile::open(const std::string & path) {
    maps_.push_back(std::make_unique<MappedFile>(path));
    const MappedFile & map = *maps_.back();
    if (map.size() < 24 || std::memcmp(map.data(), "GGUF", 4) != 0) invalid("it does not start with a GGUF header");
    // Counts that cannot fit the file are rejected here, before the parser reserves memory for them.
    uint64_t tensor_count, kv_count;
    std::memcpy(&tensor_count, map.data() + 8, 8);
    std::memcpy(&kv_count, map.data() + 16, 8);
    if (tensor_count > map.size() / 24 || kv_count > map.size() / 12) {
        invalid("its header lists more entries than fit the file");
    }
    Header header(gguf_init_from_buffer(map.data(), map.size(), gguf_init_params{true, nullptr}));
    if (!header) invalid("its header is truncated or inconsistent");
    data_offsets_.push_back(gguf_get_data_offset(header.get()));
    return header;
}

void GgufFile::add_tensors(const gguf_context * header) {
    const size_t part = maps_.size() - 1, data_offset = data_offsets_.back();
    const MappedFile & map = *maps_.back();
    for (int64_t i = 0; i < gguf_get_n_tensors(header); ++i) {
        Tensor t;
        t.name = gguf_get_tensor_name(header, i);
        t.type = gguf_get_tensor_type(header, i);
        std::copy_n(gguf_get_tensor_ne(header, i), GGML_MAX_DIMS, t.ne);
        t.bytes = gguf_get_tensor_size(header, i);
        t.part = part;
        const size_t offset = data_offset + gguf_get_tensor_offset(header, i);
        if (offset < data_offset || offset > map.size() || t.bytes > map.size() - offset) {
            invalid("it ends before the data of tensor " + t.name + " (cut short?)");
        }
        t.data = map.data() + offset;
        tensors_.push_back(std::move(t));
    }
}

// Finds the other parts by their names next to the first, as libllama does.
void GgufFile::open_parts() {
    const uint64_t parts = split_number(gguf_.get(), "split.count"), own = split_number(gguf_.get(), "split.no");
    const std::string which = "it is part " + std::to_string(own + 1) + " of " + std::to_string(parts);
    const std::string suffix = part_suffix(own, parts);
    if (!path_.ends_with(suffix)) {
        invalid(which + ", and its name does not end with " + suffix + ", so the other parts cannot be found");
    }
    const std::string stem = path_.substr(0, path_.size() - suffix.size());
    const std::string first = stem + part_suffix(0, parts);
    if (own != 0) {
        throw Error("MODEL_INVALID", "The file " + path_ + " is not a complete model: " + which + ".",
                    "Choose the first part instead: " + file_name(first) + ".");
    }
    for (uint64_t part = 1; part < parts; ++part) {
        path_ = stem + part_suffix(part, parts);  // so that messages name the part
        Header header;
        try {
            header = open(path_);
        } catch (const Error & e) {
            if (e.code != "MODEL_NOT_FOUND") throw;
            throw Error("MODEL_PART_MISSING",
                        "The model " + first + " is split into " + std::to_string(parts) + " files, and " +
                            file_name(path_) + " is missing.",
                        "Put the missing file in the same folder.");
        }
        if (split_number(header.get(), "split.count") != parts || split_number(header.get(), "split.no") != part) {
            invalid("it is not part " + std::to_string(part + 1) + " of " + std::to_string(parts));
        }
        add_tensors(header.get());
    }
    path_ = first;
    const uint64_t all = split_number(gguf_.get(), "split.tensors.count");
    if (tensors_.size() != all) {
        invalid("its parts contain " + std::to_string(tensors_.size()) + " tensors, not " + std::to_string(all));
    }
}

size_t GgufFile::file_size() const {
    return std::accumulate(maps_.begin(), maps_.end(), size_t(0), [](size_t n, auto & map) { return n + map->size(); });
}

bool GgufFile::changed() const {
    return std::any_of(maps_.begin(), maps_.end(), [](auto & map) { return map->changed(); });
}

void GgufFile::require_unchanged() const {
    if (!changed()) return;
    throw Error("MODEL_CHANGED", "The file of the model, " + path_ + ", was changed while it is in use.",
                "Load the model again; if that fails, download the file again.");
}

void GgufFile::watch_other_mappings() {
    for (auto & map : maps_) map->watch_other_mappings();
}

const GgufFile::Tensor * GgufFile::find(const std::string & name) const {
    auto it = std::lower_bound(tensors_.begin(), tensors_.end(), name, [](auto & t, auto & n) { return t.name < n; });
    return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

std::optional<uint64_t> GgufFile::integer(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    const std::optional<uint64_t> value = whole_number(gguf_.get(), id);
    if (!value) invalid("its entry " + key + " is not a whole number");
    return value;
}

std::optional<double> GgufFile::number(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    switch (gguf_get_kv_type(gguf_.get(), id)) {
        case GGUF_TYPE_FLOAT32: return gguf_get_val_f32(gguf_.get(), id);
        case GGUF_TYPE_FLOAT64: return gguf_get_val_f64(gguf_.get(), id);
        default: return double(*integer(key));
    }
}

std::optional<bool> GgufFile::boolean(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    if (gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_BOOL) invalid("its entry " + key + " is not true or false");
    return gguf_get_val_bool(gguf_.get(), id);
}

std::optional<std::string> GgufFile::string(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return std::nullopt;
    if (gguf_get_kv_type(gguf_.get(), id) != GGUF_TYPE_STRING) invalid("its entry " + key + " is not text");
    return gguf_get_val_str(gguf_.get(), id);
}

bool GgufFile::is_array(const std::string & key) const {
    const int64_t id = find_key(key);
    return id >= 0 && gguf_get_kv_type(gguf_.get(), id) == GGUF_TYPE_ARRAY;
}

size_t GgufFile::array_size(const std::string & key) const {
    return is_array(key) ? gguf_get_arr_n(gguf_.get(), find_key(key)) : 0;
}

std::vector<std::string> GgufFile::strings(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return {};
    if (!is_array(key) || gguf_get_arr_type(gguf_.get(), id) != GGUF_TYPE_STRING) {
        invalid("its entry " + key + " is not a list of texts");
    }
    std::vector<std::string> out;
    for (size_t i = 0; i < gguf_get_arr_n(gguf_.get(), id); ++i) out.push_back(gguf_get_arr_str(gguf_.get(), id, i));
    return out;
}

std::vector<uint64_t> GgufFile::integers(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return {};
    const gguf_type type = is_array(key) ? gguf_get_arr_type(gguf_.get(), id) : GGUF_TYPE_COUNT;
    if (type != GGUF_TYPE_UINT32 && type != GGUF_TYPE_INT32) {
        invalid("its entry " + key + " is not a list of numbers");
    }
    std::vector<uint64_t> out;
    const void * values = gguf_get_arr_data(gguf_.get(), id);
    for (size_t i = 0; i < gguf_get_arr_n(gguf_.get(), id); ++i) {
        const int64_t v = type == GGUF_TYPE_INT32 ? static_cast<const int32_t *>(values)[i]
                                                  : int64_t(static_cast<const uint32_t *>(values)[i]);
        if (v < 0) invalid("its entry " + key + " has a number below 0");
        out.push_back(uint64_t(v));
    }
    return out;
}

std::vector<bool> GgufFile::booleans(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return {};
    if (!is_array(key) || gguf_get_arr_type(gguf_.get(), id) != GGUF_TYPE_BOOL) {
        invalid("its entry " + key + " is not a list of truth values");
    }
    const auto * values = static_cast<const int8_t *>(gguf_get_arr_data(gguf_.get(), id));
    return std::vector<bool>(values, values + gguf_get_arr_n(gguf_.get(), id));
}

std::vector<std::string> GgufFile::keys() const {
    std::vector<std::string> out;
    for (int64_t i = 0; i < gguf_get_n_kv(gguf_.get()); ++i) out.push_back(gguf_get_key(gguf_.get(), i));
    return out;
}

bool GgufFile::is_real(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return false;
    const gguf_type type = gguf_get_kv_type(gguf_.get(), id);
    return type == GGUF_TYPE_FLOAT32 || type == GGUF_TYPE_FLOAT64;
}

bool GgufFile::is_neutral(const std::string & key) const {
    const int64_t id = find_key(key);
    if (id < 0) return true;
    switch (gguf_get_kv_type(gguf_.get(), id)) {
        case GGUF_TYPE_ARRAY: return gguf_get_arr_n(gguf_.get(), id) == 0;
        case GGUF_TYPE_STRING: return *gguf_get_val_str(gguf_.get(), id) == '\0';
        case GGUF_TYPE_BOOL: return !gguf_get_val_bool(gguf_.get(), id);
        case GGUF_TYPE_FLOAT32: return gguf_get_val_f32(gguf_.get(), id) == 0;
        case GGUF_TYPE_FLOAT64: return gguf_get_val_f64(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT32: return gguf_get_val_i32(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT8: return gguf_get_val_i8(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT16: return gguf_get_val_i16(gguf_.get(), id) == 0;
        case GGUF_TYPE_INT64: return gguf_get_val_i64(gguf_.get(), id) == 0;
        default: return *integer(key) == 0;
    }
}

std::array<uint8_t, 32> GgufFile::fingerprint() const {
    Sha256 sha;
    for (size_t part = 0; part < maps_.size(); ++part) sha.update(maps_[part]->data(), data_offsets_[part]);
    for (const Tensor & t : tensors_) {
        const size_t n = std::min(t.bytes, kSample);
        sha.update(t.data, n);
        sha.update(t.data + t.bytes - n, n);
    }
    return sha.digest();
}

}  // namespace kvasir
