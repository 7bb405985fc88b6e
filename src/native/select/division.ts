/** Quotients and remainders of integers, which trap where WebAssembly does. */

import type { Inst } from '../ssa/types.ts';
import { type Assembler, general, immediate, type Label } from '../x64/types.ts';
import { widthOf } from './operands.ts';
import type { Rule, Selection } from './types.ts';

const accumulator = 0;
const data = 2;

interface Division {
  readonly isSigned: boolean;
  readonly isRemainder: boolean;
}

/** What may go wrong, by what is known of the divisor. */
interface Dangers {
  readonly zero: Label | undefined;
  /** The quotient of the least integer and -1. */
  readonly overflow: Label | undefined;
}

/** The dividend is in rax, the quotient ends up there, and the remainder in rdx. */
const divide =
  (kind: Division): Rule =>
  (s, inst) => {
    const [a, b] = inst.args as [number, number];
    const bytes = widthOf(s.typeOf(a));
    const divisor = s.constant(b);
    if (divisor !== undefined && !kind.isSigned && divisor !== 0n && (divisor & (divisor - 1n)) === 0n)
      return divideByPower(s, inst, kind, divisor);
    const minusOne = BigInt.asUintN(bytes * 8, -1n);
    const dangers: Dangers = {
      zero: divisor === undefined || divisor === 0n ? s.trap('divisionByZero') : undefined,
      overflow: kind.isSigned && (divisor === undefined || divisor === minusOne) ? s.trap('overflow') : undefined,
    };
    const [result, other] = kind.isRemainder ? [data, accumulator] : [accumulator, data];
    s.add({
      def: inst.result === undefined ? s.fresh('general', bytes) : s.register(inst.result),
      uses: [s.register(a), s.register(b)],
      fixedUses: [accumulator, undefined],
      fixedDef: result,
      clobbers: { general: 1 << other, vector: 0 },
      // The remainder's register is written before the divisor is read; that of the quotient holds the dividend till then.
      isEarly: kind.isRemainder,
      emit: (out, places) => emitDivision(out, places.uses[1]!, bytes, kind, dangers),
    });
  };

function emitDivision(
  out: Assembler,
  divisor: number,
  bytes: 4 | 8,
  { isSigned, isRemainder }: Division,
  { zero, overflow }: Dangers,
): void {
  const by = general(divisor, bytes);
  if (zero) {
    out.emit('test', by, by);
    out.jumpIf('e', zero);
  }
  if (!isSigned) {
    out.emit('xor', general(data, 4), general(data, 4));
    out.emit('div', by);
    return;
  }
  const done = out.newLabel();
  if (overflow) {
    const usual = out.newLabel();
    out.emit('cmp', by, immediate(-1));
    out.jumpIf('ne', usual);
    // Anything is divided by -1 by its negation, and leaves no remainder.
    if (isRemainder) out.emit('xor', general(data, 4), general(data, 4));
    else {
      out.emit('neg', general(accumulator, bytes));
      out.jumpIf('o', overflow);
    }
    out.jump(done);
    out.bind(usual);
  }
  out.emit(bytes === 8 ? 'cqo' : 'cdq');
  out.emit('idiv', by);
  out.bind(done);
}

/** An unsigned division by a power of two. */
function divideByPower(s: Selection, inst: Inst, { isRemainder }: Division, divisor: bigint): void {
  const bytes = widthOf(s.typeOf(inst.args[0]!));
  if (inst.result === undefined) return;
  const def = s.register(inst.result);
  const uses = [s.register(inst.args[0]!)];
  const rest = divisor - 1n;
  if (!isRemainder) {
    const count = divisor.toString(2).length - 1;
    s.add({ def, uses, tied: 0, emit: (out, places) => out.emit('shr', general(places.def, bytes), immediate(count)) });
  } else if (rest < 2n ** 31n)
    s.add({ def, uses, tied: 0, emit: (out, places) => out.emit('and', general(places.def, bytes), immediate(rest)) });
  else {
    const width = bytes * 8;
    const above = width - rest.toString(2).length;
    s.add({
      def,
      uses,
      tied: 0,
      emit(out, places) {
        out.emit('shl', general(places.def, bytes), immediate(above));
        out.emit('shr', general(places.def, bytes), immediate(above));
      },
    });
  }
}

export const divisionRules: Readonly<Record<string, Rule>> = Object.fromEntries(
  ['i32', 'i64'].flatMap((type) =>
    ['div_s', 'div_u', 'rem_s', 'rem_u'].map((op) => [
      `${type}.${op}`,
      divide({ isSigned: op.endsWith('s'), isRemainder: op.startsWith('rem') }),
    ]),
  ),
);
