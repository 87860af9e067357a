#pragma once
// KVASIR_IF_AVX2(x) is x if this build has AVX2 kernels, else nothing; likewise for the other instruction sets.
// native/CMakeLists.txt defines KVASIR_HAVE_AVX2 and so on.

#ifdef KVASIR_HAVE_AMX
#define KVASIR_IF_AMX(...) __VA_ARGS__
#else
#define KVASIR_IF_AMX(...)
#endif

#ifdef KVASIR_HAVE_AVX512BF16
#define KVASIR_IF_AVX512BF16(...) __VA_ARGS__
#else
#define KVASIR_IF_AVX512BF16(...)
#endif

#ifdef KVASIR_HAVE_AVX512VNNI
#define KVASIR_IF_AVX512VNNI(...) __VA_ARGS__
#else
#define KVASIR_IF_AVX512VNNI(...)
#endif

#ifdef KVASIR_HAVE_AVX512
#define KVASIR_IF_AVX512(...) __VA_ARGS__
#else
#define KVASIR_IF_AVX512(...)
#endif

#ifdef KVASIR_HAVE_AVXVNNI
#define KVASIR_IF_AVXVNNI(...) __VA_ARGS__
#else
#define KVASIR_IF_AVXVNNI(...)
#endif

#ifdef KVASIR_HAVE_AVX2
#define KVASIR_IF_AVX2(...) __VA_ARGS__
#else
#define KVASIR_IF_AVX2(...)
#endif

// Kernels in the compiler's vector extensions, for any processor.
#if defined(__GNUC__) || defined(__clang__)
#define KVASIR_HAVE_VECTORS 1
#define KVASIR_IF_VECTORS(...) __VA_ARGS__
#else
#define KVASIR_IF_VECTORS(...)
#endif
