/**
 * Alignment checks. An access whose address is not known to be a multiple of its size has an `aligned` before it, as GPUs stop a kernel with a
 * misaligned access. Buffers and variables are aligned, and most offsets are multiples of the size whatever the kernel computes.
 */
import {
  accessOf,
  addInst,
  anyLaunch,
  type Block,
  bytesOf,
  cfgOf,
  constantOf,
  dominatorsOf,
  elementOf,
  givenValue,
  type Inst,
  isHidden,
  type Kernel,
  type LaunchFacts,
  lanesOf,
  trailingZeros,
  type Value,
  zerosIn,
} from '../../ir/index.ts';
import type { Code } from '../../wasm/index.ts';

/** What is known of the addresses that a launch passes. */
export interface AlignmentFacts extends LaunchFacts {
  /** The trailing zeros of the address of a parameter that is a pointer to a buffer. */
  pointerZeros(param: number): number;
}

/** What is known of every launch. */
const anyAddresses: AlignmentFacts = { ...anyLaunch, pointerZeros: () => 0 };

/** The trailing zeros of the addresses of windows, by-value parameters and hidden buffers. */
const areaZeros = 4;

/** Inserts the checks in place; returns them as text. Kernels with checks of a sanitizer need no others. */
export function checkAlignment(kernel: Kernel, facts: AlignmentFacts = anyAddresses): string {
  const checks = checksOf(kernel, facts);
  const before = new Map(
    [...checks].map(([access, { address, align }]) => [access, addInst(kernel, { op: 'aligned', type: 'void', a: address, align })]),
  );
  if (before.size > 0)
    for (const block of kernel.blocks)
      block.body = block.body.flatMap((value) => (before.has(value) ? [before.get(value)!, value] : [value]));
  return textOf(checks);
}

/** The checks that a kernel needs in a launch, as text. Kernels with one text for two launches have the same code for both. */
export const neededAlignmentChecks = (kernel: Kernel, facts: AlignmentFacts = anyAddresses): string => textOf(checksOf(kernel, facts));

const textOf = (checks: ReadonlyMap<Value, Check>): string => [...checks].map(([access, { align }]) => `${access} % ${align}`).join('\n');

interface Check {
  readonly address: Value;
  readonly align: number;
}

/** By access: the check that it needs. A check holds in all blocks that its block dominates. */
function checksOf(kernel: Kernel, facts: AlignmentFacts): Map<Value, Check> {
  const found = new Map<Value, Check>();
  if (kernel.insts.some(({ op }) => op === 'guard' || op === 'within')) return found;
  const zeros = trailingZeros(kernel, (inst) => knownZeros(kernel, facts, inst));
  const done = new Set<string>();
  const { children, root } = dominatorsOf(cfgOf(kernel));
  const stack: (number | (() => void))[] = [root];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    if (typeof item === 'function') item();
    else stack.push(visit(kernel.blocks[item]!), ...children[item]!);
  }
  return found;

  function visit({ body }: Block): () => void {
    const added: string[] = [];
    for (const value of body) {
      const check = checkOf(kernel, kernel.insts[value]!);
      if (!check || 2 ** zeros[check.address]! >= check.align) continue;
      const key = keyOf(kernel, check);
      if (done.has(key)) continue;
      done.add(key);
      added.push(key);
      found.set(value, check);
    }
    return () => {
      for (const key of added) done.delete(key);
    };
  }
}

/** The address of an access and the alignment that it must have. */
function checkOf(kernel: Kernel, inst: Inst): Check | undefined {
  const access = accessOf(kernel, inst);
  if (!access) return undefined;
  const type = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  const bytes = bytesOf(elementOf(type)) * lanesOf(type);
  const given = inst.op === 'load' || inst.op === 'store' ? inst.align : bytes;
  return { address: access.addr, align: Math.min(given, bytes) };
}

/** Addresses with one key are equal modulo the alignment. */
function keyOf(kernel: Kernel, { address, align }: Check): string {
  let [at, offset] = [address, 0n];
  for (let inst = kernel.insts[at]!; inst.op === 'ptradd'; inst = kernel.insts[at]!) {
    const by = constantOf(kernel, inst.b);
    if (by === undefined) break;
    offset += by;
    at = inst.a;
  }
  return `${at} ${offset % BigInt(align)} ${align}`;
}

/** The trailing zeros of an address or a number by what is known of the launch. */
function knownZeros(kernel: Kernel, facts: AlignmentFacts, inst: Inst): number | undefined {
  switch (inst.op) {
    case 'param': {
      const param = kernel.params[inst.index]!;
      return param.kind === 'pointer' && !isHidden(param) ? facts.pointerZeros(inst.index) : areaZeros;
    }
    case 'variable': {
      const { align } = kernel.variables.find(({ name }) => name === inst.name)!;
      return Math.min(areaZeros, Math.log2(align));
    }
    case 'load': {
      const bits = givenValue(kernel, facts, inst);
      return bits === undefined ? undefined : zerosIn(bits);
    }
    default:
      return undefined;
  }
}

/** Emits the trap of a misaligned atomic, by which the device tells a misaligned access from others. The memory has more than one page. */
export function faultMisaligned(code: Code): void {
  code.i32(1);
  code.access('i32.atomic.load', 4, 65536);
  code.op('drop');
}
