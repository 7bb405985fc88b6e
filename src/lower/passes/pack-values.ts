/**
 * Parameters by value in one buffer, where a kernel has more parameters than a pipeline has slots: the addresses of what is in
 * it become offsets from its start. Buffers keep a slot each, for a GPU does not know the addresses of buffers.
 */
import { alignUp } from '../../base/bytes.ts';
import {
  addInst,
  type InstOf,
  isHidden,
  type Kernel,
  type KernelParam,
  type PackedValue,
  packedValuesName,
  type Value,
} from '../../ir/index.ts';

/** Packs all values in place where more than `slots` are needed without; the buffer has the slot behind those of the others. */
export function packValues(kernel: Kernel, slots: number): void {
  const { params } = kernel;
  const isPacked = (param: KernelParam): boolean => param.kind === 'value';
  if (params.length <= slots || params.filter(isPacked).length < 2) return;
  const packed: PackedValue[] = [];
  let size = 0;
  params.forEach(({ name, size: bytes, align, element, signed }, position) => {
    if (!isPacked(params[position]!)) return;
    const offset = alignUp(size, align);
    packed.push({ name, position, offset, size: bytes, align, element, signed });
    size = offset + bytes;
  });
  const align = Math.max(...packed.map((each) => each.align));
  const common = { name: packedValuesName, kind: 'value', space: 'param', element: undefined, signed: false, access: undefined } as const;
  const whole: KernelParam = { ...common, size: alignUp(size, align), align, slot: 0, packed };
  const own = params.filter((param) => !isPacked(param) && !isHidden(param));
  replaceParams(kernel, [...own, whole, ...params.filter(isHidden)], whole);
}

/** Puts other parameters in the place of a kernel's; values that are gone are in `whole`. */
function replaceParams(kernel: Kernel, params: readonly KernelParam[], whole: KernelParam): void {
  const before = kernel.params;
  const start = params.indexOf(whole);
  kernel.params = params.map((param, slot) => Object.assign(param, { slot }));
  /** Gives a parameter its new number, or its address in the whole, of which the first instructions are returned. */
  const partOf = (inst: InstOf<'param'>, value: Value): Value[] => {
    const at = params.indexOf(before[inst.index]!);
    if (at >= 0) {
      inst.index = at;
      return [];
    }
    const { offset } = whole.packed!.find(({ position }) => position === inst.index)!;
    const a = addInst(kernel, { op: 'param', type: inst.type, index: start });
    const b = addInst(kernel, { op: 'const', type: 'i64', bits: BigInt(offset) });
    kernel.insts[value] = { op: 'ptradd', type: inst.type, a, b };
    return [a, b];
  };
  const isOfParam = (value: Value): boolean => kernel.insts[value]!.op === 'param';
  for (const block of kernel.blocks) {
    if (!block.body.some(isOfParam)) continue;
    const body: Value[] = [];
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'param') body.push(...partOf(inst, value));
      body.push(value);
    }
    block.body = body;
  }
}
