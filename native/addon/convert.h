#pragma once
// JavaScript values ↔ engine structs.
//
// Thread safety: JavaScript's thread only.
#include <napi.h>

#include "engine/gguf/gguf_file.h"
#include "engine/session.h"
#include "llama/engine_choice.h"

namespace kvasir::addon {

// These throw a TypeError that names the argument.
std::vector<int32_t> tokens_from(const Napi::Value & v, const char * name);
std::vector<std::vector<int32_t>> token_lists_from(const Napi::Value & v, const char * name);
Napi::Object object_from(const Napi::Value & v, const char * name);
std::string string_from(const Napi::Value & v, const char * name);
int int_from(const Napi::Value & v, const char * name);
StrategySpec strategy_from(const Napi::Value & v);
// Undefined: the whole chunk.
std::optional<TokenRange> range_from(const Napi::Value & v);
size_t bytes_from(const Napi::Value & v, const char * name);
// Valid only until control returns to JavaScript.
ByteSpan span_from(const Napi::Value & v, const char * name);
// Undefined: unlimited speed, ahead of the computation.
LoadOptions load_options_from(const Napi::Value & v);
Sampling sampling_from(const Napi::Value & v);

Napi::Int32Array tokens_to(Napi::Env env, const std::vector<int32_t> & v);
Napi::Float32Array floats_to(Napi::Env env, const std::vector<float> & v);
Napi::Value progress_to(Napi::Env env, Progress p);
Napi::Value report_to(Napi::Env env, const AppendReport & r);
// The header's contents, and the engine that runs the file. If the file is valid but no engine runs it, sets
// `unsupportedReason` instead of throwing. `choice`: choose_engine(file).
Napi::Object gguf_info(Napi::Env env, const GgufFile & file, const EngineChoice & choice);
Napi::Object gguf_info(Napi::Env env, const GgufFile & file);
void set_vocabulary(Napi::Object info, const Vocab & vocab);
Napi::Object model_info(Napi::Env env, Model & model);

}  // namespace kvasir::addon
