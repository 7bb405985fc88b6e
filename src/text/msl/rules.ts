/** The rule of each op in the Metal Shading Language: a total record. Doubles are gone before (`src/air/legalize`). */
import {
  type AtomicOp,
  bitsOf,
  bytesOf,
  elementOf,
  type InstOf,
  isPointer,
  isVector,
  lanesOf,
  type PointerType,
  type ScalarType,
  spaceOf,
  type Type,
  type Value,
} from '../../ir/index.ts';
import { atom, binary, call, cast, choice, type Expression, made, operand, strength, unary } from '../expression.ts';
import type { Language, Printer, Rules } from '../language.ts';
import { bytesOfPlace, isNarrow, scalarAt, scalarParamType } from '../memory.ts';
import { commonRules, decimal, floatComparison, integer, type OwnRules, signed } from '../rules.ts';
import { cSyntax } from '../syntax.ts';

const names: Readonly<Record<ScalarType, string>> = {
  i1: 'bool',
  i8: 'uchar',
  i16: 'ushort',
  i32: 'uint',
  i64: 'ulong',
  f16: 'half',
  bf16: 'bfloat',
  f32: 'float',
  f64: 'double',
};
const signedNames: Readonly<Record<number, string>> = { 1: 'int', 8: 'char', 16: 'short', 32: 'int', 64: 'long' };
const spaceNames: Readonly<Record<string, string>> = { global: 'device', constant: 'constant', param: 'constant' };
const windowSpaces = { shared: 'threadgroup', constant: 'constant', local: 'thread' } as const;

/** The type of a value's variable. */
export function typeName(type: Type): string {
  if (isPointer(type)) return `${spaceNames[spaceOf(type)] ?? 'thread'} uchar *`;
  return isVector(type) ? `${names[elementOf(type)]}${lanesOf(type)}` : type === 'void' ? 'void' : names[type];
}

/** The type of memory that may also be accessed as another one. */
export const memoryName = (type: ScalarType): string => (type === 'i8' ? 'uchar' : `${names[type]}_m`);

type Two = { readonly a: Value; readonly b: Value };
type Typed = { readonly type: Type };

/** bf16 computes as `float`: one more rounding does not change a result. */
const wide = (p: Printer, value: Value): Expression => (p.typeOf(value) === 'bf16' ? cast('float', p.use(value)) : p.use(value));
const rounded = (type: Type, a: Expression): Expression => (type === 'bf16' ? cast('bfloat', a) : a);

const floatBinary =
  (operator: string) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression =>
    rounded(type, binary(operator, wide(p, a), wide(p, b)));

const reciprocal = (p: Printer, { a }: { a: Value }): Expression => binary('/', atom('1.0f'), wide(p, a));

/** Functions in the namespace `precise` for `float`, which has no others of half precision. */
const floatCall =
  (name: string, isPrecise = false) =>
  (p: Printer, { a, type }: { a: Value } & Typed): Expression =>
    rounded(type, call(isPrecise && type !== 'f16' ? `precise::${name}` : name, wide(p, a)));

const extreme =
  (name: string) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression =>
    rounded(type, call(type === 'f16' ? name : `precise::${name}`, wide(p, a), wide(p, b)));

const mulhi =
  (isSigned: boolean) =>
  (p: Printer, { a, b, type }: Two & Typed): Expression => {
    if (!isSigned) return call('mulhi', p.use(a), p.use(b));
    const own = p.language.signedName(type);
    return cast(typeName(type), call('mulhi', cast(own, p.use(a)), cast(own, p.use(b))));
  };

const fromFloat =
  (isSigned: boolean) =>
  (p: Printer, { a, type }: { a: Value } & Typed, value: Value): Expression => {
    if (type === 'i1') return p.refuse(value, 'a float to a predicate', 'it has one bit');
    const to = isSigned ? signedNames[bitsOf(type)]! : typeName(type);
    const from = p.typeOf(a) === 'f32' ? p.use(a) : cast('float', p.use(a));
    const result = call(p.helper(`sat_${to}_float`), from);
    return isSigned ? cast(typeName(type), result) : result;
  };

const toFloat =
  (isSigned: boolean) =>
  (p: Printer, { a, type }: { a: Value } & Typed, value: Value): Expression => {
    const from = isSigned ? signed(p, a) : cast(typeName(p.typeOf(a)), p.use(a));
    if (type !== 'bf16') return cast(typeName(type), from);
    if (bitsOf(p.typeOf(a)) > 16) return p.refuse(value, `an integer of ${bitsOf(p.typeOf(a))} bits to bf16`, 'it would be rounded twice');
    return rounded(type, cast('float', from));
  };

function bitcast(from: Type, to: Type, a: Expression): Expression {
  const [x, y] = [typeName(from), typeName(to)];
  return x === y ? a : call(`as_type<${y}>`, a);
}

function constant(type: ScalarType, bits: bigint): Expression {
  if (type === 'i1') return atom(bits === 1n ? 'true' : 'false');
  if (type === 'f32') {
    const text = decimal('f32', bits);
    if (text === undefined) return call('as_type<float>', atom(`0x${bits.toString(16)}u`));
    return { ...atom(`${text}f`), strength: text.startsWith('-') ? strength.unary : strength.primary };
  }
  if (type === 'f16' || type === 'bf16') return call(`as_type<${typeName(type)}>`, atom(`(ushort)0x${bits.toString(16)}`));
  if (bitsOf(type) <= 16) return { ...atom(`(${typeName(type)})${integer(bits, '')}`), strength: strength.unary };
  return atom(integer(bits, type === 'i64' ? 'ul' : 'u'));
}

// ── memory ──

const lanes = (type: Type): number[] => Array.from({ length: lanesOf(type) }, (_, i) => i);

function load(p: Printer, inst: InstOf<'load'>, value: Value): Expression {
  const { type, align, volatile: isVolatile } = inst;
  if (isPointer(type)) return p.refuse(value, 'a load of a pointer', 'pointers are loaded as integers');
  const element = elementOf(type);
  const place = p.addresses.places.get(value)!;
  const bytes = bytesOf(element);
  const one = (i: number): Expression => {
    if (!isNarrow(type, align)) return scalarAt(p, value, element, isVolatile, i * bytes);
    const { space, pointer } = bytesOfPlace(p, place);
    const at = operand(pointer, strength.primary);
    const parts = Array.from({ length: bytes }, (_, k) => `((${space} uchar *)${at})[${i * bytes + k}]`);
    return made(
      bytes === 8
        ? `as_type<${names[element]}>(ulong_of(uchar4(${parts.slice(0, 4).join(', ')}), uchar4(${parts.slice(4).join(', ')})))`
        : `as_type<${names[element]}>(uchar${bytes}(${parts.join(', ')}))`,
      strength.primary,
      [pointer],
      true,
    );
  };
  if (bytes === 8 && isNarrow(type, align)) p.helper('ulong_of');
  if (!isVector(type)) {
    const at = one(0);
    const declared = place.kind === 'scalar' ? scalarParamType(p.kernel, place.param) : element;
    return declared === element ? at : bitcast(declared, element, at);
  }
  const { space, pointer } = bytesOfPlace(p, place);
  if (!isVolatile && align >= bytes * lanesOf(type) && place.kind !== 'element')
    return made(`*(${space} ${typeName(type)} *)${operand(pointer, strength.unary)}`, strength.unary, [pointer], true);
  const parts = lanes(type).map(one);
  return made(`${typeName(type)}(${parts.map(({ text }) => text).join(', ')})`, strength.primary, parts, true);
}

function store(p: Printer, inst: InstOf<'store'>, value: Value): undefined {
  const type = p.typeOf(inst.value);
  const element = elementOf(type);
  const bytes = bytesOf(element);
  const from = p.use(inst.value);
  const place = p.addresses.places.get(value)!;
  const part = (i: number): string => (isVector(type) ? `${operand(from, strength.primary)}.${'xyzw'[i]}` : from.text);
  if (isNarrow(type, inst.align)) {
    const { space, pointer } = bytesOfPlace(p, place);
    const word = `u${signedNames[8 * bytes]!}`;
    for (const i of lanes(type))
      for (let k = 0; k < bytes; k++)
        p.lines.add(
          `((${space} uchar *)${operand(pointer, strength.primary)})[${i * bytes + k}] = (uchar)(as_type<${word}>(${part(i)}) >> ${8 * k});`,
        );
    return undefined;
  }
  if (isVector(type) && !inst.volatile && inst.align >= bytes * lanesOf(type) && place.kind !== 'element') {
    const { space, pointer } = bytesOfPlace(p, place);
    p.lines.add(`*(${space} ${typeName(type)} *)${operand(pointer, strength.unary)} = ${from.text};`);
    return undefined;
  }
  for (const i of lanes(type)) p.lines.add(`${scalarAt(p, value, element, inst.volatile, i * bytes).text} = ${part(i)};`);
  return undefined;
}

// ── atomics ──

const nativeAtomics: Partial<Record<AtomicOp, { readonly name: string; readonly isSigned?: true }>> = {
  add: { name: 'atomic_fetch_add_explicit' },
  and: { name: 'atomic_fetch_and_explicit' },
  or: { name: 'atomic_fetch_or_explicit' },
  xor: { name: 'atomic_fetch_xor_explicit' },
  exch: { name: 'atomic_exchange_explicit' },
  smin: { name: 'atomic_fetch_min_explicit', isSigned: true },
  smax: { name: 'atomic_fetch_max_explicit', isSigned: true },
  umin: { name: 'atomic_fetch_min_explicit' },
  umax: { name: 'atomic_fetch_max_explicit' },
};

function atomicPlace(p: Printer, value: Value, type: string): { space: string; at: Expression } {
  const { space, pointer } = bytesOfPlace(p, p.addresses.places.get(value)!);
  return { space, at: made(`(volatile ${space} ${type} *)${operand(pointer, strength.unary)}`, strength.unary, [pointer]) };
}

const relaxed = atom('memory_order_relaxed');

function atomic(p: Printer, inst: InstOf<'atomic'>, value: Value): Expression {
  const { type, rmw } = inst;
  if (bitsOf(type) !== 32) return p.refuse(value, `an atomic of ${bitsOf(type)} bits`, 'Metal has atomics of 32 bits');
  if (rmw === 'fadd') return call('atomic_fetch_add_explicit', atomicPlace(p, value, 'atomic_float').at, p.use(inst.b), relaxed);
  const native = nativeAtomics[rmw];
  if (!native) return p.refuse(value, `an atomic \`${rmw}\``, 'it is not expanded');
  const given = bitcast(type, 'i32', p.use(inst.b));
  const { at } = atomicPlace(p, value, native.isSigned ? 'atomic_int' : 'atomic_uint');
  const result = call(native.name, at, native.isSigned ? cast('int', given) : given, relaxed);
  return bitcast('i32', type, native.isSigned ? cast('uint', result) : result);
}

function compareAndSwap(p: Printer, inst: InstOf<'cas'>, value: Value): Expression {
  const { type } = inst;
  if (bitsOf(type) !== 32) return p.refuse(value, `an atomic of ${bitsOf(type)} bits`, 'Metal has atomics of 32 bits');
  const { space, at } = atomicPlace(p, value, 'atomic_uint');
  return bitcast('i32', type, call(p.helper(`cas_${space}`), at, bitcast(type, 'i32', p.use(inst.b)), bitcast(type, 'i32', p.use(inst.c))));
}

// ── pointers ──

function param(p: Printer, { index: at, type }: InstOf<'param'>): Expression {
  const { kind } = p.kernel.params[at]!;
  if (kind === 'threadgroup') return atom(`${p.addresses.windows.get('shared')!.dynamicOffset ?? 0}ul`);
  return p.addresses.elements.has(at) ? cast(typeName(type), atom(p.parameter(at))) : atom(p.parameter(at));
}

const isOffset = (p: Printer, value: Value): boolean => p.addresses.isOffset(p.typeOf(value), value);

// ── the warp ──

const fences = 'mem_flags::mem_device | mem_flags::mem_threadgroup';

const reductions: Readonly<Record<string, { readonly name: string; readonly isSigned?: true }>> = {
  add: { name: 'simd_sum' },
  and: { name: 'simd_and' },
  or: { name: 'simd_or' },
  xor: { name: 'simd_xor' },
  smin: { name: 'simd_min', isSigned: true },
  smax: { name: 'simd_max', isSigned: true },
  umin: { name: 'simd_min' },
  umax: { name: 'simd_max' },
};

/** A warp operation is a statement of its own: which threads execute it together must not depend on the order in an expression. */
function statement(p: Printer, value: Value, expression: Expression): undefined {
  p.define(value, expression);
  return undefined;
}

const masked = (p: Printer, _: unknown, value: Value): Expression => p.refuse(value, 'a warp operation by a member mask', 'Metal has none');

const own: OwnRules = {
  param,
  variable: (p, { name, type }) => atom(`${p.addresses.windows.get(spaceOf(type as PointerType) as 'shared')!.offsets.get(name)!}ul`),
  smulhi: mulhi(true),
  umulhi: mulhi(false),
  bitrev: (p, { a, type }, value) =>
    type === 'i1' ? p.refuse(value, 'bitrev of a predicate', 'it has one bit') : call('reverse_bits', p.use(a)),
  fadd: floatBinary('+'),
  fsub: floatBinary('-'),
  fmul: floatBinary('*'),
  fdiv: floatBinary('/'),
  fma: (p, { a, b, c, type }, value) =>
    type === 'bf16' ? p.refuse(value, '`fma` on bf16', 'Metal has no function for it') : call('fma', p.use(a), p.use(b), p.use(c)),
  fsqrt: floatCall('sqrt', true),
  fneg: (p, { a }) => unary('-', p.use(a)),
  fabs: (p, { a, type }) => rounded(type, call('fabs', wide(p, a))),
  ftz: (p, { a }) => choice(binary('<', call('fabs', p.use(a)), atom('0x1p-126f')), binary('*', p.use(a), atom('0.0f')), p.use(a)),
  fmin: extreme('fmin'),
  fmax: extreme('fmax'),
  frint: floatCall('rint'),
  ftrunc: floatCall('trunc'),
  ffloor: floatCall('floor'),
  fceil: floatCall('ceil'),
  fexp2: floatCall('exp2', true),
  flog2: floatCall('log2', true),
  fsin: floatCall('sin', true),
  fcos: floatCall('cos', true),
  ftanh: floatCall('tanh', true),
  frcp: reciprocal,
  frsqrt: floatCall('rsqrt', true),
  fcmp: (p, { a, b, pred }) => {
    const type = p.typeOf(a) === 'f16' ? 'half' : 'float';
    return floatComparison(p, pred, wide(p, a), wide(p, b), type);
  },
  fptosi: fromFloat(true),
  fptoui: fromFloat(false),
  sitofp: toFloat(true),
  uitofp: toFloat(false),
  fpext: (p, { a, type }) => cast(typeName(type), p.use(a)),
  fptrunc: (p, { a, type }) => cast(typeName(type), p.use(a)),
  vec2: (p, { a, b, type }) => call(typeName(type), p.use(a), p.use(b)),
  vec4: (p, { a, b, c, d, type }) => call(typeName(type), p.use(a), p.use(b), p.use(c), p.use(d)),
  ptradd: (p, { a, b, type }, value) => binary('+', p.use(a), p.addresses.isOffset(type, value) ? p.use(b) : signed(p, b)),
  ptrtoint: (p, { a }) => (isOffset(p, a) ? p.use(a) : cast('ulong', p.use(a))),
  inttoptr: (p, { a, type }, value) => (p.addresses.isOffset(type, value) ? p.use(a) : cast(typeName(type), p.use(a))),
  load,
  store,
  atomic,
  cas: compareAndSwap,
  fence: (p, { scope }) => {
    p.lines.add(`atomic_thread_fence(${fences}, memory_order_seq_cst, thread_scope_${scope === 'block' ? 'threadgroup' : 'device'});`);
    return undefined;
  },
  clock: (p, { name }, value) =>
    p.refuse(value, name === 'time' ? 'the time (`%globaltimer`)' : 'a clock (`%clock`, `%clock64`)', 'Metal has no clock'),
  barrier: (p) => {
    p.lines.add(`threadgroup_barrier(${fences});`);
    return undefined;
  },
  shuffle: (p, { a, b, type }, value) => {
    // Metal shuffles values of up to 32 bits, and vectors of them.
    const word = { i64: 'uint2', i1: 'uint', bf16: 'ushort' }[type as string];
    const given = word === undefined ? p.use(a) : type === 'i1' ? cast(word, p.use(a)) : call(`as_type<${word}>`, p.use(a));
    const moved = call('simd_shuffle', given, cast('ushort', p.use(b)));
    return statement(
      p,
      value,
      word === undefined ? moved : type === 'i1' ? cast('bool', moved) : call(`as_type<${typeName(type)}>`, moved),
    );
  },
  ballot: (p, { a }, value) => statement(p, value, cast('uint', cast('simd_vote::vote_t', call('simd_ballot', p.use(a))))),
  reduce: (p, { a, fold }, value) => {
    const { name, isSigned } = reductions[fold]!;
    return statement(p, value, isSigned ? cast('uint', call(name, cast('int', p.use(a)))) : call(name, p.use(a)));
  },
  matmul: (p, _, value) =>
    p.refuse(value, 'a product of matrices (`--mma fast`)', 'the form of a lane in `simdgroup_matrix` is no part of the language'),
  mma: (p, _, value) => p.refuse(value, 'a product of matrices by a warp (`mma.sync`, `wmma`)', 'it was compiled for the CPU device'),
  syncwarp: (p) => {
    p.lines.add(`simdgroup_barrier(${fences});`);
    return undefined;
  },
  shufflesync: masked,
  ballotsync: masked,
  reducesync: masked,
  warpsync: masked,
};

const rules: Rules = { ...commonRules, ...own };

/** Keywords, and names of the library: a kernel or variable of the name would hide them. */
const words =
  `alignas alignof and asm auto bool break case catch char class const constexpr continue decltype default delete do double else enum
explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or private protected
public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void
volatile while xor half bfloat uchar ushort uint ulong size_t ptrdiff_t kernel vertex fragment device constant thread threadgroup metal simd
precise fast min max clamp clz ctz popcount abs fma sqrt rsqrt fabs fmin fmax rint trunc floor ceil exp2 log2 sin cos tanh exp log pow mulhi
reverse_bits select sign step mix distance length normalize dot cross reflect refract fract round sincos any all as_type packed array vec matrix
sampler texture1d texture2d texture3d atomic_uint atomic_int atomic_float main NULL INFINITY NAN shared_memory dynamic_memory local_memory
ulong_of window_at cas_device cas_threadgroup distance patch imageblock quad os_log`.split(/\s+/);

export const language: Language = {
  name: 'msl',
  syntax: cSyntax,
  rules,
  typeName,
  spaceName: (space) => spaceNames[space] ?? 'thread',
  windowSpaces,
  windowBytes(p, space, offset) {
    const { dynamicOffset, size } = p.addresses.windows.get(space)!;
    if (space !== 'shared' || dynamicOffset === undefined || size === 0) return undefined;
    const name = p.helper('window_at');
    return call(name, atom('shared_memory'), atom('dynamic_memory'), atom(`${dynamicOffset}`), offset ?? atom('0'));
  },
  memoryName,
  signedName: (type) => signedNames[bitsOf(type)]!,
  constant,
  bitcast,
  reserved: new Set(words),
};
