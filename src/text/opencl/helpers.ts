/** Helper functions of OpenCL C: the definition of each by its name, which says the operation and the type. */
import { bug } from '../../base/bug.ts';

/** A definition, and the helpers that it calls. */
export interface Helper {
  readonly text: string;
  readonly needs?: readonly string[];
}

const widths: Readonly<Record<string, number>> = { uchar: 8, ushort: 16, uint: 32, ulong: 64 };
const signedOf: Readonly<Record<string, string>> = { uchar: 'char', ushort: 'short', uint: 'int', ulong: 'long' };
const bitsOfFloat: Readonly<Record<string, string>> = { float: 'uint', double: 'ulong' };

const fn = (head: string, body: string): string =>
  `static ${head} {\n${body
    .trim()
    .split('\n')
    .map((line) => `  ${line.trim() === '' ? '' : line.replace(/^ {4}/, '')}`)
    .join('\n')}\n}`;

type Make = (type: string, rest: string) => Helper;

/** Shifts and divisions of an integer type, for every operand. */
const integers: Readonly<Record<string, Make>> = {
  shl: (t) => ({ text: fn(`${t} shl_${t}(${t} a, ${t} b)`, `return b < ${widths[t]} ? (${t})(a << b) : 0;`) }),
  lshr: (t) => ({ text: fn(`${t} lshr_${t}(${t} a, ${t} b)`, `return b < ${widths[t]} ? (${t})(a >> b) : 0;`) }),
  ashr: (t) => ({
    text: fn(`${t} ashr_${t}(${t} a, ${t} b)`, `return (${t})((${signedOf[t]})a >> (b < ${widths[t]} ? b : ${widths[t]! - 1}));`),
  }),
  udiv: (t) => ({ text: fn(`${t} udiv_${t}(${t} a, ${t} b)`, `return b == 0 ? (${t})~(${t})0 : (${t})(a / b);`) }),
  urem: (t) => ({ text: fn(`${t} urem_${t}(${t} a, ${t} b)`, `return b == 0 ? a : (${t})(a % b);`) }),
  sdiv: (t) => ({
    text: fn(
      `${t} sdiv_${t}(${t} a, ${t} b)`,
      `if (b == 0) return (${t})~(${t})0;\nif (b == (${t})~(${t})0) return (${t})(0 - a);\nreturn (${t})((${signedOf[t]})a / (${signedOf[t]})b);`,
    ),
  }),
  srem: (t) => ({
    text: fn(
      `${t} srem_${t}(${t} a, ${t} b)`,
      `if (b == 0) return a;\nif (b == (${t})~(${t})0) return 0;\nreturn (${t})((${signedOf[t]})a % (${signedOf[t]})b);`,
    ),
  }),
  bitrev: (t) => ({
    text: fn(
      `${t} bitrev_${t}(${t} a)`,
      `${t} b = 0;\nfor (int i = 0; i < ${widths[t]}; i++) b |= (${t})(((a >> i) & 1) << (${widths[t]! - 1} - i));\nreturn b;`.replace(
        '((a >> i) & 1)',
        `(${t})((a >> i) & 1)`,
      ),
    ),
  }),
};

/** Comparisons and extremes of a float type. */
const floats: Readonly<Record<string, Make>> = {
  one: (t) => ({ text: fn(`bool one_${t}(${t} a, ${t} b)`, 'return a < b || a > b;') }),
  ord: (t) => ({ text: fn(`bool ord_${t}(${t} a, ${t} b)`, 'return a == a && b == b;') }),
  min: (t) => extreme(t, 'min', '<', '|'),
  max: (t) => extreme(t, 'max', '>', '&'),
};

/** The other operand of a NaN; of two zeros the one by its sign. */
function extreme(t: string, name: string, operator: string, join: string): Helper {
  const bits = bitsOfFloat[t]!;
  return {
    text: fn(
      `${t} ${name}_${t}(${t} a, ${t} b)`,
      `if (a != a) return b;\nif (b != b) return a;\nif (a == b) return as_${t}(as_${bits}(a) ${join} as_${bits}(b));\nreturn a ${operator} b ? a : b;`,
    ),
  };
}

/** `sat_int_float`: to an integer towards zero, within its range; 0 of NaN. */
function saturate(to: string, from: string): Helper {
  const isSigned = Object.values(signedOf).includes(to);
  const bits = isSigned ? widths[Object.keys(signedOf).find((name) => signedOf[name] === to)!]! : widths[to]!;
  const suffix = from === 'float' ? 'f' : '';
  const power = (exponent: number): string => `0x1p${exponent}${suffix}`;
  const most = isSigned ? `(${to})(((ulong)1 << ${bits - 1}) - 1)` : `(${to})~(${to})0`;
  const least = `(${to})((ulong)1 << ${bits - 1})`;
  const body = isSigned
    ? `if (a != a) return 0;\nif (a >= ${power(bits - 1)}) return ${most};\nif (a <= -${power(bits - 1)}) return ${least};\nreturn (${to})a;`
    : `if (a >= ${power(bits)}) return ${most};\nreturn a > 0 ? (${to})a : 0;`;
  return { text: fn(`${to} sat_${to}_${from}(${from} a)`, body) };
}

const plain: Readonly<Record<string, Helper>> = {
  float_of_half: { text: fn('float float_of_half(ushort a)', 'return vload_half(0, (const half *)&a);') },
  half_of_float: { text: fn('ushort half_of_float(float a)', 'ushort bits;\nvstore_half_rte(a, 0, (half *)&bits);\nreturn bits;') },
  half_of_double: {
    needs: ['half_of_float'],
    text: fn(
      'ushort half_of_double(double a)',
      `const ushort sign = (ushort)(as_ulong(a) >> 48) & 0x8000;
const double size = fabs(a);
if (a != a) return 0x7fff;
if (size >= 65520.0) return sign | 0x7c00;
const int exponent = max((int)(as_ulong(size) >> 52) - 1023, -14);
const double unit = as_double((ulong)(exponent + 42 + 1023) << 52);
return sign | half_of_float((float)((size + unit) - unit));`,
    ),
  },
  float_of_bfloat: { text: fn('float float_of_bfloat(ushort a)', 'return as_float((uint)a << 16);') },
  bfloat_of_float: {
    text: fn(
      'ushort bfloat_of_float(float a)',
      'const uint bits = as_uint(a);\nif (a != a) return 0x7fff;\nreturn (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);',
    ),
  },
  bfloat_of_double: {
    needs: ['bfloat_of_float'],
    text: fn(
      'ushort bfloat_of_double(double a)',
      `const float near = (float)a;
if (a != a || (double)near == a) return bfloat_of_float(near);
const uint bits = as_uint(near);
return bfloat_of_float(as_float((fabs((double)near) > fabs(a) ? bits - 1 : bits) | 1));`,
    ),
  },
  odd_fma: {
    text: `// a * b + c of numbers whose product is exact, rounded to odd, so that rounding once more is right.\n${fn(
      'double odd_fma(double a, double b, double c)',
      `const double product = a * b;
const double sum = product + c;
const double part = sum - product;
const double error = (product - (sum - part)) + (c - part);
const ulong bits = as_ulong(sum);
if (!(fabs(sum) < INFINITY) || error == 0 || (bits & 1) != 0) return sum;
return as_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);`,
    )}`,
  },
  device_fence: {
    text: `#if __OPENCL_C_VERSION__ >= 200\n${fn(
      'void device_fence(void)',
      'atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);',
    )}\n#else\n${fn('void device_fence(void)', 'mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);')}\n#endif`,
  },
};

const loopUpdates: Readonly<Record<string, (t: string) => string>> = {
  inc: (t) => `old >= value ? 0 : (${t})(old + 1)`,
  dec: (t) => `old == 0 || old > value ? value : (${t})(old - 1)`,
  add: (t) => `(${t})(old + value)`,
  and: () => 'old & value',
  or: () => 'old | value',
  xor: () => 'old ^ value',
  exch: () => 'value',
  smin: (t) => `(${signedOf[t]})old < (${signedOf[t]})value ? old : value`,
  smax: (t) => `(${signedOf[t]})old > (${signedOf[t]})value ? old : value`,
  umin: () => 'old < value ? old : value',
  umax: () => 'old > value ? old : value',
  'fadd.f32': () => 'as_uint(as_float(old) + as_float(value))',
  'fadd.flush': () => 'flushed(as_uint(as_float(flushed(old)) + as_float(flushed(value))))',
  'fadd.f64': () => 'as_ulong(as_double(old) + as_double(value))',
  'fadd.f16': () => 'half_of_float(float_of_half(old) + float_of_half(value))',
  'fadd.bf16': () => 'bfloat_of_float(float_of_bfloat(old) + float_of_bfloat(value))',
};

const loopNeeds: Readonly<Record<string, readonly string[]>> = {
  'fadd.flush': ['flushed'],
  'fadd.f16': ['half_of_float', 'float_of_half'],
  'fadd.bf16': ['bfloat_of_float', 'float_of_bfloat'],
};

/** `loop inc uint global`: an atomic as a loop of compare-and-swap. */
function atomicLoop(update: string, t: string, space: string): Helper {
  const name = loopName(update, t, space);
  const swap = t === 'ushort' ? `cas_ushort_${space}` : t === 'ulong' ? 'atom_cmpxchg' : 'atomic_cmpxchg';
  return {
    needs: [...(loopNeeds[update] ?? []), ...(t === 'ushort' ? [`cas ushort ${space}`] : [])],
    text: fn(
      `${t} ${name}(volatile __${space} ${t} *at, ${t} value)`,
      `${t} old = *at;
for (;;) {
  const ${t} found = ${swap}(at, old, ${loopUpdates[update]!(t)});
  if (found == old) return old;
  old = found;
}`,
    ),
  };
}

/** The name of the function of an atomic loop. */
export const loopName = (update: string, t: string, space: string): string => `atomic_${update.replace('.', '_')}_${t}_${space}`;

/** 16 bits are swapped with the word around them. */
const narrowCas = (space: string): Helper => ({
  text: fn(
    `ushort cas_ushort_${space}(volatile __${space} ushort *at, ushort wanted, ushort value)`,
    `volatile __${space} uint *word = (volatile __${space} uint *)((size_t)at & ~(size_t)3);
const uint shift = ((uint)(size_t)at & 2) * 8;
uint old = *word;
for (;;) {
  const ushort now = (ushort)(old >> shift);
  if (now != wanted) return now;
  const uint found = atomic_cmpxchg(word, old, (old & ~(0xffffu << shift)) | ((uint)value << shift));
  if (found == old) return now;
  old = found;
}`,
  ),
});

const flushed: Helper = { text: fn('uint flushed(uint bits)', 'return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;') };

/** The name that a helper is called by. */
export function helperName(key: string): string {
  const [kind, first, second, third] = key.split(' ');
  if (kind === 'loop') return loopName(first!, second!, third!);
  return kind === 'cas' ? `cas_${first}_${second}` : key;
}

/** The definition of a helper by its key. */
export function helperOf(key: string): Helper {
  const [kind, first, second, third] = key.split(' ');
  if (kind === 'loop') return atomicLoop(first!, second!, third!);
  if (kind === 'cas') return narrowCas(second!);
  if (key === 'flushed') return flushed;
  if (plain[key]) return plain[key];
  const [name, ...rest] = key.split('_');
  if (name === 'sat') return saturate(rest[0]!, rest[1]!);
  const make = integers[name!] ?? floats[name!];
  return make ? make(rest.join('_'), '') : bug(`no helper ${key}`);
}
