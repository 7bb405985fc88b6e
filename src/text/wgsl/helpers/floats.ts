/**
 * Helpers on floats, exact where a backend is not: WGSL lets it take subnormals for zeros, round products and sums as one, and be off by some
 * units in quotients and roots. What a float is, is seen by its bits, since a backend may also assume that there are no NaNs and infinities.
 */
import { fn, type Helper, type Helpers } from './helper.ts';

const nan = '0x7fffffffu';

/** Classes and comparisons by bits. */
const bits: Helpers = {
  f32_of: {
    text: `// The float of some bits, which a compiler does not compute itself.\n${fn('f32_of(bits: u32) -> f32', 'return bitcast<f32>(bits);')}`,
  },
  is_nan: { text: fn('is_nan(a: f32) -> bool', 'return (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u;') },
  rank: {
    text: `// Integers in the order of floats that are no NaN.\n${fn(
      'rank(a: f32) -> i32',
      'let bits = bitcast<i32>(a);\nreturn select(bits, -(bits & 0x7fffffff), bits < 0);',
    )}`,
  },
  ord_f32: { needs: ['is_nan'], text: fn('ord_f32(a: f32, b: f32) -> bool', 'return !is_nan(a) && !is_nan(b);') },
  eq_f32: { needs: ['ord_f32', 'rank'], text: fn('eq_f32(a: f32, b: f32) -> bool', 'return ord_f32(a, b) && rank(a) == rank(b);') },
  lt_f32: { needs: ['ord_f32', 'rank'], text: fn('lt_f32(a: f32, b: f32) -> bool', 'return ord_f32(a, b) && rank(a) < rank(b);') },
  le_f32: { needs: ['ord_f32', 'rank'], text: fn('le_f32(a: f32, b: f32) -> bool', 'return ord_f32(a, b) && rank(a) <= rank(b);') },
  sign_rank: {
    text: `// As \`rank\`, with the zeros apart.\n${fn(
      'sign_rank(a: f32) -> i32',
      'let bits = bitcast<i32>(a);\nreturn select(bits, bits ^ 0x7fffffff, bits < 0);',
    )}`,
  },
  min_f32: {
    needs: ['is_nan', 'sign_rank'],
    text: fn(
      'min_f32(a: f32, b: f32) -> f32',
      'if (is_nan(a)) { return b; }\nif (is_nan(b)) { return a; }\nreturn select(b, a, sign_rank(a) < sign_rank(b));',
    ),
  },
  max_f32: {
    needs: ['is_nan', 'sign_rank'],
    text: fn(
      'max_f32(a: f32, b: f32) -> f32',
      'if (is_nan(a)) { return b; }\nif (is_nan(b)) { return a; }\nreturn select(b, a, sign_rank(a) > sign_rank(b));',
    ),
  },
  neg_f32: { text: fn('neg_f32(a: f32) -> f32', 'return bitcast<f32>(bitcast<u32>(a) ^ 0x80000000u);') },
  abs_f32: { text: fn('abs_f32(a: f32) -> f32', 'return bitcast<f32>(bitcast<u32>(a) & 0x7fffffffu);') },
};

/** Arithmetic in integers. */
const soft: Helpers = {
  parts: {
    text: `// Of a size of a float that is not zero: 24 bits and the exponent of the lowest one, plus 150.\n${fn(
      'parts(size: u32) -> vec2<i32>',
      `let exponent = i32(size >> 23u);
if (exponent > 0) { return vec2<i32>(i32((size & 0x7fffffu) | 0x800000u), exponent); }
let shift = countLeadingZeros(size) - 8u;
return vec2<i32>(i32(size << shift), 1 - i32(shift));`,
    )}`,
  },
  jam: {
    needs: ['lshr_u64', 'shl_u64'],
    text: `// A shift to the right whose lowest bit says whether there were any behind it.\n${fn(
      'jam(a: u64, shift: u32) -> u64',
      'let kept = lshr_u64(a, shift);\nreturn u64(kept.x | u32(any(shl_u64(kept, shift) != a)), kept.y);',
    )}`,
  },

  rounded: {
    needs: ['clz_u64', 'shl_u64', 'jam'],
    text: `// The bits of number * 2^exponent, rounded to the nearest float, or to odd.\n${fn(
      'rounded(sign: u32, number: u64, exponent: i32, to_odd: bool) -> u32',
      `if (all(number == u64())) { return sign; }
let zeros = clz_u64(number);
let e = exponent - i32(zeros) + 63 + 127;
if (e > 254) { return sign | select(0x7f800000u, 0x7f7fffffu, to_odd); }
let normal = shl_u64(number, zeros);
let drop = 40u + u32(max(1 - e, 0));
// Two bits behind the last one: a half, and whether there is more.
let wide = jam(normal, drop - 2u);
let kept = wide.x >> 2u;
let rest = wide.x & 3u;
let even = (rest >> 1u) & (rest | kept) & 1u;
let up = select(even, u32(rest != 0u) & ~kept, to_odd);
return sign | ((u32(max(e - 1, 0)) << 23u) + kept + up);`,
    )}`,
  },
  fused_bits: {
    needs: ['parts', 'product', 'clz_u64', 'shl_u64', 'jam', 'rounded', 'add_u64', 'sub_u64', 'lt_u64'],
    text: `// a * b + c with one rounding, of bits.\n${fn(
      'fused_bits(a: u32, b: u32, c: u32, to_odd: bool) -> u32',
      `let x = a & 0x7fffffffu;
let y = b & 0x7fffffffu;
let z = c & 0x7fffffffu;
let sign = (a ^ b) & 0x80000000u;
let sign_c = c & 0x80000000u;
let largest = max(x, y);
if (max(largest, z) >= 0x7f800000u) {
  let is_none = (largest == 0x7f800000u && min(x, y) == 0u) || (largest == 0x7f800000u && z == 0x7f800000u && sign != sign_c);
  let infinite = select(c, sign | 0x7f800000u, largest == 0x7f800000u);
  return select(infinite, ${nan}, max(largest, z) > 0x7f800000u || is_none);
}
let p = parts(x);
let q = parts(y);
let r = parts(z);
let exact = product(u32(p.x), u32(q.x));
let zeros = clz_u64(exact);
let first = shl_u64(exact, zeros);
let second = u64(0u, u32(r.x) << 8u);
let e_first = select(p.y + q.y - 300 - i32(zeros), -10000, x == 0u || y == 0u);
let e_second = select(r.y - 190, -10000, z == 0u);
let is_second = e_second > e_first || (e_second == e_first && lt_u64(first, second));
let large = select(first, second, is_second);
let small = jam(select(second, first, is_second), u32(min(abs(e_first - e_second), 64)));
let is_difference = sign != sign_c;
let total = select(add_u64(large, small), sub_u64(large, small), is_difference);
let is_over = !is_difference && lt_u64(total, large);
let halved = u64((total.x >> 1u) | (total.x & 1u) | (total.y << 31u), (total.y >> 1u) | 0x80000000u);
let number = select(total, halved, is_over);
let e = max(e_first, e_second) + i32(is_over);
let is_zero = is_difference && all(number == u64());
return rounded(select(select(sign, sign_c, is_second), 0u, is_zero), number, e, to_odd);`,
    )}`,
  },

  fma_f32: {
    needs: ['fused_bits'],
    text: fn(
      'fma_f32(a: f32, b: f32, c: f32) -> f32',
      'return bitcast<f32>(fused_bits(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c), false));',
    ),
  },
  fma_normal: {
    needs: ['fma_f32'],
    text: `// The function of the language where no operand is subnormal and the result is not near one: a GPU may take those for zeros.\n${fn(
      'fma_normal(a: f32, b: f32, c: f32) -> f32',
      `let result = fma(a, b, c);
let size = bitcast<u32>(result) & 0x7fffffffu;
// Zero is the largest number after one is taken away.
let x = (bitcast<u32>(a) & 0x7fffffffu) - 1u;
let y = (bitcast<u32>(b) & 0x7fffffffu) - 1u;
let z = (bitcast<u32>(c) & 0x7fffffffu) - 1u;
if (min(min(x, y), z) >= 0x007fffffu && size >= 0x01000000u && size < 0x7f800000u) { return result; }
return fma_f32(a, b, c);`,
    )}`,
  },
  odd_fma: {
    needs: ['fused_bits'],
    text: `// Rounded to odd, so that rounding once more is right.\n${fn(
      'odd_fma(a: f32, b: f32, c: f32) -> f32',
      'return bitcast<f32>(fused_bits(bitcast<u32>(a), bitcast<u32>(b), bitcast<u32>(c), true));',
    )}`,
  },
  raised: {
    text: `// A number below 2^-100 times 2^100.\n${fn(
      'raised(bits: u32) -> f32',
      `let size = bits & 0x7fffffffu;
let normal = size + 0x32000000u;
let subnormal = bitcast<u32>(f32(size) * 1.7763568394002505e-15f);
return bitcast<f32>((bits & 0x80000000u) | select(normal, subnormal, size < 0x800000u));`,
    )}`,
  },
  add_f32: {
    needs: ['raised'],
    text: `// Small numbers are raised first, because a subnormal one may count as zero.\n${fn(
      'add_f32(a: f32, b: f32) -> f32',
      `let x = bitcast<u32>(a);
let y = bitcast<u32>(b);
if (max(x & 0x7fffffffu, y & 0x7fffffffu) >= 0x0d800000u) { return a + b; }
let sum = raised(x) + raised(y);
let bits = bitcast<u32>(sum);
let size = bits & 0x7fffffffu;
let subnormal = u32(abs(sum) * 562949953421312.0f);
return bitcast<f32>((bits & 0x80000000u) | select(size - 0x32000000u, subnormal, size < 0x32800000u));`,
    )}`,
  },

  sub_f32: { needs: ['add_f32', 'neg_f32'], text: fn('sub_f32(a: f32, b: f32) -> f32', 'return add_f32(a, neg_f32(b));') },
  mul_f32: {
    needs: ['raised', 'parts', 'product', 'lshr_u64', 'shl_u64'],
    text: `// A product whose size may be subnormal is computed in integers. The word of the launch is zero: it keeps the product from being fused.\n${fn(
      'mul_f32(a: f32, b: f32) -> f32',
      `let bits = bitcast<u32>(a * b) ^ launch[6];
let size = bits & 0x7fffffffu;
if (size >= 0x01000000u && size <= 0x7f800000u) { return bitcast<f32>(bits); }
let x = bitcast<u32>(a) & 0x7fffffffu;
let y = bitcast<u32>(b) & 0x7fffffffu;
let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
if (max(x, y) >= 0x7f800000u) {
  return bitcast<f32>(select(sign | 0x7f800000u, ${nan}, max(x, y) > 0x7f800000u || min(x, y) == 0u));
}
if (min(x, y) < 0x00800000u) {
  let is_first = x < 0x00800000u;
  let large = bitcast<u32>(raised(select(bitcast<u32>(b), bitcast<u32>(a), is_first)) * select(a, b, is_first)) & 0x7fffffffu;
  if (large >= 0x33000000u) { return bitcast<f32>(sign | (large - 0x32000000u)); }
}
// Units of the smallest subnormal number.
let p = parts(x);
let q = parts(y);
let exact = product(u32(p.x), u32(q.x));
let shift = u32(clamp(151 - p.y - q.y, 0, 64));
let kept = lshr_u64(exact, shift).x;
let rest = shl_u64(exact, 64u - shift);
let more = (rest.y & 0x7fffffffu) | rest.x | (kept & 1u);
return bitcast<f32>(sign | (kept + ((rest.y >> 31u) & u32(more != 0u))));`,
    )}`,
  },

  separate: {
    text: `// A product that is not fused with a sum: the word of the launch is zero.\n${fn(
      'separate(a: f32) -> f32',
      'return bitcast<f32>(bitcast<u32>(a) ^ launch[6]);',
    )}`,
  },
  div_f32: {
    needs: ['parts', 'rounded'],
    text: fn(
      'div_f32(a: f32, b: f32) -> f32',
      `let x = bitcast<u32>(a) & 0x7fffffffu;
let y = bitcast<u32>(b) & 0x7fffffffu;
let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
if (max(x, y) > 0x7f800000u || (x == y && (x == 0u || x == 0x7f800000u))) { return bitcast<f32>(${nan} ^ launch[6]); }
if (x == 0x7f800000u || y == 0u) { return bitcast<f32>(sign | 0x7f800000u); }
if (x == 0u || y == 0x7f800000u) { return bitcast<f32>(sign); }
let p = parts(x);
let q = parts(y);
let divisor = u32(q.x);
var rest = u32(p.x);
var e = p.y - q.y - 24;
if (rest < divisor) {
  rest <<= 1u;
  e -= 1;
}
var quotient = rest / divisor;
rest %= divisor;
for (var i = 0u; i < 3u; i++) {
  quotient = (quotient << 8u) | ((rest << 8u) / divisor);
  rest = (rest << 8u) % divisor;
}
return bitcast<f32>(rounded(sign, u64((quotient << 1u) | select(0u, 1u, rest != 0u), 0u), e - 1, false));`,
    ),
  },
  sqrt_f32: {
    needs: ['parts', 'rounded'],
    text: fn(
      'sqrt_f32(a: f32) -> f32',
      `let bits = bitcast<u32>(a);
if (bits == 0u || bits == 0x80000000u || bits == 0x7f800000u) { return a; }
if (bits > 0x7f800000u) { return bitcast<f32>(${nan} ^ launch[6]); }
let p = parts(bits);
// An even exponent, and 50 bits, two at a time.
let odd = u32(p.y & 1);
var digits = u64(u32(p.x) << (26u - odd), u32(p.x) >> (6u + odd));
var root = 0u;
var rest = 0u;
for (var i = 0u; i < 25u; i++) {
  rest = (rest << 2u) | ((digits.y >> 16u) & 3u);
  digits = u64(digits.x << 2u, (digits.y << 2u) | (digits.x >> 30u));
  let trial = (root << 2u) | 1u;
  root <<= 1u;
  if (rest >= trial) {
    rest -= trial;
    root |= 1u;
  }
}
let e = (p.y + i32(odd) - 176) >> 1u;
return bitcast<f32>(rounded(0u, u64((root << 1u) | select(0u, 1u, rest != 0u), 0u), e - 1, false));`,
    ),
  },
};

/** To integral values. */
const integral: Helpers = {
  trunc_f32: {
    text: fn(
      'trunc_f32(a: f32) -> f32',
      `let bits = bitcast<u32>(a);
let e = (bits >> 23u) & 0xffu;
if (e < 127u) { return bitcast<f32>(bits & 0x80000000u); }
if (e >= 150u) { return a; }
return bitcast<f32>(bits & ~((1u << (150u - e)) - 1u));`,
    ),
  },
  floor_f32: {
    needs: ['trunc_f32'],
    text: fn(
      'floor_f32(a: f32) -> f32',
      'let whole = trunc_f32(a);\nlet is_less = (bitcast<u32>(a) >> 31u) != 0u && bitcast<u32>(whole) != bitcast<u32>(a);\nreturn select(whole, whole - 1.0f, is_less);',
    ),
  },
  ceil_f32: { needs: ['floor_f32', 'neg_f32'], text: fn('ceil_f32(a: f32) -> f32', 'return neg_f32(floor_f32(neg_f32(a)));') },
  rint_f32: {
    text: fn(
      'rint_f32(a: f32) -> f32',
      `let bits = bitcast<u32>(a);
let e = (bits >> 23u) & 0xffu;
if (e >= 150u) { return a; }
if (e < 126u) { return bitcast<f32>(bits & 0x80000000u); }
if (e == 126u) { return bitcast<f32>((bits & 0x80000000u) | select(0u, 0x3f800000u, (bits & 0x7fffffu) != 0u)); }
let shift = 150u - e;
let half = (1u << (shift - 1u)) - 1u + ((bits >> shift) & 1u);
return bitcast<f32>((bits + half) & ~((1u << shift) - 1u));`,
    ),
  },
};

/** Between floats and integers. */
const conversions: Helpers = {
  size_of: {
    needs: ['shl_u64', 'lshr_u64'],
    text: `// The whole part of a size, at most 2^64 - 1.\n${fn(
      'size_of(a: f32) -> u64',
      `let size = bitcast<u32>(a) & 0x7fffffffu;
let e = i32(size >> 23u);
if (e < 127) { return u64(); }
if (e >= 191) { return u64(0xffffffffu, 0xffffffffu); }
let bits = u64((size & 0x7fffffu) | 0x800000u, 0u);
if (e < 150) { return lshr_u64(bits, u32(150 - e)); }
return shl_u64(bits, u32(e - 150));`,
    )}`,
  },
  float_of_u64: {
    needs: ['rounded'],
    text: fn('float_of_u64(a: u64) -> f32', 'return bitcast<f32>(rounded(0u, a, 0, false));'),
  },
  float_of_s64: {
    needs: ['rounded', 'abs_u64'],
    text: fn('float_of_s64(a: u64) -> f32', 'return bitcast<f32>(rounded(a.y & 0x80000000u, abs_u64(a), 0, false));'),
  },
  odd_float_of_u64: {
    needs: ['rounded'],
    text: fn('odd_float_of_u64(a: u64) -> f32', 'return bitcast<f32>(rounded(0u, a, 0, true));'),
  },
  odd_float_of_s64: {
    needs: ['rounded', 'abs_u64'],
    text: fn('odd_float_of_s64(a: u64) -> f32', 'return bitcast<f32>(rounded(a.y & 0x80000000u, abs_u64(a), 0, true));'),
  },
  float_of_half: {
    text: fn(
      'float_of_half(a: u32) -> f32',
      `let sign = (a & 0x8000u) << 16u;
let size = a & 0x7fffu;
if (size >= 0x7c00u) { return bitcast<f32>(sign | 0x7f800000u | (size << 13u)); }
if (size >= 0x400u) { return bitcast<f32>(sign | ((size + 0x1c000u) << 13u)); }
return bitcast<f32>(sign | bitcast<u32>(f32(size) * 5.9604644775390625e-8f));`,
    ),
  },
  half_of_float: {
    text: fn(
      'half_of_float(a: f32) -> u32',
      `let bits = bitcast<u32>(a);
let sign = (bits >> 16u) & 0x8000u;
let size = bits & 0x7fffffffu;
if (size > 0x7f800000u) { return 0x7fffu; }
if (size >= 0x477ff000u) { return sign | 0x7c00u; }
if (size <= 0x33000000u) { return sign; }
if (size >= 0x38800000u) { return sign | ((size - 0x38000000u + 0xfffu + ((size >> 13u) & 1u)) >> 13u); }
let shift = 126u - (size >> 23u);
let number = (size & 0x7fffffu) | 0x800000u;
return sign | ((number + (1u << (shift - 1u)) - 1u + ((number >> shift) & 1u)) >> shift);`,
    ),
  },
  float_of_bfloat: { text: fn('float_of_bfloat(a: u32) -> f32', 'return bitcast<f32>(a << 16u);') },
  bfloat_of_float: {
    text: fn(
      'bfloat_of_float(a: f32) -> u32',
      'let bits = bitcast<u32>(a);\nif ((bits & 0x7fffffffu) > 0x7f800000u) { return 0x7fffu; }\nreturn (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;',
    ),
  },
  flushed: { text: fn('flushed(bits: u32) -> u32', 'return select(bits, bits & 0x80000000u, (bits & 0x7f800000u) == 0u);') },
};

const floatHelpers: Readonly<Record<string, Helper>> = { ...bits, ...soft, ...integral, ...conversions };

export { floatHelpers };

/** `sat_s32`: a float as an integer of a width, towards zero and within its range; 0 of NaN. */
export function saturating(key: string): Helper | undefined {
  const found = /^sat_([us])(8|16|32|64)$/.exec(key);
  if (!found) return undefined;
  const [isSigned, width] = [found[1] === 's', Number(found[2])];
  const needs = ['is_nan', 'size_of', 'lt_u64', ...(width === 64 ? ['sub_u64'] : [])];
  const type = width === 64 ? 'u64' : 'u32';
  const pair = (bits: bigint): string => `u64(0x${(bits & 0xffff_ffffn).toString(16)}u, 0x${(bits >> 32n).toString(16)}u)`;
  const of = (text: string): string => (width === 64 ? text : `${text}.x`);
  const most = (1n << BigInt(isSigned ? width - 1 : width)) - 1n;
  const mask = width < 32 ? ` & 0x${((1n << BigInt(width)) - 1n).toString(16)}u` : '';
  const body = isSigned
    ? `if (is_nan(a)) { return ${type}(); }
let is_negative = (bitcast<u32>(a) >> 31u) != 0u;
let limit = select(${pair(most)}, ${pair(most + 1n)}, is_negative);
let size = size_of(a);
let near = ${of('select(limit, size, lt_u64(size, limit))')};
return select(near, ${width === 64 ? 'sub_u64(u64(), near)' : `(0u - near)${mask}`}, is_negative);`
    : `if (is_nan(a) || (bitcast<u32>(a) >> 31u) != 0u) { return ${type}(); }
let size = size_of(a);
return ${of(`select(${pair(most)}, size, lt_u64(size, ${pair(most)}))`)};`;
  return { needs, text: fn(`${key}(a: f32) -> ${type}`, body) };
}
