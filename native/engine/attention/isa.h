#pragma once
// What the .inc files of a kernel need from outside. They are included within a namespace of the kernel's own, so that
// nothing compiled for one instruction set is merged with another's.
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
