/**
 * Initial values of threadgroup variables. Apple's compiler emits them for `threadgroup float x[32] = {0}` in C++, although no rule says
 * whether a GPU applies them. They are applied here: a program without initial values cannot observe the difference.
 */

import { sizeOf } from '../../bitcode/layout.ts';
import type { Constant, GlobalVariable, Module } from '../../bitcode/model.ts';
import { addBlock, type Value } from '../../ir/index.ts';
import { spaces } from '../targets.ts';
import { Refused } from '../types.ts';
import { fillConstant } from './constant-bytes.ts';
import { forEachByte } from './memory-functions.ts';
import type { RaiseState } from './state.ts';

/** The largest number of nonzero initial bytes; compilers emit a few. */
const maxBytes = 4096;

const isValue = (init: Constant | undefined): init is Constant =>
  init !== undefined && !(init.kind === 'constant' && (init.form === 'undef' || init.form === 'poison'));

/** Emits stores by the first thread and a barrier before the kernel's code. Nothing is emitted if no variable has an initial value. */
export function initializeShared({ kernel, b }: RaiseState, { globals }: Module): void {
  const initialized = globals.filter(({ type, init }) => type.space === spaces.threadgroup && isValue(init));
  if (initialized.length === 0) return;
  const [inside, behind] = [addBlock(kernel), addBlock(kernel)];
  const isFirst = b.icmp(b.sreg('i32', { name: 'tid.linear' }), b.const('i32', 0), { pred: 'eq' });
  b.block.end = { op: 'condbr', cond: isFirst, then: { block: inside, args: [] }, else: { block: behind, args: [] } };
  b.block = inside;
  for (const global of initialized) write({ kernel, b }, global);
  b.block.end = { op: 'br', to: { block: behind, args: [] } };
  b.block = behind;
  b.barrier();
}

/** Zeros in a loop, then the nonzero words. */
function write({ kernel, b }: Pick<RaiseState, 'kernel' | 'b'>, { name, valueType, init }: GlobalVariable): void {
  const bytes = new Uint8Array(sizeOf(valueType));
  fillConstant(bytes, 0, init!);
  if (bytes.filter((byte) => byte !== 0).length > maxBytes) throw new Refused(`the initial value of the threadgroup variable \`${name}\``);
  const start = b.variable('ptr.shared', { name });
  const access = { align: 1, volatile: false };
  const at = (offset: Value): Value => b.ptradd(start, offset);
  forEachByte({ kernel, b }, b.const('i64', bytes.length), (step) => void b.store(at(step), b.const('i8', 0), access));
  bytes.forEach((byte, offset) => {
    if (byte !== 0) b.store(at(b.const('i64', offset)), b.const('i8', byte), access);
  });
}
