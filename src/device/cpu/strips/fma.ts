/**
 * a * b + c of four singles with one rounding. Products are exact in double. A sum rounded to double and then to single is wrong
 * only where the double lies half way between two singles, or the result is subnormal: that is looked for, and
 * then done again with the sum rounded to odd. Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008).
 */
import { upperHalf } from './conversion-rules.ts';
import { evenWords, oddWords, type Strip, words } from './strip.ts';

/** Takes three vectors of singles from the stack. */
export function exactFma(s: Strip): void {
  const { code } = s;
  const [a, b, c, low, high] = [0, 1, 2, 3, 4].map((which) => s.temp('v128', which)) as [number, number, number, number, number];
  for (const local of [c, b, a]) code.at('local.set', local);
  for (const [sum, isUpper] of [
    [low, false],
    [high, true],
  ] as const) {
    for (const local of [a, b, c]) {
      code.at('local.get', local);
      if (isUpper) upperHalf(s);
      code.op('f64x2.promote_low_f32x4');
      if (local === b) code.op('f64x2.mul');
    }
    code.op('f64x2.add');
    code.at('local.set', sum);
  }
  isDoubtful(s, low, high);
  code.open('if', 'v128');
  for (const local of [a, b, c]) code.at('local.get', local);
  code.at('call', s.stripHelper('oddFma'));
  code.else();
  for (const sum of [low, high]) {
    code.at('local.get', sum);
    code.op('f32x4.demote_f64x2_zero');
  }
  code.shuffle([0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]);
  code.end();
}

/** Whether one of four sums has just the bits of a half below its single, or is of the size of subnormal singles and not 0. */
function isDoubtful({ code }: Strip, low: number, high: number): void {
  const pair = (bytes: readonly number[]): void => {
    code.at('local.get', low);
    code.at('local.get', high);
    code.shuffle(bytes);
  };
  pair(evenWords);
  code.v128(words(0x1fff_ffff));
  code.op('v128.and');
  code.v128(words(0x1000_0000));
  code.op('i32x4.eq');
  // Upper words up to that of the least normal single; of 0, less 1, all ones.
  pair(oddWords);
  code.v128(words(0x7fff_ffff));
  code.op('v128.and');
  code.v128(words(1));
  code.op('i32x4.sub');
  code.v128(words(0x3810_0000));
  code.op('i32x4.lt_u');
  code.op('v128.or');
  code.op('v128.any_true');
}
