/**
 * Loads and stores. An access whose alignment is less than that of PTX becomes several; vectors become vector accesses where they are
 * aligned as a whole.
 * Source: PTX ISA 9.0, 5.4.4 (vectors), 6.4.1 (alignment), 9.7.9.8 (`ld`), 9.7.9.11 (`st`).
 */
import type { Atomicity, InstructionOf, Type } from '../../bitcode/index.ts';
import { bytesOf, type Part, type PlacedPart, partsOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { spaceNumbers, spaceWords } from '../spaces.ts';
import { classOf, emit, type FunctionState, into, newRegister, type Place, registerFor } from '../state.ts';
import { addressText, inRegister, placeOf, registersFor } from '../values.ts';
import { containerBits, intPrefix, resized } from './integers.ts';

/** How an access is made, besides its type. */
export interface Access {
  readonly at: Place;
  /** Known alignment of the address in bytes. */
  readonly align: number;
  /** `.volatile` or an order and a scope, in front of the state space. */
  readonly order: string;
}

const scopeWords: Readonly<Record<string, string>> = { '': 'sys', device: 'gpu', block: 'cta', cluster: 'cluster', singlethread: 'cta' };

/** The scope of an atomic access, with its dot. Source: LLVM's NVPTX usage guide, "NVPTX memory scopes". */
export const scopeOf = ({ scope }: Atomicity): string => `.${scopeWords[scope] ?? refuse(`the scope \`${scope}\``)}`;

/** Memory that only one thread sees, or that is never written, has no order. */
export const isUnordered = ({ space }: Place): boolean =>
  space === spaceNumbers.local || space === spaceNumbers.constant || space === spaceNumbers.param;

function orderOf(s: FunctionState, inst: InstructionOf<'load' | 'store'>, at: Place): string {
  if (isUnordered(at)) return '';
  const { atomic } = inst;
  if (!atomic) return inst.isVolatile ? '.volatile' : '';
  const scope = scopeOf(atomic);
  if (atomic.order === 'seq_cst') emit(s, `fence.sc${scope}`);
  const isRelaxed = atomic.order === 'monotonic' || atomic.order === 'unordered';
  return `${isRelaxed ? '.relaxed' : inst.op === 'load' ? '.acquire' : '.release'}${scope}`;
}

/** A load instruction. */
export function selectLoad(s: FunctionState, inst: InstructionOf<'load'>): readonly string[] {
  const at = placeOf(s, inst.pointer);
  return loadParts(s, inst.type, { at, align: inst.align, order: orderOf(s, inst, at) });
}

/** A store instruction. */
export function selectStore(s: FunctionState, inst: InstructionOf<'store'>): void {
  const at = placeOf(s, inst.pointer);
  const values = registersFor(s, inst.value);
  storeParts(s, inst.value.type, values, { at, align: inst.align, order: orderOf(s, inst, at) });
}

/** The parts of a value in memory. */
export function loadParts(s: FunctionState, type: Type, access: Access): string[] {
  return groupsOf(type, access.align).flatMap((group) => {
    if (group.length > 1) return loadVector(s, group, access);
    return [loadPart(s, group[0]!, access)];
  });
}

/** Writes parts, which are registers, to memory. */
export function storeParts(s: FunctionState, type: Type, values: readonly string[], access: Access): void {
  let next = 0;
  for (const group of groupsOf(type, access.align)) {
    const own = values.slice(next, next + group.length);
    next += group.length;
    if (group.length > 1) {
      const list = own.map((text, i) => asMemory(s, text, group[i]!.part)).join(', ');
      emit(
        s,
        `st${words(access)}.v${group.length}.${memoryType(group[0]!.part)} ${addressText(s, access.at, group[0]!.offset)}, {${list}}`,
      );
    } else storePart(s, group[0]!, own[0]!, access);
  }
}

const words = ({ at, order }: Access): string => `${order}${spaceWords[at.space] ?? refuse(`state space ${at.space}`)}`;

/** Parts that one instruction accesses. */
function groupsOf(type: Type, align: number): PlacedPart[][] {
  const parts = partsOf(type);
  if (type.kind !== 'vector' && !(type.kind === 'int' && type.bits === 128)) return parts.map((part) => [part]);
  if (type.kind === 'vector' && type.element.kind === 'int' && type.element.bits < 8) return refuse('a vector of predicates in memory');
  const bytes = bytesOf(parts[0]!.part);
  const isWhole = Number.isInteger(Math.log2(bytes));
  const size = [4, 2].find((n) => isWhole && n * bytes <= 16 && parts.length % n === 0 && align % (n * bytes) === 0) ?? 1;
  return Array.from({ length: parts.length / size }, (_, i) => parts.slice(i * size, (i + 1) * size));
}

/** The type of an access to a part of 1, 2, 4 or 8 bytes. */
function memoryType(part: Part): string {
  if (part.kind === 'float') return part.name === 'float' ? 'f32' : part.name === 'double' ? 'f64' : 'b16';
  return `u${8 * bytesOf(part)}`;
}

function loadVector(s: FunctionState, group: readonly PlacedPart[], access: Access): string[] {
  const registers = group.map(({ part }) => registerFor(s, part));
  emit(
    s,
    `ld${words(access)}.v${group.length}.${memoryType(group[0]!.part)} {${registers.join(', ')}}, ${addressText(s, access.at, group[0]!.offset)}`,
  );
  return registers;
}

/** The alignment of a part: that of the whole, less what its offset takes. */
function alignAt(align: number, offset: number): number {
  const known = align === 0 ? 1 : align;
  return offset === 0 ? known : Math.min(known, offset & -offset);
}

const isPlain = (bytes: number, align: number): boolean => align % bytes === 0 && Number.isInteger(Math.log2(bytes));

function loadPart(s: FunctionState, { part, offset }: PlacedPart, access: Access): string {
  const bytes = bytesOf(part);
  if (!isPlain(bytes, alignAt(access.align, offset))) return fromBits(s, loadPieces(s, bytes, offset, access), bytes, part);
  if (part.kind === 'int' && part.bits === 1) {
    const byte = into(s, 'rs', `ld${words(access)}.u8`, addressText(s, access.at, offset));
    return into(s, 'p', 'setp.ne.u16', into(s, 'rs', 'and.b16', byte, 1), 0);
  }
  return into(s, classOf(part), `ld${words(access)}.${memoryType(part)}`, addressText(s, access.at, offset));
}

function storePart(s: FunctionState, { part, offset }: PlacedPart, text: string, access: Access): void {
  const bytes = bytesOf(part);
  if (!isPlain(bytes, alignAt(access.align, offset))) return storePieces(s, toBits(s, text, part), bytes, offset, access);
  emit(s, `st${words(access)}.${memoryType(part)} ${addressText(s, access.at, offset)}, ${asMemory(s, text, part)}`);
}

/** The register that is stored for a part: a predicate is a byte. */
function asMemory(s: FunctionState, text: string, part: Part): string {
  if (part.kind === 'int' && part.bits === 1) return into(s, 'rs', 'selp.b16', 1, 0, text);
  return inRegister(s, text, part);
}

/** Offsets and sizes of accesses of powers of two that together touch `bytes` bytes. */
function piecesOf(bytes: number, offset: number, align: number): { readonly at: number; readonly size: number }[] {
  const pieces: { at: number; size: number }[] = [];
  for (let at = 0; at < bytes; ) {
    const most = Math.min(alignAt(align, offset + at), bytes - at, 8);
    const size = 2 ** Math.floor(Math.log2(most));
    pieces.push({ at, size });
    at += size;
  }
  return pieces;
}

function loadPieces(s: FunctionState, bytes: number, offset: number, access: Access): string {
  const bits = 8 * bytes;
  let whole: string | undefined;
  for (const { at, size } of piecesOf(bytes, offset, access.align)) {
    const piece = into(s, intPrefix(8 * size), `ld${words(access)}.u${8 * size}`, addressText(s, access.at, offset + at));
    const wide = resized(s, piece, containerBits(8 * size), containerBits(bits));
    const moved = at === 0 ? wide : into(s, intPrefix(bits), `shl.b${containerBits(bits)}`, wide, 8 * at);
    whole = whole === undefined ? moved : into(s, intPrefix(bits), `or.b${containerBits(bits)}`, whole, moved);
  }
  return whole ?? refuse('an empty access');
}

function storePieces(s: FunctionState, whole: string, bytes: number, offset: number, access: Access): void {
  const bits = containerBits(8 * bytes);
  for (const { at, size } of piecesOf(bytes, offset, access.align)) {
    const moved = at === 0 ? whole : into(s, intPrefix(bits), `shr.u${bits}`, whole, 8 * at);
    const piece = resized(s, moved, bits, containerBits(8 * size));
    emit(s, `st${words(access)}.u${8 * size} ${addressText(s, access.at, offset + at)}, ${piece}`);
  }
}

/** A part as an integer register of its bytes. */
export function toBits(s: FunctionState, text: string, part: Part): string {
  if (part.kind === 'int') return part.bits === 1 ? into(s, 'rs', 'selp.b16', 1, 0, text) : inRegister(s, text, part);
  if (part.kind === 'pointer' || classOf(part) === 'rs') return inRegister(s, text, part);
  const bits = 8 * bytesOf(part);
  return into(s, intPrefix(bits), `mov.b${bits}`, text);
}

/** The part whose bits an integer register of its bytes holds. */
export function fromBits(s: FunctionState, register: string, bytes: number, part: Part): string {
  if (part.kind === 'int' && part.bits === 1) return into(s, 'p', 'setp.ne.u16', into(s, 'rs', 'and.b16', register, 1), 0);
  if (part.kind !== 'float' || classOf(part) === 'rs') return register;
  return into(s, classOf(part), `mov.b${8 * bytes}`, register);
}

/** New registers for the parts of a type. */
export const registersOf = (s: FunctionState, type: Type): string[] => partsOf(type).map(({ part }) => newRegister(s, classOf(part)));
