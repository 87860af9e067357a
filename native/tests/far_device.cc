#include "tests/far_device.h"

#include <sys/mman.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "ggml-backend-impl.h"
#include "ggml-backend.h"

namespace kvasir::test {

namespace {

constexpr size_t kPlenty = size_t(1) << 40;
size_t memory_bytes = size_t(8) << 30;
std::atomic<size_t> copied_within = 0;
ggml_op refused = GGML_OP_NONE;
bool llvmpipe = false;
std::function<void()> before_graphs;

// Pages that are accessible only while the device works: reading one through a tensor's pointer crashes.
class Pages {
  public:
    void * take(size_t bytes) {
        std::lock_guard lock(mutex_);
        if (bytes > left_) return nullptr;
        void * at = mmap(nullptr, bytes, protection(), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) return nullptr;
        all_[at] = bytes;
        left_ -= bytes;
        ++buffers_.made;
        return at;
    }
    void give_back(void * at) {
        std::lock_guard lock(mutex_);
        ++buffers_.freed;
        munmap(at, all_[at]);
        left_ += all_[at];
        all_.erase(at);
    }
    void leave(size_t bytes) {
        std::lock_guard lock(mutex_);
        left_ = bytes;
    }
    FarBuffers buffers() {
        std::lock_guard lock(mutex_);
        return buffers_;
    }
    void open() {
        std::lock_guard lock(mutex_);
        if (users_++ == 0) protect();
    }
    void close() {
        std::lock_guard lock(mutex_);
        if (--users_ == 0) protect();
    }

  private:
    int protection() const { return users_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }
    void protect() {
        for (auto [at, bytes] : all_) mprotect(at, bytes, protection());
    }
    std::mutex mutex_;
    std::map<void *, size_t> all_;
    size_t left_ = kPlenty;
    FarBuffers buffers_;
    int users_ = 0;
};

Pages & pages() {
    static Pages p;
    return p;
}

FarBuffers before;  // when far_device() was called

struct Access {
    Access() { pages().open(); }
    ~Access() { pages().close(); }
};

uint8_t * at(const ggml_tensor * t, size_t offset) { return static_cast<uint8_t *>(t->data) + offset; }

const ggml_backend_buffer_i kBuffer = {
    .free_buffer = [](ggml_backend_buffer_t b) { pages().give_back(b->context); },
    .get_base = [](ggml_backend_buffer_t b) { return b->context; },
    .init_tensor = nullptr,
    .memset_tensor =
        [](ggml_backend_buffer_t, ggml_tensor * t, uint8_t v, size_t offset, size_t n) {
            Access a;
            std::memset(at(t, offset), v, n);
        },
    .set_tensor =
        [](ggml_backend_buffer_t, ggml_tensor * t, const void * from, size_t offset, size_t n) {
            Access a;
            std::memcpy(at(t, offset), from, n);
        },
    .get_tensor =
        [](ggml_backend_buffer_t, const ggml_tensor * t, void * to, size_t offset, size_t n) {
            Access a;
            std::memcpy(to, at(t, offset), n);
        },
    .set_tensor_2d = nullptr,
    .get_tensor_2d = nullptr,
    .cpy_tensor =
        [](ggml_backend_buffer_t, const ggml_tensor * from, ggml_tensor * to) {
            if (from->buffer->buft != to->buffer->buft) return false;
            Access a;
            std::memcpy(at(to, 0), from->data, ggml_nbytes(from));
            copied_within += ggml_nbytes(from);
            return true;
        },
    .clear =
        [](ggml_backend_buffer_t b, uint8_t v) {
            Access a;
            std::memset(b->context, v, b->size);
        },
    .reset = nullptr,
};

// Statistics of copies, and the page-locked host memory.
std::mutex copies_mutex;
std::condition_variable copies_changed;
FarCopies copies;
std::map<const uint8_t *, size_t> page_locked;

bool is_page_locked(const void * from) {
    const auto * p = static_cast<const uint8_t *>(from);
    const auto behind = page_locked.upper_bound(p);
    return behind != page_locked.begin() && p < std::prev(behind)->first + std::prev(behind)->second;
}

ggml_backend_dev_t device();

ggml_backend_buffer_type_t host_buffer_type() {
    static ggml_backend_buffer_type type = *ggml_backend_cpu_buffer_type();
    type.device = device();
    type.iface.alloc_buffer = [](ggml_backend_buffer_type_t t, size_t n) -> ggml_backend_buffer_t {
        void * memory = std::aligned_alloc(64, (n + 63) / 64 * 64);
        std::lock_guard lock(copies_mutex);
        page_locked[static_cast<uint8_t *>(memory)] = n;
        ggml_backend_buffer_t buffer = ggml_backend_cpu_buffer_from_ptr(memory, n);
        buffer->buft = t;
        buffer->iface.free_buffer = [](ggml_backend_buffer_t b) {
            std::lock_guard freeing(copies_mutex);
            page_locked.erase(static_cast<uint8_t *>(b->context));
            std::free(b->context);
        };
        return buffer;
    };
    return &type;
}

ggml_backend_buffer_type_t buffer_type() {
    static ggml_backend_buffer_type type = {
        .iface = {.get_name = [](ggml_backend_buffer_type_t) { return "Far"; },
                  .alloc_buffer = [](ggml_backend_buffer_type_t t, size_t n) -> ggml_backend_buffer_t {
                      void * memory = pages().take(n + 1);
                      return memory ? ggml_backend_buffer_init(t, kBuffer, memory, n) : nullptr;
                  },
                  .get_alignment = [](ggml_backend_buffer_type_t) { return size_t(128); },
                  .get_max_size = nullptr,
                  .get_alloc_size = nullptr,
                  .is_host = nullptr},
        .device = device(),
        .context = nullptr,
    };
    return &type;
}

// Like CUDA: no custom ops; attention only for some head sizes, with a mask, over a padded number of keys.
bool supports(ggml_backend_dev_t, const ggml_tensor * op) {
    if (op->op == refused && refused != GGML_OP_NONE) return false;
    switch (op->op) {
        case GGML_OP_CUSTOM: case GGML_OP_MAP_CUSTOM1: case GGML_OP_MAP_CUSTOM2: case GGML_OP_MAP_CUSTOM3: return false;
        case GGML_OP_FLASH_ATTN_EXT: return op->src[1]->ne[0] % 64 == 0 && op->src[3] && op->src[1]->ne[1] % 256 == 0;
        case GGML_OP_ROPE: return ggml_is_contiguous_2(op->src[0]);
        case GGML_OP_SUM_ROWS: return ggml_is_contiguous(op->src[0]);
        default: return true;
    }
}

// Rejects a graph with an op that the device lacks, or that reads tensors outside the device.
bool runs_here(const ggml_cgraph * graph) {
    for (int i = 0; i < ggml_graph_n_nodes(const_cast<ggml_cgraph *>(graph)); ++i) {
        const ggml_tensor * node = ggml_graph_node(const_cast<ggml_cgraph *>(graph), i);
        if (!supports(device(), node)) return false;
        for (const ggml_tensor * src : node->src) {
            const ggml_backend_buffer_t buffer = !src ? nullptr : src->view_src ? src->view_src->buffer : src->buffer;
            if (src && (!buffer || buffer->buft != buffer_type())) return false;
        }
    }
    return true;
}

// One stream of work. Copies wait here until somebody synchronises with it, or a graph of the same stream needs them.
struct Stream {
    struct Copy {
        ggml_tensor * to;
        const void * from;
        size_t offset, bytes;
    };
    ggml_backend_t processor;
    std::vector<Copy> waiting;
    int graphs = 0;
};
Stream & stream(ggml_backend_t b) { return *static_cast<Stream *>(b->context); }

void begin_copy(ggml_backend_t b, ggml_tensor * to, const void * from, size_t offset, size_t bytes) {
    stream(b).waiting.push_back({to, from, offset, bytes});
    std::lock_guard lock(copies_mutex);
    ++copies.under_way;
    copies.bytes += bytes;
    if (is_page_locked(from)) copies.page_locked += bytes;
}

void synchronize(ggml_backend_t b) {
    if (stream(b).waiting.empty()) return;
    {
        Access a;
        for (const Stream::Copy & c : stream(b).waiting) std::memcpy(at(c.to, c.offset), c.from, c.bytes);
    }
    {
        std::lock_guard lock(copies_mutex);
        copies.under_way -= int(stream(b).waiting.size());
        ++copies.arrivals;
    }
    stream(b).waiting.clear();
    copies_changed.notify_all();
}

ggml_backend_t make_backend(ggml_backend_dev_t dev, const char *) {
    static ggml_guid guid = {0xfa, 0x12};
    ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_t processor = ggml_backend_dev_init(cpu, nullptr);
    void * set_threads =
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(cpu), "ggml_backend_set_n_threads");
    reinterpret_cast<ggml_backend_set_n_threads_t>(set_threads)(processor, 1);
    ggml_backend_i iface{};
    iface.get_name = [](ggml_backend_t) { return "Far"; };
    iface.free = [](ggml_backend_t b) { ggml_backend_free(stream(b).processor), delete &stream(b), delete b; };
    iface.set_tensor_async = begin_copy;
    iface.synchronize = synchronize;
    iface.graph_compute = [](ggml_backend_t b, ggml_cgraph * graph) {
        if (!runs_here(graph) || (llvmpipe && stream(b).graphs++ > 0)) return GGML_STATUS_FAILED;
        if (before_graphs) before_graphs();
        synchronize(b);
        Access a;
        return ggml_backend_graph_compute(stream(b).processor, graph);
    };
    return new ggml_backend{&guid, iface, dev, new Stream{processor, {}, {}}};
}

const ggml_backend_device_i kDevice = {
    .get_name = [](ggml_backend_dev_t) { return "Far"; },
    .get_description = [](ggml_backend_dev_t) { return llvmpipe ? "llvmpipe (a stand-in)" : "a stand-in for a GPU"; },
    .get_memory = [](ggml_backend_dev_t, size_t * free, size_t * total) { *free = *total = memory_bytes; },
    .get_type = [](ggml_backend_dev_t) { return GGML_BACKEND_DEVICE_TYPE_GPU; },
    .get_props =
        [](ggml_backend_dev_t, ggml_backend_dev_props * p) {
            *p = {}, p->name = "Far", p->type = GGML_BACKEND_DEVICE_TYPE_GPU,
            p->caps.async = p->caps.host_buffer = true;
        },
    .init_backend = make_backend,
    .get_buffer_type = [](ggml_backend_dev_t) { return buffer_type(); },
    .get_host_buffer_type = [](ggml_backend_dev_t) { return host_buffer_type(); },
    .buffer_from_host_ptr = nullptr,
    .supports_op = supports,
    .supports_buft = [](ggml_backend_dev_t, ggml_backend_buffer_type_t t) { return t == buffer_type(); },
    .offload_op = nullptr,
    .event_new = nullptr,
    .event_free = nullptr,
    .event_synchronize = nullptr,
};

ggml_backend_reg_t registry() {
    static ggml_backend_reg reg = {
        .api_version = GGML_BACKEND_API_VERSION,
        .iface = {.get_name = [](ggml_backend_reg_t) { return "Far"; },
                  .get_device_count = [](ggml_backend_reg_t) { return size_t(1); },
                  .get_device = [](ggml_backend_reg_t, size_t) { return device(); },
                  .get_proc_address = [](ggml_backend_reg_t, const char *) -> void * { return nullptr; }},
        .context = nullptr,
    };
    return &reg;
}

ggml_backend_dev_t device() {
    static ggml_backend_device dev = {kDevice, registry(), nullptr};
    return &dev;
}

}  // namespace

std::string far_device() {
    static const bool registered = (ggml_backend_register(registry()), true);
    (void)registered;
    memory_bytes = size_t(8) << 30, refused = GGML_OP_NONE, before_graphs = nullptr, llvmpipe = false;
    before = pages().buffers(), copied_within = 0;
    pages().leave(kPlenty);
    std::lock_guard lock(copies_mutex);
    copies = {};
    return "Far";
}
void set_far_memory(size_t bytes) { memory_bytes = bytes; }
void leave_far_memory(size_t bytes) { pages().leave(bytes); }
size_t far_copies_within() { return copied_within; }
void make_far_device_llvmpipe() { llvmpipe = true; }
void refuse_on_far_device(ggml_op op) { refused = op; }
void before_far_graphs(std::function<void()> call) { before_graphs = std::move(call); }
FarBuffers far_buffers() {
    const FarBuffers all = pages().buffers();
    return {all.made - before.made, all.freed - before.freed};
}
FarCopies far_copies() {
    std::lock_guard lock(copies_mutex);
    return copies;
}
bool far_arrivals(int n, std::chrono::milliseconds at_most) {
    std::unique_lock lock(copies_mutex);
    return copies_changed.wait_for(lock, at_most, [&] { return copies.arrivals >= n; });
}

}  // namespace kvasir::test
