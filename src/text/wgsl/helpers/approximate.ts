/**
 * Approximate functions of f32, off by one or two units in the last place: those of WGSL may be off by thousands of them.
 * Source: Muller, "Elementary Functions" (3rd ed.), chapters 3 and 11: series on reduced arguments, and the reduction of Payne and Hanek.
 */
import { fn, type Helpers } from './helper.ts';

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
const f32 = (x: number): string => {
  const text = String(Math.fround(x));
  return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
};
/** A polynomial of a variable, the coefficient of the highest power last. */
const polynomial = (x: string, coefficients: readonly number[]): string =>
  coefficients.reduceRight((rest, c) => (rest === '' ? f32(c) : `(${rest}) * ${x} + ${f32(c)}`), '');
/** The terms of a series in the square of its variable. */
const series = (count: number, term: (i: number) => number): number[] => Array.from({ length: count }, (_, i) => term(i));
const sign = (i: number): number => (i % 2 === 0 ? 1 : -1);

export const approximateHelpers: Helpers = {
  exp2_f32: {
    needs: ['rounded', 'is_nan'],
    text: fn(
      'exp2_f32(a: f32) -> f32',
      `if (is_nan(a)) { return a; }
let x = clamp(a, -160.0f, 130.0f);
let whole = floor(x + 0.5f);
let f = x - whole;
let near = bitcast<u32>(${polynomial(
        'f',
        series(8, (i) => Math.LN2 ** i / factorial(i)),
      )});
let e = i32(near >> 23u) - 150 + i32(whole);
return bitcast<f32>(rounded(0u, u64((near & 0x7fffffu) | 0x800000u, 0u), e, false));`,
    ),
  },
  log2_f32: {
    needs: ['parts'],
    text: fn(
      'log2_f32(a: f32) -> f32',
      `let bits = bitcast<u32>(a);
if ((bits & 0x7fffffffu) == 0u) { return bitcast<f32>(0xff800000u ^ launch[6]); }
if (bits == 0x7f800000u) { return a; }
if (bits > 0x7f800000u) { return bitcast<f32>(0x7fffffffu ^ launch[6]); }
let p = parts(bits);
let is_high = p.x >= 0xb504f3;
let m = bitcast<f32>(u32(p.x & 0x7fffff) | select(0x3f800000u, 0x3f000000u, is_high));
let k = f32(p.y - 127 + select(0, 1, is_high));
let s = (m - 1.0f) / (m + 1.0f);
let z = s * s;
return k + s * (${polynomial(
        'z',
        series(6, (i) => 2 / Math.LN2 / (2 * i + 1)),
      )});`,
    ),
  },
  angle: {
    needs: ['product', 'add_u64', 'sub_u64', 'rounded'],
    text: `// An angle by its quadrant, and the rest from -pi/4 to pi/4, whose bits are the second word.
const two_over_pi = array<u32, 8>(0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);
fn turn_word(at: u32) -> u32 {
  var words = two_over_pi;
  let word = at >> 5u;
  let shift = at & 31u;
  if (shift == 0u) { return words[word]; }
  return (words[word] << shift) | (words[min(word + 1u, 7u)] >> (32u - shift));
}
${fn(
  'angle(a: f32) -> vec2<u32>',
  `let bits = bitcast<u32>(a);
let size = bits & 0x7fffffffu;
if (size < 0x3f490fdbu) { return vec2<u32>(0u, bits); }
let number = (size & 0x7fffffu) | 0x800000u;
let at = (size >> 23u) - 120u;
let low = product(number, turn_word(at + 64u));
let middle = add_u64(product(number, turn_word(at + 32u)), u64(low.y, 0u));
let high = number * turn_word(at) + middle.y;
let fraction = u64((middle.x << 2u) | (low.x >> 30u), (high << 2u) | (middle.x >> 30u));
let is_behind = (fraction.y >> 31u) != 0u;
let quadrant = (high >> 30u) + select(0u, 1u, is_behind);
let rest = select(fraction, sub_u64(u64(), fraction), is_behind);
let near = bitcast<f32>(rounded(0u, rest, -64, false)) * ${f32(Math.PI / 2)};
let is_negative = is_behind != ((bits >> 31u) != 0u);
return vec2<u32>(select(quadrant, 0u - quadrant, (bits >> 31u) != 0u), bitcast<u32>(near) | select(0u, 0x80000000u, is_negative));`,
)}`,
  },
  circle: {
    needs: ['angle'],
    text: fn(
      'circle(turn: vec2<u32>, more: u32, a: f32) -> f32',
      `if ((bitcast<u32>(a) & 0x7fffffffu) >= 0x7f800000u) { return bitcast<f32>(0x7fffffffu ^ launch[6]); }
let quadrant = turn.x + more;
let r = bitcast<f32>(turn.y);
let z = r * r;
var result = ${polynomial(
        'z',
        series(6, (i) => sign(i) / factorial(2 * i)),
      )};
if ((quadrant & 1u) == 0u) {
  result = select(r * (${polynomial(
    'z',
    series(5, (i) => sign(i) / factorial(2 * i + 1)),
  )}), r, (turn.y & 0x7fffffffu) < 0x39000000u);
}
return bitcast<f32>(bitcast<u32>(result) ^ ((quadrant & 2u) << 30u));`,
    ),
  },
  sin_f32: { needs: ['circle'], text: fn('sin_f32(a: f32) -> f32', 'return circle(angle(a), 0u, a);') },
  cos_f32: { needs: ['circle'], text: fn('cos_f32(a: f32) -> f32', 'return circle(angle(a), 1u, a);') },
  tanh_f32: {
    needs: ['exp2_f32'],
    text: fn(
      'tanh_f32(a: f32) -> f32',
      `let bits = bitcast<u32>(a);
let size = bits & 0x7fffffffu;
if (size > 0x7f800000u || size < 0x39000000u) { return a; }
if (size >= 0x41200000u) { return bitcast<f32>((bits & 0x80000000u) | 0x3f800000u); }
if (size < 0x3f19999au) {
  let z = a * a;
  return a * (945.0f + z * (105.0f + z)) / (945.0f + z * (420.0f + z * 15.0f));
}
let e = exp2_f32(bitcast<f32>(size) * ${f32(2 / Math.LN2)});
return bitcast<f32>((bits & 0x80000000u) | bitcast<u32>(1.0f - 2.0f / (e + 1.0f)));`,
    ),
  },
  rsqrt_f32: { needs: ['div_f32', 'sqrt_f32'], text: fn('rsqrt_f32(a: f32) -> f32', 'return div_f32(1.0f, sqrt_f32(a));') },
};
