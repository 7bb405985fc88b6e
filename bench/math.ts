/**
 * CUDA's math functions and intrinsics as nvcc inlines them, one row each: the PTX of nvcc against the PTX that its metallib becomes. `--prepare FOLDER`
 * makes both for a GPU, where `scripts/record/math.py` compares bits and times; here the instructions of both are counted, and with `--cpu` each function is timed on
 * the CPU device. `--only WORD` takes the functions that contain a word. With `--opaque` no compiler knows anything of the operands, which are integers with
 * a scale without it. Needs nvcc.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ptxOfMetallib } from '../spec/support/ptx-again.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile, emit } from '../src/compile/index.ts';
import { openCpuDevice } from '../src/device/index.ts';
import { launcher } from './cpu.ts';
import type { Bench, Row } from './report.ts';

/** Functions of floats by how they are called; `x` and `y` are moderate floats, `p` is one between 0 and 1, `i` a small integer. */
const calls = {
  '(x)': `acoshf asinhf atanf cbrtf ceilf cosf coshf cospif cyl_bessel_i0f cyl_bessel_i1f erfcf erfcxf erff exp10f exp2f expf expm1f fabsf floorf
    ilogbf j0f j1f lgammaf llrintf llroundf log10f log1pf log2f logbf logf lrintf lroundf nearbyintf normcdff rcbrtf rintf roundf rsqrtf sinf sinhf
    sinpif sqrtf tanf tanhf tgammaf truncf y0f y1f isnan isinf isfinite signbit __cosf __exp10f __expf __log10f __log2f __logf __saturatef __sinf __tanf
    __frcp_rn __frcp_rz __frcp_ru __frcp_rd __frsqrt_rn __fsqrt_rn __fsqrt_rz __fsqrt_ru __fsqrt_rd
    __float2int_rn __float2int_rz __float2int_ru __float2int_rd __float2uint_rn __float2ll_rn __float2half_rn`,
  '(p)': 'acosf asinf atanhf erfinvf erfcinvf normcdfinvf',
  '(x, y)': `atan2f copysignf fdimf fdividef fmaxf fminf fmodf hypotf nextafterf powf remainderf rhypotf __fdividef __powf
    __fadd_rn __fadd_rz __fadd_ru __fadd_rd __fsub_rn __fsub_rz __fsub_ru __fsub_rd __fmul_rn __fmul_rz __fmul_ru __fmul_rd
    __fdiv_rn __fdiv_rz __fdiv_ru __fdiv_rd`,
  '(x, y, p)': 'fmaf norm3df rnorm3df __fmaf_rn __fmaf_rz __fmaf_ru __fmaf_rd',
  '(x, y, p, x + y)': 'norm4df rnorm4df',
  '(x, i)': 'ldexpf scalbnf powif',
  '(i, x)': 'jnf ynf',
  '(d)': `acosh asinh atan cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcx exp exp10 exp2 expm1 fabs floor ilogb j0 j1 lgamma llrint
    llround log log10 log1p log2 logb normcdf rcbrt rint round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc y0 y1
    __drcp_rn __drcp_rz __drcp_ru __drcp_rd __dsqrt_rn __dsqrt_rz __dsqrt_ru __dsqrt_rd __double2int_rn __double2ll_rn __double2float_rz`,
  '(q)': 'acos asin atanh erfinv erfcinv normcdfinv',
  '(d, e)': `atan2 copysign fdim fmax fmin fmod hypot nextafter pow remainder rhypot __dadd_rn __dadd_rz __dadd_ru __dadd_rd __dmul_rn __dmul_rz
    __dmul_ru __dmul_rd __ddiv_rn __ddiv_rz __ddiv_ru __ddiv_rd`,
  '(d, e, q)': 'fma norm3d rnorm3d __fma_rn __fma_rz __fma_ru __fma_rd',
  '(d, i)': 'ldexp scalbn powi',
} as const;

interface MathFunction {
  readonly name: string;
  readonly call: string;
  readonly isDouble: boolean;
}

/** Whole expressions that programs have. */
const expressions: readonly MathFunction[] = [
  { name: 'sigmoid', call: '1 / (1 + expf(-x))' },
  { name: 'gelu', call: '0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)))' },
  { name: 'silu', call: 'x / (1 + __expf(-x))' },
  { name: 'quotient', call: 'x / y' },
].map((each) => ({ ...each, isDouble: false }));

/** Both functions of a name with two results. */
const pairs: readonly MathFunction[] = [
  { name: 'sincosf', call: '({ float s, c; sincosf(x, &s, &c); s + c; })', isDouble: false },
  { name: 'modff', call: '({ float w; modff(x, &w) + w; })', isDouble: false },
  { name: 'frexpf', call: '({ int e; frexpf(x, &e) + e; })', isDouble: false },
  { name: 'remquof', call: '({ int e; remquof(x, y, &e) + e; })', isDouble: false },
  { name: 'sincos', call: '({ double s, c; sincos(d, &s, &c); s + c; })', isDouble: true },
  { name: 'modf', call: '({ double w; modf(d, &w) + w; })', isDouble: true },
];

const listed = Object.entries(calls).flatMap(([args, names]) =>
  names.split(/\s+/).map((name): MathFunction => ({ name, call: `${name}${args}`, isDouble: /[dq]/.test(args) })),
);
const functions: readonly MathFunction[] = [...listed, ...pairs, ...expressions];

/** Evaluations by each thread. */
const turns = 16;

/** A kernel for a function: bits of many results in one word, so that an error anywhere is seen and memory takes no time. */
function sourceOf({ name, call, isDouble }: MathFunction, isOpaque: boolean): string {
  const bits = isDouble ? '(double)(r)' : '(float)(r)';
  const word = isDouble ? 'u64 w = __double_as_longlong(v); s = s * 31 + (u32)w + (u32)(w >> 32)' : 's = s * 31 + __float_as_uint(v)';
  const inputs = isDouble
    ? 'double p0 = z >> 8, q = (p0 + 0.5) * 0x1p-24, d = (q - 0.5) * 40, e = (double)(int)u * 0x1p-27; int i = (int)(u & 15) - 4'
    : 'float p = ((z >> 8) + 0.5f) * 0x1p-24f, x = (p - 0.5f) * 40, y = (float)(int)u * 0x1p-27f; int i = (int)(u & 15) - 4';
  // The mask is zero.
  const mask = (operand: string): string =>
    isDouble
      ? `${operand} = __longlong_as_double(__double_as_longlong(${operand}) ^ no);`
      : `${operand} = __uint_as_float(__float_as_uint(${operand}) ^ no);`;
  const masked = (isDouble ? ['d', 'e', 'q'] : ['x', 'y', 'p']).map(mask).join(' ');
  return `extern "C" __global__ void __launch_bounds__(256) m_${name}(const u32 *a, const u32 *b, u32 *out, int n) {
  int t = blockIdx.x * 256 + threadIdx.x; if (t >= n) return;
  u32 z = a[t], u = b[t], s = 0, no = n >> 31;
  #pragma unroll 1
  for (int k = 0; k < ${turns}; k++) { ${inputs}; ${isOpaque ? masked : ''} auto r = ${call}; ${isDouble ? 'double' : 'float'} v = ${bits}; ${word}; z = z * 1664525u + 1013904223u; u = u * 22695477u + 1u; }
  out[t] = s;
}`;
}

const opening = '#include <cuda_fp16.h>\ntypedef unsigned u32; typedef unsigned long long u64;\n';

/** The PTX of nvcc for a function; undefined where it does not know it. */
function ptxOf(each: MathFunction, folder: string, isOpaque: boolean): string | undefined {
  const stem = join(folder, `${each.name}${isOpaque ? '.opaque' : ''}`);
  const [source, ptx] = [`${stem}.cu`, `${stem}.ptx`];
  // Made before, in a folder that is kept.
  if (existsSync(ptx)) return readFileSync(ptx, 'utf8');
  writeFileSync(source, `${opening}${sourceOf(each, isOpaque)}\n`);
  const { exitCode } = Bun.spawnSync(['nvcc', '-w', '-ptx', '-arch=sm_80', '-o', ptx, source], { stderr: 'ignore' });
  return exitCode === 0 ? readFileSync(ptx, 'utf8') : undefined;
}

/** Both texts of a function. */
interface Both {
  readonly each: MathFunction;
  readonly ptx: string;
  /** What its metallib becomes; a reason where there is no PTX for it. */
  readonly again: string | { readonly refused: readonly string[] };
}

/** Apple GPUs have no doubles, so that functions of those go by the CPU device’s metallib. */
function bothOf(each: MathFunction, folder: string, isOpaque: boolean): Both | undefined {
  const ptx = ptxOf(each, folder, isOpaque);
  if (ptx === undefined) return undefined;
  const again = ptxOfMetallib(each.name, ptx, each.isDouble ? 'cpu' : 'macos15');
  return { each, ptx, again: 'ptx' in again ? again.ptx : again };
}

function chosen(words: readonly string[]): readonly MathFunction[] {
  const only = words.includes('--only') ? words[words.indexOf('--only') + 1]! : '';
  return functions.filter(({ name }) => name.includes(only));
}

function all(words: readonly string[]): Both[] | undefined {
  if (Bun.which('nvcc') === null) {
    console.error('there is no nvcc here');
    return undefined;
  }
  const kept = process.env.CUMETAL_BENCH_FOLDER;
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'cumetal-bench-'));
  mkdirSync(folder, { recursive: true });
  try {
    return chosen(words).flatMap((each) => bothOf(each, folder, words.includes('--opaque')) ?? []);
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** The lines of a text that are instructions. */
const instructions = (ptx: string): number =>
  ptx.split('\n').filter((line) => /^\s+(@\S+\s+)?[a-z][\w.:]*\s.*;/.test(line) && !/^\s+\./.test(line)).length;

const bodyOf = (ptx: string): string => ptx.slice(ptx.search(/^\.(visible|func|global|const|extern)/m));

/** Writes what a GPU compares: one file of PTX for each side, and the list of entries. */
export function prepareMath(folder: string, words: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  const both = all(words) ?? [];
  const pairsOfText = both.filter((each): each is Both & { again: string } => typeof each.again === 'string');
  for (const { each, ptx, again } of pairsOfText) {
    writeFileSync(join(folder, `${each.name}.1.ptx`), ptx.replace(/^\s*\/\/.*\n/gm, ''));
    writeFileSync(join(folder, `${each.name}.2.ptx`), again);
  }
  writeFileSync(join(folder, 'names.txt'), `${pairsOfText.map(({ each }) => each.name).join('\n')}\n`);
  const refused = both
    .filter(({ again }) => typeof again !== 'string')
    .map(({ each, again }) => `${each.name}: ${(again as { refused: string[] }).refused[0]}`);
  writeFileSync(join(folder, 'refused.txt'), `${refused.join('\n')}\n`);
}

/** Instructions of the AIR of a kernel. */
function airInstructions(each: MathFunction, ptx: string): number {
  const source = new SourceFile(`${each.name}.ptx`, ptx);
  const text = emit(source, 'air-ll', { target: each.isDouble ? 'cpu' : 'macos15' }, new Diagnostics(source));
  return typeof text === 'string' ? text.split('\n').filter((line) => /^ {2}\S/.test(line)).length : Number.NaN;
}

/** Nanoseconds that the CPU device takes for one evaluation, with one thread. */
function cpuTime({ name }: MathFunction, ptx: string): number {
  const n = 16384;
  const compiled = compile(new SourceFile(`${name}.ptx`, ptx), { target: 'cpu' }, new Diagnostics());
  if (!compiled) return Number.NaN;
  const args = [
    ['words', n],
    ['words', n],
    ['words', n],
    ['int', n],
  ] as const;
  const kernel = { name: `m_${name}`, grid: [n / 256, 1, 1], block: [256, 1, 1], args, units: n * turns, unit: 'results' } as const;
  const launch = launcher(kernel, compiled.metallib, openCpuDevice({ threads: 1 }));
  let least = Number.POSITIVE_INFINITY;
  for (const start = performance.now(); performance.now() - start < 400; ) least = Math.min(least, launch());
  return (least * 1e6) / (n * turns);
}

export function math(words: readonly string[]): Bench | undefined {
  const both = all(words);
  if (!both) return undefined;
  const isTimed = words.includes('--cpu');
  const rows = both.map(({ each, ptx, again }): Row => {
    const original = instructions(bodyOf(ptx));
    const printed = typeof again === 'string' ? instructions(bodyOf(again)) : Number.NaN;
    const time = isTimed ? `, CPU device ${cpuTime(each, ptx).toFixed(1)} ns` : '';
    const air = airInstructions(each, ptx);
    const ours = Number.isNaN(printed) ? air : printed;
    return { name: each.name, ours, other: original, unit: `instructions (AIR ${air}${time})`, ratio: original / ours };
  });
  return { bench: 'math', about: 'PTX of metallibs (of AIR where PTX refuses) against the PTX of nvcc: instructions', rows };
}
