/** Addresses with the checks of their bounds, and scalar loads and stores. */
import { type Register, reserved } from '../machine/types.ts';
import type { Inst } from '../ssa/types.ts';
import { type Assembler, general, immediate, memory, sized, vector } from '../x64/types.ts';
import { type Anchor, type Check, isRoot } from './bounds.ts';
import { immediateOf, setConstant, widthOf } from './operands.ts';
import type { Scope } from './scope.ts';
import type { Address, Rule } from './types.ts';

/** The largest displacement of an operand. */
const maxDisplacement = 2 ** 31 - 1;

/** See `Selection.address`. */
export function addressOf(s: Scope, inst: Inst): Address {
  const { anchor, check } = s.bounds.get(inst)!;
  if (check && anchor.root < 0) addConstantCheck(s, check.high);
  else if (check) addCheck(s, anchor, check);
  return uncheckedAddress(s, inst);
}

const registerOf = (s: Scope, anchor: Anchor): Register => (isRoot(anchor) ? s.register(anchor.root) : s.anchorRegister(anchor));

/** The address of an access whose bounds are checked before. */
export function uncheckedAddress(s: Scope, inst: Inst): Address {
  const { anchor, displacement } = s.bounds.get(inst)!;
  const isConstant = anchor.root < 0;
  if (displacement <= maxDisplacement) {
    if (isConstant) return { uses: [], operand: () => memory(reserved.memory, displacement) };
    return { uses: [registerOf(s, anchor)], operand: (places, first) => memory(reserved.memory, displacement, places.uses[first]!) };
  }
  const sum = s.fresh('general', 8);
  if (isConstant) s.add({ def: sum, uses: [], emit: (out, places) => setConstant(out, places.def, BigInt(displacement)) });
  else
    s.add({
      def: sum,
      uses: [registerOf(s, anchor)],
      isEarly: true,
      emit: (out, places) => addLarge(out, places.def, places.uses[0]!, displacement),
    });
  return { uses: [sum], operand: (places, first) => memory(reserved.memory, 0, places.uses[first]!) };
}

function addLarge(out: Assembler, to: number, from: number, offset: number): void {
  setConstant(out, to, BigInt(offset));
  out.emit('add', general(to), general(from));
}

/** Leaves the module unless all bytes from the least address of an anchor to `high` behind its root are in memory. */
function addCheck(s: Scope, anchor: Anchor, { high, isFirst }: Check): void {
  const trap = s.trap('bounds');
  const register = registerOf(s, anchor);
  const { root, low } = anchor;
  if (isFirst && !isRoot(anchor))
    s.add({
      def: register,
      uses: [s.register(root)],
      emit: (out, places) => out.emit('lea', general(places.def, 4), memory(places.uses[0]!, low)),
    });
  const isShifted = isFirst && low < 0;
  const extent = isRoot(anchor) && !isShifted ? high : high - low;
  s.add({
    uses: [register],
    temps: ['general'],
    isEarly: true,
    emit(out, places) {
      const end = places.temps[0]!;
      const base = isShifted ? end : places.uses[0]!;
      if (isShifted) out.emit('lea', general(end, 4), memory(places.uses[0]!, low));
      if (extent <= maxDisplacement) out.emit('lea', general(end), memory(base, extent));
      // The sum of two displacements is less than 2^33.
      else out.emit('lea', general(end), memory(base, maxDisplacement));
      for (let rest = extent - maxDisplacement; rest > 0; rest -= maxDisplacement)
        out.emit('add', general(end), immediate(Math.min(rest, maxDisplacement)));
      out.emit('cmp', general(end), general(reserved.memoryBytes));
      out.jumpIf('a', trap);
    },
  });
}

/** Leaves the module unless memory has so many bytes. */
function addConstantCheck(s: Scope, bytes: number): void {
  const trap = s.trap('bounds');
  const isImmediate = bytes <= maxDisplacement;
  s.add({
    uses: [],
    temps: isImmediate ? [] : ['general'],
    emit(out, places) {
      if (!isImmediate) setConstant(out, places.temps[0]!, BigInt(bytes));
      out.emit('cmp', general(reserved.memoryBytes), isImmediate ? immediate(bytes) : general(places.temps[0]!));
      out.jumpIf('b', trap);
    },
  });
}

/** Selects no more than the check of a load whose result is not used. */
export function addDeadLoad(s: Scope, inst: Inst): void {
  if (s.bounds.get(inst)?.check) addressOf(s, inst);
}

/** Of a load to a general register: the mnemonic, the bytes of the register, and those of the memory where the mnemonic does not say them. */
const integerLoads: Readonly<Record<string, readonly [mnemonic: string, to: 4 | 8, from?: 1 | 2]>> = {
  'i32.load': ['mov', 4],
  'i64.load': ['mov', 8],
  'i32.load8_s': ['movsx', 4, 1],
  'i32.load8_u': ['movzx', 4, 1],
  'i32.load16_s': ['movsx', 4, 2],
  'i32.load16_u': ['movzx', 4, 2],
  'i64.load8_s': ['movsx', 8, 1],
  'i64.load8_u': ['movzx', 4, 1],
  'i64.load16_s': ['movsx', 8, 2],
  'i64.load16_u': ['movzx', 4, 2],
  'i64.load32_s': ['movsxd', 8],
  'i64.load32_u': ['mov', 4],
  'i32.atomic.load': ['mov', 4],
  'i64.atomic.load': ['mov', 8],
  'i32.atomic.load8_u': ['movzx', 4, 1],
  'i32.atomic.load16_u': ['movzx', 4, 2],
};

/** The load that an instruction is, once its address is known. */
export function addLoad(s: Scope, inst: Inst, address: Address): void {
  const [mnemonic, to, from] = integerLoads[inst.op]!;
  const def = s.register(inst.result!);
  s.add({
    def,
    uses: address.uses,
    emit(out, places) {
      const operand = address.operand(places, 0);
      out.emit(mnemonic, general(places.def, to), from === undefined ? operand : sized(operand, from));
    },
  });
}

const integerLoad: Rule = (s, inst) => addLoad(s as Scope, inst, s.address(inst));

const floatLoad =
  (mnemonic: string): Rule =>
  (s, inst) => {
    const address = s.address(inst);
    const def = s.register(inst.result!);
    s.add({ def, uses: address.uses, emit: (out, places) => out.emit(mnemonic, vector(places.def), address.operand(places, 0)) });
  };

const integerStore =
  (bytes: 1 | 2 | 4 | 8): Rule =>
  (s, inst) => {
    const address = s.address(inst);
    const value = inst.args[1]!;
    const constant = immediateOf(s, value, widthOf(s.typeOf(value)));
    if (constant !== undefined) {
      const short = immediate(BigInt.asIntN(Math.min(bytes, 4) * 8, constant));
      s.add({ uses: address.uses, emit: (out, places) => out.emit('mov', sized(address.operand(places, 0), bytes), short) });
      return;
    }
    const uses = [s.register(value), ...address.uses];
    s.add({ uses, emit: (out, places) => out.emit('mov', address.operand(places, 1), general(places.uses[0]!, bytes)) });
  };

const floatStore =
  (mnemonic: string): Rule =>
  (s, inst) => {
    const address = s.address(inst);
    const uses = [s.register(inst.args[1]!), ...address.uses];
    s.add({ uses, emit: (out, places) => out.emit(mnemonic, address.operand(places, 1), vector(places.uses[0]!)) });
  };

export const memoryRules: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(Object.keys(integerLoads).flatMap((op) => (op.includes('atomic') ? [] : [[op, integerLoad]]))),
  'f32.load': floatLoad('vmovss'),
  'f64.load': floatLoad('vmovsd'),
  'i32.store': integerStore(4),
  'i64.store': integerStore(8),
  'f32.store': floatStore('vmovss'),
  'f64.store': floatStore('vmovsd'),
  'i32.store8': integerStore(1),
  'i32.store16': integerStore(2),
  'i64.store8': integerStore(1),
  'i64.store16': integerStore(2),
  'i64.store32': integerStore(4),
};
