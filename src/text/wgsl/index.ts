/**
 * Prints a kernel in WGSL. Device memory is one array of words, the arena, and an address is an offset in bytes in it, so that pointers may be
 * computed with, kept in memory and compared as in CUDA.
 */
import { legalizeF64 } from '../../air/index.ts';
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { expandMatmul, insertYields, type Regions, regionsOf, splitAtSyncPoints, syncPointsOf } from '../../engine/index.ts';
import {
  addressOf,
  bytesOf,
  copyOf,
  elementOf,
  type Inst,
  type Kernel,
  type PointerType,
  type PureFunction,
  runPasses,
  spaceOf,
  standardPasses,
  type Value,
} from '../../ir/index.ts';
import { movedType } from '../addresses.ts';
import { type Body, newBody } from '../body.ts';
import type { Printer } from '../language.ts';
import { splitLifted } from '../lift-warps.ts';
import { identifier } from '../names.ts';
import { resolveOffsets } from '../offsets.ts';
import { regionParts, wholePart } from '../parts.ts';
import { polished } from '../polish.ts';
import { functionName, type NewPrinter, newPrinter } from '../printer.ts';
import { refuseServices } from '../services.ts';
import { helperName, helperTexts } from './helpers/index.ts';
import { layoutOf, type WgslArgument, writeKernel, writeStatus } from './kernel-text.ts';
import { mayStop, writeRounds } from './rounds.ts';
import { languageOf } from './rules.ts';
import { type Sync, writeLeave, writeUniform } from './sync.ts';
import { type Turns, takeTurns } from './turns.ts';
import { type Exactness, portable, typeName, type WgslState } from './types.ts';
import { isProvablyUniform } from './uniform.ts';

export { launchHead, type WgslArgument } from './kernel-text.ts';
export { stops } from './rounds.ts';
export { type Exactness, fast, portable } from './types.ts';

/** A kernel as text. */
export interface WgslText {
  readonly name: string;
  readonly text: string;
  readonly arguments: readonly WgslArgument[];
  /** Where the address of seven words of zeros is, in bytes: why the block was stopped (`stops`), and then the block and a thread that waits. */
  readonly status: number | undefined;
  /** Bytes of the launch. */
  readonly launchBytes: number;
  /** Bytes of static shared memory, and whether a launch adds more, so that it has to say how many words there are. */
  readonly shared: { readonly bytes: number; readonly isDynamic: boolean };
  /** Contents of the binding `constants`. */
  readonly constants: Uint8Array | undefined;
  /**
   * Whether a block runs without the others: WGSL orders memory within a workgroup alone, WebGPU between dispatches. Each block of a kernel that orders
   * memory for other blocks is a dispatch of its own, in the order of the blocks.
   */
  readonly isAlone: boolean;
  readonly helpers: ReadonlySet<string>;
  readonly functions: ReadonlyMap<string, string>;
}

export interface WgslOptions {
  /** The PTX, for names and places. */
  readonly source?: SourceFile | undefined;
  readonly exact?: Exactness;
  /** Threads that an invocation runs, for blocks that are larger than a workgroup may be. */
  readonly threads?: number;
}

/** Prints a kernel, which is not changed; what cannot be expressed is reported (CM2090, CM2091), and the text is then of no use. */
export function wgslKernel(original: Kernel, diagnostics: Diagnostics, options: WgslOptions = {}): WgslText {
  const { source, exact = portable, threads = 1 } = options;
  refuseServices(original, { target: 'wgsl', hasGrid: false }, diagnostics);
  const { kernel, turns, isAlone } = prepared(original, diagnostics);
  const { regions, isScheduled } = scheduleOf(kernel, threads);
  const waits = { regions, turns: isScheduled ? turnStates(kernel, regions, turns.yields) : [], isAlone };
  const layout = layoutOf(kernel, isScheduled && mayStop(waits));
  const functions = new Map<string, string>();
  const helpers = new Set<string>();
  const state: WgslState = {
    exact,
    offsets: layout.offsets,
    stores: storesOf(kernel, layout.hasStatus),
    hasLocalStart: isScheduled && threads > 1,
  };
  const made = newBodyPrinter(kernel, diagnostics, { source, state, helpers, functions });
  const { p } = made;
  const points = new Set<Value>();
  for (const block of kernel.blocks) for (const value of syncPointsOf(kernel, block)) points.add(value);
  const parts = isScheduled ? regionParts(kernel, regions) : new Map([[0, wholePart(kernel)]]);
  let body: Body | undefined;
  const own = (name: string): string => `${name}_of_${identifier(p.kernel.name)}`;
  const sync: Sync = {
    p,
    body: () => body ?? bug('a kernel without a body'),
    ...waits,
    parts,
    threads,
    sharedStore: state.stores.shared,
    shared: own,
  };
  const printer: Printer = isScheduled ? p : { ...p, language: { ...p.language, rules: { ...p.language.rules, ...uniformRules(sync) } } };
  body = newBody(printer, [...parts.values()], {
    kernel,
    source,
    lines: p.lines,
    isApart: (value) => isScheduled && points.has(value),
    leave: (block, edge) => writeLeave(sync, block, edge),
    returns: () => (isScheduled ? p.lines.add('state = 0xffffffffu;') : undefined),
  });
  made.attach(body);
  const written = body;
  const fail = (stop: number): void => writeStatus(p, layout.status, state, stop);
  const code = p.lines.capture(() => p.lines.indent(() => (isScheduled ? writeRounds(sync, fail) : written.write(parts.get(0)!))));
  writeKernel({ ...made, regions, isScheduled, threads, points, declarations: body.declarations(), layout, state, own, code });
  const shared = p.addresses.windows.get('shared');
  return {
    name: functionName(p.language, kernel),
    text: p.lines.text(),
    arguments: layout.list,
    status: layout.hasStatus ? layout.status : undefined,
    launchBytes: layout.bytes,
    shared: { bytes: shared?.dynamicOffset ?? shared?.size ?? 0, isDynamic: shared?.dynamicOffset !== undefined },
    constants: p.addresses.windows.get('constant')?.init,
    isAlone,
    helpers,
    functions,
  };
}

/** A copy of a kernel that has a form in WGSL, split where threads wait. */
function prepared(original: Kernel, diagnostics: Diagnostics): { kernel: Kernel; turns: Turns; isAlone: boolean } {
  const kernel = copyOf(original);
  expandMatmul(kernel);
  const turns = takeTurns(kernel);
  legalizeF64(kernel, 'wgsl', diagnostics);
  resolveOffsets(kernel);
  runPasses(kernel, standardPasses, undefined);
  insertYields(kernel);
  const split = splitLifted(kernel).kernel;
  return { kernel: split, turns, isAlone: turns.ofGlobal || hasFencesOfDevice(kernel) };
}

/** Whether a kernel has fences that order memory for other blocks. */
const hasFencesOfDevice = ({ insts }: Kernel): boolean => insts.some((inst) => inst.op === 'fence' && inst.scope !== 'block');

/** The states behind the yields at which a turn starts. */
const turnStates = (kernel: Kernel, { byEntry }: Regions, yields: ReadonlySet<Value>): number[] =>
  kernel.blocks.flatMap((block) => {
    const [last] = syncPointsOf(kernel, block);
    return last !== undefined && yields.has(last) && block.end.op === 'br' ? [byEntry.get(block.end.to.block.id)!.id] : [];
  });

/** How threads wait: in place where that is uniform, else by a scheduler, in which a fence lets the other threads run. */
function scheduleOf(kernel: Kernel, threads: number): { regions: Regions; isScheduled: boolean } {
  const regions = regionsOf(kernel);
  const hasStates = regions.schedule === 'warp' || regions.schedule === 'masks';
  const hasFences = kernel.insts.some(({ op }) => op === 'fence');
  const isFree = regions.schedule === 'once' && !hasFences;
  const isUniform = !hasStates && (isFree || (threads === 1 && isProvablyUniform(kernel, wholePart(kernel).tree)));
  if (isUniform) return { regions, isScheduled: false };
  if (!hasFences) return { regions, isScheduled: true };
  for (const [value, { op }] of kernel.insts.entries()) if (op === 'fence') kernel.insts[value] = { op: 'yield', type: 'void' };
  splitAtSyncPoints(kernel);
  return { regions: regionsOf(kernel), isScheduled: true };
}

/** The memory of each space. Words are atomic where the kernel has atomics, volatile accesses, or stores to parts of words. */
function storesOf(kernel: Kernel, hasStatus: boolean): WgslState['stores'] {
  const atomic = new Set<string>(hasStatus ? ['global'] : []);
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      const address = addressOf(inst);
      if (address === undefined || !touchesParts(kernel, inst)) continue;
      const space = spaceOf(kernel.insts[address]!.type as PointerType);
      atomic.add(space === 'shared' || space === 'local' ? space : 'global');
    }
  const name = (space: string): string => `${space}_of_${identifier(kernel.name)}`;
  const isAtomic = atomic.has('global');
  return {
    global: { name: isAtomic ? 'arena_words' : 'arena', isAtomic },
    shared: { name: name('shared'), isAtomic: atomic.has('shared') },
    local: { name: name('local'), isAtomic: false },
    param: { name: 'launch', isAtomic: false },
    constant: { name: 'constants', isAtomic: false },
  };
}

function touchesParts(kernel: Kernel, inst: Inst): boolean {
  if (inst.op === 'load') return inst.volatile;
  if (inst.op === 'store') return inst.volatile || inst.align < 4 || bytesOf(elementOf(movedType(kernel, inst))) < 4;
  return inst.op === 'atomic' || inst.op === 'cas';
}

const uniformRules = (sync: Sync) =>
  Object.fromEntries(
    (['barrier', 'fence', 'shuffle', 'ballot', 'reduce', 'syncwarp'] as const).map((op) => [
      op,
      (p: Printer, inst: Inst, value: Value) => writeUniform(p, sync, inst, value),
    ]),
  );

interface Shared {
  readonly source: SourceFile | undefined;
  readonly state: WgslState;
  readonly helpers: Set<string>;
  readonly functions: Map<string, string>;
}

/** A printer over a kernel, or over the body of a function. */
function newBodyPrinter(kernel: Kernel, diagnostics: Diagnostics, shared: Shared): NewPrinter {
  const { source, state, helpers, functions } = shared;
  const helper = (key: string): string => {
    if (!key.startsWith('fn ')) {
      helpers.add(key);
      return helperName(key);
    }
    const name = key.slice(3);
    const own = `fn_${identifier(name)}`;
    if (!functions.has(own)) printFunction(own, kernel.functions?.get(name) ?? bug(`no function ${name}`), diagnostics, shared);
    return own;
  };
  const language = languageOf(state);
  return newPrinter({ language, kernel, source, diagnostics, target: 'wgsl', helpers, helper, taken: functions.keys() });
}

/** Prints a pure function of a kernel, after those that it calls. */
function printFunction(name: string, { body: original, result }: PureFunction, diagnostics: Diagnostics, shared: Shared): void {
  const kernel = copyOf(original);
  const [entry] = kernel.blocks;
  shared.functions.set(name, '');
  const made = newBodyPrinter(kernel, diagnostics, shared);
  const { p } = made;
  const body = newBody(p, [wholePart(kernel)], {
    kernel,
    source: shared.source,
    lines: p.lines,
    result,
    isApart: () => false,
    leave: () => bug('a region in a function'),
    returns: () => undefined,
  });
  made.attach(body);
  const params = entry!.params.map((param) => `${p.names.of(param)}: ${typeName(kernel.insts[param]!.type)}`);
  const code = p.lines.capture(() => p.lines.indent(() => body.writeStraight(entry!, result, (text) => p.lines.add(`return ${text};`))));
  p.lines.add(`fn ${name}(${params.join(', ')}) -> ${typeName(kernel.insts[result]!.type)} {`);
  p.lines.indent(() => {
    for (const line of body.declarations()) p.lines.add(line);
  });
  p.lines.append(polished(code, p.language.syntax));
  p.lines.add('}');
  shared.functions.delete(name);
  shared.functions.set(name, p.lines.text());
}

const bindings: readonly (readonly [name: string, text: string])[] = [
  ['arena', '@group(0) @binding(0) var<storage, read_write> arena: array<u32>;'],
  ['arena_words', '@group(0) @binding(0) var<storage, read_write> arena_words: array<atomic<u32>>;'],
  ['launch', '@group(0) @binding(1) var<storage, read> launch: array<u32>;'],
  ['constants', '@group(0) @binding(2) var<storage, read> constants: array<u32>;'],
];

/** A module of kernels: what they need, and their texts. */
export function wgslFile(kernels: readonly WgslText[]): string {
  const helpers = helperTexts(kernels.flatMap((kernel) => [...kernel.helpers]));
  const functions = [...new Map(kernels.flatMap((kernel) => [...kernel.functions])).values()];
  const parts = [...helpers, ...functions.map((text) => text.trimEnd()), ...kernels.map(({ text }) => text.trimEnd())];
  const all = parts.join('\n\n');
  const uses = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(all);
  const head = ['// WGSL, written by cumetal.'];
  if (uses('u64')) head.push('', '// 64 bits, low word first.', 'alias u64 = vec2<u32>;');
  head.push('', ...bindings.filter(([name]) => uses(name)).map(([, text]) => text));
  head.push('', '// The size of a block.', 'override block_x: u32 = 1u;', 'override block_y: u32 = 1u;', 'override block_z: u32 = 1u;');
  if (uses('block_threads')) head.push('override block_threads: u32 = block_x * block_y * block_z;');
  if (uses('group_threads'))
    head.push('// Invocations of a workgroup, where each runs several threads.', 'override group_threads: u32 = 1u;');
  if (uses('shared_words')) head.push('// Words of shared memory, static and dynamic together.', 'override shared_words: u32 = 1u;');
  return `${head.join('\n')}\n\n${all}\n`;
}
