/** Helpers on integers: those of 64 bits are pairs of words, low word first, and those below 32 bits are words with zeros above. */
import { fn, type Helper, type Helpers } from './helper.ts';

/** Operations on words, for every operand. */
const words: Helpers = {
  shl_u32: { text: fn('shl_u32(a: u32, b: u32) -> u32', 'return select(0u, a << (b & 31u), b < 32u);') },
  lshr_u32: { text: fn('lshr_u32(a: u32, b: u32) -> u32', 'return select(0u, a >> (b & 31u), b < 32u);') },
  ashr_u32: { text: fn('ashr_u32(a: u32, b: u32) -> u32', 'return bitcast<u32>(bitcast<i32>(a) >> min(b, 31u));') },
  udiv_u32: { text: fn('udiv_u32(a: u32, b: u32) -> u32', 'if (b == 0u) { return 0xffffffffu; }\nreturn a / b;') },
  urem_u32: { text: fn('urem_u32(a: u32, b: u32) -> u32', 'if (b == 0u) { return a; }\nreturn a % b;') },
  sdiv_u32: {
    needs: ['abs_u32'],
    text: fn(
      'sdiv_u32(a: u32, b: u32) -> u32',
      'if (b == 0u) { return 0xffffffffu; }\nlet size = abs_u32(a) / abs_u32(b);\nreturn select(size, 0u - size, ((a ^ b) >> 31u) != 0u);',
    ),
  },
  srem_u32: {
    needs: ['abs_u32'],
    text: fn(
      'srem_u32(a: u32, b: u32) -> u32',
      'if (b == 0u) { return a; }\nlet size = abs_u32(a) % abs_u32(b);\nreturn select(size, 0u - size, (a >> 31u) != 0u);',
    ),
  },
  abs_u32: { text: fn('abs_u32(a: u32) -> u32', 'return select(a, 0u - a, (a >> 31u) != 0u);') },
  product: {
    text: `// The 64 bits of a product.\n${fn(
      'product(a: u32, b: u32) -> u64',
      `let low = (a & 0xffffu) * (b & 0xffffu);
let cross = (a >> 16u) * (b & 0xffffu);
let middle = (low >> 16u) + (cross & 0xffffu) + (a & 0xffffu) * (b >> 16u);
return u64((middle << 16u) | (low & 0xffffu), (a >> 16u) * (b >> 16u) + (cross >> 16u) + (middle >> 16u));`,
    )}`,
  },
  umulhi_u32: { needs: ['product'], text: fn('umulhi_u32(a: u32, b: u32) -> u32', 'return product(a, b).y;') },
  smulhi_u32: {
    needs: ['product'],
    text: fn(
      'smulhi_u32(a: u32, b: u32) -> u32',
      'return product(a, b).y - select(0u, b, (a >> 31u) != 0u) - select(0u, a, (b >> 31u) != 0u);',
    ),
  },
  sext8: { text: fn('sext8(a: u32) -> i32', 'return bitcast<i32>(a << 24u) >> 24u;') },
  sext16: { text: fn('sext16(a: u32) -> i32', 'return bitcast<i32>(a << 16u) >> 16u;') },
};

const pairs: Helpers = {
  sext_u64: { text: fn('sext_u64(a: u32) -> u64', 'return u64(a, bitcast<u32>(bitcast<i32>(a) >> 31u));') },
  add_u64: { text: fn('add_u64(a: u64, b: u64) -> u64', 'let low = a.x + b.x;\nreturn u64(low, a.y + b.y + select(0u, 1u, low < a.x));') },
  sub_u64: { text: fn('sub_u64(a: u64, b: u64) -> u64', 'return u64(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));') },
  mul_u64: {
    needs: ['product'],
    text: fn('mul_u64(a: u64, b: u64) -> u64', 'let low = product(a.x, b.x);\nreturn u64(low.x, low.y + a.x * b.y + a.y * b.x);'),
  },
  umulhi_u64: {
    needs: ['product', 'add_u64'],
    text: fn(
      'umulhi_u64(a: u64, b: u64) -> u64',
      `let first = add_u64(product(a.y, b.x), u64(product(a.x, b.x).y, 0u));
let second = add_u64(product(a.x, b.y), u64(first.x, 0u));
return add_u64(add_u64(product(a.y, b.y), u64(first.y, 0u)), u64(second.y, 0u));`,
    ),
  },
  smulhi_u64: {
    needs: ['umulhi_u64', 'sub_u64'],
    text: fn(
      'smulhi_u64(a: u64, b: u64) -> u64',
      `let wide = umulhi_u64(a, b);
let less = sub_u64(wide, select(u64(), b, (a.y >> 31u) != 0u));
return sub_u64(less, select(u64(), a, (b.y >> 31u) != 0u));`,
    ),
  },
  lt_u64: { text: fn('lt_u64(a: u64, b: u64) -> bool', 'return a.y < b.y || (a.y == b.y && a.x < b.x);') },
  lt_s64: {
    text: fn('lt_s64(a: u64, b: u64) -> bool', 'return bitcast<i32>(a.y) < bitcast<i32>(b.y) || (a.y == b.y && a.x < b.x);'),
  },
  shl_u64: {
    text: fn(
      'shl_u64(a: u64, b: u32) -> u64',
      `let is_far = b >= 32u;
let low = select(a.x, 0u, is_far);
let high = select(a.y, a.x, is_far);
let s = b & 31u;
return select(u64(), u64(low << s, (high << s) | ((low >> 1u) >> (31u - s))), b < 64u);`,
    ),
  },

  lshr_u64: {
    text: fn(
      'lshr_u64(a: u64, b: u32) -> u64',
      `let is_far = b >= 32u;
let low = select(a.x, a.y, is_far);
let high = select(a.y, 0u, is_far);
let s = b & 31u;
return select(u64(), u64((low >> s) | ((high << 1u) << (31u - s)), high >> s), b < 64u);`,
    ),
  },

  ashr_u64: {
    text: fn(
      'ashr_u64(a: u64, b: u32) -> u64',
      `let sign = bitcast<u32>(bitcast<i32>(a.y) >> 31u);
let is_far = b >= 32u;
let low = select(a.x, a.y, is_far);
let high = select(a.y, sign, is_far);
let s = b & 31u;
let shifted = u64((low >> s) | ((high << 1u) << (31u - s)), bitcast<u32>(bitcast<i32>(high) >> s));
return select(u64(sign, sign), shifted, b < 64u);`,
    ),
  },

  count_u64: { text: fn('count_u64(b: u64) -> u32', 'return select(b.x, 64u, b.y != 0u);') },
  clz_u64: {
    text: fn('clz_u64(a: u64) -> u32', 'return select(32u + countLeadingZeros(a.x), countLeadingZeros(a.y), a.y != 0u);'),
  },
  divided: {
    needs: ['clz_u64', 'shl_u64', 'lt_u64', 'sub_u64'],
    text: `// Quotient and remainder; the divisor is not zero.\n${fn(
      'divided(a: u64, b: u64) -> vec4<u32>',
      `if (a.y == 0u && b.y == 0u) { return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u); }
if (lt_u64(a, b)) { return vec4<u32>(0u, 0u, a.x, a.y); }
var rest = a;
var quotient = u64();
let first = clz_u64(b) - clz_u64(a);
for (var i = 0u; i <= first; i++) {
  let bit = first - i;
  let part = shl_u64(b, bit);
  if (!lt_u64(rest, part)) {
    rest = sub_u64(rest, part);
    quotient |= shl_u64(u64(1u, 0u), bit);
  }
}
return vec4<u32>(quotient, rest);`,
    )}`,
  },
  udiv_u64: {
    needs: ['divided'],
    text: fn('udiv_u64(a: u64, b: u64) -> u64', 'if (all(b == u64())) { return u64(0xffffffffu, 0xffffffffu); }\nreturn divided(a, b).xy;'),
  },
  urem_u64: {
    needs: ['divided'],
    text: fn('urem_u64(a: u64, b: u64) -> u64', 'if (all(b == u64())) { return a; }\nreturn divided(a, b).zw;'),
  },
  abs_u64: { needs: ['sub_u64'], text: fn('abs_u64(a: u64) -> u64', 'return select(a, sub_u64(u64(), a), (a.y >> 31u) != 0u);') },
  sdiv_u64: {
    needs: ['divided', 'abs_u64'],
    text: fn(
      'sdiv_u64(a: u64, b: u64) -> u64',
      `if (all(b == u64())) { return u64(0xffffffffu, 0xffffffffu); }
let size = divided(abs_u64(a), abs_u64(b)).xy;
return select(size, sub_u64(u64(), size), ((a.y ^ b.y) >> 31u) != 0u);`,
    ),
  },
  srem_u64: {
    needs: ['divided', 'abs_u64'],
    text: fn(
      'srem_u64(a: u64, b: u64) -> u64',
      `if (all(b == u64())) { return a; }
let size = divided(abs_u64(a), abs_u64(b)).zw;
return select(size, sub_u64(u64(), size), (a.y >> 31u) != 0u);`,
    ),
  },
};

export const integerHelpers: Readonly<Record<string, Helper>> = { ...words, ...pairs };
