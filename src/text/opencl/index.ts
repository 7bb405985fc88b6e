/** Prints a kernel as OpenCL C 3.0. */
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import { expandMatmul, hasStates, insertYields, type Regions, syncPointsOf } from '../../engine/index.ts';
import { bytesOf, copyOf, type Kernel, runPasses, type ScalarType, specOf, standardPasses, type Value } from '../../ir/index.ts';
import { isScalarParam } from '../addresses.ts';
import { type Body, newBody } from '../body.ts';
import type { Printer } from '../language.ts';
import { splitLifted } from '../lift-warps.ts';
import { scalarParamType } from '../memory.ts';
import { resolveOffsets } from '../offsets.ts';
import { regionParts, wholePart } from '../parts.ts';
import { polished } from '../polish.ts';
import { functionName, type NewPrinter, newPrinter } from '../printer.ts';
import { refuseServices } from '../services.ts';
import { helperName, helperOf } from './helpers.ts';
import { language, memoryName, typeName } from './rules.ts';
import { leftMark, resumeMark, type Scheduled, slotsOf, writeLeave, writeRounds } from './schedule.ts';
import { type Saved, savedBy, writeLeft, writeResume } from './suspend.ts';
import { barrierLine, writeUniform } from './warps.ts';

/** An argument of a printed kernel, in order. */
export type TextArgument =
  /** A parameter of the kernel by value, a scalar of `size` bytes. */
  | { readonly kind: 'value'; readonly param: number; readonly size: number }
  /** Memory that holds another parameter by value, of `size` bytes. */
  | { readonly kind: 'bytes'; readonly param: number; readonly size: number }
  | { readonly kind: 'buffer'; readonly param: number }
  /** Local memory: `staticBytes`, and then that of the launch. */
  | { readonly kind: 'local'; readonly staticBytes: number }
  /** `statusWords` words of zeros: 1 if threads wait for threads that never come, and then the block and the thread of one of them. */
  | { readonly kind: 'status' }
  /** What threads keep between dispatches (`savedHead`): bytes of a thread, and of the shared memory of a block without that of the launch. */
  | { readonly kind: 'saved'; readonly threadBytes: number; readonly sharedBytes: number };

/** Words of the status of a kernel. */
export const statusWords = 7;

/** A kernel as text. */
export interface KernelText {
  readonly name: string;
  readonly text: string;
  readonly arguments: readonly TextArgument[];
  /** Helper functions by name, which precede the kernels of a file once. */
  readonly helpers: ReadonlySet<string>;
  /** Most threads of a block. */
  readonly maxThreads: number;
}

export interface OpenclOptions {
  /** The PTX, for names and places. */
  readonly source?: SourceFile | undefined;
}

/** Most threads of a block where a kernel does not say. */
const usualThreads = 1024;

/** Prints a kernel, which is not changed; what cannot be expressed is reported (CM2090), and the text is then of no use. */
export function openclKernel(original: Kernel, diagnostics: Diagnostics, { source }: OpenclOptions = {}): KernelText {
  refuseServices(original, { target: 'opencl', hasGrid: true }, diagnostics);
  const { kernel, regions } = prepared(original);
  const isScheduled = hasStates(regions);
  const suspends = regions.hasYields && kernel.params.some(({ service }) => service === 'grid');
  const helpers = new Set<string>();
  const helper = (key: string): string => {
    helpers.add(key);
    return helperName(key);
  };
  const made = newPrinter({ language, kernel, source, diagnostics, target: 'opencl', helpers, helper });
  const { p } = made;
  const points = new Set<Value>();
  for (const block of kernel.blocks) for (const value of syncPointsOf(kernel, block)) points.add(value);
  const parts = isScheduled ? regionParts(kernel, regions) : new Map([[0, wholePart(kernel)]]);
  let body: Body | undefined;
  const scheduled: Scheduled = { p, body: () => body ?? bug('a kernel without a body'), regions, parts, suspends };
  const printer: Printer = isScheduled ? p : { ...p, language: { ...language, rules: { ...language.rules, ...uniformRules } } };
  body = newBody(printer, [...parts.values()], {
    kernel,
    source,
    lines: p.lines,
    isApart: (value) => isScheduled && points.has(value),
    leave: (block, edge) => writeLeave(scheduled, block, edge),
    returns: () => (isScheduled ? p.lines.add('state = 0xffffffff;') : undefined),
  });
  made.attach(body);
  const written = body;
  const code = p.lines.capture(() => p.lines.indent(() => (isScheduled ? writeRounds(scheduled) : written.write(parts.get(0)!))));
  const maxThreads = threadsOf(kernel);
  const declarations = body.declarations();
  const saved = suspends ? savedBy(p, declarations, placesOf(kernel, regions, points)) : undefined;
  const head = writeHead({ ...made, regions, isScheduled, maxThreads, points, declarations, saved });
  p.lines.append(polished(saved ? withSaved(p, code, saved) : code, language.syntax));
  p.lines.add('}');
  return { name: functionName(language, kernel), text: p.lines.text(), arguments: head, helpers, maxThreads };
}

/** A copy of a kernel, split where threads wait. */
function prepared(original: Kernel): { kernel: Kernel; regions: Regions } {
  const kernel = copyOf(original);
  expandMatmul(kernel);
  resolveOffsets(kernel);
  runPasses(kernel, standardPasses, undefined);
  insertYields(kernel);
  return splitLifted(kernel);
}

/** Whether threads exchange values through cells. */
const hasCells = ({ insts }: Kernel, points: ReadonlySet<Value>): boolean =>
  [...points].some((value) => specOf(insts[value]!.op).effect === 'warp' && insts[value]!.op !== 'syncwarp');

/** The places that a thread has in arrays of its block. */
function placesOf(kernel: Kernel, regions: Regions, points: ReadonlySet<Value>): (readonly [type: string, name: string])[] {
  const cells = hasCells(kernel, points) ? Array.from({ length: slotsOf(regions) }, (_, slot) => `cells[${slot}]`) : [];
  return [
    ...cells.map((name) => ['ulong', `${name}[thread_number]`] as const),
    ...(regions.rendezvous.length > 0 ? ['masks', 'kinds'] : []).map((name) => ['uint', `${name}[thread_number]`] as const),
  ];
}

/** Code with what threads load and keep in the place of its marks. */
function withSaved({ lines, ...p }: Printer, code: readonly string[], saved: Saved): string[] {
  const filled = new Map([
    [resumeMark as string, lines.capture(() => lines.indent(() => writeResume({ lines, ...p }, saved)))],
    [leftMark as string, lines.capture(() => lines.indent(() => writeLeft({ lines, ...p }, saved)))],
  ]);
  return code.flatMap((line) => filled.get(line.trim()) ?? [line]);
}

/** Most threads of a block of a kernel. */
const threadsOf = ({ requiredThreads, maxThreads }: Kernel): number =>
  requiredThreads ? requiredThreads.reduce((a, b) => a * b, 1) : Math.min(maxThreads ?? usualThreads, usualThreads);

/** Uniform warp operations, written in place. */
const uniformRules = Object.fromEntries(
  (['shuffle', 'ballot', 'reduce', 'syncwarp'] as const).map((op) => [
    op,
    (p: Printer, inst: Parameters<typeof writeUniform>[1], value: Value) => writeUniform(p, inst, value),
  ]),
);
Object.assign(uniformRules, { barrier: (p: Printer) => p.lines.add(barrierLine) });

interface Texts extends NewPrinter {
  readonly regions: Regions;
  readonly isScheduled: boolean;
  readonly maxThreads: number;
  readonly points: ReadonlySet<Value>;
  readonly declarations: readonly string[];
  readonly saved: Saved | undefined;
}

/** The special registers in OpenCL C. */
function sregText(name: string): string {
  const [kind, axis] = name.split('.');
  const d = 'xyz'.indexOf(axis ?? 'x');
  switch (kind) {
    case 'tid':
      return axis === 'linear' ? 'thread_number' : `get_local_id(${d})`;
    case 'ntid':
      return `get_local_size(${d})`;
    case 'ctaid':
      return `get_group_id(${d})`;
    case 'nctaid':
      return `get_num_groups(${d})`;
    case 'gid':
      return `get_global_id(${d})`;
    case 'laneid':
      return 'thread_number & 31';
    case 'warpid':
      return 'thread_number >> 5';
    default:
      return '(uint)(get_local_size(0) * get_local_size(1) * get_local_size(2) + 31) >> 5';
  }
}

const threadNumber =
  'const uint thread_number = (uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));';

/** Writes the constant window, the signature, and what precedes the code; gives the arguments. */
function writeHead({ p, regions, isScheduled, maxThreads, sregs, parameters, points, declarations, saved }: Texts): TextArgument[] {
  const { kernel, addresses, lines } = p;
  const { windows } = addresses;
  const constants = windows.get('constant');
  if (constants?.init && constants.init.length > 0) lines.add(constantWindow(p.windowName('constant'), constants.init));
  const shared = windows.get('shared');
  const isDynamic = shared?.dynamicOffset !== undefined;
  const args: TextArgument[] = [];
  const texts: string[] = [];
  kernel.params.forEach((param, index) => {
    const name = parameters[index]!;
    if (param.kind === 'threadgroup') return;
    if (param.kind === 'value') {
      const isScalar = isScalarParam(kernel, index);
      texts.push(isScalar ? `${typeName(scalarParamType(kernel, index))} ${name}` : `__global uchar *${name}`);
      args.push({ kind: isScalar ? 'value' : 'bytes', param: index, size: param.size });
      return;
    }
    const element = addresses.elements.get(index);
    texts.push(`__global ${element === undefined ? 'uchar' : memoryName(element)} *${name}`);
    args.push({ kind: 'buffer', param: index });
  });
  const unit = shared && memoryUnit(shared.unit);
  if (isDynamic) {
    texts.push(`__local ${unit} *shared_memory`);
    args.push({ kind: 'local', staticBytes: shared.dynamicOffset! });
  }
  if (regions.rendezvous.length > 0) {
    texts.push('volatile __global uint *cumetal_status');
    args.push({ kind: 'status' });
  }
  if (saved) {
    texts.push('__global uchar *cumetal_saved');
    args.push({ kind: 'saved', threadBytes: saved.threadBytes, sharedBytes: isDynamic ? shared.dynamicOffset! : (shared?.size ?? 0) });
  }
  const attribute = kernel.requiredThreads ? `__attribute__((reqd_work_group_size(${kernel.requiredThreads.join(', ')})))\n` : '';
  lines.add(`${attribute}__kernel void ${functionName(language, kernel)}(${texts.join(', ')}) {`);
  lines.indent(() => {
    if (shared && !isDynamic && shared.size > 0)
      lines.add(
        `__local ${unit} shared_memory[${Math.ceil(shared.size / bytesOf(shared.unit))}] __attribute__((aligned(${Math.max(16, shared.align)})));`,
      );
    const local = windows.get('local');
    if (local && local.size > 0)
      lines.add(
        `${memoryUnit(local.unit)} local_memory[${Math.ceil(local.size / bytesOf(local.unit))}] __attribute__((aligned(${Math.max(16, local.align)})));`,
      );
    const cells = hasCells(kernel, points);
    if (cells) lines.add(`__local ulong cells[${slotsOf(regions)}][${maxThreads}];`);
    if (isScheduled) {
      lines.add(`__local uint states[${maxThreads}];`);
      lines.add(`__local uint moved[2], alive[2], stuck[2]${saved ? ', worked[2]' : ''};`);
    }
    if (regions.rendezvous.length > 0) lines.add(`__local uint masks[${maxThreads}], kinds[${maxThreads}];`);
    const needsNumber = isScheduled || cells || [...sregs.keys()].some((name) => sregText(name).includes('thread_number'));
    if (needsNumber) lines.add(threadNumber);
    if (isScheduled || cells) {
      lines.add('const uint warp_first = thread_number & ~31u;');
      lines.add('const uint warp_last = min(warp_first + 32, (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)));');
    }
    for (const [name, variable] of sregs) lines.add(`const uint ${variable} = ${sregText(name)};`);
    for (const line of declarations) lines.add(line);
  });
  return args;
}

const memoryUnit = (type: ScalarType): string => memoryName(type);

const constantWindow = (name: string, init: Uint8Array): string => {
  const rows: string[] = [];
  for (let at = 0; at < init.length; at += 32) rows.push(`  ${[...init.subarray(at, at + 32)].join(', ')},`);
  return `__constant uchar ${name}[${init.length}] __attribute__((aligned(16))) = {\n${rows.join('\n')}\n};`;
};

const memoryTypes = ['ushort', 'uint', 'ulong', 'float', 'double'] as const;

/** A file of kernels: what they need, and their texts. */
export function openclFile(kernels: readonly KernelText[]): string {
  const body = kernels.map(({ text }) => text).join('\n');
  const keys = new Set<string>();
  const add = (key: string): void => {
    if (keys.has(key)) return;
    for (const need of helperOf(key).needs ?? []) add(need);
    keys.add(key);
  };
  for (const { helpers } of kernels) for (const key of helpers) add(key);
  const helpers = [...keys].map((key) => helperOf(key).text).join('\n\n');
  const all = `${helpers}\n${body}`;
  const head = ['// OpenCL C 3.0, written by cumetal. Build with -cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt.'];
  head.push('#pragma OPENCL FP_CONTRACT OFF');
  if (/\bdouble\b/.test(all)) head.push('#pragma OPENCL EXTENSION cl_khr_fp64 : enable');
  if (/\batom_/.test(all)) {
    head.push('#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable');
    head.push('#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable');
  }
  const used = memoryTypes.filter((type) => new RegExp(`\\b${type}_m\\b`).test(all));
  if (used.length > 0) head.push('', '// Memory that other types may access as well.');
  for (const type of used) head.push(`typedef ${type} ${type}_m __attribute__((may_alias));`);
  return `${head.join('\n')}\n${helpers === '' ? '' : `\n${helpers}\n`}\n${body}`;
}
