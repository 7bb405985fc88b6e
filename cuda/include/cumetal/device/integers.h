// Integer intrinsics. Source: CUDA Math API, "Integer Intrinsics"; PTX ISA, "Integer Arithmetic Instructions".
#ifndef __CUMETAL_DEVICE_INTEGERS_H__
#define __CUMETAL_DEVICE_INTEGERS_H__

__cumetal_device int __popc(unsigned int v) { return __builtin_popcount(v); }
__cumetal_device int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
__cumetal_device int __clz(int v) { return v ? __builtin_clz((unsigned int)v) : 32; }
__cumetal_device int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
__cumetal_device int __ffs(int v) { return v ? __builtin_ctz((unsigned int)v) + 1 : 0; }
__cumetal_device int __ffsll(long long v) { return v ? __builtin_ctzll((unsigned long long)v) + 1 : 0; }
__cumetal_device unsigned int __brev(unsigned int v) { return __builtin_bitreverse32(v); }
__cumetal_device unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
__cumetal_device unsigned int __fns(unsigned int mask, unsigned int base, int offset) { return __nvvm_fns(mask, base, offset); }

__cumetal_device int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__cumetal_device unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)((unsigned long long)a * b >> 32); }
__cumetal_device long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
__cumetal_device unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
__cumetal_device int __mul24(int a, int b) { return ((int)((unsigned int)a << 8) >> 8) * ((int)((unsigned int)b << 8) >> 8); }
__cumetal_device unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
__cumetal_device int mulhi(int a, int b) { return __mulhi(a, b); }
__cumetal_device unsigned int mulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
__cumetal_device unsigned int umulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
__cumetal_device long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
__cumetal_device int mul24(int a, int b) { return __mul24(a, b); }
__cumetal_device unsigned int umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }
__cumetal_device unsigned int __sad(int a, int b, unsigned int c) {
  return (a < b ? (unsigned int)b - (unsigned int)a : (unsigned int)a - (unsigned int)b) + c;
}
__cumetal_device unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return (a < b ? b - a : a - b) + c; }

// Averages without overflow: `h` rounds down, `rh` up.
__cumetal_device int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
__cumetal_device int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
__cumetal_device unsigned int __uhadd(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a + b) >> 1); }
__cumetal_device unsigned int __urhadd(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a + b + 1) >> 1); }

// Sixteen selector bits: bit 3 of a nibble repeats the sign of the byte that the others name.
__cumetal_device unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int selector) {
  return __nvvm_prmt(a, b, selector & 0x7777u);
}

__cumetal_device unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) << (shift & 31) >> 32);
}
__cumetal_device unsigned int __funnelshift_lc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
__cumetal_device unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int shift) {
  return (unsigned int)(((unsigned long long)hi << 32 | lo) >> (shift & 31));
}
__cumetal_device unsigned int __funnelshift_rc(unsigned int lo, unsigned int hi, unsigned int shift) {
  return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// Dot products of bytes, or of two 16-bit words with a half of the bytes.
#define __cumetal_dot(name, type, word) \
  __cumetal_device type name(type a, type b, type c) { \
    type r; \
    __asm__(word " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    return r; \
  }
__cumetal_dot(__dp4a, int, "dp4a.s32.s32")
__cumetal_dot(__dp4a, unsigned int, "dp4a.u32.u32")
__cumetal_dot(__dp2a_lo, int, "dp2a.lo.s32.s32")
__cumetal_dot(__dp2a_lo, unsigned int, "dp2a.lo.u32.u32")
__cumetal_dot(__dp2a_hi, int, "dp2a.hi.s32.s32")
__cumetal_dot(__dp2a_hi, unsigned int, "dp2a.hi.u32.u32")
#undef __cumetal_dot
__cumetal_device int __dp4a(char4 a, char4 b, int c) { return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
__cumetal_device unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
  return __dp4a(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
__cumetal_device int __dp2a_lo(short2 a, char4 b, int c) { return __dp2a_lo(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
__cumetal_device int __dp2a_hi(short2 a, char4 b, int c) { return __dp2a_hi(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c); }
__cumetal_device unsigned int __dp2a_lo(ushort2 a, uchar4 b, unsigned int c) {
  return __dp2a_lo(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}
__cumetal_device unsigned int __dp2a_hi(ushort2 a, uchar4 b, unsigned int c) {
  return __dp2a_hi(__builtin_bit_cast(unsigned int, a), __builtin_bit_cast(unsigned int, b), c);
}

#endif
