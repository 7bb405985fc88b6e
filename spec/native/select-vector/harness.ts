/**
 * Runs the rules of vector instructions by themselves: a small selection, registers at random, and the code in memory. The random registers have operands
 * and results share registers and stack slots wherever an instruction says that they may, and reach the upper 16 vector registers of AVX-512.
 */
import { placeCode } from '../../../src/ffi/native/code-pages.ts';
import { nativeSystem } from '../../../src/ffi/native/system.ts';
import type { MachineInst, Register, RegisterInfo } from '../../../src/native/machine/types.ts';
import type { Selection, Test } from '../../../src/native/select/types.ts';
import { vectorRules, vectorTests } from '../../../src/native/select/vector/index.ts';
import { bytesOfType, type Inst, type SsaType } from '../../../src/native/ssa/types.ts';
import {
  type Assembler,
  type Features,
  general,
  type Label,
  type MemoryOperand,
  memory,
  newAssembler,
  type Operand,
  vector,
} from '../../../src/native/x64/index.ts';
import type { Random } from './random.ts';

/** A function without control flow: its parameters are values 0, 1, … */
export interface Straight {
  readonly params: readonly SsaType[];
  readonly types: readonly SsaType[];
  readonly insts: readonly Inst[];
  /** The value that is stored at the end; undefined for a function that writes memory. */
  readonly result: number | undefined;
  /** Whether the result is asked for as flags. */
  readonly asFlags?: boolean;
}

const [inputs, outputs, data] = [7, 6, 14];
const generals = [0, 1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 15];
const saved = [3, 5, 12, 13, 14, 15];
const slotBytes = 4096;

const isVector = (type: SsaType): boolean => !/^i(32|64)$/.test(type);

/** The instructions that the rules make of a function. */
function select(fn: Straight, features: Features): { insts: MachineInst[]; registers: RegisterInfo[]; of: Map<number, Register> } {
  const registers: RegisterInfo[] = [];
  const of = new Map<number, Register>();
  const definitions = new Map(fn.insts.flatMap((inst) => (inst.result === undefined ? [] : [[inst.result, inst] as const])));
  const uses = fn.insts.flatMap(({ args }) => args);
  if (fn.result !== undefined) uses.push(fn.result);
  let current: MachineInst[] = [];
  const fresh = (registerClass: 'general' | 'vector', bytes: RegisterInfo['bytes']): Register =>
    registers.push({ class: registerClass, bytes }) - 1;
  const s: Selection = {
    fn: undefined as never,
    features,
    register(value) {
      const definition = definitions.get(value);
      if (definition?.op === 'i32.const') {
        const register = fresh('general', 4);
        current.unshift({
          def: register,
          uses: [],
          emit: (out, { def }) => out.emit('mov', general(def, 4), { kind: 'immediate', value: definition.bits! }),
        });
        return register;
      }
      if (!of.has(value)) of.set(value, fresh(isVector(fn.types[value]!) ? 'vector' : 'general', bytesOfType(fn.types[value]!)));
      return of.get(value)!;
    },
    typeOf: (value) => fn.types[value]!,
    fresh,
    add: (inst) => current.push(inst),
    definition: (value) => definitions.get(value),
    useCount: (value) => uses.filter((use) => use === value).length,
    constant: (value) => (/^i(32|64).const$/.test(definitions.get(value)?.op ?? '') ? definitions.get(value)!.bits : undefined),
    isLast: (value) => !of.has(value),
    isInBlock: () => true,
    remake: () => {},
    address: (inst) => ({
      uses: [s.register(inst.args[0]!)],
      operand: ({ uses: at }, first) => memory(data, inst.offset ?? 0, at[first]!),
    }),
    memoryOf(value) {
      const inst = definitions.get(value);
      return inst?.op.includes('.load') && s.useCount(value) === 1 ? { inst, address: s.address(inst) } : undefined;
    },
    trap: () => ({ id: 0 }),
  };
  const all: MachineInst[][] = [];
  if (fn.asFlags) {
    const inst = definitions.get(fn.result!)!;
    definitions.delete(fn.result!);
    const test = vectorTests[inst.op]!(s, inst);
    s.add(numberOf(test, s.register(fn.result!)));
    all.push(current);
  } else if (fn.result !== undefined) s.register(fn.result);
  for (const inst of [...fn.insts].reverse()) {
    current = [];
    const isAsked = inst.result === undefined || (of.has(inst.result) && definitions.has(inst.result));
    if (isAsked && !inst.op.endsWith('32.const')) vectorRules[inst.op]!(s, inst);
    all.push(current);
  }
  return { insts: all.reverse().flat(), registers, of };
}

/** A test of flags as a number. */
const numberOf = (test: Test, def: Register): MachineInst => ({
  def,
  uses: test.uses,
  temps: test.temps ?? [],
  emit(out, places) {
    test.compare(out, places, 0);
    const { holds } = test;
    out.setIf('some' in holds ? holds.some[0]! : holds.every[0]!, places.def);
    out.emit('movzx', general(places.def, 4), general(places.def, 1));
  },
});

const move = (out: Assembler, { class: kind, bytes }: RegisterInfo, to: number, from: number): void => {
  if (kind === 'general') out.emit('mov', general(to, bytes as 4), general(from, bytes as 4));
  else out.emit('vmovups', vector(to, Math.max(16, bytes) as 16), vector(from, Math.max(16, bytes) as 16));
};

const transfer = (out: Assembler, { class: kind, bytes }: RegisterInfo, register: number, place: MemoryOperand, isStore: boolean): void => {
  const operand: Operand = kind === 'general' ? general(register, bytes as 4) : vector(register, Math.max(16, bytes) as 16);
  const mnemonic = kind === 'general' ? 'mov' : bytes === 4 ? 'vmovss' : bytes === 8 ? 'vmovsd' : 'vmovups';
  out.emit(mnemonic, ...(isStore ? [place, operand] : [operand, place]));
};

/** Emits the code of a function with registers at random. */
function emit(out: Assembler, fn: Straight, random: Random): void {
  const { insts, registers, of } = select(fn, out.features);
  const lastUse = new Map<Register, number>();
  insts.forEach((inst, i) => {
    for (const use of inst.uses) lastUse.set(use, i);
  });
  const result = fn.result === undefined ? undefined : of.get(fn.result)!;
  if (result !== undefined) lastUse.set(result, insts.length);
  const free = { general: new Set(generals), vector: new Set(Array.from({ length: out.features.avx512 ? 32 : 16 }, (_, i) => i)) };
  const at = new Map<Register, number>();
  const pick = (kind: 'general' | 'vector', more: readonly number[] = []): number => {
    const all = [...free[kind], ...more, ...more];
    if (all.length === 0) throw Error('no register is free');
    const found = all[random.below(all.length)]!;
    free[kind].delete(found);
    return found;
  };
  fn.params.forEach((_, i) => {
    const register = of.get(i);
    if (register === undefined || !lastUse.has(register)) return;
    at.set(register, pick(registers[register]!.class));
    transfer(out, registers[register]!, at.get(register)!, memory(inputs, 64 * i), false);
  });
  insts.forEach((inst, i) => {
    const uses = inst.uses.map((use) => at.get(use)!);
    const dying = [...new Set(inst.uses.filter((use) => lastUse.get(use) === i))];
    let slot: MemoryOperand | undefined;
    const temps = (inst.temps ?? []).map((kind) => pick(kind));
    const { inMemory } = inst;
    // Any of the choices that is not read from a slot.
    const tied = inst.tied === undefined ? undefined : random.of([inst.tied, ...(inst.tiedChoices ?? [])]);
    if (inMemory !== undefined && tied !== inMemory && random.below(3) === 0) {
      slot = memory(4, 64 * random.below(8));
      transfer(out, registers[inst.uses[inMemory]!]!, uses[inMemory]!, slot, true);
    }
    let def = 0;
    if (inst.def !== undefined) {
      const info = registers[inst.def]!;
      if (tied !== undefined) {
        const use = inst.uses[tied]!;
        const isShared = inst.uses.some((each, k) => each === use && k !== tied);
        if (lastUse.get(use) === i && !isShared) {
          def = at.get(use)!;
          dying.splice(dying.indexOf(use), 1);
          at.delete(use);
        } else {
          def = pick(info.class);
          move(out, registers[use]!, def, at.get(use)!);
          uses[tied] = def;
        }
      } else {
        const own = inst.isEarly
          ? []
          : dying.filter((use) => registers[use]!.class === info.class && at.get(use) !== undefined).map((use) => at.get(use)!);
        def = pick(info.class, own);
      }
    }
    // The place of an operand in a slot means nothing.
    if (slot) uses[inMemory!] = random.of([def, 0, 13]);
    inst.emit(out, { def, uses, temps, slot, frameBytes: 0 });
    for (const [k, kind] of (inst.temps ?? []).entries()) free[kind].add(temps[k]!);
    for (const use of dying) {
      const place = at.get(use)!;
      at.delete(use);
      if (place !== def || inst.def === undefined || registers[use]!.class !== registers[inst.def]!.class)
        free[registers[use]!.class].add(place);
    }
    if (inst.def === undefined) return;
    if (lastUse.has(inst.def)) at.set(inst.def, def);
    else free[registers[inst.def]!.class].add(def);
  });
  if (result !== undefined) transfer(out, registers[result]!, at.get(result)!, memory(outputs), true);
}

/** The code of functions in memory. */
export interface Placed {
  /** Calls a function: addresses of its inputs, 64 bytes each, of its output, and of the data that accesses address. */
  call(index: number, inputs: number, outputs: number, data: number): void;
  /** Bytes of code of a function, for listings. */
  code(index: number): Uint8Array;
}

/** Jumps to the address in rdi with the further arguments in its place. */
const trampoline = [0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7, 0x48, 0x89, 0xd6, 0x48, 0x89, 0xca, 0xff, 0xe0];

const kept: unknown[] = [];

/** Assembles functions and places them. */
export function place(functions: readonly Straight[], features: Features, random: Random): Placed {
  const out = newAssembler(features);
  const starts: Label[] = functions.map((fn) => {
    const label = out.newLabel();
    out.align(16);
    out.bind(label);
    for (const register of saved) out.emit('push', general(register));
    out.emit('sub', general(4), { kind: 'immediate', value: BigInt(slotBytes) });
    out.emit('mov', general(data), general(2));
    emit(out, fn, random);
    out.emit('add', general(4), { kind: 'immediate', value: BigInt(slotBytes) });
    for (const register of [...saved].reverse()) out.emit('pop', general(register));
    out.emit('vzeroupper');
    out.emit('ret');
    return label;
  });
  const end = out.newLabel();
  out.bind(end);
  const code = out.finish();
  const offsets = [...starts, end].map((label) => out.offsetOf(label));
  const [pages, entry] = [placeCode(code)!, placeCode(Uint8Array.from(trampoline))!];
  kept.push(pages, entry);
  const call = nativeSystem()!.ffi.CFunction({ ptr: entry.address as never, args: ['u64', 'u64', 'u64', 'u64'], returns: 'void' });
  return {
    call: (index, from, to, at) => call(pages.address + offsets[index]!, from, to, at),
    code: (index) => code.slice(offsets[index], offsets[index + 1]),
  };
}
