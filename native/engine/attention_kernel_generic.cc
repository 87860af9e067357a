// Whatever the compiler makes of four floats at a time: SSE2, NEON, or plain code.
#include "attention_kernel.h"

#if defined(__GNUC__) || defined(__clang__)
#define KERNEL_NAME generic
#define KERNEL_WIDTH 4
#define KERNEL_BLOCK 6
#define KERNEL_USABLE true
#include "attention_kernel.inc"
#endif
