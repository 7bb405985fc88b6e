/** Advice on collectives of a warp and on the scopes of atomics, by what their operands are known to be. */
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Inst, type InstOf, operandsOf, type Value } from '../ir/index.ts';
import { isConcrete } from './forms.ts';
import type { Prepared, WarpForms } from './state.ts';

/** Reports CM2310, CM2311 and the part of CM2315 that is about atomics of a block which all blocks execute. */
export function adviseOnCollectives(all: Prepared, warps: readonly WarpForms[], text: string, diagnostics: Diagnostics): void {
  const { kernel, cfg } = all;
  for (const block of cfg.order)
    for (const value of kernel.blocks[block]!.body) {
      const inst = kernel.insts[value]!;
      const span = kernel.locs[value];
      if (!span || warps.every((warp) => warp.lanesOf(block) === 'none')) continue;
      const words = text.slice(span.start, span.end).replace(/^@!?\S+\s+/, '');
      if (inst.op === 'shufflesync' && /^shfl\.sync\.idx\b/.test(words) && !isLaneKnown(all, warps, inst, block))
        diagnostics.report('CM2310', {}, { span });
      if ('members' in inst && !isMaskKnown(all, inst.members as Value)) diagnostics.report('CM2311', {}, { span });
      if ((inst.op === 'atomic' || inst.op === 'cas') && /^(atom|red)\.\S*\bcta\b/.test(words) && isOfAllBlocks(all, warps, inst, block))
        diagnostics.report(
          'CM2315',
          { why: `this atomic has the scope \`.cta\`, and its address is the same in all blocks` },
          { span, help: 'use the scope `.gpu`' },
        );
    }
}

/** Whether every lane that a shuffle may read is in its member mask. */
function isLaneKnown(
  { kernel, ranges }: Prepared,
  warps: readonly WarpForms[],
  { b, members }: InstOf<'shufflesync'>,
  block: number,
): boolean {
  const mask = kernel.insts[members]!;
  // Whoever computes a mask knows its lanes better.
  if (mask.op !== 'const') return true;
  const bits = Number(BigInt.asUintN(32, mask.bits));
  const isMember = (lane: number): boolean => lane >= 0 && lane <= 31 && ((bits >>> lane) & 1) === 1;
  const chosen = kernel.insts[b]!;
  // A lane out of bounds is the thread's own, which is in the mask.
  const { min, max } = ranges.at(chosen.op === 'select' ? chosen.a : b, block);
  if (min >= 0n && max <= 31n && Array.from({ length: Number(max - min) + 1 }, (_, i) => Number(min) + i).every(isMember)) return true;
  return warps.every((warp) => {
    const form = warp.at(b, block);
    const lanes = warp.lanesOf(block);
    const own = lanes === 'none' ? 0 : lanes === 'some' ? bits : lanes;
    return isConcrete(form) && form.lanes.every((lane, i) => ((own >>> i) & 1) === 0 || isMember(lane));
  });
}

/** Whether a mask is computed from constants and votes. */
function isMaskKnown({ kernel }: Prepared, mask: Value): boolean {
  const seen = new Set<Value>();
  const stack = [mask];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    if (seen.has(value)) continue;
    seen.add(value);
    const inst: Inst = kernel.insts[value]!;
    if (inst.op === 'ballot' || inst.op === 'ballotsync' || inst.op === 'reducesync' || inst.op === 'reduce') continue;
    if (inst.op === 'load' || inst.op === 'arg' || inst.op === 'atomic' || inst.op === 'cas') return false;
    stack.push(...operandsOf(inst));
  }
  return true;
}

/** Whether all blocks of a grid of several blocks access the address of an atomic in global memory. */
function isOfAllBlocks(
  { kernel, launch }: Prepared,
  warps: readonly WarpForms[],
  inst: InstOf<'atomic'> | InstOf<'cas'>,
  block: number,
): boolean {
  if (kernel.insts[inst.a]!.type !== 'ptr.global') return false;
  if (launch.grid?.every((blocks) => blocks === 1)) return false;
  return warps.every((warp) => {
    const form = warp.at(inst.a, block);
    return form.kind === 'linear' && [...form.terms.keys()].every(({ name, isFixed }) => isFixed && !name.startsWith('ctaid'));
  });
}
