/**
 * One IR kernel as one LLVM module in Apple's conventions: parameters, windows, blocks, then the kernel metadata. What an op
 * becomes is in `rules.ts`, addresses are in `address.ts`, metadata in `metadata.ts`.
 */
import { bug } from '../base/bug.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Argument, Block as LlvmBlock, Function as LlvmFunction, Value as LlvmValue, Module } from '../bitcode/model.ts';
import { type Type, types } from '../bitcode/types.ts';
import {
  type Block,
  type Edge,
  edgesOf,
  isPointer,
  type Kernel,
  runPasses,
  type Space,
  type Sreg,
  standardPasses,
  type Value,
} from '../ir/index.ts';
import { asInteger, llvmType } from './address.ts';
import { kernelAttributes } from './attributes.ts';
import type { KernelEmitter, Root, Signature } from './emitter.ts';
import { expandAtomics } from './expand-atomics.ts';
import { type FunctionBuilder, functionBuilder, i32Constant, i64Constant, intConstant } from './function-builder.ts';
import { legaliseF64 } from './legalise-f64.ts';
import { addKernelMetadata, addSoftDoubles } from './metadata.ts';
import { declareIntrinsic, moduleFor } from './module.ts';
import { pruneUnused } from './prune.ts';
import { rules } from './rules.ts';
import { kernelSignature } from './signature.ts';
import { spaces, type Target } from './targets.ts';
import { type Window, type WindowSpace, windowOf } from './windows.ts';

/** Emits one kernel, which is changed on the way (see `legalise-f64.ts`). Refusals (what this target cannot say) are reported at their source location; the result is then void. */
export function emitKernel(kernel: Kernel, target: Target, diagnostics: Diagnostics): Module {
  const doubles = target.allowsCpuOnly ? [] : kernel.params.flatMap(({ element }, i) => (element === 'f64' ? [i] : []));
  if (!target.allowsCpuOnly) {
    if (legaliseF64(kernel, target.name, diagnostics)) runPasses(kernel, standardPasses);
    expandAtomics(kernel);
  }
  const module = moduleFor(kernel.name, target);
  const signature = kernelSignature(kernel, module);
  const fn: LlvmFunction = {
    kind: 'function',
    name: kernel.name,
    functionType: types.function(
      types.void,
      signature.args.map((a) => a.type),
    ),
    type: types.pointer(
      types.function(
        types.void,
        signature.args.map((a) => a.type),
      ),
    ),
    linkage: 'external',
    attributes: kernelAttributes(kernel, signature),
    unnamedAddr: 'local_unnamed_addr',
    dsoLocal: false,
    section: undefined,
    args: signature.args,
    blocks: [],
    metadata: [],
  };
  module.functions.unshift(fn);
  emitBody(kernel, fn, module, signature, target, diagnostics);
  pruneUnused(fn);
  addKernelMetadata(module, fn, kernel, signature, target);
  addSoftDoubles(module, fn, doubles);
  return module;
}

function emitBody(kernel: Kernel, fn: LlvmFunction, module: Module, signature: Signature, target: Target, diagnostics: Diagnostics): void {
  const blocks = kernel.blocks.map((): LlvmBlock => ({ kind: 'block', name: undefined, body: [] }));
  fn.blocks.push(...blocks);
  const e = kernelEmitter(kernel, module, signature, target, diagnostics, functionBuilder(blocks[0]!));
  const phis = new Map<Block, LlvmValue[]>();
  kernel.blocks.forEach((block, id) => {
    e.b.block = blocks[id]!;
    const made = block.params.map((p) => e.b.emit('phi', llvmType(kernel.insts[p]!.type), { incoming: [], flags: 0 }));
    block.params.forEach((p, i) => void e.define(p, made[i]!));
    phis.set(block, made);
  });
  for (const block of reversePostorder(kernel)) emitBlock(e, block, blocks, fn, phis);
}

type Emitter = KernelEmitter & { define(value: Value, as: LlvmValue): void };

function emitBlock(e: Emitter, block: Block, blocks: LlvmBlock[], fn: LlvmFunction, phis: Map<Block, LlvmValue[]>): void {
  e.b.block = blocks[block.id]!;
  for (const value of block.body) {
    const inst = e.kernel.insts[value]!;
    const made = (rules[inst.op] as (e: KernelEmitter, inst: never, value: Value) => LlvmValue | undefined)(e, inst as never, value);
    if (made) e.define(value, made);
  }
  const end = block.end;
  if (end.op === 'ret') return void e.b.emit('ret', types.void, { value: undefined });
  const condition = end.op === 'condbr' ? e.value(end.cond) : undefined;
  const incoming = edgesOf(end).map((edge) => edge.args.map((arg) => e.value(arg)));
  const from = e.b.block;
  const both = end.op === 'condbr' && end.then.block === end.else.block && end.then.args.length > 0;
  const targets = edgesOf(end).map((edge, i) => {
    const through = both && i === 1 ? splitEdge(e, edge, blocks, fn) : undefined;
    phis.get(edge.block)!.forEach((phi, n) => {
      if (phi.kind === 'instruction' && phi.op === 'phi') phi.incoming.push({ value: incoming[i]![n]!, block: through ?? from });
    });
    return through ?? blocks[edge.block.id]!;
  });
  if (condition) e.b.emit('condbr', types.void, { condition, ifTrue: targets[0]!, ifFalse: targets[1]! });
  else e.b.emit('br', types.void, { target: targets[0]! });
}

/** A block of its own for an edge whose twin goes to the same block with other values: LLVM's phis tell edges by their block. */
function splitEdge(e: Emitter, edge: Edge, blocks: readonly LlvmBlock[], fn: LlvmFunction): LlvmBlock {
  const made: LlvmBlock = { kind: 'block', name: undefined, body: [] };
  fn.blocks.push(made);
  const back = e.b.block;
  e.b.block = made;
  e.b.emit('br', types.void, { target: blocks[edge.block.id]! });
  e.b.block = back;
  return made;
}

/** Definitions before uses: every block after its dominators. */
function reversePostorder(kernel: Kernel): Block[] {
  const seen = new Set<Block>([kernel.blocks[0]!]);
  const order: Block[] = [];
  const stack = [{ block: kernel.blocks[0]!, next: edgesOf(kernel.blocks[0]!.end).map((edge) => edge.block) }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!;
    const to = top.next.pop();
    if (!to) order.push(stack.pop()!.block);
    else if (!seen.has(to)) {
      seen.add(to);
      stack.push({ block: to, next: edgesOf(to.end).map((edge) => edge.block) });
    }
  }
  if (order.length !== kernel.blocks.length) bug(`unreachable blocks in ${kernel.name} reached AIR emission`);
  return order.reverse();
}

function kernelEmitter(
  kernel: Kernel,
  module: Module,
  signature: Signature,
  target: Target,
  diagnostics: Diagnostics,
  b: FunctionBuilder,
): Emitter {
  const values = new Map<Value, LlvmValue>();
  const sregs = new Map<Sreg, LlvmValue>();
  const windows = windowMaker(kernel, module, signature, b);
  const e: Emitter = {
    kernel,
    target,
    diagnostics,
    b,
    define: (value, as) => void values.set(value, as),
    value: (value) => {
      const known = values.get(value);
      if (known) return known;
      const inst = kernel.insts[value]!;
      if (isPointer(inst.type)) return asInteger(e, value);
      return bug(`value ${value} (${inst.op}) of ${kernel.name} is used before it is made`);
    },
    entry: functionBuilder(b.block),
    call: (intrinsic, args, tail = 'tail') => {
      const { callee, attributes } = declareIntrinsic(module, intrinsic);
      return b.emit('call', intrinsic.type.result, {
        functionType: intrinsic.type,
        callee,
        args: [...args],
        attributes,
        tail,
        flags: 0,
      });
    },
    sreg: (name) => sregs.get(name) ?? bug(`no kernel input for ${name}`),
    paramRoot: (index) => signature.roots[index] ?? bug(`no parameter ${index}`),
    ...windows,
  };
  for (const [name, make] of signature.sregs) sregs.set(name, make(b));
  return e;
}

type Windows = Pick<KernelEmitter, 'variableRoot' | 'windowRootAt' | 'windowOffset'>;

/** Makes the memory of each window when it is first used. */
function windowMaker(kernel: Kernel, module: Module, signature: Signature, b: FunctionBuilder): Windows {
  const windows = new Map<Space, { window: Window; base: LlvmValue | undefined }>();
  const entry = b.block;
  const of = (space: Space) => {
    let known = windows.get(space);
    if (!known) {
      const window = windowOf(kernel, space as WindowSpace) ?? emptyWindow(space as WindowSpace);
      known = { window, base: window.size > 0 ? declareWindow(module, kernel, window, entry) : undefined };
      windows.set(space, known);
    }
    return known;
  };
  for (const space of ['local', 'shared', 'constant'] as const) if (windowOf(kernel, space)) of(space);
  const root = (pointer: LlvmValue, space: Space, base: bigint): Root => ({
    pointer,
    space: llvmSpace[space as WindowSpace],
    base,
    align: of(space).window.align,
    isObject: true,
  });
  return {
    windowOffset: (space, name) => of(space).window.offsets.get(name) ?? bug(`no variable ${name}`),
    variableRoot: (space, name) => {
      const { window, base } = of(space);
      const variable = kernel.variables.find((v) => v.name === name)!;
      if (variable.isDynamic) return signature.dynamicShared ?? bug('dynamic shared memory without its argument');
      return base ? root(base, space, BigInt(window.offsets.get(name)!)) : root(signature.dynamicShared!.pointer, space, 0n);
    },
    windowRootAt: (space, address, offset) => {
      const { window, base } = of(space);
      const dynamic = space === 'shared' ? signature.dynamicShared : undefined;
      const start = i64Constant(window.dynamicOffset ?? 0);
      if (!dynamic || !base) {
        offset.start = dynamic && window.dynamicOffset ? b.binary('sub', address, start) : address;
        return root(base ?? dynamic?.pointer ?? bug(`an address in ${space} space without variables`), space, 0n);
      }
      const isDynamic = b.icmp('uge', address, start);
      const bytes = types.pointer(types.i8, spaces.threadgroup);
      offset.start = b.select(isDynamic, b.binary('sub', address, start), address);
      return root(b.select(isDynamic, b.cast('bitcast', dynamic.pointer, bytes), b.cast('bitcast', base, bytes)), space, 0n);
    },
  };
}

const llvmSpace: Record<WindowSpace, number> = { shared: spaces.threadgroup, constant: spaces.constant, local: spaces.thread };

const emptyWindow = (space: WindowSpace): Window => ({
  space,
  offsets: new Map(),
  size: 0,
  align: 1,
  dynamicOffset: undefined,
  element: 'i8',
  init: undefined,
});

function declareWindow(module: Module, kernel: Kernel, window: Window, entry: LlvmBlock): LlvmValue {
  const element = llvmType(window.element);
  const array = types.array(element, (window.size * 8) / Math.max(8, bitsOfElement(element)));
  if (window.space === 'local') {
    const alloca = functionBuilder(entry).emit('alloca', types.pointer(array), {
      allocated: array,
      count: i32Constant(1),
      align: window.align,
    });
    return alloca;
  }
  const isShared = window.space === 'shared';
  module.globals.push({
    kind: 'global',
    name: `${kernel.name}.${window.space}`,
    type: types.pointer(array, llvmSpace[window.space]),
    valueType: array,
    isConstant: !isShared,
    init: isShared ? { kind: 'constant', form: 'undef', type: array } : arrayConstant(array, element, window.init!),
    linkage: 'internal',
    align: window.align,
    section: undefined,
    unnamedAddr: 'unnamed_addr',
    externallyInitialized: false,
    dsoLocal: false,
  });
  return module.globals[module.globals.length - 1]!;
}

const bitsOfElement = (type: Type): number =>
  type.kind === 'int' ? type.bits : type.kind === 'float' ? { half: 16, bfloat: 16, float: 32, double: 64 }[type.name] : 64;

function arrayConstant(type: ReturnType<typeof types.array>, element: Type, bytes: Uint8Array) {
  const size = bitsOfElement(element) / 8;
  const elements = Array.from({ length: type.count }, (_, i) => {
    let bits = 0n;
    for (let n = size - 1; n >= 0; n--) bits = (bits << 8n) | BigInt(bytes[i * size + n]!);
    if (element.kind === 'int') return intConstant(element, bits);
    return { kind: 'constant', form: 'float', type: element, bits } as never;
  });
  return { kind: 'constant', form: 'aggregate', type, elements } as const;
}

export type { Argument };
