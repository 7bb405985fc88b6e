/**
 * Simpler forms of instructions: what they are on constants, identities, and forms that make later ones equal (constants stand on the right, and are
 * added, not subtracted).
 */
import { foldNumbers } from './fold.ts';
import type { Rewriter, Rule, Simpler } from './rewriter.ts';
import { isCommutative, signatureOf } from './signature.ts';
import type { Inst, SsaType, Value } from './types.ts';
import { vectorRules } from './vector-rules.ts';

const value = (of: Value): Simpler => ({ value: of });
const inst = (op: string, ...args: Value[]): Simpler => ({ inst: { op, args } });

const widthOf = (op: string): number => Number(op.slice(1, 3));
const typeOf = (op: string): SsaType => op.slice(0, 3) as SsaType;
const ones = (op: string): bigint => (1n << BigInt(widthOf(op))) - 1n;

/** A value that is another one plus a constant: both of them. */
function sum(r: Rewriter, type: SsaType, of: Value): { readonly x: Value; readonly c: bigint } | undefined {
  const added = r.definition(of);
  if (added?.op !== `${type}.add`) return undefined;
  const c = r.bits(added.args[1]!);
  return c === undefined ? undefined : { x: added.args[0]!, c };
}

/** x plus a number, which is wrapped. */
const plus = (r: Rewriter, type: SsaType, x: Value, c: bigint): Simpler =>
  inst(`${type}.add`, x, r.constant(type, BigInt.asUintN(Number(type.slice(1)), c)));

/** Constants are added last, so that addresses at constant distances are one sum plus a constant each. */
function add(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  const type = typeOf(op);
  const left = sum(r, type, x!);
  const c = r.bits(y!);
  if (c !== undefined) return c === 0n ? value(x!) : left && plus(r, type, left.x, c + left.c);
  if (left) return plus(r, type, r.make(op, left.x, y!), left.c);
  const right = sum(r, type, y!);
  return right && plus(r, type, r.make(op, x!, right.x), right.c);
}

function subtract(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  const type = typeOf(op);
  if (x === y) return value(r.constant(type, 0n));
  const c = r.bits(y!);
  if (c !== undefined) return plus(r, type, x!, -c);
  const left = sum(r, type, x!);
  if (left) return plus(r, type, r.make(op, left.x, y!), left.c);
  const right = sum(r, type, y!);
  return right && plus(r, type, r.make(op, x!, right.x), -right.c);
}

const log2 = (power: bigint): bigint => BigInt(power.toString(2).length - 1);
const isPowerOf2 = (c: bigint): boolean => c !== 0n && (c & (c - 1n)) === 0n;

function multiply(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  const type = typeOf(op);
  const c = r.bits(y!);
  if (c === undefined) return undefined;
  if (c === 0n) return value(y!);
  if (c === 1n) return value(x!);
  if (isPowerOf2(c)) return inst(`${type}.shl`, x!, r.constant(type, log2(c)));
  const left = sum(r, type, x!);
  return left && plus(r, type, r.make(op, left.x, y!), left.c * c);
}

/** A quotient or remainder of an unsigned number by a power of 2. */
const divide =
  (isRemainder: boolean): Rule =>
  (r, { op, args: [x, y] }) => {
    const type = typeOf(op);
    const c = r.bits(y!);
    if (c === undefined || !isPowerOf2(c)) return undefined;
    return isRemainder ? inst(`${type}.and`, x!, r.constant(type, c - 1n)) : inst(`${type}.shr_u`, x!, r.constant(type, log2(c)));
  };

function and(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  if (x === y) return value(x!);
  const c = r.bits(y!);
  if (c === 0n) return value(y!);
  if (c === ones(op)) return value(x!);
  const left = r.definition(x!);
  const d = c !== undefined && left?.op === op ? r.bits(left.args[1]!) : undefined;
  if (d !== undefined) return inst(op, left!.args[0]!, r.constant(typeOf(op), c! & d));
  // An extended i32 has zeros above.
  return c === 0xffffffffn && left?.op === 'i64.extend_i32_u' ? value(x!) : undefined;
}

function or(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  if (x === y) return value(x!);
  const c = r.bits(y!);
  return c === 0n ? value(x!) : c === ones(op) ? value(y!) : undefined;
}

function exclusiveOr(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  if (x === y) return value(r.constant(typeOf(op), 0n));
  return r.bits(y!) === 0n ? value(x!) : undefined;
}

function shift(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  const type = typeOf(op);
  const c = r.bits(y!);
  if (c === undefined) return undefined;
  const width = BigInt(widthOf(op));
  const count = c % width;
  if (count === 0n) return value(x!);
  if (c >= width) return inst(op, x!, r.constant(type, count));
  const isLeft = op.endsWith('shl');
  if (!isLeft && !op.endsWith('shr_u')) return undefined;
  const of = r.definition(x!);
  const added = isLeft ? sum(r, type, x!) : undefined;
  if (added) return plus(r, type, r.make(op, added.x, y!), added.c << count);
  const d = of === undefined ? undefined : r.bits(of.args[1]!);
  if (d === undefined || d >= width) return undefined;
  if (of!.op !== op) {
    // Bits that are shifted out and back are zeros.
    const isBack = d === count && of!.op === `${type}.${isLeft ? 'shr_u' : 'shl'}`;
    const kept = isLeft ? (ones(op) >> count) << count : ones(op) >> count;
    return isBack ? inst(`${type}.and`, of!.args[0]!, r.constant(type, kept)) : undefined;
  }
  return count + d < width ? inst(op, of!.args[0]!, r.constant(type, count + d)) : value(r.constant(type, 0n));
}

const opposite: Readonly<Record<string, string>> = {
  eq: 'ne',
  ne: 'eq',
  lt_s: 'ge_s',
  ge_s: 'lt_s',
  gt_s: 'le_s',
  le_s: 'gt_s',
  lt_u: 'ge_u',
  ge_u: 'lt_u',
  gt_u: 'le_u',
  le_u: 'gt_u',
};

function isZero(r: Rewriter, { args: [x] }: Inst): Simpler {
  const of = r.definition(x!);
  const [type, op] = of?.op.split('.') ?? [];
  if ((type === 'i32' || type === 'i64') && opposite[op!]) return inst(`${type}.${opposite[op!]}`, ...of!.args);
  return undefined;
}

/** A comparison of something with itself, or with zero. */
function compare(r: Rewriter, { op, args: [x, y] }: Inst): Simpler {
  const [type = '', how = ''] = op.split('.');
  if (x === y) return value(r.constant('i32', /^(eq|le|ge)/.test(how) ? 1n : 0n));
  const c = r.bits(y!);
  if (c !== 0n) return undefined;
  if (how === 'eq' || how === 'le_u') return inst(`${type}.eqz`, x!);
  if (how === 'lt_u') return value(r.constant('i32', 0n));
  return how === 'ge_u' ? value(r.constant('i32', 1n)) : undefined;
}

/** A value of an i32 that is not 0 exactly where the given one is; and whether the meaning is turned round. */
export function conditionOf(r: Rewriter, cond: Value): { readonly cond: Value; readonly isOpposite: boolean } {
  let isOpposite = false;
  for (;;) {
    const of = r.definition(cond);
    const isNot = of?.op === 'i32.eqz';
    const isSame = of?.op === 'i32.ne' && r.bits(of.args[1]!) === 0n;
    if (!isNot && !isSame) return { cond, isOpposite };
    if (isNot) isOpposite = !isOpposite;
    cond = of!.args[0]!;
  }
}

function select(r: Rewriter, { args: [a, b, c] }: Inst): Simpler {
  if (a === b) return value(a!);
  const bits = r.bits(c!);
  if (bits !== undefined) return value(bits === 0n ? b! : a!);
  const { cond, isOpposite } = conditionOf(r, c!);
  return cond === c ? undefined : isOpposite ? inst('select', b!, a!, cond) : inst('select', a!, b!, cond);
}

/** A conversion that undoes another one. */
const undo =
  (...others: readonly string[]): Rule =>
  (r, { args: [x] }) => {
    const of = r.definition(x!);
    return of && others.includes(of.op) ? value(of.args[0]!) : undefined;
  };

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>(
  Object.entries({
    ...Object.fromEntries(
      ['i32', 'i64'].flatMap((type): [string, Rule][] => [
        [`${type}.add`, add],
        [`${type}.sub`, subtract],
        [`${type}.mul`, multiply],
        [`${type}.div_u`, divide(false)],
        [`${type}.rem_u`, divide(true)],
        [`${type}.and`, and],
        [`${type}.or`, or],
        [`${type}.xor`, exclusiveOr],
        ...['shl', 'shr_u', 'shr_s', 'rotl', 'rotr'].map((op): [string, Rule] => [`${type}.${op}`, shift]),
        ...Object.keys(opposite).map((op): [string, Rule] => [`${type}.${op}`, compare]),
        [`${type}.eqz`, isZero],
      ]),
    ),
    select,
    'i32.wrap_i64': undo('i64.extend_i32_u', 'i64.extend_i32_s'),
    'i32.reinterpret_f32': undo('f32.reinterpret_i32'),
    'f32.reinterpret_i32': undo('i32.reinterpret_f32'),
    'i64.reinterpret_f64': undo('f64.reinterpret_i64'),
    'f64.reinterpret_i64': undo('i64.reinterpret_f64'),
    ...vectorRules,
  }),
);

/** Whether an instruction computes a number of numbers, so that it may be folded. */
function isOnNumbers(op: string): boolean {
  const known = onNumbers.get(op);
  if (known !== undefined) return known;
  const signature = signatureOf(op);
  const is = signature?.result !== undefined && signature.result !== 'v128' && !signature.params.includes('v128');
  onNumbers.set(op, is);
  return is;
}

const onNumbers = new Map<string, boolean>();

/** What an instruction on constant numbers computes. */
function folded(r: Rewriter, { op, args, result }: Inst): Simpler {
  const bits: bigint[] = [];
  for (const arg of args) {
    const each = r.bits(arg);
    if (each === undefined) return undefined;
    bits.push(each);
  }
  const of = foldNumbers(op, bits);
  return of === undefined ? undefined : value(r.constant(r.types[result!]!, of));
}

/** A simpler form of an instruction, if a rule has one. It may be simplified further. */
export function simplerForm(r: Rewriter, given: Inst): Simpler {
  const { op, args, result } = given;
  if (result === undefined || args.length === 0) return undefined;
  if (isOnNumbers(op)) {
    const simpler = folded(r, given);
    if (simpler) return simpler;
    if (isCommutative(op) && r.bits(args[0]!) !== undefined && r.bits(args[1]!) === undefined) return inst(op, args[1]!, args[0]!);
  }
  return rules.get(op)?.(r, given);
}
