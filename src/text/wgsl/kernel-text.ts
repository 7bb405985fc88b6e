/** The text of a kernel around its code: the memory of a block, the signature, and where the parameters and special registers are. */
import { alignUp } from '../../base/bytes.ts';
import type { Regions } from '../../engine/index.ts';
import { type Kernel, specOf, type Value } from '../../ir/index.ts';
import type { Printer } from '../language.ts';
import { slotsOf } from '../opencl/schedule.ts';
import { polished } from '../polish.ts';
import { functionName, type NewPrinter } from '../printer.ts';
import { marks } from './rounds.ts';
import type { WgslState } from './types.ts';

/** Words of a launch before the parameters: blocks of the grid, the first block of this dispatch, and zeros. */
export const launchHead = { blocks: 0, first: 3, zero: 6, words: 8 } as const;

/** Where a parameter is in the words of the launch: an address, or the bytes of a value. */
export interface WgslArgument {
  readonly kind: 'address' | 'value';
  readonly param: number;
  /** Bytes. */
  readonly offset: number;
  readonly size: number;
}

export interface Layout {
  readonly list: readonly WgslArgument[];
  /** By parameter. */
  readonly offsets: readonly number[];
  readonly hasStatus: boolean;
  readonly status: number;
  readonly bytes: number;
}

/** Where the parameters are in the words of the launch, and the address of the status behind them. */
export function layoutOf({ params }: Kernel, hasStatus: boolean): Layout {
  const offsets: number[] = [];
  const list: WgslArgument[] = [];
  let at = 4 * launchHead.words;
  params.forEach(({ kind, size, align }, param) => {
    at = alignUp(at, kind === 'value' ? Math.max(4, align) : 8);
    offsets.push(at);
    if (kind === 'threadgroup') return;
    const isValue = kind === 'value';
    list.push({ kind: isValue ? 'value' : 'address', param, offset: at, size: isValue ? size : 8 });
    at += alignUp(isValue ? size : 8, 4);
  });
  const status = alignUp(at, 8);
  return { list, offsets, hasStatus, status, bytes: alignUp(status + 8, 16) };
}

/** The special registers. */
function sregText(name: string): string {
  const [kind, axis] = name.split('.');
  const at = 'xyz'.indexOf(axis ?? 'x');
  const block = `group.${axis} + launch[${launchHead.first + at}]`;
  switch (kind) {
    case 'tid':
      return axis === 'linear' ? 'thread_number' : `tid.${axis}`;
    case 'ntid':
      return `block_${axis}`;
    case 'ctaid':
      return block;
    case 'nctaid':
      return `launch[${launchHead.blocks + at}]`;
    case 'gid':
      return `(${block}) * block_${axis} + tid.${axis}`;
    case 'laneid':
      return 'thread_number & 31u';
    case 'warpid':
      return 'thread_number >> 5u';
    default:
      return '(block_threads + 31u) >> 5u';
  }
}

export interface Texts extends NewPrinter {
  readonly regions: Regions;
  readonly isScheduled: boolean;
  readonly threads: number;
  readonly points: ReadonlySet<Value>;
  readonly declarations: readonly string[];
  readonly layout: Layout;
  readonly state: WgslState;
  readonly own: (name: string) => string;
  readonly code: readonly string[];
}

/** Writes the memory of the block, the signature, what precedes the code, and the code. */
export function writeKernel(texts: Texts): void {
  const { p, isScheduled, threads, points } = texts;
  const { kernel } = p;
  const hasCells = [...points].some((value) => {
    const { op } = kernel.insts[value]!;
    return specOf(op).effect === 'warp' && op !== 'syncwarp' && op !== 'yield';
  });
  writeMemory(texts, hasCells);
  if (threads === 1) writePlain(texts, isScheduled || hasCells);
  else if (isScheduled) writeSaved(texts);
  else writeFree(texts);
}

const warpLines = ['let warp_first = thread_number & 0xffffffe0u;', 'let warp_last = min(warp_first + 32u, block_threads);'];
const tidLine = 'let tid = vec3<u32>(thread_number % block_x, (thread_number / block_x) % block_y, thread_number / (block_x * block_y));';

/** The lines that precede the code of a thread, and whether the text names a variable. */
function linesBefore({ sregs, parameters, layout, code }: Texts): { params: string[]; registers: string[]; names(name: string): boolean } {
  const all = [...code, ...[...sregs.keys()].map(sregText)].join('\n');
  const names = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(all);
  const params = layout.list
    .filter(({ kind, param }) => kind === 'address' && names(parameters[param]!))
    .map(({ param, offset }) => `let ${parameters[param]} = u64(launch[${offset / 4}], launch[${offset / 4 + 1}]);`);
  const registers = [...sregs].map(([name, variable]) => `let ${variable} = ${sregText(name)};`);
  return { params, registers, names };
}

/** A thread is an invocation. */
function writePlain(texts: Texts, hasWarps: boolean): void {
  const { p, declarations, code } = texts;
  const { lines, kernel } = p;
  const { params, registers, names } = linesBefore(texts);
  const inputs: string[] = [];
  if (names('tid')) inputs.push('@builtin(local_invocation_id) tid: vec3<u32>');
  if (names('group')) inputs.push('@builtin(workgroup_id) group: vec3<u32>');
  if (hasWarps || names('thread_number')) inputs.push('@builtin(local_invocation_index) thread_number: u32');
  lines.add('@compute @workgroup_size(block_x, block_y, block_z)');
  lines.add(`fn ${functionName(p.language, kernel)}(${inputs.join(', ')}) {`);
  lines.indent(() => {
    for (const line of [...(hasWarps ? warpLines : []), ...params, ...registers, ...declarations]) lines.add(line);
  });
  lines.append(polished(code, p.language.syntax));
  lines.add('}');
}

const entryInputs = '@builtin(local_invocation_index) index: u32, @builtin(workgroup_id) group: vec3<u32>';

/** Threads that do not wait for each other: an invocation runs one after the other. */
function writeFree(texts: Texts): void {
  const { p, declarations, code, threads, own } = texts;
  const { lines, kernel } = p;
  const { params, registers } = linesBefore(texts);
  lines.add(`fn ${own('thread')}(thread_number: u32, group: vec3<u32>) {`);
  lines.indent(() => {
    for (const line of [tidLine, ...params, ...registers, ...declarations]) lines.add(line);
  });
  lines.append(polished(code, p.language.syntax));
  lines.add('}');
  lines.add('@compute @workgroup_size(group_threads)');
  lines.add(`fn ${functionName(p.language, kernel)}(${entryInputs}) {`);
  lines.add(
    `  for (var thread_number = index; thread_number < min(block_threads, ${threads}u * group_threads); thread_number += group_threads) {`,
  );
  lines.add(`    ${own('thread')}(thread_number, group);`);
  lines.add('  }');
  lines.add('}');
}

/** Threads of the scheduler: an invocation keeps the variables of each. */
function writeSaved(texts: Texts): void {
  const { p, declarations, code, threads, own } = texts;
  const { lines, kernel, addresses } = p;
  const { params, registers } = linesBefore(texts);
  const variables = declarations.map((line) => {
    const [, name, type] = /^var (\w+)(?:: (.*?))?(?: = .*)?;$/.exec(line)!;
    return { name: name!, type: type ?? 'u32' };
  });
  const all = [{ name: 'state', type: 'u32' }, ...variables];
  lines.add(`struct ${own('Thread')} {`);
  for (const { name, type } of all) lines.add(`  ${name}: ${type},`);
  lines.add('}');
  lines.add(`var<private> ${own('saved')}: array<${own('Thread')}, ${threads}u>;`);
  lines.add('@compute @workgroup_size(group_threads)');
  lines.add(`fn ${functionName(p.language, kernel)}(${entryInputs}) {`);
  lines.indent(() => {
    for (const line of params) lines.add(line);
  });
  const local = addresses.windows.get('local');
  const start = local && local.size > 0 ? [`let local_start = part * ${4 * Math.ceil(local.size / 4)}u;`] : [];
  const load = (list: typeof all): string[] => list.map(({ name }) => `var ${name} = ${own('saved')}[part].${name};`);
  const store = (list: typeof all): string[] => list.map(({ name }) => `${own('saved')}[part].${name} = ${name};`);
  const filled: Readonly<Record<string, readonly string[]>> = {
    [marks.load]: [tidLine, ...warpLines, ...start, ...registers, ...load(all)],
    [marks.store]: store(all),
    [marks.loadState]: [tidLine, ...load(all.slice(0, 1))],
    [marks.storeState]: store(all.slice(0, 1)),
  };
  const whole = code.flatMap((line) => {
    const found = filled[line.trim()];
    return found ? found.map((text) => line.slice(0, line.length - line.trimStart().length) + text) : [line];
  });
  lines.append(polished(whole, p.language.syntax));
  lines.add('}');
}

/** Declares the memory of a block and of a thread. */
function writeMemory({ p, regions, isScheduled, threads, state, own }: Texts, hasCells: boolean): void {
  const { addresses, lines } = p;
  const { stores } = state;
  const shared = addresses.windows.get('shared');
  const isDynamic = shared?.dynamicOffset !== undefined;
  if (shared && (isDynamic || shared.size > 0)) {
    const unit = stores.shared.isAtomic ? 'atomic<u32>' : 'u32';
    lines.add(`var<workgroup> ${stores.shared.name}: array<${unit}, ${isDynamic ? 'shared_words' : `${Math.ceil(shared.size / 4)}u`}>;`);
  }
  const local = addresses.windows.get('local');
  const parts = isScheduled ? threads : 1;
  if (local && local.size > 0) lines.add(`var<private> ${stores.local.name}: array<u32, ${parts * Math.ceil(local.size / 4)}u>;`);
  const slots = slotsOf(regions);
  if (hasCells) lines.add(`var<workgroup> ${own('cells')}: array<u64, ${slots === 1 ? '' : `${slots}u * `}block_threads>;`);
  if (!isScheduled) return;
  lines.add(`var<workgroup> ${own('states')}: array<u32, block_threads>;`);
  lines.add(`var<workgroup> ${own('progress')}: array<atomic<u32>, 2>;`);
  lines.add(`var<workgroup> ${own('progress_now')}: u32;`);
  if (regions.rendezvous.length === 0) return;
  lines.add(`var<workgroup> ${own('masks')}: array<u32, block_threads>;`);
  lines.add(`var<workgroup> ${own('kinds')}: array<u32, block_threads>;`);
}

/** Writes which thread waits for what never comes, unless another one has. */
export function writeStatus(p: Printer, status: number, { stores }: WgslState, stop: number): void {
  const at = `(launch[${status / 4}] >> 2u)`;
  p.lines.add(`if (atomicExchange(&${stores.global.name}[${at}], ${stop}u) == 0u) {`);
  p.lines.indent(() => {
    for (const [i, axis] of ['x', 'y', 'z'].entries()) {
      p.lines.add(`atomicStore(&${stores.global.name}[${at} + ${1 + i}u], group.${axis} + launch[${launchHead.first + i}]);`);
      p.lines.add(`atomicStore(&${stores.global.name}[${at} + ${4 + i}u], tid.${axis});`);
    }
  });
  p.lines.add('}');
}
