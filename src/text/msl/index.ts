/** Prints a kernel in the Metal Shading Language. The kernel has the form that AIR is emitted from (`src/air/legalize`). */
import type { TargetName } from '../../air/index.ts';
import { targets } from '../../air/index.ts';
import { bug } from '../../base/bug.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import {
  bytesOf,
  cfgOf,
  copyOf,
  dominatorsOf,
  type Kernel,
  loopsOf,
  type PureFunction,
  runPasses,
  standardPasses,
  type Value,
} from '../../ir/index.ts';
import { isScalarParam } from '../addresses.ts';
import { type Body, newBody, type Part } from '../body.ts';
import type { Printer } from '../language.ts';
import { scalarParamType } from '../memory.ts';
import { identifier } from '../names.ts';
import { resolveOffsets } from '../offsets.ts';
import { polished } from '../polish.ts';
import { functionName, newPrinter } from '../printer.ts';
import { refuseServices } from '../services.ts';
import { structure } from '../structure.ts';
import { helperOf } from './helpers.ts';
import { language, memoryName, typeName } from './rules.ts';

/** An argument of a printed kernel that a host binds. */
export type MslArgument =
  | { readonly kind: 'scalar' | 'bytes' | 'buffer'; readonly param: number; readonly slot: number }
  /** Threadgroup memory of the launch. */
  | { readonly kind: 'threadgroup'; readonly slot: number }
  /** A position or size that Metal gives. */
  | { readonly kind: 'input'; readonly name: string };

/** A kernel as text. */
export interface MslText {
  readonly name: string;
  readonly text: string;
  /** In the order of the signature. */
  readonly arguments: readonly MslArgument[];
  readonly helpers: ReadonlySet<string>;
  /** Functions that several kernels of a file may share, by name. */
  readonly functions: ReadonlyMap<string, string>;
  /** The version of the language. */
  readonly version: readonly [number, number];
}

export interface MslOptions {
  /** The PTX, for names and places. */
  readonly source?: SourceFile | undefined;
  readonly target: TargetName;
}

/** Prints a kernel, which is not changed; what cannot be expressed is reported (CM2090), and the text is then of no use. */
export function mslKernel(original: Kernel, diagnostics: Diagnostics, { source, target }: MslOptions): MslText {
  refuseServices(original, { target, hasGrid: true }, diagnostics);
  const kernel = copyOf(original);
  resolveOffsets(kernel);
  runPasses(kernel, standardPasses, undefined);
  const functions = new Map<string, string>();
  const helpers = new Set<string>();
  const made = printBody(kernel, diagnostics, { source, target, helpers, functions });
  const { lines } = made;
  const code = lines.capture(() => lines.indent(() => made.body.write(made.part)));
  const args = writeHead(made);
  lines.append(polished(code, language.syntax));
  lines.add('}');
  const [major, minor] = targets[target].metalVersion;
  return { name: functionName(language, kernel), text: lines.text(), arguments: args, helpers, functions, version: [major, minor] };
}

interface Shared extends MslOptions {
  /** Of a function: what it returns. */
  readonly result?: Value | undefined;
  readonly helpers: Set<string>;
  readonly functions: Map<string, string>;
}

interface Printed {
  readonly p: Printer;
  readonly lines: Printer['lines'];
  readonly body: Body;
  readonly part: Part;
  readonly parameters: readonly string[];
  readonly sregs: ReadonlyMap<string, string>;
}

/** A printer over a kernel, or over the body of a function. */
function printBody(kernel: Kernel, diagnostics: Diagnostics, shared: Shared): Printed {
  const { source, target, helpers, functions } = shared;
  const helper = (key: string): string => {
    if (!key.startsWith('fn ')) {
      helpers.add(key);
      return key;
    }
    const name = key.slice(3);
    const own = identifier(name);
    if (!functions.has(own)) printFunction(own, kernel.functions?.get(name) ?? bug(`no function ${name}`), diagnostics, shared);
    return own;
  };
  const made = newPrinter({ language, kernel, source, diagnostics, target, helpers, helper, taken: functions.keys() });
  const { p } = made;
  const cfg = cfgOf(kernel);
  const dominators = dominatorsOf(cfg);
  const { isReducible } = loopsOf(cfg, dominators);
  const part: Part = { tree: structure(kernel, { cfg, dominators, entry: 0, isReducible, isLast: () => false }), isRegion: false };
  const body = newBody(p, [part], {
    kernel,
    source,
    lines: p.lines,
    result: shared.result,
    isApart: () => false,
    leave: () => bug('a region in a kernel of Metal'),
    returns: () => undefined,
  });
  made.attach(body);
  return { ...made, lines: p.lines, body, part };
}

/** Prints a pure function of a kernel, after those that it calls. */
function printFunction(name: string, { body: original, result }: PureFunction, diagnostics: Diagnostics, shared: Shared): void {
  const kernel = copyOf(original);
  const [entry] = kernel.blocks;
  // Its name is known to the functions that it calls, which may not call it.
  shared.functions.set(name, '');
  const made = printBody(kernel, diagnostics, { ...shared, result });
  const { p, lines } = made;
  const params = entry!.params.map((param) => `${typeName(kernel.insts[param]!.type)} ${p.names.of(param)}`);
  const code = lines.capture(() =>
    lines.indent(() => {
      made.body.writeStraight(entry!, result, (text) => lines.add(`return ${text};`));
    }),
  );
  lines.add(`static ${typeName(kernel.insts[result]!.type)} ${name}(${params.join(', ')}) {`);
  lines.indent(() => {
    for (const line of made.body.declarations()) lines.add(line);
  });
  lines.append(polished(code, language.syntax));
  lines.add('}');
  shared.functions.delete(name);
  shared.functions.set(name, lines.text());
}

/** Attributes of the inputs, and the text of each special register. */
const inputs: Readonly<Record<string, readonly [type: string, attribute: string]>> = {
  tid: ['uint3', 'thread_position_in_threadgroup'],
  ntid: ['uint3', 'threads_per_threadgroup'],
  ctaid: ['uint3', 'threadgroup_position_in_grid'],
  nctaid: ['uint3', 'threadgroups_per_grid'],
  gid: ['uint3', 'thread_position_in_grid'],
  laneid: ['uint', 'thread_index_in_simdgroup'],
  warpid: ['uint', 'simdgroup_index_in_threadgroup'],
  nwarpid: ['uint', 'simdgroups_per_threadgroup'],
  linear: ['uint', 'thread_index_in_threadgroup'],
};

/** Writes the constant window, the signature, and what precedes the code; gives the arguments. */
function writeHead({ p, lines, parameters, sregs, body }: Printed): MslArgument[] {
  const { kernel, addresses } = p;
  const { windows } = addresses;
  const constants = windows.get('constant');
  if (constants?.init && constants.init.length > 0) lines.add(constantWindow(p.windowName('constant'), constants.init));
  const args: MslArgument[] = [];
  const texts: string[] = [];
  kernel.params.forEach((param, index) => {
    const { slot, kind } = param;
    if (kind === 'threadgroup') return;
    const name = parameters[index]!;
    const isScalar = isScalarParam(kernel, index);
    const element = addresses.elements.get(index);
    if (kind === 'value')
      texts.push(
        isScalar
          ? `constant ${typeName(scalarParamType(kernel, index))} &${name} [[buffer(${slot})]]`
          : `constant uchar *${name} [[buffer(${slot})]]`,
      );
    else
      texts.push(
        `${language.spaceName(param.space)} ${element === undefined ? 'uchar' : memoryName(element)} *${name} [[buffer(${slot})]]`,
      );
    args.push({ kind: kind !== 'value' ? 'buffer' : isScalar ? 'scalar' : 'bytes', param: index, slot });
  });
  const shared = windows.get('shared');
  const isDynamic = shared?.dynamicOffset !== undefined;
  if (isDynamic) {
    texts.push(
      shared.size > 0
        ? 'threadgroup uchar *dynamic_memory [[threadgroup(0)]]'
        : `threadgroup ${memoryName(shared.unit)} *shared_memory [[threadgroup(0)]]`,
    );
    args.push({ kind: 'threadgroup', slot: 0 });
  }
  const wanted = new Map<string, string>();
  const registers: string[] = [];
  for (const [name, variable] of sregs) {
    const [kind, axis] = name.split('.') as [string, string | undefined];
    const key = axis === 'linear' ? 'linear' : kind;
    const input = wanted.get(key) ?? p.names.unique(inputs[key]![1]);
    wanted.set(key, input);
    registers.push(`const uint ${variable} = ${inputs[key]![0] === 'uint3' ? `${input}.${axis}` : input};`);
  }
  for (const [key, input] of wanted) {
    const [type, attribute] = inputs[key]!;
    texts.push(`${type} ${input} [[${attribute}]]`);
    args.push({ kind: 'input', name: attribute });
  }
  lines.add(`kernel void ${functionName(language, kernel)}(${texts.join(', ')}) {`);
  lines.indent(() => {
    if (shared && shared.size > 0) {
      const unit = isDynamic ? 'i8' : shared.unit;
      lines.add(`threadgroup ${memoryName(unit)} shared_memory[${Math.ceil(shared.size / bytesOf(unit))}] __attribute__((aligned(16)));`);
    }
    const local = windows.get('local');
    if (local && local.size > 0)
      lines.add(
        `thread ${memoryName(local.unit)} local_memory[${Math.ceil(local.size / bytesOf(local.unit))}] __attribute__((aligned(16)));`,
      );
    for (const line of [...registers, ...body.declarations()]) lines.add(line);
  });
  return args;
}

function constantWindow(name: string, init: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < init.length; at += 32) rows.push(`  ${[...init.subarray(at, at + 32)].join(', ')},`);
  return `constant uchar ${name}[${init.length}] __attribute__((aligned(16))) = {\n${rows.join('\n')}\n};`;
}

const memoryTypes = ['ushort', 'uint', 'ulong', 'half', 'bfloat', 'float'] as const;

/** A file of kernels: what they need, and their texts. */
export function mslFile(kernels: readonly MslText[]): string {
  const keys = new Set<string>();
  const add = (key: string): void => {
    if (keys.has(key)) return;
    for (const need of helperOf(key).needs ?? []) add(need);
    keys.add(key);
  };
  for (const { helpers } of kernels) for (const key of helpers) add(key);
  const functions = new Map(kernels.flatMap((kernel) => [...kernel.functions]));
  const body = kernels.map(({ text }) => text).join('\n');
  const parts = [[...keys].map((key) => helperOf(key).text).join('\n\n'), [...functions.values()].join('\n'), body].filter(
    (part) => part !== '',
  );
  const all = parts.join('\n\n');
  const [major, minor] = kernels[0]?.version ?? [3, 0];
  const head = [
    `// Metal Shading Language ${major}.${minor}, written by cumetal. Compile without fast math: -fno-fast-math, or MTLMathModeSafe.`,
    '#include <metal_stdlib>',
    'using namespace metal;',
    '#pragma METAL fp contract(off)',
  ];
  const used = memoryTypes.filter((type) => new RegExp(`\\b${type}_m\\b`).test(all));
  if (used.length > 0) head.push('', '// Memory that other types may access as well.');
  for (const type of used) head.push(`typedef ${type} ${type}_m __attribute__((may_alias));`);
  return `${head.join('\n')}\n\n${all}`;
}
