#pragma once
// Buffers in the memory of one device. On devices other than the host, the buffers of passes are kept and reused:
// allocating and clearing such memory costs more than computing in it.
//
// Thread safety: as Device.
#include <functional>
#include <vector>

#include "backend.h"

namespace kvasir {

class DeviceMemory {
  public:
    explicit DeviceMemory(ggml_backend_dev_t dev);
    DeviceMemory(const DeviceMemory &) = delete;

    ggml_backend_buffer_type_t type() const { return type_; }

    // Called when the device is out of memory; the allocation is retried as long as it returns true (memory was freed).
    void on_shortage(std::function<bool()> give_way) { give_way_ = std::move(give_way); }

    // Holds a buffer while it is in use. The DeviceMemory that it is from must outlive it.
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

    // A buffer for all tensors of `ctx`. OUT_OF_MEMORY.
    Lease allocate(ggml_context * ctx);
    // The same for the duration of a pass; the contents are undefined.
    Lease allocate_for_pass(ggml_context * ctx);
    // Wraps a buffer in plain host memory.
    Lease wrap(BufferPtr buffer) { return {*this, std::move(buffer), false}; }

    // Allocates a graph's tensors; `galloc` grows as needed. OUT_OF_MEMORY.
    void allocate_graph(ggml_gallocr * galloc, ggml_cgraph * graph);

  private:
    void give_back(BufferPtr buffer, bool keep);
    bool made_room() const { return give_way_ && give_way_(); }

    std::function<bool()> give_way_;
    ggml_backend_buffer_type_t type_;
    bool host_;
    std::string name_;
    std::vector<BufferPtr> kept_;  // currently unused
};

}  // namespace kvasir
