/** Prints a kernel as an entry of PTX: its blocks in order, with labels and branches, and the values of block parameters moved on the edges. */

import type { SourceFile } from '../../base/source.ts';
import {
  type Block,
  cfgOf,
  constantOf,
  convergenceOf,
  copyOf,
  type Edge,
  edgesOf,
  isVector,
  type Kernel,
  printListBytes,
  printListName,
  renumber,
  specOf,
  type Value,
} from '../../ir/index.ts';
import type { LocPlaces } from './loc.ts';
import { inOrder, type Move } from './moves.ts';
import { type Module, newPrinter, type Printer } from './printer.ts';
import { typeOfRegister } from './registers.ts';
import { rules } from './rules.ts';
import { handedOn } from './values.ts';
import { identifier, parameterDeclarations, parameterNames, variableNames } from './variables.ts';

/** What the source says of an entry: the declarations of its parameters, and its directives. */
export interface Declared {
  /** For a name. */
  readonly params: readonly ((name: string) => string)[];
  readonly directives: readonly string[];
  /** `.visible ` or the like. */
  readonly linkage: string;
}

export interface KernelOptions {
  readonly source?: SourceFile | undefined;
  readonly declared?: Declared | undefined;
  readonly loc?: LocPlaces | undefined;
}

/** The text of a kernel, which is not changed; what PTX does not have is reported (CM2090). */
export function kernelText(original: Kernel, module: Module, { source, declared, loc }: KernelOptions): string {
  const kernel = copyOf(original);
  inFlowOrder(kernel);
  const sheet = newSheet(kernel);
  const areConstantsGlobal = kernel.params.some(({ kind, space }) => kind === 'pointer' && space === 'constant');
  const names = parameterNames(kernel);
  const variables = variableNames(kernel, module, areConstantsGlobal);
  const p = newPrinter(
    {
      module,
      kernel,
      source,
      areConstantsGlobal,
      convergent: kernel.head === undefined ? convergenceOf(kernel, true).blocks : new Uint8Array(kernel.blocks.length),
      parameter: (index) => names[index]!,
      variable: (name) => variables.names.get(name)!,
    },
    sheet,
  );
  const handed = handedOn(kernel);
  if (handed !== undefined) p.refuse(handed, 'an address of a parameter', 'it is handed on, and may be in one of several');
  writeBlocks(p, sheet, loc);
  const lines = withoutRepeats(sheet.lines());
  const head = declared?.directives ?? limits(kernel);
  const params = declared?.params.map((declaration, i) => declaration(names[i]!)) ?? parameterDeclarations(kernel, names);
  const own = [...p.registers.declarations(), ...variables.own];
  if (kernel.params.some(({ name }) => name === printListName)) own.push(`.local .align 8 .b8 printed[${printListBytes - 8}];`);
  if (kernel.head !== undefined) return [kernel.head, ...bodyText(own, lines)].join('\n');
  return [
    `${declared?.linkage ?? '.visible '}.entry ${identifier(kernel.name)}(${params.length > 0 ? `\n\t${params.join(',\n\t')}\n` : ''})`,
    ...head,
    ...bodyText(own, lines),
  ].join('\n');
}

const bodyText = (own: readonly string[], lines: readonly string[]): string[] => [
  '{',
  ...own.map((line) => `\t${line}`),
  '',
  ...withoutLabels(lines),
  '}',
  '',
];

/** Lines without the labels that no branch names. */
function withoutLabels(lines: readonly string[]): string[] {
  const named = new Set(lines.flatMap((line) => /\bbra (\S+);$/.exec(line)?.[1] ?? []));
  return lines.filter((line) => !line.startsWith('$') || named.has(line.slice(0, -1)));
}

/** The bounds of launches of a kernel that was not PTX. */
const limits = ({ maxThreads, requiredThreads }: Kernel): string[] =>
  requiredThreads ? [`.reqntid ${requiredThreads.join(', ')}`] : maxThreads === undefined ? [] : [`.maxntid ${maxThreads}, 1, 1`];

/** Orders blocks so that values come before their uses. */
function inFlowOrder(kernel: Kernel): void {
  kernel.blocks = cfgOf(kernel).order.map((id) => kernel.blocks[id]!);
  renumber(kernel);
}

/** The lines of an instruction, or of the end of a block, with the values whose registers they read. */
interface Unit {
  /** The instruction; undefined for what is always there. */
  readonly value: Value | undefined;
  readonly lines: string[];
  readonly reads: Set<Value>;
  readonly refusals: (() => void)[];
}

/** Collects the lines of a kernel, and leaves out those of values that no line reads. */
export interface Sheet {
  unit: Unit;
  readonly units: Unit[];
  begin(value: Value | undefined): void;
  lines(): string[];
}

function newSheet(kernel: Kernel): Sheet {
  const newUnit = (value: Value | undefined): Unit => ({ value, lines: [], reads: new Set(), refusals: [] });
  const first = newUnit(undefined);
  const sheet: Sheet = {
    unit: first,
    units: [first],
    begin(value) {
      sheet.unit = newUnit(value);
      sheet.units.push(sheet.unit);
    },
    lines() {
      const byValue = new Map(sheet.units.map((unit) => [unit.value, unit]));
      const isPure = ({ value }: Unit): boolean =>
        value !== undefined && ['pure', 'reads'].includes(specOf(kernel.insts[value]!.op).effect);
      const isVolatile = ({ value }: Unit): boolean => {
        const inst = value === undefined ? undefined : kernel.insts[value]!;
        return inst?.op === 'load' && inst.volatile;
      };
      const wanted = new Set(sheet.units.filter((unit) => !isPure(unit) || isVolatile(unit)));
      for (const unit of wanted)
        for (const value of unit.reads) {
          const other = byValue.get(value);
          if (other) wanted.add(other);
        }
      for (const { refusals } of wanted) for (const refuse of refusals) refuse();
      return sheet.units.flatMap((unit) => (wanted.has(unit) ? unit.lines : []));
    },
  };
  return sheet;
}

function writeBlocks(p: Printer, sheet: Sheet, loc: LocPlaces | undefined): void {
  const { kernel } = p;
  const parts = kernel.blocks.map((block, id): { readonly body: readonly Unit[]; readonly end: Unit } => {
    p.block = id;
    const from = sheet.units.length;
    sheet.begin(undefined);
    p.line(`${labelOf(block)}:`);
    for (const value of block.body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'const') continue;
      sheet.begin(value);
      const place = loc?.(kernel.locs[value]);
      if (place !== undefined) p.line(place);
      const before = sheet.unit.lines.length;
      (rules[inst.op] as (p: Printer, inst: unknown, value: Value) => void)(p, inst, value);
      if (sheet.unit.lines.length === before) sheet.unit.lines.length = 0;
    }
    sheet.begin(undefined);
    return { body: sheet.units.slice(from, -1), end: sheet.unit };
  });
  // Ends follow when it is known which registers each block names.
  const named = parts.map(({ body }, id) => namedRegisters(p, kernel.blocks[id]!, body));
  parts.forEach(({ end }, id) => {
    p.block = id;
    sheet.unit = end;
    writeEnd(p, kernel.blocks[id]!, kernel.blocks[id + 1], named);
  });
}

/** The registers that the lines of a block name, and that its end reads. */
function namedRegisters(p: Printer, { end }: Block, units: readonly Unit[]): Set<string> {
  const found = new Set(units.flatMap(({ lines }) => lines.flatMap((line) => line.match(/%[a-z]+\d+/g) ?? [])));
  const read = end.op === 'ret' ? [] : end.op === 'br' ? end.to.args : [end.cond, ...end.then.args, ...end.else.args];
  const inst = end.op === 'condbr' ? p.kernel.insts[end.cond]! : undefined;
  for (const value of inst?.op === 'xor' ? [...read, inst.a] : read) for (const register of p.held(value)) found.add(register);
  return found;
}

/** Lines without those `.loc` that name the place once more. */
function withoutRepeats(lines: readonly string[]): string[] {
  let place: string | undefined;
  return lines.filter((line) => {
    if (!line.startsWith('\t.loc ')) return true;
    const isNew = line !== place;
    place = line;
    return isNew;
  });
}

const labelOf = ({ id }: Block): string => `$L_B${id}`;

/** Writes the end of a block. `named` are the registers that blocks name, by block. */
function writeEnd(p: Printer, { end }: Block, next: Block | undefined, named: readonly ReadonlySet<string>[]): void {
  if (end.op === 'ret') return p.line('ret;');
  if (end.op === 'br') return writeEdge(p, end.to, next);
  const { cond, then, else: otherwise } = end;
  const inst = p.kernel.insts[cond]!;
  const isInverted = inst.op === 'xor' && constantOf(p.kernel, inst.b) === 1n;
  const guard = (negated: boolean): string => `@${negated !== isInverted ? '!' : ''}${p.reg(isInverted ? inst.a : cond)}`;
  if (movesOf(then).length === 0 && then.block !== next) {
    p.line(`${guard(false)} bra ${labelOf(then.block)};`);
    return writeEdge(p, otherwise, next);
  }
  // Values that only one way needs are moved before the branch where that harms none of the other one, as at the end of a loop.
  for (const [edge, against, negated] of [
    [then, otherwise, false],
    [otherwise, then, true],
  ] as const) {
    if (movesOf(against).length > 0 && against.block !== next) continue;
    if (edge.block === next || !isHarmless(p, edge, against, isInverted ? (inst as { a: Value }).a : cond, named)) continue;
    writeMoves(p, edge);
    p.line(`${guard(negated)} bra ${labelOf(edge.block)};`);
    return writeEdge(p, against, next);
  }
  if (movesOf(otherwise).length === 0) {
    p.line(`${guard(true)} bra ${labelOf(otherwise.block)};`);
    return writeEdge(p, then, next);
  }
  const other = p.label();
  p.line(`${guard(true)} bra ${other};`);
  writeEdge(p, then, undefined);
  p.line(`${other}:`);
  writeEdge(p, otherwise, next);
}

/** The parameters that a jump gives other values. */
const movesOf = ({ block, args }: Edge): (readonly [to: Value, from: Value])[] =>
  block.params.flatMap((param, i) => (args[i] === param ? [] : [[param, args[i]!] as const]));

/** Blocks that are searched for a register at most; beyond that it may be anywhere. */
const maxSearchedBlocks = 4000;

/**
 * Whether the moves of an edge change no register that the other way reads, or the condition. On the other way registers of the edge's block count until
 * it is entered again, which sets them; a line may read the register that a value was computed from.
 */
function isHarmless(p: Printer, edge: Edge, other: Edge, cond: Value, named: readonly ReadonlySet<string>[]): boolean {
  const targets = movesOf(edge).flatMap(([to]) => p.lanes(to));
  const isChanged = (registers: Iterable<string>): boolean => {
    const all = new Set(registers);
    return targets.some((register) => all.has(register));
  };
  if (isChanged([cond, ...other.args].flatMap((value) => p.held(value)))) return false;
  const reached = new Set([other.block]);
  for (const block of reached) {
    if (block === edge.block) continue;
    if (reached.size > maxSearchedBlocks || isChanged(named[block.id]!)) return false;
    for (const { block: next } of edgesOf(block.end)) reached.add(next);
  }
  // It would be entered with the registers changed.
  return other.block !== edge.block;
}

/** Moves the values of an edge, and jumps unless its block is the next one. */
function writeEdge(p: Printer, edge: Edge, next: Block | undefined): void {
  writeMoves(p, edge);
  if (edge.block !== next) p.line(`bra ${labelOf(edge.block)};`);
}

function writeMoves(p: Printer, edge: Edge): void {
  const moves = movesOf(edge).flatMap(([to, from]): Move[] => {
    const targets = p.lanes(to);
    const isConstant = constantOf(p.kernel, from) !== undefined && !isVector(p.typeOf(from));
    const sources = isConstant ? [p.operand(from)] : p.lanes(from);
    return targets.map((target, i) => ({ to: target, from: sources[i]! }));
  });
  for (const { to, from } of inOrder(moves, (like) => p.registers.makeLike(like))) p.line(`mov.${typeOfRegister(to)} ${to}, ${from};`);
}
