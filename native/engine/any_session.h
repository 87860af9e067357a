#pragma once
// A session of either engine, as JavaScript calls it.
//
// Thread safety: as Session.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/chunks/layer_loader.h"
#include "engine/fusing/append_report.h"
#include "engine/fusing/prompt.h"
#include "engine/fusing/strategy.h"
#include "engine/gguf/vocab.h"

namespace kvasir {

struct Generated {
    std::vector<int32_t> tokens;
    std::string stop;  // eos, length, aborted, context
    double ms = 0;
    int drafted = 0, accepted = 0;  // tokens that were computed before they were sampled; of these, the right ones
};

class AnySession {
  public:
    virtual ~AnySession() = default;

    virtual int length() const = 0;
    virtual int capacity() const = 0;
    virtual const std::vector<float> & logits() const = 0;

    virtual AppendReport append(const std::vector<Segment> & segments, const StrategySpec & strategy,
                                const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading = {},
                                int observe = 0) = 0;
    virtual Generated generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                               const OnToken & on_token) = 0;
    virtual void truncate(int length) = 0;
    virtual int adopt(const std::vector<int32_t> & tokens) = 0;
    virtual std::shared_ptr<AnySession> branch(int length) const = 0;
    virtual void reserve(int tokens) = 0;
    virtual void warm(int begin, int end) = 0;
    // Whether an append uses resources that exist once per device.
    virtual bool uses_devices() const = 0;
};

}  // namespace kvasir
