/**
 * Emits one IR kernel as one LLVM module in Apple's conventions: parameters, windows, blocks, then the kernel metadata. `rules.ts` has the
 * rule of each op, `address.ts` addresses, `metadata.ts` metadata.
 */
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import type { AttributeList, Block as LlvmBlock, Function as LlvmFunction, Value as LlvmValue, Module } from '../../bitcode/model.ts';
import { type Type, types } from '../../bitcode/types.ts';
import {
  type AfterPass,
  addressOf,
  type Block,
  cfgOf,
  dominatorsOf,
  type Edge,
  type Effect,
  edgesOf,
  isPointer,
  type Kernel,
  knownBits,
  type PureFunction,
  type Roots,
  rootsOf,
  type Sreg,
  specOf,
  type Value,
} from '../../ir/index.ts';
import { type LineWriter, lineWriter, type Reach } from '../lines.ts';
import type { Target } from '../targets.ts';
import { windowOf } from '../windows.ts';
import { asInteger, llvmType } from './address.ts';
import {
  collectiveCall,
  collectiveDefinition,
  convergent,
  kernelAttributes,
  pureCall,
  pureDefinition,
  reading,
  readingCall,
  readingDefinition,
} from './attributes.ts';
import type { KernelEmitter, Signature } from './emitter.ts';
import { type Dominates, type FunctionBuilder, functionBuilder } from './function-builder.ts';
import { legalize } from './legalize.ts';
import { addClusterRules, addKernelMetadata, addRequiredBlock, addSoftDoubles } from './metadata.ts';
import { declareIntrinsic, moduleFor, newFunction } from './module.ts';
import { pruneUnused } from './prune.ts';
import { refuse, rules } from './rules.ts';
import { kernelSignature } from './signature.ts';
import { type Windows, windowMaker } from './window-memory.ts';

export interface EmitOptions {
  /** The source, if the module gets line tables for instrumented launches. */
  readonly lines?: SourceFile | undefined;
  /** Observes the kernel after each pass of its legalization. */
  readonly afterPass?: AfterPass | undefined;
}

/**
 * Emits one kernel and modifies it in the process (see `legalize.ts`). Constructs that the target lacks are reported at their source
 * location; the result is then void.
 */
export function emitKernel(kernel: Kernel, target: Target, diagnostics: Diagnostics, { lines, afterPass }: EmitOptions = {}): Module {
  const doubles = target.allowsCpuOnly ? [] : kernel.params.flatMap(({ element }, i) => (element === 'f64' ? [i] : []));
  legalize(kernel, target, diagnostics, { isInstrumented: lines !== undefined, afterPass });
  const module = moduleFor(kernel.name, target);
  const signature = kernelSignature(kernel, module);
  const functionType = types.function(
    types.void,
    signature.args.map((a) => a.type),
  );
  const fn = newFunction(kernel.name, functionType, {
    attributes: kernelAttributes(kernel, signature, target.dialect),
    args: signature.args,
  });
  module.functions.unshift(fn);
  emitBody(kernel, fn, module, signature, target, diagnostics, lines && lineWriter(module, fn, lines));
  pruneUnused(fn);
  addKernelMetadata(module, fn, kernel, signature, target);
  addSoftDoubles(module, fn, doubles);
  addRequiredBlock(module, fn, kernel);
  addClusterRules(module, fn, kernel);
  return module;
}

function emitBody(
  kernel: Kernel,
  fn: LlvmFunction,
  module: Module,
  signature: Signature,
  target: Target,
  diagnostics: Diagnostics,
  lines: LineWriter | undefined,
): void {
  const blocks = kernel.blocks.map((): LlvmBlock => ({ kind: 'block', name: undefined, body: [] }));
  fn.blocks.push(...blocks);
  // Instruments observe each instruction where it is.
  const b = functionBuilder(blocks[0]!, lines ? undefined : dominatesIn(kernel));
  const made = kernelEmitter(kernel, module, signature, target, diagnostics, b);
  const ends: LlvmBlock[] = [];
  const e = { ...made, lines, reach: lines && reaches(made), ends, ...(lines ? {} : { behind: behindIn(kernel, b, ends) }) };
  emitBlocks(e, kernel, fn);
}

/** Emits the blocks of a kernel, or of a function with a result, whose parameters are defined. */
function emitBlocks(e: Emitter, kernel: Kernel, fn: LlvmFunction, result?: Value): void {
  const blocks = [...fn.blocks];
  const phis = new Map<Block, LlvmValue[]>();
  kernel.blocks.forEach((block, id) => {
    e.b.block = blocks[id]!;
    e.b.home = id;
    if (id === 0 && result !== undefined) return;
    const joined = block.params.map((p) => e.b.emit('phi', llvmType(kernel.insts[p]!.type), { incoming: [], flags: 0 }));
    block.params.forEach((p, i) => void e.define(p, joined[i]!));
    phis.set(block, joined);
  });
  for (const block of reversePostorder(kernel)) emitBlock(e, block, { blocks, fn, phis, result });
}

/** What blocks are emitted into, the phis of each, and what is returned. */
interface Emission {
  readonly blocks: LlvmBlock[];
  readonly fn: LlvmFunction;
  readonly phis: ReadonlyMap<Block, LlvmValue[]>;
  readonly result: Value | undefined;
}

/** Adds instructions to the end of the block of a value, which was emitted before, or is being emitted. */
function behindIn(kernel: Kernel, b: FunctionBuilder, ends: readonly LlvmBlock[]): KernelEmitter['behind'] {
  const home = new Int32Array(kernel.insts.length);
  for (const { id, body } of kernel.blocks) for (const value of body) home[value] = id;
  return (value, make) => {
    const to = ends[home[value]!];
    if (home[value] === b.home || to === undefined) return make();
    const { block, home: back } = b;
    const end = to.body.pop()!;
    [b.block, b.home] = [to, home[value]!];
    const made = make();
    to.body.push(end);
    [b.block, b.home] = [block, back];
    return made;
  };
}

const dominatesIn = (kernel: Kernel): Dominates => dominatorsOf(cfgOf(kernel)).dominates;

type Emitter = KernelEmitter &
  Windows & {
    define(value: Value, as: LlvmValue): void;
    readonly reach?: ReachOf | undefined;
    /** By block of the IR that was emitted: where it ends. */
    readonly ends?: LlvmBlock[];
  };

/** The variable that an access may reach, if it is not the whole window. */
type ReachOf = (value: Value) => Reach | undefined;

function reaches({ kernel, variableOf }: KernelEmitter): ReachOf {
  return (value) => {
    const addr = addressOf(kernel.insts[value]!);
    const origin = addr === undefined ? undefined : variableOf(addr);
    if (origin === undefined) return undefined;
    const { name, space, size, isDynamic } = kernel.variables.find((each) => each.name === origin)!;
    return isDynamic ? undefined : { name, space, offset: windowOf(kernel, space)!.offsets.get(name)!, size };
  };
}

function emitInst(e: Emitter, value: Value): void {
  const inst = e.kernel.insts[value]!;
  if (inst.type === 'bf16' && !e.target.dialect.hasBfloat) refuse(e, value, `a ${inst.type}`, 'AIR has bfloat from macOS 14 on');
  const { block } = e.b;
  const from = block.body.length;
  const made = (rules[inst.op] as (e: KernelEmitter, inst: never, value: Value) => LlvmValue | undefined)(e, inst as never, value);
  if (made) e.define(value, made);
  // Instructions that a rule puts into blocks of its own have no source location.
  e.lines?.mark(block.body.slice(from), e.kernel.locs[value], e.reach?.(value));
}

function emitBlock(e: Emitter, block: Block, { blocks, fn, phis, result }: Emission): void {
  e.b.block = blocks[block.id]!;
  e.b.home = block.id;
  for (const value of block.body) emitInst(e, value);
  const end = block.end;
  if (end.op === 'ret') return void e.b.emit('ret', types.void, { value: result === undefined ? undefined : e.value(result) });
  const condition = end.op === 'condbr' ? e.value(end.cond) : undefined;
  const incoming = edgesOf(end).map((edge) => edge.args.map((arg) => e.value(arg)));
  const from = e.b.block;
  if (e.ends) e.ends[block.id] = from;
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

/** A block for an edge whose twin reaches the same block with other values, because LLVM's phis identify edges by their source block. */
function splitEdge(e: Emitter, edge: Edge, blocks: readonly LlvmBlock[], fn: LlvmFunction): LlvmBlock {
  const made: LlvmBlock = { kind: 'block', name: undefined, body: [] };
  fn.blocks.push(made);
  const back = e.b.block;
  e.b.block = made;
  e.b.emit('br', types.void, { target: blocks[edge.block.id]! });
  e.b.block = back;
  return made;
}

/** Blocks in reverse postorder: every block after its dominators. */
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
  windows: Windows = windowMaker(kernel, module, signature, b),
): Emitter {
  const values: (LlvmValue | undefined)[] = Array.from({ length: kernel.insts.length });
  const sregs = new Map<Sreg, LlvmValue>();
  /** The functions that were called, with one list of attributes for all calls of each. */
  const called = new Map<string, Called>();
  let roots: Roots | undefined;
  const e: Emitter = {
    kernel,
    target,
    diagnostics,
    b,
    define: (value, as) => {
      values[value] = as;
    },
    value: (value) => {
      const known = values[value];
      if (known) return known;
      const inst = kernel.insts[value]!;
      if (isPointer(inst.type)) return asInteger(e, value);
      return bug(`value ${value} (${inst.op}) of ${kernel.name} is used before its definition`);
    },
    behind: (_, make) => make(),
    bits: knownBits(kernel),
    variableOf: (pointer) => {
      roots ??= rootsOf(kernel);
      const root = roots(pointer);
      const inst = root === undefined ? undefined : kernel.insts[root]!;
      return inst?.op === 'variable' ? inst.name : undefined;
    },
    entry: functionBuilder(b.block),
    call: (intrinsic, args, tail = 'tail') => {
      const { callee, attributes } = declareIntrinsic(module, intrinsic, target.dialect);
      return b.emit('call', intrinsic.type.result, {
        functionType: intrinsic.type,
        callee,
        args: [...args],
        attributes,
        tail,
        flags: 0,
      });
    },
    callFunction: (name, args, made) => {
      let call = called.get(name);
      if (call === undefined) {
        const callee = helperFunction(e, module, name, made);
        // What reads dynamic shared memory gets the pointer to it.
        const memory = callee.args.length > args.length ? [windows.dynamicShared!.pointer] : [];
        call = { callee, attributes: attributesOfCall(callee)(target.dialect), memory };
        called.set(name, call);
      }
      const { callee, attributes, memory } = call;
      const { functionType } = callee;
      return b.emit('call', functionType.result, { functionType, callee, args: [...args, ...memory], attributes, tail: 'tail', flags: 0 });
    },
    sreg: (name) => sregs.get(name) ?? bug(`no kernel input for ${name}`),
    paramRoot: (index) => signature.roots[index] ?? bug(`no parameter ${index}`),
    ...windows,
  };
  for (const [name, make] of signature.sregs) sregs.set(name, make(b));
  return e;
}

/** A function that a kernel calls, the attributes of all calls, and their arguments behind those of the operation. */
interface Called {
  readonly callee: LlvmFunction;
  readonly attributes: AttributeList;
  readonly memory: readonly LlvmValue[];
}

const noSignature: Signature = {
  args: [],
  attributes: [],
  roots: [],
  dynamicShared: undefined,
  inputs: [],
  sregs: new Map(),
  widestVector: 0,
};

/** The attributes of calls of a function, by those of its definition. */
function attributesOfCall({ attributes }: LlvmFunction): typeof pureCall {
  const has = (kind: number): boolean => attributes.function.some((each) => each.form === 'enum' && each.kind === kind);
  if (has(convergent)) return collectiveCall;
  return has(reading) ? readingCall : pureCall;
}

/** The attributes of the definition of a function, by what it does. */
function attributesOfDefinition({ blocks, insts }: Kernel): typeof pureDefinition {
  const has = (effect: Effect): boolean => blocks.some(({ body }) => body.some((value) => specOf(insts[value]!.op).effect === effect));
  if (has('warp')) return collectiveDefinition;
  return has('reads') ? readingDefinition : pureDefinition;
}

/** Whether a function reads the shared memory of the block. */
const isInShared = ({ blocks, insts }: Kernel): boolean =>
  blocks.some(({ body }) =>
    body.some((value) => {
      const inst = insts[value]!;
      return inst.op === 'load' && insts[inst.addr]!.type === 'ptr.shared';
    }),
  );

/** A helper function of the kernel, or one that emission itself makes; added to the module on first use. */
function helperFunction(e: Emitter, module: Module, name: string, made?: PureFunction): LlvmFunction {
  const { kernel, target, diagnostics } = e;
  const known = module.functions.find((fn) => fn.name === name);
  if (known) return known;
  const { body, result } = made ?? kernel.functions?.get(name) ?? bug(`${kernel.name} has no function ${name}`);
  const block = body.blocks[0]!;
  const typeOf = (value: Value): Type => llvmType(body.insts[value]!.type);
  const dynamic = isInShared(body) ? e.dynamicShared?.pointer.type : undefined;
  const functionType = types.function(typeOf(result), [...block.params.map(typeOf), ...(dynamic ? [dynamic] : [])]);
  const attributes = attributesOfDefinition(body)(functionType.params, target.dialect);
  const fn = newFunction(name, functionType, { attributes, linkage: 'internal', unnamedAddr: 'unnamed_addr' });
  fn.blocks.push(...body.blocks.map((): LlvmBlock => ({ kind: 'block', name: undefined, body: [] })));
  module.functions.push(fn);
  const b = functionBuilder(fn.blocks[0]!, dominatesIn(body));
  const windows = isInShared(body) ? e.inFunction(b, dynamic && fn.args.at(-1)) : undefined;
  const own = kernelEmitter(body, module, noSignature, target, diagnostics, b, windows);
  block.params.forEach((param, i) => void own.define(param, fn.args[i]!));
  emitBlocks(own, body, fn, result);
  return fn;
}
