/** The rule of each op in OpenCL C: a total record. f16 and bf16 are bits in `ushort`, which compute as `float`. */
import {
  type AtomicOp,
  bitsOf,
  bytesOf,
  elementOf,
  flushesSubnormals,
  type InstOf,
  isPointer,
  isVector,
  type Kernel,
  lanesOf,
  type PointerType,
  type ScalarType,
  spaceOf,
  type Type,
  type Value,
} from '../../ir/index.ts';
import { atom, binary, call, cast, type Expression, made, operand, strength, unary } from '../expression.ts';
import type { Language, Printer, Rules } from '../language.ts';
import { bytesOfPlace, isNarrow, scalarAt, scalarParamType } from '../memory.ts';
import { commonRules, decimal, floatComparison, integer, narrowed, type OwnRules, signed } from '../rules.ts';
import { cSyntax } from '../syntax.ts';
import { wholeProduct } from './warps.ts';

const names: Readonly<Record<ScalarType, string>> = {
  i1: 'bool',
  i8: 'uchar',
  i16: 'ushort',
  i32: 'uint',
  i64: 'ulong',
  f16: 'ushort',
  bf16: 'ushort',
  f32: 'float',
  f64: 'double',
};
const signedNames: Readonly<Record<number, string>> = { 1: 'int', 8: 'char', 16: 'short', 32: 'int', 64: 'long' };
/** Address spaces of pointers. Constants that a parameter points to are in global memory. */
const spaceNames: Readonly<Record<string, string>> = { global: '__global', constant: '__global', param: '__global' };
/** Address spaces of windows. */
const windowSpaces = { shared: '__local', constant: '__constant', local: '__private' } as const;

/** The type of a value's variable. */
export function typeName(type: Type): string {
  if (isPointer(type)) return `${spaceNames[spaceOf(type)]!} uchar *`;
  return isVector(type) ? `${names[elementOf(type)]}${lanesOf(type)}` : type === 'void' ? 'void' : names[type];
}

/** The type of memory that may also be accessed as another one. */
export const memoryName = (type: ScalarType): string => (type === 'i8' ? 'uchar' : `${names[type]}_m`);

const isShort = (type: Type): boolean => type === 'f16' || type === 'bf16';
const suffixOf = (type: Type): string => (type === 'f64' ? 'double' : 'float');
const shortName = (type: Type): string => (type === 'f16' ? 'half' : 'bfloat');

/** A float operand as `float` or `double`. */
function wide(p: Printer, value: Value): Expression {
  const type = p.typeOf(value);
  return isShort(type) ? call(p.helper(`float_of_${shortName(type)}`), p.use(value)) : p.use(value);
}

/** A `float` or `double` as a type. */
const rounded = (p: Printer, type: Type, a: Expression, from = 'float'): Expression =>
  isShort(type) ? call(p.helper(`${shortName(type)}_of_${from}`), a) : a;

type Two = { readonly a: Value; readonly b: Value };
type Typed = { readonly type: Type };

const floatBinary =
  (operator: string) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression =>
    rounded(p, type, binary(operator, wide(p, a), wide(p, b)));
const reciprocal = (p: Printer, { a, type }: { a: Value } & Typed): Expression =>
  binary('/', atom(type === 'f64' ? '1.0' : '1.0f'), wide(p, a));
const floatCall =
  (name: string) =>
  (p: Printer, { a, type }: { a: Value } & Typed): Expression =>
    rounded(p, type, call(name, wide(p, a)));
const extreme =
  (name: string) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression =>
    rounded(p, type, call(p.helper(`${name}_${suffixOf(type)}`), wide(p, a), wide(p, b)));
const mulhi =
  (isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression =>
    isSigned
      ? cast(typeName(type), call('mul_hi', cast(p.language.signedName(type), p.use(a)), cast(p.language.signedName(type), p.use(b))))
      : call('mul_hi', p.use(a), p.use(b));

const fromFloat =
  (isSigned: boolean) =>
  (p: Printer, { a, type }: { a: Value } & Typed, value: Value): Expression => {
    if (type === 'i1') return p.refuse(value, 'a float to a predicate', 'it has one bit');
    const to = isSigned ? signedNames[bitsOf(type)]! : typeName(type);
    const result = call(p.helper(`sat_${to}_${suffixOf(p.typeOf(a))}`), wide(p, a));
    return isSigned ? cast(typeName(type), result) : result;
  };

const toFloat =
  (isSigned: boolean) =>
  (p: Printer, { a, type }: { a: Value } & Typed, value: Value): Expression => {
    const from = isSigned ? signed(p, a) : cast(typeName(p.typeOf(a)), p.use(a));
    if (!isShort(type)) return cast(typeName(type), from);
    const bits = bitsOf(p.typeOf(a));
    if (bits <= 16) return rounded(p, type, cast('float', from));
    if (bits === 32) return rounded(p, type, cast('double', from), 'double');
    if (type === 'bf16') return p.refuse(value, 'an integer of 64 bits to bf16', 'it would be rounded twice');
    // Above the range all numbers are infinite.
    const near = isSigned ? call('clamp', from, atom('(long)-70000'), atom('(long)70000')) : call('min', from, atom('(ulong)70000'));
    return rounded(p, type, cast('float', near));
  };

function extend(p: Printer, { a, type }: { a: Value } & Typed): Expression {
  return type === 'f64' ? cast('double', wide(p, a)) : wide(p, a);
}

function shorten(p: Printer, { a, type }: { a: Value } & Typed): Expression {
  const from = p.typeOf(a);
  if (isShort(type)) return rounded(p, type, wide(p, a), suffixOf(from));
  return cast('float', p.use(a));
}

function fused(p: Printer, { a, b, c, type }: InstOf<'fma'>): Expression {
  if (!isShort(type)) return call('fma', p.use(a), p.use(b), p.use(c));
  return rounded(p, type, call(p.helper('odd_fma'), wide(p, a), wide(p, b), wide(p, c)), 'double');
}

const sign: Readonly<Record<string, string>> = { f16: '0x8000', bf16: '0x8000' };

function bitcast(from: Type, to: Type, a: Expression): Expression {
  const [x, y] = [typeName(from), typeName(to)];
  return x === y ? a : call(`as_${y}`, a);
}

function constant(type: ScalarType, bits: bigint): Expression {
  if (type === 'i1') return atom(bits === 1n ? 'true' : 'false');
  if (type === 'f32' || type === 'f64') {
    const text = decimal(type, bits);
    const integerType = type === 'f32' ? 'uint' : 'ulong';
    if (text === undefined)
      return call(`as_${typeName(type)}`, atom(`(${integerType})0x${bits.toString(16)}${type === 'f64' ? 'ul' : ''}`));
    return { ...atom(`${text}${type === 'f32' ? 'f' : ''}`), strength: text.startsWith('-') ? strength.unary : strength.primary };
  }
  if (bitsOf(type) <= 16) return { ...atom(`(${typeName(type)})${integer(bits, '')}`), strength: strength.unary };
  return atom(integer(bits, type === 'i64' ? 'ul' : 'u'));
}

// ── memory ──

const bytesTypes: Readonly<Record<number, string>> = { 2: 'uchar2', 4: 'uchar4', 8: 'uchar8' };

function load(p: Printer, inst: InstOf<'load'>, value: Value): Expression {
  const { type, align, volatile: isVolatile } = inst;
  if (isPointer(type)) return p.refuse(value, 'a load of a pointer', 'pointers are loaded as integers');
  const element = elementOf(type);
  if (isNarrow(type, align)) return narrowLoad(p, type, value);
  const place = p.addresses.places.get(value)!;
  if (!isVector(type)) {
    const at = scalarAt(p, value, element, isVolatile);
    const declared = place.kind === 'scalar' ? scalarParamType(p.kernel, place.param) : element;
    return declared === element ? at : bitcast(declared, element, at);
  }
  const lanes = lanesOf(type);
  if (isVolatile) {
    const parts = Array.from({ length: lanes }, (_, i) => scalarAt(p, value, element, true, i * bytesOf(element)));
    return made(`(${typeName(type)})(${parts.map(({ text }) => text).join(', ')})`, strength.primary, parts, true);
  }
  const { space, pointer } = bytesOfPlace(p, place);
  return made(
    `vload${lanes}(0, (const ${space} ${names[element]} *)${operand(pointer, strength.unary)})`,
    strength.primary,
    [pointer],
    true,
  );
}

/** A load that promises less alignment than its type has, byte by byte. */
function narrowLoad(p: Printer, type: Exclude<Type, PointerType>, value: Value): Expression {
  const element = elementOf(type);
  const { space, pointer } = bytesOfPlace(p, p.addresses.places.get(value)!);
  const bytes = bytesOf(element);
  const at = (i: number): string => (i === 0 ? operand(pointer, strength.unary) : `(${pointer.text} + ${i * bytes})`);
  const one = (i: number): string => `as_${names[element]}(vload${bytes}(0, (const ${space} uchar *)${at(i)}))`;
  if (!isVector(type)) return made(one(0), strength.primary, [pointer], true);
  const parts = Array.from({ length: lanesOf(type) }, (_, i) => one(i));
  return made(`(${typeName(type)})(${parts.join(', ')})`, strength.primary, [pointer], true);
}

function store(p: Printer, inst: InstOf<'store'>, value: Value): undefined {
  const type = p.typeOf(inst.value);
  const element = elementOf(type);
  const from = p.use(inst.value);
  if (isNarrow(type, inst.align)) {
    const { space, pointer } = bytesOfPlace(p, p.addresses.places.get(value)!);
    const bytes = bytesOf(element);
    for (let i = 0; i < lanesOf(type); i++) {
      const part = isVector(type) ? `${operand(from, strength.primary)}.${'xyzw'[i]}` : from.text;
      const at = i === 0 ? operand(pointer, strength.unary) : `(${pointer.text} + ${i * bytes})`;
      p.lines.add(`vstore${bytes}(as_${bytesTypes[bytes]}(${part}), 0, (${space} uchar *)${at});`);
    }
    return undefined;
  }
  if (!isVector(type)) p.lines.add(`${scalarAt(p, value, element, inst.volatile).text} = ${from.text};`);
  else if (inst.volatile)
    for (let i = 0; i < lanesOf(type); i++)
      p.lines.add(`${scalarAt(p, value, element, true, i * bytesOf(element)).text} = ${operand(from, strength.primary)}.${'xyzw'[i]};`);
  else {
    const { space, pointer } = bytesOfPlace(p, p.addresses.places.get(value)!);
    p.lines.add(`vstore${lanesOf(type)}(${from.text}, 0, (${space} ${names[element]} *)${operand(pointer, strength.unary)});`);
  }
  return undefined;
}

// ── atomics ──

const nativeAtomics: Partial<Record<AtomicOp, { readonly name: string; readonly isSigned?: true }>> = {
  add: { name: 'add' },
  and: { name: 'and' },
  or: { name: 'or' },
  xor: { name: 'xor' },
  exch: { name: 'xchg' },
  smin: { name: 'min', isSigned: true },
  smax: { name: 'max', isSigned: true },
  umin: { name: 'min' },
  umax: { name: 'max' },
};

const bitsTypes: Readonly<Record<number, ScalarType>> = { 8: 'i8', 16: 'i16', 32: 'i32', 64: 'i64' };

/** The space of an atomic's memory, and the pointer to it. */
function atomicPlace(p: Printer, value: Value, type: string): { space: string; at: Expression } {
  const { space, pointer } = bytesOfPlace(p, p.addresses.places.get(value)!);
  return { space: space.slice(2), at: made(`(volatile ${space} ${type} *)${operand(pointer, strength.unary)}`, strength.unary, [pointer]) };
}

function atomicUpdate(kernel: Kernel, inst: InstOf<'atomic'>): string {
  if (inst.rmw !== 'fadd') return inst.rmw;
  return flushesSubnormals(kernel, inst) ? 'fadd.flush' : `fadd.${inst.type}`;
}

function atomic(p: Printer, inst: InstOf<'atomic'>, value: Value): Expression {
  const { type, rmw } = inst;
  const bits = bitsTypes[bitsOf(type)]!;
  const word = typeName(bits);
  if (bits === 'i8') return p.refuse(value, 'an atomic of 8 bits', 'OpenCL C has atomics of 32 and 64 bits');
  const plain = bits === 'i16' ? undefined : nativeAtomics[rmw];
  const given = bitcast(type, bits, p.use(inst.b));
  const prefix = bits === 'i64' ? 'atom' : 'atomic';
  if (plain) {
    const own = plain.isSigned ? signedNames[bitsOf(bits)]! : word;
    const { at } = atomicPlace(p, value, own);
    const result = call(`${prefix}_${plain.name}`, at, plain.isSigned ? cast(own, given) : given);
    return bitcast(bits, type, plain.isSigned ? cast(word, result) : result);
  }
  const { space, at } = atomicPlace(p, value, word);
  return bitcast(bits, type, call(p.helper(`loop ${atomicUpdate(p.kernel, inst)} ${word} ${space}`), at, given));
}

function compareAndSwap(p: Printer, inst: InstOf<'cas'>, value: Value): Expression {
  const { type } = inst;
  const bits = bitsTypes[bitsOf(type)]!;
  const word = typeName(bits);
  if (bits === 'i8') return p.refuse(value, 'an atomic of 8 bits', 'OpenCL C has atomics of 32 and 64 bits');
  const { space, at } = atomicPlace(p, value, word);
  const name = bits === 'i16' ? p.helper(`cas ushort ${space}`) : bits === 'i64' ? 'atom_cmpxchg' : 'atomic_cmpxchg';
  return bitcast(bits, type, call(name, at, bitcast(type, bits, p.use(inst.b)), bitcast(type, bits, p.use(inst.c))));
}

// ── pointers ──

function param(p: Printer, { index: at, type }: InstOf<'param'>): Expression {
  const { kind } = p.kernel.params[at]!;
  if (kind === 'threadgroup') return atom(`${p.addresses.windows.get('shared')!.dynamicOffset ?? 0}ul`);
  return p.addresses.elements.has(at) ? cast(typeName(type), atom(p.parameter(at))) : atom(p.parameter(at));
}

function pointerSum(p: Printer, { a, b, type }: InstOf<'ptradd'>, value: Value): Expression {
  const offset = p.addresses.isOffset(type, value) ? p.use(b) : signed(p, b);
  return binary('+', p.use(a), offset);
}

const isOffset = (p: Printer, value: Value): boolean => p.addresses.isOffset(p.typeOf(value), value);

const absentMatmul = (p: Printer, _: InstOf<'matmul'>, value: Value): Expression =>
  p.refuse(value, 'a product of matrices', 'it is not expanded');

/** Warp operations are written by the code around the parts of a body (`warps.ts`). */
const apart = (): undefined => undefined;

const own: OwnRules = {
  param,
  variable: (p, { name, type }) => atom(`${p.addresses.windows.get(spaceOf(type as PointerType) as 'shared')!.offsets.get(name)!}ul`),
  smulhi: mulhi(true),
  umulhi: mulhi(false),
  bitrev: (p, { a, type }, value) =>
    type === 'i1' ? p.refuse(value, 'bitrev of a predicate', 'it has one bit') : call(p.helper(`bitrev_${typeName(type)}`), p.use(a)),
  fadd: floatBinary('+'),
  fsub: floatBinary('-'),
  fmul: floatBinary('*'),
  fdiv: floatBinary('/'),
  fma: fused,
  fsqrt: floatCall('sqrt'),
  fneg: (p, { a, type }) => (isShort(type) ? narrowed(p, 'i16', binary('^', p.use(a), atom(sign[type]!))) : unary('-', p.use(a))),
  fabs: (p, { a, type }) => (isShort(type) ? narrowed(p, 'i16', binary('&', p.use(a), atom('0x7fff'))) : call('fabs', p.use(a))),
  ftz: (p, { a }) => call('as_float', call(p.helper('flushed'), call('as_uint', p.use(a)))),
  fmin: extreme('min'),
  fmax: extreme('max'),
  frint: floatCall('rint'),
  ftrunc: floatCall('trunc'),
  ffloor: floatCall('floor'),
  fceil: floatCall('ceil'),
  fexp2: floatCall('exp2'),
  flog2: floatCall('log2'),
  fsin: floatCall('sin'),
  fcos: floatCall('cos'),
  ftanh: floatCall('tanh'),
  frcp: reciprocal,
  frsqrt: floatCall('rsqrt'),
  fcmp: (p, { a, b, pred }) => floatComparison(p, pred, wide(p, a), wide(p, b), suffixOf(p.typeOf(a))),
  fptosi: fromFloat(true),
  fptoui: fromFloat(false),
  sitofp: toFloat(true),
  uitofp: toFloat(false),
  fpext: extend,
  fptrunc: shorten,
  vec2: (p, { a, b, type }) => made(`(${typeName(type)})(${p.use(a).text}, ${p.use(b).text})`, strength.primary, [p.use(a), p.use(b)]),
  vec4: (p, { a, b, c, d, type }) => {
    const parts = [a, b, c, d].map((each) => p.use(each));
    return made(`(${typeName(type)})(${parts.map(({ text }) => text).join(', ')})`, strength.primary, parts);
  },
  ptradd: pointerSum,
  ptrtoint: (p, { a }) => (isOffset(p, a) ? p.use(a) : cast('ulong', p.use(a))),
  inttoptr: (p, { a, type }, value) => (p.addresses.isOffset(type, value) ? p.use(a) : cast(typeName(type), p.use(a))),
  load,
  store,
  atomic,
  cas: compareAndSwap,
  fence: (p, { scope }) => {
    p.lines.add(scope === 'block' ? 'mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);' : `${p.helper('device_fence')}();`);
    return undefined;
  },
  clock: (p, { name }, value) =>
    p.refuse(value, name === 'time' ? 'the time (`%globaltimer`)' : 'a clock (`%clock`, `%clock64`)', 'OpenCL C has no clock'),
  barrier: apart,
  shuffle: apart,
  ballot: apart,
  reduce: apart,
  matmul: absentMatmul,
  mma: (p, _, value) => p.refuse(value, ...wholeProduct),
  syncwarp: apart,
  shufflesync: apart,
  ballotsync: apart,
  reducesync: apart,
  warpsync: apart,
};

const rules: Rules = { ...commonRules, ...own };

/** Keywords, and functions of the language: a kernel or variable of the name would hide them. */
const words = `auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
return short signed sizeof static struct switch typedef union unsigned void volatile while half bool true false kernel global local constant
private generic read_only write_only read_write uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t event_t image2d_t sampler_t pipe
complex imaginary asm main NULL INFINITY NAN acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh
cospi erfc erf exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma log log2 log10 log1p logb mad
maxmag minmag modf nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc
abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat max min mul_hi rotate sub_sat upsample popcount mad24 mul24 degrees mix radians
step smoothstep sign cross dot distance length normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater isless isfinite
isinf isnan isnormal isordered isunordered signbit any all bitselect select shuffle shuffle2 printf barrier mem_fence read_mem_fence
write_mem_fence prefetch async_work_group_copy wait_group_events vec_step states cells masks kinds moved alive stuck round lowest other third
isMet named mask isComplete state shared_memory constant_memory local_memory thread_number warp_first warp_last cumetal_status flushed
odd_fma device_fence`.split(/\s+/);

export const language: Language = {
  name: 'opencl',
  syntax: cSyntax,
  rules,
  typeName,
  spaceName: (space) => spaceNames[space] ?? '__private',
  windowSpaces,
  memoryName,
  signedName: (type) => signedNames[bitsOf(type)]!,
  constant,
  bitcast,
  reserved: new Set(words),
};
