/** The state while a kernel is printed as PTX, and how values are written. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import {
  bitsOf,
  edgesOf,
  elementOf,
  type InstOf,
  isPointer,
  isVector,
  type Kernel,
  lanesOf,
  type Op,
  operandsOf,
  type Type,
  type Value,
} from '../../ir/index.ts';
import { seenBits } from './idioms.ts';
import { moveType, newRegisters, type Registers } from './registers.ts';

/** The rule of an op: it adds the lines that give the value its register. */
export type Rule<K extends Op> = (p: Printer, inst: InstOf<K>, value: Value) => void;
export type Rules = { readonly [K in Op]: Rule<K> };

/** What a module is printed for, and what it has come to need. */
export interface Module {
  /** The architecture: 80 for `sm_80`. */
  readonly sm: number;
  /** Its name. */
  readonly architecture: string;
  /** Whether functions are called. */
  readonly hasCallees: boolean;
  /** The version of the language that is needed so far. */
  version: number;
  /** Declarations in front of the kernels, by name. */
  readonly declared: Map<string, string>;
  /** The linkage of a variable of the module, `.visible ` or the like. */
  linkage(name: string): string;
  /** Names of variables of the module that are in constant memory. */
  readonly constants: ReadonlySet<string>;
  readonly diagnostics: Diagnostics;
}

export interface Printer {
  readonly module: Module;
  readonly kernel: Kernel;
  /** The PTX that the kernel comes from. */
  readonly source: SourceFile | undefined;
  readonly registers: Registers;
  /** Whether constants and buffers in constant memory are in global memory. */
  readonly areConstantsGlobal: boolean;
  /** By block: 1 where all lanes of a warp run it together. */
  readonly convergent: Uint8Array;
  /** The operands of the next `asm`, and the registers of the results of the last one, by their numbers. */
  readonly asm: { readonly inputs: Map<number, Value>; readonly outputs: Map<number, string> };
  /** The block that is being printed. */
  block: number;
  line(text: string): void;
  label(): string;
  typeOf(value: Value): Type;
  /** The register of a scalar; a constant is put into one. */
  reg(value: Value): string;
  /** A scalar as an operand: its register, or a number. */
  operand(value: Value): string;
  /** The registers of a scalar or of the elements of a vector. */
  lanes(value: Value): readonly string[];
  /** The registers of the elements of a vector, or of a scalar of one. */
  setLanes(value: Value, registers: readonly string[]): void;
  temp(type: Type): string;
  /** The name of a parameter, and of a variable. */
  parameter(index: number): string;
  variable(name: string): string;
  /** Notes that the text needs a version of the language. */
  needs(ptx: number): void;
  /** Reports at the place of a value what PTX does not have. */
  refuse(value: Value, what: string, why: string): void;
  /** The instruction of PTX that a value comes from. */
  written(value: Value): string | undefined;
  /** Whether anything uses a value. */
  isUsed(value: Value): boolean;
  /** Whether something sees the bits of a float, and not the number alone. */
  isSeen(value: Value): boolean;
  /** The registers that a value has so far, without reading them. */
  held(value: Value): readonly string[];
}

/** A number as an operand; undefined for types that have none. */
export function immediate(type: Type, bits: bigint): string | undefined {
  const hex = (digits: number): string => bits.toString(16).toUpperCase().padStart(digits, '0');
  if (type === 'f32') return `0f${hex(8)}`;
  if (type === 'f64') return `0d${hex(16)}`;
  if (type === 'i1' || type === 'f16' || type === 'bf16') return undefined;
  const width = bitsOf(type);
  return String(width >= 32 ? BigInt.asIntN(width, bits) : bits);
}

/** Where lines go: those of the instruction at hand, with what they read and what is refused of it. */
export interface Lines {
  readonly unit: { readonly lines: string[]; readonly reads: Set<Value>; readonly refusals: (() => void)[] };
}

/** What a printer is made of. */
export type PrinterParts = Pick<Printer, 'module' | 'kernel' | 'source' | 'areConstantsGlobal' | 'convergent' | 'parameter' | 'variable'>;

/** The values that something uses. */
function usedValues(kernel: Kernel): Set<Value> {
  const used = new Set<Value>();
  for (const { body, end } of kernel.blocks) {
    for (const value of body) for (const operand of operandsOf(kernel.insts[value]!)) used.add(operand);
    if (end.op === 'condbr') used.add(end.cond);
    for (const { args } of edgesOf(end)) for (const arg of args) used.add(arg);
  }
  return used;
}

/** A printer of a kernel that adds its lines to a list. */
export function newPrinter(given: PrinterParts, sheet: Lines): Printer {
  const { kernel, module, source } = given;
  const registers = newRegisters();
  const known = new Map<Value, readonly string[]>();
  const used = usedValues(kernel);
  const seen = seenBits(kernel);
  let labels = 0;
  const typeOf = (value: Value): Type => kernel.insts[value]!.type;
  const lanes = (value: Value): readonly string[] => {
    sheet.unit.reads.add(value);
    const have = known.get(value);
    if (have) return have;
    const inst = kernel.insts[value]!;
    if (inst.op === 'const') return [constant(inst)];
    const type = inst.type;
    const made = isVector(type) ? Array.from({ length: lanesOf(type) }, () => registers.make(elementOf(type))) : [registers.make(type)];
    known.set(value, made);
    return made;
  };
  const constant = ({ type, bits }: InstOf<'const'>): string => {
    const made = registers.make(type);
    const text = type === 'i1' ? String(bits) : (immediate(type, bits) ?? `0x${bits.toString(16)}`);
    p.line(`mov.${moveType(type)} ${made}, ${text};`);
    return made;
  };
  const p: Printer = {
    ...given,
    registers,
    asm: { inputs: new Map(), outputs: new Map() },
    block: 0,
    line: (text) => void sheet.unit.lines.push(text.startsWith('$') && text.endsWith(':') ? text : `\t${text}`),
    label: () => `$L_${++labels}`,
    typeOf,
    reg: (value) => lanes(value)[0]!,
    operand(value) {
      const inst = kernel.insts[value]!;
      return (inst.op === 'const' ? immediate(inst.type, inst.bits) : undefined) ?? lanes(value)[0]!;
    },
    lanes,
    setLanes: (value, own) => void known.set(value, own),
    temp: (type) => registers.make(isPointer(type) ? 'i64' : type),
    needs: (ptx) => {
      module.version = Math.max(module.version, ptx);
    },
    refuse(value, what, why) {
      const span = kernel.locs[value];
      const places = { ...(span ? { span } : {}), help: ptxHelp };
      sheet.unit.refusals.push(
        () => void module.diagnostics.report('CM2090', { what, target: `PTX of ${module.architecture}`, why }, places),
      );
    },
    written(value) {
      const span = kernel.locs[value];
      // Code behind the source is of our own libraries.
      return source && span && span.end <= source.text.length ? source.text.slice(span.start, span.end) : undefined;
    },
    isUsed: (value) => used.has(value),
    isSeen: (value) => seen.has(value),
    held: (value) => known.get(value) ?? [],
  };
  return p;
}

const ptxHelp = 'without `--arch`, `--emit ptx` writes PTX as it is in its file';
