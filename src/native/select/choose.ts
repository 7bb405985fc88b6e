/** `select`: one of two values by a condition, without a jump. */
import type { Places } from '../machine/types.ts';
import type { Inst, Value } from '../ssa/types.ts';
import { type Assembler, general, mask, vector } from '../x64/types.ts';
import { generalUse, widthOf } from './operands.ts';
import { emitNumber, isSingle, opposite, testOf } from './test.ts';
import type { Rule, Selection, Test } from './types.ts';

export const choose: Rule = (s, inst) => {
  const [yes, no, cond] = inst.args as [Value, Value, Value];
  const type = s.typeOf(yes);
  if (type === 'i32' || type === 'i64') chooseInteger(s, inst, yes, no, testOf(s, cond));
  else if (s.features.avx512) chooseByMask(s, inst, yes, no, testOf(s, cond));
  else chooseByBlend(s, inst, yes, no, testOf(s, cond));
};

/** A value moves over the other one, whose register becomes the result's, under each condition that asks for it. */
function chooseInteger(s: Selection, inst: Inst, yes: Value, no: Value, test: Test): void {
  const bytes = widthOf(s.typeOf(yes));
  const { holds } = test;
  const list = 'some' in holds ? holds.some : holds.every;
  // With one condition either value may be the one that stays: the one that dies here.
  const staysNo = list.length > 1 ? 'some' in holds : s.isLast(no) || !s.isLast(yes);
  const moving = staysNo ? list : list.map(opposite);
  const [stays, moves] = staysNo ? [no, yes] : [yes, no];
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(stays), s.register(moves), ...test.uses],
    tied: 0,
    temps: test.temps ?? [],
    emit(out, places) {
      test.compare(out, places, 2);
      for (const each of moving) out.moveIf(each, general(places.def, bytes), generalUse(places, 1, bytes));
    },
  });
}

/** The number 0 or -1 in a general register, by a condition. */
function emitMask(out: Assembler, test: Test, places: Places, first: number, to: number, temp: number): void {
  test.compare(out, places, first);
  emitNumber(out, test, to, temp);
  out.emit('neg', general(to));
}

const scratch = mask(1);

/** By a mask of AVX-512, of as many bits as the widest vector has lanes of 64 bits. */
function chooseByMask(s: Selection, inst: Inst, yes: Value, no: Value, test: Test): void {
  const bytes = vectorBytes(s, inst);
  const temps = temporaries(test);
  const at = temps.length - (isSingle(test) ? 1 : 2);
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(no), s.register(yes), ...test.uses],
    tied: 0,
    temps,
    emit(out, places) {
      emitMask(out, test, places, 2, places.temps[at]!, places.temps[at + 1] ?? 0);
      out.emit('kmovb', scratch, general(places.temps[at]!, 4));
      out.emitMasked('vmovdqa64', scratch, false, vector(places.def, bytes), vector(places.uses[1]!, bytes));
    },
  });
}

function chooseByBlend(s: Selection, inst: Inst, yes: Value, no: Value, test: Test): void {
  const type = s.typeOf(inst.result!);
  const isScalar = type === 'f32' || type === 'f64';
  const bytes = vectorBytes(s, inst);
  const temps = [...temporaries(test), 'vector' as const];
  const at = temps.length - (isSingle(test) ? 2 : 3);
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(no), s.register(yes), ...test.uses],
    temps,
    emit(out, places) {
      const blend = places.temps.at(-1)!;
      emitMask(out, test, places, 2, places.temps[at]!, places.temps[at + 1] ?? 0);
      out.emit('vmovq', vector(blend), general(places.temps[at]!));
      if (!isScalar) out.emit('vpbroadcastq', vector(blend, bytes), vector(blend));
      out.emit(
        'vblendvpd',
        vector(places.def, bytes),
        vector(places.uses[0]!, bytes),
        vector(places.uses[1]!, bytes),
        vector(blend, bytes),
      );
    },
  });
}

/** The registers that a test needs, and those for its number. */
const temporaries = (test: Test) => [...(test.temps ?? []), 'general' as const, ...(isSingle(test) ? [] : ['general' as const])];

function vectorBytes(s: Selection, inst: Inst): 16 | 32 | 64 {
  const type = s.typeOf(inst.result!);
  return type === 'v512' ? 64 : type === 'v256' ? 32 : 16;
}
