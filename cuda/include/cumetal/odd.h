// Rounding to odd: a wider value that will be rounded again keeps whether digits were cut off. Source: S. Boldo, G. Melquiond, "When double
// rounding is odd", 2005.
#ifndef __CUMETAL_ODD_H__
#define __CUMETAL_ODD_H__

__cumetal_both float __cumetal_odd_single(double v) {
  float s = (float)v;
  if (v != v || (double)s == v || (s - s) != 0) return s;
  unsigned int raw = __builtin_bit_cast(unsigned int, s);
  // Towards zero, then odd.
  if (((double)s > v) == (v > 0)) raw--;
  return __builtin_bit_cast(float, raw | 1);
}
// Integers of up to 53 digits are doubles; of longer ones the digits beyond leave their trace in the last one that stays.
__cumetal_both float __cumetal_odd_single(unsigned long long v) {
  if (v >> 53) v = (v & ~2047ull) | ((v & 2047) ? 2048 : 0);
  return __cumetal_odd_single((double)v);
}
__cumetal_both float __cumetal_odd_single(long long v) {
  float s = __cumetal_odd_single(v < 0 ? 0 - (unsigned long long)v : (unsigned long long)v);
  return v < 0 ? -s : s;
}
__cumetal_both float __cumetal_odd_single(unsigned long v) { return __cumetal_odd_single((unsigned long long)v); }
__cumetal_both float __cumetal_odd_single(long v) { return __cumetal_odd_single((long long)v); }
__cumetal_both float __cumetal_odd_single(int v) { return __cumetal_odd_single((double)v); }
__cumetal_both float __cumetal_odd_single(unsigned int v) { return __cumetal_odd_single((double)v); }
__cumetal_both float __cumetal_odd_single(short v) { return (float)v; }
__cumetal_both float __cumetal_odd_single(unsigned short v) { return (float)v; }

#endif
