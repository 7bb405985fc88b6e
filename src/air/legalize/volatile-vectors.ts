/**
 * Volatile accesses of vectors in device memory, which Apple GPUs do not have: one access for each element. PTX promises no more of them: a vector
 * access is a set of accesses of its elements, in an unspecified order. Source: PTX ISA 9.0, chapter 8, memory operations on vector data types.
 */
import { type Builder, builder, bytesOf, elementOf, type InstOf, isVector, type Kernel, lanesOf, type Value } from '../../ir/index.ts';

/** Splits the accesses whose elements have 32 bits, in place; returns whether there were any. */
export function splitVolatileVectors(kernel: Kernel): boolean {
  let isAny = false;
  for (const block of kernel.blocks) {
    if (!block.body.some((value) => isSplit(kernel, value))) continue;
    isAny = true;
    const b = builder(kernel, { ...block, body: [] });
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      b.loc = kernel.locs[value];
      if (!isSplit(kernel, value)) b.block.body.push(value);
      else if (inst.op === 'load') loadEach(b, inst, value);
      else storeEach(b, inst as InstOf<'store'>);
    }
    block.body = b.block.body;
  }
  return isAny;
}

function isSplit(kernel: Kernel, value: Value): boolean {
  const inst = kernel.insts[value]!;
  if ((inst.op !== 'load' && inst.op !== 'store') || !inst.volatile || kernel.insts[inst.addr]!.type !== 'ptr.global') return false;
  const type = inst.op === 'load' ? inst.type : kernel.insts[inst.value]!.type;
  return isVector(type) && bytesOf(elementOf(type)) === 4 && inst.align >= 4;
}

const placeOf = (b: Builder, addr: Value, lane: number): Value => (lane === 0 ? addr : b.ptradd(addr, b.const('i64', 4 * lane)));

const how = { align: 4, volatile: true } as const;

function loadEach(b: Builder, { addr, type }: InstOf<'load'>, value: Value): void {
  const loaded: readonly Value[] = Array.from({ length: lanesOf(type) }, (_, i) => b.load(elementOf(type), placeOf(b, addr, i), how));
  const [x, y, z, w] = loaded as [Value, Value, Value, Value];
  b.kernel.insts[value] = loaded.length === 2 ? { op: 'vec2', type, a: x, b: y } : { op: 'vec4', type, a: x, b: y, c: z, d: w };
  b.block.body.push(value);
}

function storeEach(b: Builder, { addr, value: stored }: InstOf<'store'>): void {
  const type = b.typeOf(stored);
  for (let i = 0; i < lanesOf(type); i++) b.store(placeOf(b, addr, i), b.extract(elementOf(type), stored, { lane: i }), how);
}
