/** Atomic accesses: what locked instructions do, and loops of compare-and-exchange for the rest. */
import type { Places } from '../machine/types.ts';
import type { Inst, Value } from '../ssa/types.ts';
import { type Assembler, general, immediate, memory } from '../x64/types.ts';
import { accessOf } from './access.ts';
import { addLoad } from './memory.ts';
import { generalUse, widthOf } from './operands.ts';
import type { Scope } from './scope.ts';
import type { Address, Rule, Selection } from './types.ts';

/** The address of an atomic access, which has to be a multiple of its bytes; if it is not, it does not matter whether it is in bounds. */
function alignedAddress(s: Selection, inst: Inst): { address: Address; bytes: 1 | 2 | 4 | 8 } {
  const { bytes } = accessOf(s.fn, inst)! as { bytes: 1 | 2 | 4 | 8 };
  if (bytes !== 1) addAlignmentCheck(s, inst, bytes);
  return { address: s.address(inst), bytes };
}

function addAlignmentCheck(s: Selection, inst: Inst, bytes: 2 | 4 | 8): void {
  const constant = s.constant(inst.args[0]!);
  const offset = inst.offset ?? 0;
  const trap = s.trap('alignment');
  if (constant !== undefined) {
    if ((Number(constant) + offset) % bytes !== 0) s.add({ uses: [], emit: (out) => out.jump(trap) });
    return;
  }
  const rest = offset % bytes;
  s.add({
    uses: [s.register(inst.args[0]!)],
    temps: rest === 0 ? [] : ['general'],
    emit(out, places) {
      const base = places.uses[0]!;
      if (rest !== 0) out.emit('lea', general(places.temps[0]!, 4), memory(base, rest));
      out.emit('test', general(rest === 0 ? base : places.temps[0]!, 1), immediate(bytes - 1));
      out.jumpIf('ne', trap);
    },
  });
}

const load: Rule = (s, inst) => {
  const { address } = alignedAddress(s, inst);
  if (inst.result !== undefined) addLoad(s as Scope, inst, address);
};

/** A store that is seen before any later access: an exchange, which is locked by itself. */
const store: Rule = (s, inst) => {
  const { address, bytes } = alignedAddress(s, inst);
  addExchange(s, address, bytes, s.fresh('general', bytes === 8 ? 8 : 4), inst.args[1]!, 'xchg');
};

function addExchange(s: Selection, address: Address, bytes: 1 | 2 | 4 | 8, def: number, value: Value, mnemonic: string): void {
  s.add({
    def,
    uses: [s.register(value), ...address.uses],
    tied: 0,
    isEarly: true,
    emit: (out, places) => out.emit(mnemonic, address.operand(places, 1), general(places.def, bytes)),
  });
}

const resultOf = (s: Selection, inst: Inst, bytes: 4 | 8): number =>
  inst.result === undefined ? s.fresh('general', bytes) : s.register(inst.result);

const exchange: Rule = (s, inst) => {
  const { address, bytes } = alignedAddress(s, inst);
  addExchange(s, address, bytes, resultOf(s, inst, widthOf(s.typeOf(inst.args[1]!))), inst.args[1]!, 'xchg');
};

/** A sum: without its result an addition to memory. */
const add: Rule = (s, inst) => {
  const { address, bytes } = alignedAddress(s, inst);
  if (isUnused(s, inst)) addToMemory(s, inst, address, 'lock add');
  else addExchange(s, address, bytes, s.register(inst.result!), inst.args[1]!, 'lock xadd');
};

/** A difference: the sum with the negated operand. */
const sub: Rule = (s, inst) => {
  const { address, bytes } = alignedAddress(s, inst);
  if (isUnused(s, inst)) return addToMemory(s, inst, address, 'lock sub');
  s.add({
    def: s.register(inst.result!),
    uses: [s.register(inst.args[1]!), ...address.uses],
    tied: 0,
    isEarly: true,
    emit(out, places) {
      out.emit('neg', general(places.def, bytes));
      out.emit('lock xadd', address.operand(places, 1), general(places.def, bytes));
    },
  });
};

const isUnused = (s: Selection, inst: Inst): boolean => inst.result === undefined || s.useCount(inst.result) === 0;

function addToMemory(s: Selection, inst: Inst, address: Address, mnemonic: string): void {
  const bytes = widthOf(s.typeOf(inst.args[1]!));
  s.add({
    uses: [s.register(inst.args[1]!), ...address.uses],
    emit: (out, places) => out.emit(mnemonic, address.operand(places, 1), generalUse(places, 0, bytes)),
  });
}

/** A bitwise operation; with its result a loop, which ends when no other access came in between. */
const bitwise =
  (mnemonic: 'and' | 'or' | 'xor'): Rule =>
  (s, inst) => {
    const { address, bytes } = alignedAddress(s, inst);
    if (isUnused(s, inst)) return addToMemory(s, inst, address, `lock ${mnemonic}`);
    s.add({
      def: s.register(inst.result!),
      uses: [s.register(inst.args[1]!), ...address.uses],
      fixedDef: 0,
      isEarly: true,
      temps: ['general'],
      emit: (out, places) => emitLoop(out, places, mnemonic, bytes, address),
    });
  };

function emitLoop(out: Assembler, places: Places, mnemonic: string, bytes: 1 | 2 | 4 | 8, address: Address): void {
  const [before, after] = [general(places.def, bytes), general(places.temps[0]!, bytes)];
  const at = address.operand(places, 1);
  const again = out.newLabel();
  out.emit('mov', before, at);
  out.bind(again);
  out.emit('mov', after, before);
  out.emit(mnemonic, after, generalUse(places, 0, bytes));
  out.emit('lock cmpxchg', at, after);
  out.jumpIf('ne', again);
}

const compareExchange: Rule = (s, inst) => {
  const { address, bytes } = alignedAddress(s, inst);
  const [, expected, replacement] = inst.args as [Value, Value, Value];
  s.add({
    def: resultOf(s, inst, widthOf(s.typeOf(expected))),
    uses: [s.register(expected), s.register(replacement), ...address.uses],
    tied: 0,
    fixedUses: [0],
    fixedDef: 0,
    isEarly: true,
    emit: (out, places) => out.emit('lock cmpxchg', address.operand(places, 2), generalUse(places, 1, bytes)),
  });
};

const ofType = (type: 'i32' | 'i64'): Readonly<Record<string, Rule>> => ({
  [`${type}.atomic.load`]: load,
  [`${type}.atomic.store`]: store,
  [`${type}.atomic.rmw.add`]: add,
  [`${type}.atomic.rmw.sub`]: sub,
  [`${type}.atomic.rmw.and`]: bitwise('and'),
  [`${type}.atomic.rmw.or`]: bitwise('or'),
  [`${type}.atomic.rmw.xor`]: bitwise('xor'),
  [`${type}.atomic.rmw.xchg`]: exchange,
  [`${type}.atomic.rmw.cmpxchg`]: compareExchange,
});

export const atomicRules: Readonly<Record<string, Rule>> = {
  ...ofType('i32'),
  ...ofType('i64'),
  'i32.atomic.load8_u': load,
  'i32.atomic.load16_u': load,
  'i32.atomic.store8': store,
  'i32.atomic.store16': store,
  'atomic.fence': (s) => s.add({ uses: [], emit: (out) => out.emit('mfence') }),
};
