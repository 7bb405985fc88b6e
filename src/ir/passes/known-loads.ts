/** Loads of constant memory at a known place are constants: the kernel declares their bytes, and nothing writes them. */
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import { bitsOf, isScalar } from '../types.ts';
import { constant } from './rewrite.ts';

/** The constant that a load gives; undefined for one of other memory, or of a place that only the run knows. */
export function loadedConstant(inst: Inst, kernel: Kernel): Inst | undefined {
  if (inst.op !== 'load' || inst.volatile || !isScalar(inst.type) || inst.type === 'i1') return undefined;
  const place = placeOf(kernel, inst.addr);
  const init = place && kernel.variables.find(({ name, space }) => name === place.name && space === 'constant')?.init;
  const size = bitsOf(inst.type) / 8;
  if (!place || !init || place.at < 0n || place.at + BigInt(size) > BigInt(init.length)) return undefined;
  const at = Number(place.at);
  return constant(
    inst.type,
    init.subarray(at, at + size).reduceRight((bits, byte) => (bits << 8n) | BigInt(byte), 0n),
  );
}

/** The variable of an address, and the bytes from its start. */
function placeOf(kernel: Kernel, pointer: Value): { readonly name: string; readonly at: bigint } | undefined {
  let at = 0n;
  for (let value = pointer; ; ) {
    const inst = kernel.insts[value]!;
    if (inst.op === 'variable') return { name: inst.name, at };
    const more = inst.op === 'ptradd' ? constantOf(kernel, inst.b) : undefined;
    if (inst.op !== 'ptradd' || more === undefined) return undefined;
    at += BigInt.asIntN(64, more);
    value = inst.a;
  }
}
