/** The windows of a kernel as LLVM globals and an alloca, and addresses in them. */
import { bug } from '../../base/bug.ts';
import type { Block as LlvmBlock, Value as LlvmValue, Module } from '../../bitcode/model.ts';
import { type Type, types } from '../../bitcode/types.ts';
import type { Kernel, Space } from '../../ir/index.ts';
import { i32Constant, i64Constant, intConstant } from '../constants.ts';
import { spaces } from '../targets.ts';
import { type Window, type WindowSpace, windowOf } from '../windows.ts';
import { llvmType } from './address.ts';
import type { KernelEmitter, Root, Signature } from './emitter.ts';
import { type FunctionBuilder, functionBuilder } from './function-builder.ts';

type Addresses = Pick<KernelEmitter, 'variableRoot' | 'windowRootAt' | 'windowOffset'>;

export interface Windows extends Addresses {
  /** The dynamic shared memory of the kernel, if it has some. */
  readonly dynamicShared: Root | undefined;
  /** The shared memory of the kernel for a function that it calls, which gets the pointer to what is dynamic as an argument. */
  inFunction(b: FunctionBuilder, dynamic: LlvmValue | undefined): Windows;
}

/** Creates the memory of each window on first use. */
export function windowMaker(kernel: Kernel, module: Module, { dynamicShared }: Signature, b: FunctionBuilder): Windows {
  const windows: WindowTable = new Map();
  for (const space of ['local', 'shared', 'constant'] as const)
    if (windowOf(kernel, space)) windowIn(windows, { kernel, module, entry: b.block }, space);
  return windowsFor(windows, { kernel, module, entry: b.block }, dynamicShared, b);
}

type WindowTable = Map<Space, { readonly window: Window; readonly base: LlvmValue | undefined }>;

/** Where windows are made: globals of the module, and memory of a thread in the first block of the kernel. */
interface Place {
  readonly kernel: Kernel;
  readonly module: Module;
  readonly entry: LlvmBlock;
}

function windowIn(windows: WindowTable, { kernel, module, entry }: Place, space: Space) {
  const known = windows.get(space);
  if (known) return known;
  const window = windowOf(kernel, space as WindowSpace) ?? emptyWindow(space as WindowSpace);
  const made = { window, base: window.size > 0 ? declareWindow(module, kernel, window, entry) : undefined };
  windows.set(space, made);
  return made;
}

/** The addresses in windows, for the code that a builder makes. */
function windowsFor(windows: WindowTable, place: Place, dynamicShared: Root | undefined, b: FunctionBuilder): Windows {
  const { kernel } = place;
  const of = (space: Space) => windowIn(windows, place, space);
  const root = (pointer: LlvmValue, space: Space, base: bigint): Root => ({
    pointer,
    space: llvmSpace[space as WindowSpace],
    base,
    align: of(space).window.align,
    isObject: true,
  });
  return {
    dynamicShared,
    inFunction: (inside, dynamic) =>
      windowsFor(windows, place, dynamicShared && { ...dynamicShared, pointer: dynamic ?? bug('no dynamic memory') }, inside),
    windowOffset: (space, name) => of(space).window.offsets.get(name) ?? bug(`no variable ${name}`),
    variableRoot: (space, name) => {
      const { window, base } = of(space);
      const variable = kernel.variables.find((v) => v.name === name)!;
      if (variable.isDynamic) return dynamicShared ?? bug('dynamic shared memory without its argument');
      return base ? root(base, space, BigInt(window.offsets.get(name)!)) : root(dynamicShared!.pointer, space, 0n);
    },
    windowRootAt: (space, offset, whole, name) => {
      const { window, base } = of(space);
      const dynamic = space === 'shared' ? dynamicShared : undefined;
      const isDynamic = kernel.variables.find((variable) => variable.name === name)?.isDynamic;
      if (base && (!dynamic || isDynamic === false)) return root(base, space, 0n);
      if (dynamic && (!base || isDynamic === true)) {
        offset.constant -= BigInt(window.dynamicOffset ?? 0);
        return root(dynamic.pointer, space, 0n);
      }
      if (!base || !dynamic) return bug(`an address in ${space} space without variables`);
      const start = i64Constant(window.dynamicOffset ?? 0);
      const address = whole();
      Object.assign(offset, { terms: [], constant: 0n });
      const isBehind = b.icmp('uge', address, start);
      const bytes = types.pointer(types.i8, spaces.threadgroup);
      offset.start = b.select(isBehind, b.binary('sub', address, start), address);
      return root(b.select(isBehind, b.cast('bitcast', dynamic.pointer, bytes), b.cast('bitcast', base, bytes)), space, 0n);
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
