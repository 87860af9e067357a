// Training kernels for fast.py: everything of a Llama block but its matrix products, in f32.
// Built by fast.py: g++ -O3 -march=native -mprefer-vector-width=512 -fopenmp. All matrices are row-major and dense.
//
// Attention is ragged. The keys of context b are rows start[b] .. start[b]+length[b]. A query row r
// belongs to one context and sees its first seen[r] keys, and besides (a question's row) its own
// question's keys own[r] .. own[r]+owned[r]. No padding exists anywhere.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

typedef float vec __attribute__((vector_size(64)));
typedef float loose __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int W = 16, HD = 64, TILE = 48, PANEL = 64;

static inline vec load(const float* p) { return *(const loose*)p; }
static inline void store(float* p, vec v) { *(loose*)p = v; }
static inline float total(vec v) { float s = 0; for (int i = 0; i < W; i++) s += v[i]; return s; }

// C[M x 16*NV] (+)= A B; A(m, k) = A[m*rs + k*cs], B row-major.
template <int MR, int NV>
static inline void micro(int K, const float* A, long rs, long cs, const float* B, long ldb, float* C, long ldc, bool add) {
  vec acc[MR][NV];
#pragma GCC unroll 8
  for (int m = 0; m < MR; m++)
#pragma GCC unroll 4
    for (int n = 0; n < NV; n++) acc[m][n] = add ? load(C + m * ldc + n * W) : vec{};
  for (int k = 0; k < K; k++) {
    vec b[NV];
#pragma GCC unroll 4
    for (int n = 0; n < NV; n++) b[n] = load(B + k * ldb + n * W);
#pragma GCC unroll 8
    for (int m = 0; m < MR; m++) {
      float a = A[m * rs + k * cs];
#pragma GCC unroll 4
      for (int n = 0; n < NV; n++) acc[m][n] += a * b[n];
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < MR; m++)
#pragma GCC unroll 4
    for (int n = 0; n < NV; n++) store(C + m * ldc + n * W, acc[m][n]);
}
template <int NV>
static void rows(int M, int K, const float* A, long rs, long cs, const float* B, long ldb, float* C, long ldc, bool add) {
  int m = 0;
  for (; m + 6 <= M; m += 6) micro<6, NV>(K, A + m * rs, rs, cs, B, ldb, C + m * ldc, ldc, add);
  for (; m + 2 <= M; m += 2) micro<2, NV>(K, A + m * rs, rs, cs, B, ldb, C + m * ldc, ldc, add);
  for (; m < M; m++) micro<1, NV>(K, A + m * rs, rs, cs, B, ldb, C + m * ldc, ldc, add);
}
// N is a multiple of 16.
static void product(int M, int N, int K, const float* A, long rs, long cs, const float* B, long ldb, float* C, long ldc, bool add) {
  int n = 0;
  for (; n + 64 <= N; n += 64) rows<4>(M, K, A, rs, cs, B + n, ldb, C + n, ldc, add);
  for (; n + 16 <= N; n += 16) rows<1>(M, K, A, rs, cs, B + n, ldb, C + n, ldc, add);
}
// The same with B in panels of 64 columns, each [K x 64]: rows that lie pages apart would cost more than the arithmetic.
static void panels(int M, int N, int K, const float* A, long lda, const float* B, float* C, long ldc) {
  for (int n = 0; n < N; n += PANEL) {
    const float* panel = B + (long)n * K;
    if (n + PANEL <= N) rows<4>(M, K, A, lda, 1, panel, PANEL, C + n, ldc, false);
    else
      for (int i = n; i < N; i += W) rows<1>(M, K, A, lda, 1, panel + i - n, PANEL, C + i, ldc, false);
  }
}
static inline float dot(const float* a, const float* b) {
  vec s = load(a) * load(b);
  for (int i = W; i < HD; i += W) s += load(a + i) * load(b + i);
  return total(s);
}
static inline void axpy(float a, const float* x, float* y) {
  for (int i = 0; i < HD; i += W) store(y + i, load(y + i) + a * load(x + i));
}
// [n x 64] -> panels of [64 x 64], the last one filled with zeros
static void transpose(const float* src, long ld, int n, float* dst) {
  for (int j0 = 0; j0 < n; j0 += PANEL, dst += HD * PANEL)
    for (int i = 0; i < HD; i++)
      for (int j = 0; j < PANEL; j++) dst[i * PANEL + j] = j0 + j < n ? src[(long)(j0 + j) * ld + i] : 0;
}
static int panelled(int n) { return (n + PANEL - 1) / PANEL * PANEL; }
// p = exp(p - shift), returns the sum. A polynomial, 3e-6 relative; what is masked becomes 1e-38.
static float exponent(float* p, int n, float shift) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    float x = std::min(std::max(p[i] - shift, -87.0f), 80.0f) * 1.44269504f;
    float r = std::nearbyint(x), f = x - r;
    float y = 1.0f + f * (0.693147182f + f * (0.240226462f + f * (0.0555032894f + f * (0.00961843f + f * 0.00133990f))));
    int e = ((int)r + 127) << 23;
    float s;
    std::memcpy(&s, &e, 4);
    sum += p[i] = y * s;
  }
  return sum;
}

struct Shape {
  int contexts, heads, kv_heads;
  const int *start, *length;           // [contexts] key rows
  const int *from, *to;                // [2 * contexts] ranges of query rows: context's, questions'
  const int *seen, *own, *owned;       // [query rows]
  const int *wanted;                   // [query rows] key whose probability is reported: one of the context, behind those one of its own, or -1
};

// One tile of query rows of one head: scores -> S [rows x width], own keys from column `ctx` on.
// Returns how many context keys the tile sees at most. A question's rows see all of their context.
static int scores(const Shape& s, int r0, int n, int h, const float* Q, const float* K, const float* KT, int padded, float* S, int width) {
  long lq = s.heads * HD, lk = s.kv_heads * HD;
  int g = s.heads / s.kv_heads, most = 0;
  for (int r = 0; r < n; r++) most = std::max(most, s.seen[r0 + r]);
  panels(n, (most + 15) / 16 * 16, HD, Q + r0 * lq + h * HD, lq, KT, S, width);
  for (int r = 0; r < n; r++) {
    float* row = S + (long)r * width;
    for (int j = s.seen[r0 + r]; j < (most + 15) / 16 * 16; j++) row[j] = -1e9f;
    for (int j = 0; j < s.owned[r0 + r]; j++)
      row[padded + j] = dot(Q + (r0 + r) * lq + h * HD, K + (s.own[r0 + r] + j) * lk + h / g * HD);
    for (int j = s.owned[r0 + r]; j < width - padded; j++) row[padded + j] = -1e9f;
  }
  return most;
}
static int own_width(const Shape& s, int b) {
  int most = 0;
  for (int r = s.from[2 * b + 1]; r < s.to[2 * b + 1]; r++) most = std::max(most, s.owned[r]);
  return (most + 15) / 16 * 16;
}

extern "C" {

// O [query rows x heads*64], lse [query rows x heads], p [query rows x heads/kv_heads]: the probability
// of `wanted` in the heads of group 0. Q carries the scale.
void attention(const Shape* sp, const float* Q, const float* K, const float* V, float* O, float* lse, float* p) {
  const Shape& s = *sp;
  int g = s.heads / s.kv_heads;
  long lq = s.heads * HD, lk = s.kv_heads * HD;
#pragma omp parallel for schedule(dynamic, 1) collapse(2)
  for (int b = 0; b < s.contexts; b++)
    for (int kv = 0; kv < s.kv_heads; kv++) {
      int len = s.length[b], padded = (len + 15) / 16 * 16, extra = own_width(s, b);
      std::vector<float> KT((long)HD * panelled(len)), S((long)TILE * (padded + extra));
      const float *Kb = K + s.start[b] * lk + kv * HD, *Vb = V + s.start[b] * lk + kv * HD;
      transpose(Kb, lk, len, KT.data());
      for (int part = 0; part < 2; part++)
        for (int r0 = s.from[2 * b + part]; r0 < s.to[2 * b + part]; r0 += TILE)
          for (int h = kv * g; h < kv * g + g; h++) {
            int n = std::min(TILE, s.to[2 * b + part] - r0), width = padded + (part ? extra : 0);
            int most = scores(s, r0, n, h, Q, K, KT.data(), padded, S.data(), width);
            int used = part ? width : (most + 15) / 16 * 16;
            float inv[TILE];
            for (int r = 0; r < n; r++) {
              float* row = S.data() + (long)r * width;
              float top = -1e30f;
              for (int j = 0; j < used; j++) top = std::max(top, row[j]);
              float sum = exponent(row, used, top);
              inv[r] = 1 / sum;
              lse[(r0 + r) * s.heads + h] = top + std::log(sum);
              int want = s.wanted[r0 + r];
              if (kv == 0) p[(r0 + r) * g + h] = want >= 0 ? row[want < len ? want : padded + want - len] * inv[r] : 0;
            }
            product(n, HD, most, S.data(), width, 1, Vb, lk, O + r0 * lq + h * HD, lq, false);
            for (int r = 0; r < n; r++) {
              float* o = O + (r0 + r) * lq + h * HD;
              for (int j = 0; j < s.owned[r0 + r]; j++) axpy(S[(long)r * width + padded + j], V + (s.own[r0 + r] + j) * lk + kv * HD, o);
              for (int i = 0; i < HD; i += W) store(o + i, load(o + i) * inv[r]);
            }
          }
    }
}

// dK and dV come in as zeros. dp is the gradient of p.
void attention_backward(const Shape* sp, const float* Q, const float* K, const float* V, const float* O, const float* lse, const float* p,
                        const float* dO, const float* dp, float* dQ, float* dK, float* dV) {
  const Shape& s = *sp;
  int g = s.heads / s.kv_heads;
  long lq = s.heads * HD, lk = s.kv_heads * HD;
#pragma omp parallel for schedule(dynamic, 1) collapse(2)
  for (int b = 0; b < s.contexts; b++)
    for (int kv = 0; kv < s.kv_heads; kv++) {
      int len = s.length[b], padded = (len + 15) / 16 * 16, extra = own_width(s, b);
      std::vector<float> KT((long)HD * panelled(len)), VT((long)HD * panelled(len)), P((long)TILE * (padded + extra)), D((long)TILE * (padded + extra));
      long off = s.start[b] * lk + kv * HD;
      transpose(K + off, lk, len, KT.data());
      transpose(V + off, lk, len, VT.data());
      for (int part = 0; part < 2; part++)
        for (int r0 = s.from[2 * b + part]; r0 < s.to[2 * b + part]; r0 += TILE)
          for (int h = kv * g; h < kv * g + g; h++) {
            int n = std::min(TILE, s.to[2 * b + part] - r0), width = padded + (part ? extra : 0);
            int most = scores(s, r0, n, h, Q, K, KT.data(), padded, P.data(), width);
            int wide = (most + 15) / 16 * 16, used = part ? width : wide;
            panels(n, wide, HD, dO + r0 * lq + h * HD, lq, VT.data(), D.data(), width);
            for (int r = 0; r < n; r++) {
              long row = r0 + r;
              const float *o = O + row * lq + h * HD, *go = dO + row * lq + h * HD, *q = Q + row * lq + h * HD;
              float *pr = P.data() + (long)r * width, *dr = D.data() + (long)r * width;
              exponent(pr, used, lse[row * s.heads + h]);
              float delta = dot(o, go);
              int want = kv == 0 ? s.wanted[row] : -1;
              if (want >= 0) delta += dp[row * g + h] * p[row * g + h];
              if (want >= 0 && want < len) dr[want] += dp[row * g + h];
              for (int j = 0; j < wide; j++) dr[j] = pr[j] * (dr[j] - delta);
              for (int j = 0; j < s.owned[row]; j++) {
                long at = (s.own[row] + j) * lk + kv * HD;
                float w = pr[padded + j], ds = w * (dot(go, V + at) + (want == len + j ? dp[row * g + h] : 0) - delta);
                dr[padded + j] = ds;
                axpy(w, go, dV + at);
                axpy(ds, q, dK + at);
              }
            }
            product(n, HD, most, D.data(), width, 1, K + off, lk, dQ + r0 * lq + h * HD, lq, false);
            for (int r = 0; r < n; r++)
              for (int j = 0; j < s.owned[r0 + r]; j++)
                axpy(D[(long)r * width + padded + j], K + (s.own[r0 + r] + j) * lk + kv * HD, dQ + (r0 + r) * lq + h * HD);
            product(most, HD, n, D.data(), 1, width, Q + r0 * lq + h * HD, lq, dK + off, lk, true);
            product(most, HD, n, P.data(), 1, width, dO + r0 * lq + h * HD, lq, dV + off, lk, true);
          }
    }
}

// y = x / rms(x) * w; inv keeps 1/rms.
void rms(int n, int d, float eps, const float* x, const float* w, float* y, float* inv) {
#pragma omp parallel for
  for (int r = 0; r < n; r++) {
    const float* a = x + (long)r * d;
    vec s = {};
    for (int i = 0; i < d; i += W) s += load(a + i) * load(a + i);
    float v = 1 / std::sqrt(total(s) / d + eps);
    inv[r] = v;
    for (int i = 0; i < d; i += W) store(y + (long)r * d + i, load(a + i) * v * load(w + i));
  }
}
// dx += gradient; dw [2 x d] zeroed by the caller, a row for each half of x.
void rms_backward(int n, int d, const float* x, const float* w, const float* inv, const float* dy, float* dx, float* dw) {
#pragma omp parallel for
  for (int half = 0; half < 2; half++) {
    float* g = dw + half * d;
    for (int r = half * (n / 2); r < (half ? n : n / 2); r++) {
      const float *a = x + (long)r * d, *e = dy + (long)r * d;
      vec s = {};
      for (int i = 0; i < d; i += W) s += load(a + i) * load(e + i) * load(w + i);
      float v = inv[r], c = total(s) * v * v * v / d;
      for (int i = 0; i < d; i += W) {
        store(dx + (long)r * d + i, load(dx + (long)r * d + i) + load(e + i) * load(w + i) * v - load(a + i) * c);
        store(g + i, load(g + i) + load(e + i) * load(a + i) * v);
      }
    }
  }
}
// Turns the heads of x [n x ld] from column 0 on in place; table [n x 64]: cos, sin by pair; back = -1 turns back.
void rope(int n, int heads, long ld, float* x, const float* table, float scale, float back) {
#pragma omp parallel for
  for (int r = 0; r < n; r++)
    for (int h = 0; h < heads; h++) {
      float* a = x + r * ld + h * HD;
      const float* t = table + (long)r * HD;
      for (int i = 0; i < HD; i += 2) {
        float c = t[i] * scale, s = t[i + 1] * scale * back, u = a[i], v = a[i + 1];
        a[i] = u * c - v * s;
        a[i + 1] = u * s + v * c;
      }
    }
}
// gu [n x 2f]: gate, up -> y [n x f] = silu(gate) * up
void swiglu(int n, int f, const float* gu, float* y) {
#pragma omp parallel for
  for (int r = 0; r < n; r++) {
    const float *g = gu + (long)r * 2 * f, *u = g + f;
    float* o = y + (long)r * f;
    for (int i = 0; i < f; i++) o[i] = -g[i];
    exponent(o, f, 0);
    for (int i = 0; i < f; i++) o[i] = g[i] / (1 + o[i]) * u[i];
  }
}
// Replaces gu by its gradient.
void swiglu_backward(int n, int f, float* gu, const float* dy) {
#pragma omp parallel
  {
    std::vector<float> e(f);
#pragma omp for
    for (int r = 0; r < n; r++) {
      float *g = gu + (long)r * 2 * f, *u = g + f;
      const float* d = dy + (long)r * f;
      for (int i = 0; i < f; i++) e[i] = -g[i];
      exponent(e.data(), f, 0);
      for (int i = 0; i < f; i++) {
        float sg = 1 / (1 + e[i]), silu = g[i] * sg, du = d[i] * silu;
        g[i] = d[i] * u[i] * (sg + silu * (1 - sg));
        u[i] = du;
      }
    }
  }
}
}
