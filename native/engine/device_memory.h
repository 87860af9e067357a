#pragma once
// Buffers in the memory of one device. On devices other than the host those that passes work in are kept and used
// again: taking and clearing such memory costs more than computing in it.
//
// Thread safety: as Device's.
#include <functional>
#include <vector>

#include "backend.h"

namespace kvasir {

class DeviceMemory {
  public:
    explicit DeviceMemory(ggml_backend_dev_t dev);
    DeviceMemory(const DeviceMemory &) = delete;

    ggml_backend_buffer_type_t type() const { return type_; }

    // What is asked for memory when the device has none left, for as long as it says that it gave some back.
    void on_shortage(std::function<bool()> give_way) { give_way_ = std::move(give_way); }

    // A buffer as long as it is used; the memory it is from must outlive it.
    class Lease {
      public:
        Lease() = default;
        Lease(DeviceMemory & of, BufferPtr buffer, bool keep) : of_(&of), buffer_(std::move(buffer)), keep_(keep) {}
        Lease(Lease &&) = default;
        Lease & operator=(Lease && other) {
            if (buffer_) of_->give_back(std::move(buffer_), keep_);
            of_ = other.of_, buffer_ = std::move(other.buffer_), keep_ = other.keep_;
            return *this;
        }
        ~Lease() {
            if (buffer_) of_->give_back(std::move(buffer_), keep_);
        }
        ggml_backend_buffer_t get() const { return buffer_.get(); }

      private:
        DeviceMemory * of_ = nullptr;
        BufferPtr buffer_;
        bool keep_ = false;
    };

    // For all tensors of `ctx`. OUT_OF_MEMORY.
    Lease allocate(ggml_context * ctx);
    // The same, for as long as a pass takes: what it holds is undefined.
    Lease allocate_for_pass(ggml_context * ctx);
    // For what stands in plain memory of the host.
    Lease wrap(BufferPtr buffer) { return {*this, std::move(buffer), false}; }

    // Places a graph's tensors; `galloc` grows where it must. OUT_OF_MEMORY.
    void allocate_graph(ggml_gallocr * galloc, ggml_cgraph * graph);

  private:
    void give_back(BufferPtr buffer, bool keep);
    bool made_room() const { return give_way_ && give_way_(); }

    std::function<bool()> give_way_;
    ggml_backend_buffer_type_t type_;
    bool host_;
    std::string name_;
    std::vector<BufferPtr> kept_;  // nobody uses these now
};

}  // namespace kvasir
