/**
 * Shifts of which every lane has a count of its own: WebAssembly shifts all lanes by one. Words are multiplied by powers of two, which are numbers
 * of floats whose exponent is the count. Counts of the width and more give 0, or the sign throughout. Longs take no longer lane by lane.
 */
import type { Value } from '../../../ir/index.ts';
import type { Binary } from '../../codegen/emitter.ts';
import { unsignedMax } from '../analysis/value-range.ts';
import { cut, longOf, type PartWriter, partSigned, type Strip } from '../lanes/lane-group.ts';
import { oddWords, words } from '../lanes/vectors.ts';

type Shift = 'shl' | 'shr_u' | 'shr_s';

/** Shifts by counts that differ from lane to lane; nothing for longs. */
export function shiftEach(s: Strip, name: Shift, inst: Binary, value: Value): PartWriter | undefined {
  if (longOf(s, value)) return undefined;
  return name === 'shl' ? shiftUp(s, inst) : shiftDown(s, name, inst);
}

const exponentUnit = 2 ** 23;
/** The bits of -1 as a single. */
const minusOne = 0xbf80_0000;

/** Scratch locals of these rules. */
const [counts, factors, powers, products] = [60, 61, 62, 63];

/** Whether a count is below the width of words whatever its operands are. */
const isBelow32 = ({ kernel }: Strip, count: Value): boolean => (unsignedMax(kernel, count) ?? 32n) < 32n;

/** -(2^n) for what is on the stack, the bits of a single less n units of its exponent or more: there is a word for -(2^31), and none for 2^31. */
const powersOfTwo = (s: Strip): void => s.code.op('i32x4.trunc_sat_f32x4_s');

function shiftUp(s: Strip, inst: Binary): PartWriter {
  const { code } = s;
  const count = s.temp('v128', counts);
  const isBounded = isBelow32(s, inst.b);
  return (part) => {
    s.part(inst.a, part);
    s.part(inst.b, part);
    if (!isBounded) code.at('local.tee', count);
    code.v128(words(exponentUnit));
    code.op('i32x4.mul');
    code.v128(words(minusOne));
    code.op('i32x4.add');
    powersOfTwo(s);
    code.op('i32x4.mul');
    code.op('i32x4.neg');
    if (!isBounded) dropWhereLarge(s, count);
    cut(s, inst.type);
  };
}

/** a * 2^(31 - n) of 64 bits, doubled, has the shifted word as its upper half. */
function shiftDown(s: Strip, name: 'shr_u' | 'shr_s', inst: Binary): PartWriter {
  const { code } = s;
  const [count, factor, power, product] = [counts, factors, powers, products].map((which) => s.temp('v128', which)) as [
    number,
    number,
    number,
    number,
  ];
  const isBounded = isBelow32(s, inst.b);
  const get = (...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));
  return (part) => {
    if (name === 'shr_s') partSigned(s, inst.a, part);
    else s.part(inst.a, part);
    s.part(inst.b, part);
    if (name === 'shr_s' && !isBounded) {
      code.v128(words(31));
      code.op('i32x4.min_u');
    }
    code.at('local.set', count);
    code.at('local.set', factor);
    code.v128(words(minusOne + 31 * exponentUnit));
    get(count);
    code.v128(words(exponentUnit));
    code.op('i32x4.mul');
    code.op('i32x4.sub');
    powersOfTwo(s);
    if (name === 'shr_u') code.op('i32x4.neg');
    code.at('local.set', power);
    for (const half of ['low', 'high']) {
      get(factor, power);
      code.op(`i64x2.extmul_${half}_i32x4_${name === 'shr_u' ? 'u' : 's'}`);
      code.at('local.tee', product);
      get(product);
      code.op('i64x2.add');
      if (name === 'shr_s') code.op('i64x2.neg');
    }
    code.shuffle(oddWords);
    if (name === 'shr_u' && !isBounded) dropWhereLarge(s, count);
    cut(s, inst.type);
  };
}

function dropWhereLarge({ code }: Strip, count: number): void {
  code.at('local.get', count);
  code.v128(words(32));
  code.op('i32x4.lt_u');
  code.op('v128.and');
}
