/**
 * Values in place of the memory that carries arguments and results. A variable of which each access is at an offset that is
 * known falls into parts, such that every access is of whole parts: a read of another width than the write is composed of the bits
 * of the parts. Variables whose address escapes stay in memory.
 */
import {
  type Block,
  type Builder,
  bitsOf,
  builder,
  bytesOf,
  edgesOf,
  elementOf,
  type Inst,
  intOf,
  isVector,
  type Kernel,
  mapBlock,
  operandsOf,
  type ScalarType,
  type Value,
} from '../../ir/index.ts';
import type { Register } from '../../ptx/index.ts';
import { asInt, reinterpret } from './convert.ts';
import { type Flow, type RegisterFile, registerFile } from './ssa.ts';

/** Bytes of a variable that are always moved as one. */
interface Part {
  readonly at: number;
  readonly bytes: number;
  readonly register: Register;
}

/** Elements of one type, one after the other, that an instruction moves. */
interface Access {
  readonly at: number;
  readonly element: ScalarType;
  readonly count: number;
}

interface Cell {
  readonly name: string;
  readonly size: number;
  readonly accesses: Access[];
  /** By their offset. */
  readonly parts: Map<number, Part>;
  isMemory: boolean;
}

/** Where a pointer points. */
interface Place {
  readonly cell: Cell;
  readonly at: number;
}

/** Promotes as many of the variables as it can, in place; returns the replacement of each value. */
export function promoteCells(kernel: Kernel, names: ReadonlySet<string>): (value: Value) => Value {
  if (names.size === 0) return (value) => value;
  const places = placesOf(kernel, names);
  const cells = new Set([...places.values()].map(({ cell }) => cell));
  for (const cell of cells) if (!cell.isMemory) cutIntoParts(cell);
  const final = rewrite(kernel, places);
  const gone = new Set([...cells].filter((cell) => !cell.isMemory).map((cell) => cell.name));
  const inUse = new Set([...cells].map((cell) => cell.name));
  kernel.variables = kernel.variables.filter(({ name }) => !names.has(name) || (inUse.has(name) && !gone.has(name)));
  return final;
}

/** The pointers into the variables, whose accesses are noted; a use of another kind leaves the variable in memory. */
function placesOf(kernel: Kernel, names: ReadonlySet<string>): Map<Value, Place> {
  const cells = new Map<string, Cell>();
  for (const { name, size } of kernel.variables)
    if (names.has(name)) cells.set(name, { name, size, accesses: [], parts: new Map(), isMemory: false });
  const places = new Map<Value, Place>();
  for (const { body, end } of kernel.blocks) {
    for (const value of body) {
      const inst = kernel.insts[value]!;
      const cell = inst.op === 'variable' ? cells.get(inst.name) : undefined;
      const place = cell ? { cell, at: 0 } : moved(kernel, inst, places);
      if (place) places.set(value, place);
      else noteUses(kernel, inst, places);
    }
    for (const { args } of edgesOf(end)) for (const arg of args) keep(places.get(arg));
  }
  return places;
}

const keep = (place: Place | undefined): void => {
  if (place) place.cell.isMemory = true;
};

/** A place that an offset leads to. */
function moved(kernel: Kernel, inst: Inst, places: ReadonlyMap<Value, Place>): Place | undefined {
  const from = inst.op === 'ptradd' ? places.get(inst.a) : undefined;
  const by = inst.op === 'ptradd' ? kernel.insts[inst.b]! : undefined;
  return from && by?.op === 'const' ? { cell: from.cell, at: from.at + Number(BigInt.asIntN(64, by.bits)) } : undefined;
}

function noteUses(kernel: Kernel, inst: Inst, places: ReadonlyMap<Value, Place>): void {
  const address = inst.op === 'load' || inst.op === 'store' ? inst.addr : undefined;
  for (const operand of operandsOf(inst)) {
    const place = places.get(operand);
    if (!place) continue;
    const access =
      operand === address && !(inst as Inst & { op: 'load' | 'store' }).volatile ? accessOf(kernel, inst, place.at) : undefined;
    if (access && fits(access, place.cell)) place.cell.accesses.push(access);
    else keep(place);
  }
}

function accessOf(kernel: Kernel, inst: Inst, at: number): Access {
  const type = inst.op === 'store' ? kernel.insts[inst.value]!.type : inst.type;
  return { at, element: elementOf(type), count: isVector(type) ? Number(type[1]) : 1 };
}

/** Whether it lies within the variable, aligned as the manual wants it. */
function fits({ at, element, count }: Access, { size }: Cell): boolean {
  const bytes = bytesOf(element) * count;
  return at >= 0 && at + bytes <= size && at % bytes === 0;
}

const elementsOf = ({ at, element, count }: Access): number[] => Array.from({ length: count }, (_, i) => at + i * bytesOf(element));

/** Aligned accesses nest or are disjoint, so that halving each range that another access ends in leads to parts. */
function cutIntoParts({ name, accesses, parts }: Cell): void {
  const ends = new Set<number>();
  const types = new Map<string, Set<ScalarType>>();
  for (const access of accesses)
    for (const at of elementsOf(access)) {
      const bytes = bytesOf(access.element);
      ends.add(at).add(at + bytes);
      const key = `${at} ${bytes}`;
      types.set(key, (types.get(key) ?? new Set()).add(access.element));
    }
  const cut = (at: number, bytes: number): void => {
    const isCut = Array.from({ length: bytes - 1 }, (_, i) => at + 1 + i).some((end) => ends.has(end));
    if (isCut) {
      cut(at, bytes / 2);
      cut(at + bytes / 2, bytes / 2);
    } else if (!parts.has(at)) {
      const [type, ...others] = types.get(`${at} ${bytes}`) ?? [];
      const held = type !== undefined && others.length === 0 ? type : intOf(8 * bytes);
      parts.set(at, { at, bytes, register: { name: `${name}+${at}`, declared: held, type: held } });
    }
  };
  for (const access of accesses) for (const at of elementsOf(access)) cut(at, bytesOf(access.element));
}

interface Rewriting {
  readonly ir: Builder;
  readonly registers: RegisterFile;
  flow: Flow;
}

function rewrite(kernel: Kernel, places: ReadonlyMap<Value, Place>): (value: Value) => Value {
  const flows = flowsOf(kernel);
  const [entry] = flows.values();
  const registers = registerFile(kernel, entry!);
  const r: Rewriting = { ir: builder(kernel, entry!.block), registers, flow: entry! };
  const replaced = new Map<Value, Value>();
  const known = (value: Value): Value => replaced.get(value) ?? value;
  for (const [block, flow] of flows) {
    r.flow = flow;
    r.ir.block = block;
    const { body } = block;
    block.body = [];
    for (const value of body) {
      if (places.get(value)?.cell.isMemory === false) continue;
      const inst = kernel.insts[value]!;
      const place = inst.op === 'load' || inst.op === 'store' ? places.get(inst.addr) : undefined;
      if (!place || place.cell.isMemory) {
        block.body.push(value);
        continue;
      }
      r.ir.loc = kernel.locs[value];
      const access = accessOf(kernel, inst, place.at);
      if (inst.op === 'store') write(r, place.cell, access, known(inst.value));
      else replaced.set(value, read(r, place.cell, access));
    }
    for (const edge of edgesOf(block.end)) flows.get(edge.block)!.edges.push({ from: flow, edge });
  }
  for (const block of kernel.blocks) mapBlock(kernel.insts, block, known);
  const final = registers.finish();
  return (value) => final(known(value));
}

/** The blocks, in the order in which control reaches them; edges are added as the blocks that they leave are filled. */
function flowsOf(kernel: Kernel): Map<Block, Flow> {
  const counts = new Map<Block, number>();
  for (const { end } of kernel.blocks) for (const { block } of edgesOf(end)) counts.set(block, (counts.get(block) ?? 0) + 1);
  return new Map(
    kernel.blocks.map((block): [Block, Flow] => [block, { block, edgeCount: counts.get(block) ?? 0, edges: [], defs: new Map() }]),
  );
}

function partsOf({ parts }: Cell, at: number, bytes: number): Part[] {
  const found: Part[] = [];
  for (let next = at; next < at + bytes; next += found.at(-1)!.bytes) found.push(parts.get(next)!);
  return found;
}

function read(r: Rewriting, cell: Cell, access: Access): Value {
  const values = elementsOf(access).map((at) => readElement(r, cell, at, access.element));
  const [x, y, z, w] = values as [Value, Value, Value, Value];
  if (values.length === 1) return x;
  return values.length === 2 ? r.ir.vec2(`v2.${access.element}`, x, y) : r.ir.vec4(`v4.${access.element}`, x, y, z, w);
}

function readElement({ ir, registers, flow }: Rewriting, cell: Cell, at: number, type: ScalarType): Value {
  const parts = partsOf(cell, at, bytesOf(type));
  const values = parts.map(({ register }) => registers.read(flow, register));
  if (parts.length === 1) return reinterpret(ir, values[0]!, type, false);
  const whole = intOf(bitsOf(type));
  const bits = parts.map((part, i) => ir.shl(ir.zext(whole, asInt(ir, values[i]!)), ir.const(whole, 8 * (part.at - at))));
  const sum = bits.reduce((a, b) => ir.or(a, b));
  return reinterpret(ir, sum, type, false);
}

function write(r: Rewriting, cell: Cell, access: Access, value: Value): void {
  for (const [lane, at] of elementsOf(access).entries()) {
    const element = access.count === 1 ? value : r.ir.extract(access.element, value, { lane });
    writeElement(r, cell, at, element);
  }
}

function writeElement({ ir, registers, flow }: Rewriting, cell: Cell, at: number, value: Value): void {
  const type = ir.typeOf(value) as ScalarType;
  for (const { at: from, bytes, register } of partsOf(cell, at, bytesOf(type))) {
    const whole = bytes === bytesOf(type) ? value : asInt(ir, value);
    const shifted = from === at ? whole : ir.lshr(whole, ir.const(intOf(bitsOf(type)), 8 * (from - at)));
    registers.write(flow, register, reinterpret(ir, shifted, register.type, false));
  }
}
