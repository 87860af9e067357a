#include "attention_kernel.h"

#define KERNEL_NAME avx2
#define KERNEL_WIDTH 8
#define KERNEL_BLOCK 6  // 12 of 16 registers
#define KERNEL_USABLE __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")
#include "attention_kernel.inc"
