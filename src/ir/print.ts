/**
 * IR as text. Values are numbered in the order they are printed, so that an unrelated change does not move the numbers of a golden file.
 * `parse.ts` reads what this prints; both walk the op table. `docs/ir.md` shows the form.
 */
import { hexOf } from '../base/bytes.ts';
import { bf16Value, f16Value, f32Value, f64Value } from '../base/float.ts';
import type { Span } from '../base/source.ts';
import { isNarrowed } from './dialect.ts';
import {
  type Block,
  clusterNumbers,
  type Edge,
  type Inst,
  type Kernel,
  type KernelParam,
  type Module,
  type ModuleMemory,
  type Terminator,
  type Value,
  type Variable,
} from './kernel.ts';
import { argsOf, attrsOf } from './operands.ts';
import { bitsOf, isFloat, type Type } from './types.ts';

interface Printer {
  readonly kernel: Kernel;
  readonly numbers: Map<Value, number>;
  readonly lines: string[];
}

/** The text of a module: its kernels, an empty line between them. */
export const printModule = (module: Module): string => module.kernels.map(printKernel).join('\n');

/** The text of one kernel, ending with a line end. Broken kernels print too, as far as they can be printed. */
export function printKernel(kernel: Kernel): string {
  const p: Printer = { kernel, numbers: numbersOf(kernel), lines: [] };
  p.lines.push(`kernel ${JSON.stringify(kernel.name)} {`);
  if (isNarrowed(kernel)) p.lines.push('  dialect narrow');
  if (kernel.maxThreads !== undefined) p.lines.push(`  maxthreads ${kernel.maxThreads}`);
  if (kernel.requiredThreads !== undefined) p.lines.push(`  threads ${kernel.requiredThreads.join(' ')}`);
  if (kernel.cluster) p.lines.push(`  cluster ${clusterNumbers(kernel.cluster).join(' ')}`);
  for (const param of kernel.params) p.lines.push(`  ${paramText(param)}`);
  for (const variable of kernel.variables) p.lines.push(`  ${variableText(variable)}`);
  for (const block of kernel.blocks) printBlock(p, block);
  p.lines.push('}');
  return `${p.lines.join('\n')}\n`;
}

function numbersOf(kernel: Kernel): Map<Value, number> {
  const numbers = new Map<Value, number>();
  for (const block of kernel.blocks)
    for (const value of [...block.params, ...block.body])
      if (!numbers.has(value) && kernel.insts[value]?.type !== 'void') numbers.set(value, numbers.size);
  return numbers;
}

/** A value by its number in print order; one that no block holds by its index, in a form that cannot be parsed. */
const name = (p: Printer, value: Value): string => (p.numbers.has(value) ? `%${p.numbers.get(value)}` : `%?${value}`);

const paramText = (param: KernelParam): string =>
  [
    `param ${JSON.stringify(param.name)} ${param.kind} ${param.space}`,
    `size ${param.size} align ${param.align} slot ${param.slot}`,
    ...(param.element === undefined ? [] : [`element ${param.element}`]),
    ...(param.signed ? ['signed'] : []),
    ...(param.access === undefined ? [] : [`access ${param.access}`]),
    ...(param.memory === undefined ? [] : memoryWords(param.memory)),
    ...(param.faults ?? []).map((text) => `fault ${JSON.stringify(text)}`),
    ...(param.formats ?? []).map((text) => `format ${JSON.stringify(text)}`),
    ...locWords(param.span),
  ].join(' ');

const memoryWords = ({ size, align, symbols }: ModuleMemory): string[] => [
  `memory ${size} align ${align}`,
  ...symbols.map(({ name, offset, size: bytes, init }) =>
    [`symbol ${JSON.stringify(name)} at ${offset} size ${bytes}`, ...(init ? [`init "${hexOf(init)}"`] : [])].join(' '),
  ),
];

const variableText = (variable: Variable): string =>
  [
    `variable ${JSON.stringify(variable.name)} ${variable.space} size ${variable.size} align ${variable.align}`,
    ...(variable.isDynamic ? ['dynamic'] : []),
    ...(variable.element === undefined ? [] : [`element ${variable.element}`]),
    ...(variable.init === undefined ? [] : [`init "${hexOf(variable.init)}"`]),
  ].join(' ');

const locWords = (span: Span | undefined): string[] => (span === undefined ? [] : [`@${span.start}:${span.end}`]);

function printBlock(p: Printer, block: Block): void {
  const label = block.label === undefined ? '' : ` ${JSON.stringify(block.label)}`;
  const params = block.params.map((value) =>
    [`${name(p, value)}: ${p.kernel.insts[value]?.type}`, ...widthWords(p, value), ...locWords(p.kernel.locs[value])].join(' '),
  );
  p.lines.push(`b${block.id}${label}${params.length > 0 ? `(${params.join(', ')})` : ''}:`);
  for (const value of block.body) p.lines.push(`  ${instText(p, value)}`);
  p.lines.push(`  ${[endText(p, block.end), ...locWords(block.endLoc)].join(' ')}`);
}

/** In the narrowed dialect, the mark of a pointer that has 64 bits. */
const widthWords = ({ kernel }: Printer, value: Value): string[] => (kernel.widePointers?.has(value) ? ['wide'] : []);

function instText(p: Printer, value: Value): string {
  const inst = p.kernel.insts[value];
  if (!inst) return `%?${value}`;
  const left = inst.type === 'void' ? '' : `${name(p, value)} = `;
  const type = inst.type === 'void' ? '' : ` ${inst.type}`;
  const words = [`${left}${inst.op}${type}`, ...widthWords(p, value), ...rightSide(p, inst), ...locWords(p.kernel.locs[value])];
  return words.join(' ') + (inst.op === 'const' ? comment(inst.type, inst.bits) : '');
}

function rightSide(p: Printer, inst: Inst): string[] {
  if (inst.op === 'const') return [constantText(inst.type, inst.bits)];
  const fields = inst as unknown as Record<string, unknown>;
  const operands = argsOf(inst.op).map((arg) => name(p, fields[arg] as Value));
  const attrs = attrsOf(inst.op).map((attr) => `${attr}: ${attributeText(fields[attr])}`);
  return [...(operands.length > 0 ? [operands.join(', ')] : []), ...(attrs.length > 0 ? [`{${attrs.join(', ')}}`] : [])];
}

/** A name that is one word has no quotes. */
const attributeText = (value: unknown): string =>
  typeof value === 'string' && /^[A-Za-z_][\w.]*$/.test(value) ? value : JSON.stringify(value);

/** Integers as signed decimals, all else by its bits. */
function constantText(type: Type, bits: bigint): string {
  const n = bitsOf(type);
  if (!isFloat(type)) return String(n > 1 ? BigInt.asIntN(n, bits) : bits);
  return `0x${bits.toString(16).padStart(n / 4, '0')}`;
}

function comment(type: Type, bits: bigint): string {
  return isFloat(type) ? ` ; ${numberOfBits[type](bits)}` : '';
}

const numberOfBits = {
  f16: (bits: bigint) => f16Value(Number(bits)),
  bf16: (bits: bigint) => bf16Value(Number(bits)),
  f32: (bits: bigint) => f32Value(Number(bits)),
  f64: f64Value,
};

function endText(p: Printer, end: Terminator): string {
  if (end.op === 'ret') return 'ret';
  if (end.op === 'br') return `br ${edgeText(p, end.to)}`;
  return `condbr ${name(p, end.cond)}, ${edgeText(p, end.then)}, ${edgeText(p, end.else)}`;
}

const edgeText = (p: Printer, { block, args }: Edge): string =>
  `b${block.id}${args.length > 0 ? `(${args.map((value) => name(p, value)).join(', ')})` : ''}`;
