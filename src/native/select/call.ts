/** Calls, parameters of functions, and globals. */
import { contextOffsets, maxMemoryBytes } from '../context.ts';
import { type PhysicalSet, reserved } from '../machine/types.ts';
import type { Inst, SsaType, Value } from '../ssa/types.ts';
import { type Assembler, general, immediate, type MemoryOperand, memory, sized, vector } from '../x64/types.ts';
import type { ImportLayout, LocalLayout } from './layout.ts';
import { immediateOf } from './operands.ts';
import { classOf, type Scope } from './scope.ts';
import type { Rule } from './types.ts';

/** Bytes of an argument on the stack. */
const argumentBytes = 16;

/** The registers that a call within the module destroys: all that the allocator has. */
const allRegisters: PhysicalSet = {
  general: 0xffff & ~[reserved.stack, reserved.context, reserved.memory, reserved.memoryBytes].reduce((set, each) => set | (1 << each), 0),
  vector: -1,
};

/** Those that the System V ABI lets a function destroy. */
const integerArguments = [7, 6, 2, 1, 8, 9];
const importRegisters: PhysicalSet = { general: [0, 10, 11, ...integerArguments].reduce((set, each) => set | (1 << each), 0), vector: -1 };
const floatArguments = 8;
/** A register that neither holds an argument nor a result. */
const scratch = 11;

/** Reads a value of a type from memory to a physical register. */
function emitLoad(out: Assembler, type: SsaType, to: number, from: MemoryOperand): void {
  if (classOf(type) === 'general') out.emit('mov', general(to, type === 'i64' ? 8 : 4), from);
  else out.emit(moves[type as keyof typeof moves], vector(to), from);
}

function emitStore(out: Assembler, type: SsaType, to: MemoryOperand, from: number): void {
  if (classOf(type) === 'general') out.emit('mov', to, general(from, type === 'i64' ? 8 : 4));
  else out.emit(moves[type as keyof typeof moves], to, vector(from));
}

const moves = { f32: 'vmovss', f64: 'vmovsd', v128: 'vmovups' } as const;

/** Adds the store of a value to memory that is known when it is selected: an argument or a global. */
function addStore(s: Scope, value: Value, to: MemoryOperand): void {
  const type = s.typeOf(value);
  const bytes = type === 'i64' ? 8 : 4;
  const constant = immediateOf(s, value, bytes);
  if (constant !== undefined) s.add({ uses: [], emit: (out) => out.emit('mov', sized(to, bytes), immediate(constant)) });
  else s.add({ uses: [s.register(value)], emit: (out, places) => emitStore(out, type, to, places.uses[0]!) });
}

/** Loads the parameters of the function that something uses. */
export function addParameters(s: Scope, params: readonly Value[]): void {
  params.forEach((param, i) => {
    if (!s.isAsked(param)) return;
    const type = s.typeOf(param);
    s.add({
      def: s.register(param),
      uses: [],
      emit: (out, places) => emitLoad(out, type, places.def, memory(reserved.stack, places.frameBytes + 8 + argumentBytes * i)),
    });
  });
}

const call: Rule = (s, inst) => {
  const scope = s as Scope;
  const callee = scope.layout.functions[inst.index!]!;
  if ('label' in callee) callLocal(scope, inst, callee);
  else callImport(scope, inst, callee);
};

function callLocal(s: Scope, inst: Inst, { label }: LocalLayout): void {
  s.outgoing(argumentBytes * inst.args.length);
  for (const [i, value] of inst.args.entries()) addStore(s, value, memory(reserved.stack, argumentBytes * i));
  s.add({ ...resultOf(s, inst), uses: [], clobbers: allRegisters, emit: (out) => out.call(label) });
}

const resultOf = (s: Scope, inst: Inst) => (inst.result === undefined ? {} : { def: s.register(inst.result), fixedDef: 0 });

function callImport(s: Scope, inst: Inst, { offset, signature }: ImportLayout): void {
  const { leave } = s.layout;
  const result = signature.results[0];
  s.add({
    ...resultOf(s, inst),
    uses: inst.args.map((value) => s.register(value)),
    fixedUses: importRegistersOf(signature.params)!,
    clobbers: importRegisters,
    emit(out) {
      out.emit('vzeroupper');
      out.emit('call', memory(reserved.context, offset));
      // The function may have made memory grow.
      emitMemory(out, scratch);
      if (result === 'i32') out.emit('mov', general(0, 4), general(0, 4));
      out.emit('cmp', sized(memory(reserved.context, contextOffsets.trap), 4), immediate(0));
      out.jumpIf('ne', leave);
    },
  });
}

/** Loads the address and the bytes of memory, as far as the code uses it, by a register that is free. */
export function emitMemory(out: Assembler, temp: number): void {
  const bytes = general(reserved.memoryBytes);
  out.emit('mov', general(reserved.memory), memory(reserved.context, contextOffsets.memory));
  out.emit('mov', bytes, memory(reserved.context, contextOffsets.memoryBytes));
  out.emit('mov', general(temp, 4), immediate(maxMemoryBytes));
  out.emit('cmp', bytes, general(temp));
  out.moveIf('a', bytes, general(temp));
}

/** The registers of arguments by the System V ABI; undefined where one is a vector or they are too many. */
export function importRegistersOf(params: readonly SsaType[]): number[] | undefined {
  let [integers, floats] = [0, 0];
  const registers = params.map((type) => {
    if (type === 'i32' || type === 'i64') return integerArguments[integers++] ?? -1;
    return type === 'f32' || type === 'f64' ? (floats < floatArguments ? floats++ : -1) : -1;
  });
  return registers.includes(-1) ? undefined : registers;
}

const getGlobal: Rule = (s, inst) => {
  const { offset, type } = (s as Scope).layout.globals[inst.index!]!;
  const def = s.register(inst.result!);
  s.add({ def, uses: [], emit: (out, places) => emitLoad(out, type, places.def, memory(reserved.context, offset)) });
};

const setGlobal: Rule = (s, inst) =>
  addStore(s as Scope, inst.args[0]!, memory(reserved.context, (s as Scope).layout.globals[inst.index!]!.offset));

export const callRules: Readonly<Record<string, Rule>> = { call, 'global.get': getGlobal, 'global.set': setGlobal };
