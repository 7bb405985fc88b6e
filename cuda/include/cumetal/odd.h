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

#endif
