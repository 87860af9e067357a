#include "attention_kernel.h"

#define KERNEL_NAME avx512
#define KERNEL_WIDTH 16
#define KERNEL_BLOCK 12  // 24 of 32 registers
#define KERNEL_USABLE __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
#include "attention_kernel.inc"
