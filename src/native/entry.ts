/** The ways into a module's code and out of it, by the System V ABI. */

import type { Signature, ValueType } from '../wasm/index.ts';
import { contextOffsets, maxMemoryBytes, traps } from './context.ts';
import { reserved } from './machine/types.ts';
import { emitMemory } from './select/call.ts';
import type { LocalLayout, ModuleLayout } from './select/layout.ts';
import { type Assembler, general, immediate, type Label, memory, sized, vector } from './x64/index.ts';

/** The registers that a function keeps for its caller. */
const kept = [3, 5, 12, 13, 14, 15];

/** The registers of integer parameters behind that of the context. */
const integerParams = [6, 2, 1, 8, 9];
const floatParams = 8;

/** The frame of an entry: 16 bytes for each argument, then what the context had for the stack pointer, and the caller's stack pointer. */
const frame = {
  outerStack: 16 * (integerParams.length + floatParams),
  callerStack: 16 * (integerParams.length + floatParams) + 8,
  bytes: 256,
};

const isInteger = (type: ValueType): boolean => type === 'i32' || type === 'i64';

/** Whether a function can be called with its parameters in registers and its result in the context. */
export const isEnterable = ({ params, results }: Signature): boolean =>
  !params.includes('v128') &&
  !results.includes('v128') &&
  results.length < 2 &&
  params.filter(isInteger).length <= integerParams.length &&
  params.filter((type) => !isInteger(type)).length <= floatParams;

/** Emits the entry of a function, which leaves through `layout.leave`. */
export function emitEntry(out: Assembler, { signature, label }: LocalLayout, layout: ModuleLayout): Label {
  const entry = out.newLabel();
  const stack = general(reserved.stack);
  out.align(16);
  out.bind(entry);
  for (const register of kept) out.emit('push', general(register));
  out.emit('mov', general(reserved.context), general(7));
  out.emit('mov', general(0), stack);
  out.emit('sub', stack, immediate(frame.bytes));
  out.emit('and', stack, immediate(-64));
  out.emit('mov', memory(reserved.stack, frame.callerStack), general(0));
  // An imported function may enter the module again: the inner entry puts back what the outer one noted.
  out.emit('mov', general(0), memory(reserved.context, contextOffsets.stack));
  out.emit('mov', memory(reserved.stack, frame.outerStack), general(0));
  out.emit('mov', memory(reserved.context, contextOffsets.stack), stack);
  out.emit('mov', sized(memory(reserved.context, contextOffsets.trap), 4), immediate(0));
  emitMemory(out, 0);
  emitParams(out, signature.params);
  out.call(label);
  emitResult(out, signature.results[0]);
  out.jump(layout.leave);
  return entry;
}

function emitParams(out: Assembler, params: readonly ValueType[]): void {
  let [integers, floats] = [0, 0];
  params.forEach((type, i) => {
    const to = memory(reserved.stack, 16 * i);
    if (type === 'i32') out.emit('mov', to, general(integerParams[integers++]!, 4));
    else if (type === 'i64') out.emit('mov', to, general(integerParams[integers++]!));
    else out.emit(type === 'f32' ? 'vmovss' : 'vmovsd', to, vector(floats++));
  });
}

function emitResult(out: Assembler, type: ValueType | undefined): void {
  const to = memory(reserved.context, contextOffsets.result);
  if (type === 'f32' || type === 'f64') out.emit(type === 'f32' ? 'vmovss' : 'vmovsd', to, vector(0));
  else if (type !== undefined) out.emit('mov', to, general(0));
}

/** Emits the code that traps jump to, which notes why, and the end of all entries. */
export function emitExits(out: Assembler, layout: ModuleLayout): void {
  const largest = immediate(maxMemoryBytes);
  layout.traps.forEach((label, code) => {
    out.bind(label);
    if (code === traps.bounds) {
      out.emit('mov', general(0, 4), largest);
      out.emit('cmp', memory(reserved.context, contextOffsets.memoryBytes), general(0));
      out.jumpIf('a', layout.traps[traps.memorySize]!);
    }
    out.emit('mov', sized(memory(reserved.context, contextOffsets.trap), 4), immediate(code));
    out.jump(layout.leave);
  });
  out.bind(layout.leave);
  out.emit('vzeroupper');
  out.emit('mov', general(reserved.stack), memory(reserved.context, contextOffsets.stack));
  out.emit('mov', general(0, 4), memory(reserved.context, contextOffsets.trap));
  out.emit('mov', general(1), memory(reserved.stack, frame.outerStack));
  out.emit('mov', memory(reserved.context, contextOffsets.stack), general(1));
  out.emit('mov', general(reserved.stack), memory(reserved.stack, frame.callerStack));
  for (const register of [...kept].reverse()) out.emit('pop', general(register));
  out.emit('ret');
}
