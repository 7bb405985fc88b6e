/** Loads, stores and atomics as PTX. */
import {
  bytesOf,
  constantOf,
  elementOf,
  type InstOf,
  isPointer,
  isVector,
  lanesOf,
  printedStringAlign,
  printListBytes,
  printListName,
  type ScalarType,
  type Type,
  type Value,
} from '../../ir/index.ts';
import { addressText, genericAddress, placeOf, stateSpace } from './addresses.ts';
import { callAssertion, callPrintf } from './calls.ts';
import type { Printer, Rule, Rules } from './printer.ts';
import { moveType } from './registers.ts';

/** The type of an access to memory. */
function memoryType(type: Type): string {
  if (isPointer(type)) return 'u64';
  return { i8: 'u8', i16: 'u16', i32: 'u32', i64: 'u64', f16: 'b16', bf16: 'b16', f32: 'f32', f64: 'f64' }[type as string] ?? 'b32';
}

/** Words of the source that have no effect on results: how accesses are cached. */
const cacheWords = {
  ld: /^(?:@\S+\s+)?ld\.[\w:.]*?\b(nc|ca|cg|cs|cv|lu)\b/,
  st: /^(?:@\S+\s+)?st\.[\w:.]*?\b(cg|cs|wb|wt)\b/,
} as const;

/** The space of an access, with how the source caches it. */
function cached(p: Printer, value: Value, name: 'ld' | 'st', space: string): string {
  const word = space === 'global' ? cacheWords[name].exec(p.written(value) ?? '')?.[1] : undefined;
  return word === undefined ? space : `${space}.${word}`;
}

/** How many elements an access of a vector moves at a time. */
function lanesAtOnce(type: Type, align: number): number {
  if (!isVector(type)) return 1;
  const size = bytesOf(elementOf(type));
  for (let count = lanesOf(type); count > 1; count /= 2) if (count * size <= 16 && align % (count * size) === 0) return count;
  return 1;
}

const braced = (registers: readonly string[]): string => (registers.length === 1 ? registers[0]! : `{${registers.join(', ')}}`);

/** Whether other threads may write memory: PTX has volatile accesses of such memory alone. */
const isSharedWithOthers = (space: string): boolean => space === 'global' || space === 'shared' || space === 'generic';

/** The word of a state space in an instruction; a generic address has none. */
const inSpace = (space: string): string => (space.startsWith('generic') ? space.slice('generic'.length) : `.${space}`);

const load: Rule<'load'> = (p, { addr, align, volatile, type }, value) => {
  const element = elementOf(type);
  const size = bytesOf(element);
  const registers = p.lanes(value);
  const space = stateSpace(p, addr);
  if (align < size) {
    for (const [i, register] of registers.entries()) loadParts(p, { addr, align, element, register, at: i * size });
    return;
  }
  const step = lanesAtOnce(type, align);
  const isVolatile = volatile && isSharedWithOthers(space);
  const prefix = `ld${isVolatile ? '.volatile' : ''}${inSpace(isVolatile ? space : cached(p, value, 'ld', space))}`;
  for (let at = 0; at < registers.length; at += step) {
    const vector = step === 1 ? '' : `.v${step}`;
    p.line(`${prefix}${vector}.${memoryType(element)} ${braced(registers.slice(at, at + step))}, [${addressText(p, addr, at * size)}];`);
  }
};

interface Narrow {
  readonly addr: Value;
  readonly align: number;
  readonly element: Type;
  readonly register: string;
  readonly at: number;
}

const partType = { 1: 'i8', 2: 'i16', 4: 'i32' } as const;

/** A load whose address is a multiple of less than its size: in parts, which are put together. */
function loadParts(p: Printer, { addr, align, element, register, at }: Narrow): void {
  const size = bytesOf(element);
  const part = partType[align as 1 | 2 | 4];
  const bits = size === 8 ? 64 : 32;
  const sum = p.temp(bits === 64 ? 'i64' : 'i32');
  for (let offset = 0; offset < size; offset += align) {
    const [loaded, wide] = [p.temp(part), p.temp(bits === 64 ? 'i64' : 'i32')];
    p.line(`ld${inSpace(stateSpace(p, addr))}.u${8 * align} ${loaded}, [${addressText(p, addr, at + offset)}];`);
    p.line(`cvt.u${bits}.u${Math.max(16, 8 * align)} ${wide}, ${loaded};`);
    if (offset === 0) p.line(`mov.b${bits} ${sum}, ${wide};`);
    else {
      p.line(`shl.b${bits} ${wide}, ${wide}, ${8 * offset};`);
      p.line(`or.b${bits} ${sum}, ${sum}, ${wide};`);
    }
  }
  p.line(size === 2 ? `cvt.u16.u32 ${register}, ${sum};` : `mov.b${bits} ${register}, ${sum};`);
}

/** A store whose address is a multiple of less than its size. */
function storeParts(p: Printer, { addr, align, element, register, at }: Narrow): void {
  const size = bytesOf(element);
  const bits = size === 8 ? 64 : 32;
  const whole = p.temp(bits === 64 ? 'i64' : 'i32');
  p.line(size === 2 ? `cvt.u32.u16 ${whole}, ${register};` : `mov.b${bits} ${whole}, ${register};`);
  for (let offset = 0; offset < size; offset += align) {
    const [moved, part] = [p.temp(bits === 64 ? 'i64' : 'i32'), p.temp(partType[align as 1 | 2 | 4])];
    p.line(`shr.u${bits} ${moved}, ${whole}, ${8 * offset};`);
    p.line(bits === 32 && align === 4 ? `mov.b32 ${part}, ${moved};` : `cvt.u${Math.max(16, 8 * align)}.u${bits} ${part}, ${moved};`);
    p.line(`st${inSpace(stateSpace(p, addr))}.u${8 * align} [${addressText(p, addr, at + offset)}], ${part};`);
  }
}

const store: Rule<'store'> = (p, inst, value) => {
  const { addr, value: stored, align, volatile } = inst;
  if (storesHidden(p, inst)) return;
  const type = p.typeOf(stored);
  const element = elementOf(type);
  const size = bytesOf(element);
  const registers = isVector(type) ? p.lanes(stored) : [p.operand(stored)];
  const space = stateSpace(p, addr);
  if (align < size) {
    const own = isVector(type) ? registers : [p.reg(stored)];
    for (const [i, register] of own.entries()) storeParts(p, { addr, align, element, register, at: i * size });
    return;
  }
  const step = lanesAtOnce(type, align);
  const isVolatile = volatile && isSharedWithOthers(space);
  const prefix = `st${isVolatile ? '.volatile' : ''}${inSpace(isVolatile ? space : cached(p, value, 'st', space))}`;
  for (let at = 0; at < registers.length; at += step) {
    const vector = step === 1 ? '' : `.v${step}`;
    p.line(`${prefix}${vector}.${memoryType(element)} [${addressText(p, addr, at * size)}], ${braced(registers.slice(at, at + step))};`);
  }
};

/** A store that is no access: of the number of a fault, and of the arguments of `printf`. */
function storesHidden(p: Printer, { addr, value: stored, align }: InstOf<'store'>): boolean {
  const { base, offset } = placeOf(p, addr);
  const inst = p.kernel.insts[base]!;
  if (inst.op !== 'param') return false;
  const { faults, formats, name } = p.kernel.params[inst.index]!;
  const number = constantOf(p.kernel, stored);
  if (faults && number !== undefined) {
    const why = faults[Number(number) - 1] ?? '';
    if (/^assertion /.test(why)) callAssertion(p, why);
    else p.line('trap;');
    return true;
  }
  if (!formats || name !== printListName) return false;
  if (offset === 0n && number !== undefined) callPrintf(p, formats[Number(number) - 1]!);
  else if (offset >= 8n && offset < BigInt(printListBytes)) {
    const text = align === printedStringAlign ? stringAddress(p, stored) : p.operand(stored);
    p.line(`st.local.${memoryType(p.typeOf(stored))} [printed${offset === 8n ? '' : `+${offset - 8n}`}], ${text};`);
  }
  return true;
}

/** Numbers from here on are addresses with the tag of a state space (`src/lower/passes/tagged-addresses.ts`). */
const firstTag = 1n << 60n;

/** The generic address of a string that is printed, of which the kernel has the number. */
function stringAddress(p: Printer, value: Value): string {
  const inst = p.kernel.insts[value]!;
  const isTag = (operand: Value): boolean => (constantOf(p.kernel, operand) ?? 0n) >= firstTag;
  const plain = inst.op === 'or' && isTag(inst.b) ? p.kernel.insts[inst.a]! : inst;
  if (plain.op === 'ptrtoint') return stateSpace(p, plain.a) === 'global' ? p.reg(value) : genericAddress(p, plain.a);
  const hasTags = p.kernel.insts.some((each) => each.op === 'or' && isTag(each.b));
  if (hasTags) p.refuse(value, 'a string that is printed', 'its address may be in several state spaces');
  return p.reg(value);
}

/** The scope of an atomic in the source, where that is not the device. */
const scopeOf = (p: Printer, value: Value): string => {
  const found = /^(?:@\S+\s+)?(?:atom|red)\.[\w:.]*?\b(cta|sys)\b/.exec(p.written(value) ?? '')?.[1];
  if (found !== undefined) p.needs(5);
  return found === undefined ? '' : `.${found}`;
};

const operations: Readonly<Record<string, readonly [name: string, letter: string]>> = {
  add: ['add', 'u'],
  and: ['and', 'b'],
  or: ['or', 'b'],
  xor: ['xor', 'b'],
  exch: ['exch', 'b'],
  smin: ['min', 's'],
  smax: ['max', 's'],
  umin: ['min', 'u'],
  umax: ['max', 'u'],
  inc: ['inc', 'u'],
  dec: ['dec', 'u'],
};

/** The first architectures with sums of floats in memory. */
const floatSums: Readonly<Record<string, readonly [sm: number, ptx: number, name: string]>> = {
  f32: [20, 2, 'add.f32'],
  f64: [60, 5, 'add.f64'],
  f16: [70, 6.3, 'add.noftz.f16'],
  bf16: [90, 7.8, 'add.noftz.bf16'],
};

const atomic: Rule<'atomic'> = (p, { a, b, rmw, type }, value) => {
  const bits = 8 * bytesOf(type);
  const isFloat = rmw === 'fadd';
  const [sm, ptx, sum] = isFloat ? (floatSums[type] ?? [999, 0, '']) : [bits === 16 ? 999 : 20, 0, ''];
  if (p.module.sm < sm || bits < 16)
    return p.refuse(value, `an atomic of ${type}`, sm === 999 || bits < 16 ? 'PTX has none' : `it needs sm_${sm}`);
  if (ptx > 0) p.needs(ptx);
  const [name, letter] = operations[rmw] ?? ['', ''];
  const text = isFloat ? sum : `${name}.${letter}${bits}`;
  const isUsed = p.isUsed(value) || rmw === 'exch';
  const head = `${isUsed ? 'atom' : 'red'}${scopeOf(p, value)}${inSpace(stateSpace(p, a))}.${text}`;
  const given = isFloat ? p.reg(b) : asBits(p, b);
  if (!isUsed) return p.line(`${head} [${addressText(p, a)}], ${given};`);
  withBits(p, value, isFloat, (d) => p.line(`${head} ${d}, [${addressText(p, a)}], ${given};`));
};

/** The bits of a float in a register of bits; other operands as they are. */
function asBits(p: Printer, value: Value): string {
  const type = p.typeOf(value);
  if (type !== 'f32' && type !== 'f64') return p.operand(value);
  const made = p.temp(type === 'f32' ? 'i32' : 'i64');
  p.line(`mov.b${type === 'f32' ? 32 : 64} ${made}, ${p.reg(value)};`);
  return made;
}

/** Lets an instruction write bits, which become the value. */
function withBits(p: Printer, value: Value, isPlain: boolean, write: (register: string) => void): void {
  const type = p.typeOf(value) as ScalarType;
  if (isPlain || moveType(type).startsWith('b')) return write(p.reg(value));
  const made = p.temp(type === 'f32' ? 'i32' : 'i64');
  write(made);
  p.line(`mov.b${type === 'f32' ? 32 : 64} ${p.reg(value)}, ${made};`);
}

const exchange: Rule<'cas'> = (p, { a, b, c, type }, value) => {
  const bits = 8 * bytesOf(type);
  if (bits < 16 || (bits === 16 && p.module.sm < 70))
    return p.refuse(value, `a comparison and exchange of ${type}`, bits < 16 ? 'PTX has none' : 'it needs sm_70');
  if (bits === 16) p.needs(6.3);
  const head = `atom${scopeOf(p, value)}${inSpace(stateSpace(p, a))}.cas.b${bits}`;
  const [given, put] = [asBits(p, b), asBits(p, c)];
  withBits(p, value, false, (d) => p.line(`${head} ${d}, [${addressText(p, a)}], ${given}, ${put};`));
};

/** A fence of the source stays as strong as it is there; around an access in an order it has that order. */
const fence: Rule<'fence'> = (p, { scope }, value) => {
  const text = p.written(value) ?? '';
  const own = /\b(?:membar|fence)\.[\w.]+/.exec(text)?.[0];
  if (own !== undefined && /^(?:membar\.(?:cta|gl|sys)|fence\.(?:sc|acq_rel)\.(?:cta|gpu|sys))$/.test(own)) {
    if (own.startsWith('fence')) p.needs(6);
    return p.line(`${own};`);
  }
  const isOfAccess = /\.(?:acquire|release|acq_rel)\b/.test(text);
  if (!isOfAccess || p.module.sm < 70)
    return p.line(scope === 'block' ? 'membar.cta;' : text.includes('.sys') ? 'membar.sys;' : 'membar.gl;');
  p.needs(6);
  p.line(`fence.acq_rel.${scope === 'block' ? 'cta' : text.includes('.sys') ? 'sys' : 'gpu'};`);
};

export const accessRules = { load, store, atomic, cas: exchange, fence } satisfies Partial<Rules>;
