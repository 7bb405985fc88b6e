/** Parameters by value of metallibs, which are buffers in constant memory there: in PTX they are memory of their own. */
import { type Kernel, operandsOf, type Value } from '../../ir/index.ts';

/** Makes the addresses of parameters by value those of parameters, in place, as far as they are not handed on. */
export function readValues(kernel: Kernel): void {
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'param' && inst.type === 'ptr.constant' && kernel.params[inst.index]!.kind === 'value') inst.type = 'ptr.param';
      else if (inst.op === 'ptradd' && kernel.insts[inst.a]!.type === 'ptr.param') inst.type = 'ptr.param';
    }
}

/** What an address of a parameter may be handed to: `cvta.param` makes it generic. */
const taking: ReadonlySet<string> = new Set(['load', 'ptradd', 'ptrtoint', 'input']);

/** An address of a parameter by value that is more than added to: it may be in one of several. */
export function handedOn(kernel: Kernel): Value | undefined {
  for (const { body, end } of kernel.blocks) {
    const isParam = (value: Value): boolean => kernel.insts[value]!.type === 'ptr.param';
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (!taking.has(inst.op) && operandsOf(inst).some(isParam)) return value;
    }
    const args = end.op === 'br' ? end.to.args : end.op === 'condbr' ? [...end.then.args, ...end.else.args] : [];
    const found = args.find(isParam);
    if (found !== undefined) return found;
  }
  return undefined;
}
