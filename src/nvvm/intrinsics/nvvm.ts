/**
 * Intrinsics of the NVPTX target: each is one instruction, in the order of the intrinsic's operands.
 * Source: LLVM's NVPTX usage guide and `IntrinsicsNVVM.td`; PTX ISA 9.0, 9.7 and 10.
 */

/**
 * The instruction of an intrinsic by its name without `llvm.nvvm.`: `$d0` is the first result, `$0` the first operand. Undefined for
 * others.
 */
export function nvvmTemplate(name: string): string | undefined {
  return plain[name] ?? patterns.map(([pattern, make]) => made(pattern.exec(name), make)).find((text) => text !== undefined);
}

const made = (found: RegExpExecArray | null, make: (groups: Groups) => string | undefined): string | undefined =>
  found ? make(found.slice(1)) : undefined;

type Groups = readonly (string | undefined)[];

const plain: Readonly<Record<string, string>> = {
  barrier0: 'bar.sync 0',
  'barrier.n': 'bar.sync $0',
  'barrier.cta.sync.aligned.all': 'bar.sync $0',
  'barrier.cta.sync.aligned.count': 'bar.sync $0, $1',
  'barrier.cta.arrive.aligned.count': 'bar.arrive $0, $1',
  'barrier.cta.sync.all': 'barrier.sync $0',
  'barrier.cta.sync.count': 'barrier.sync $0, $1',
  'barrier.cta.arrive.count': 'barrier.arrive $0, $1',
  'barrier.cluster.arrive': 'barrier.cluster.arrive',
  'barrier.cluster.arrive.relaxed': 'barrier.cluster.arrive.relaxed',
  'barrier.cluster.wait': 'barrier.cluster.wait',
  'bar.warp.sync': 'bar.warp.sync $0',
  'membar.cta': 'membar.cta',
  'membar.gl': 'membar.gl',
  'membar.sys': 'membar.sys',
  'fence.sc.cluster': 'fence.sc.cluster',
  'barrier.cluster.arrive.aligned': 'barrier.cluster.arrive.aligned',
  'barrier.cluster.arrive.relaxed.aligned': 'barrier.cluster.arrive.relaxed.aligned',
  'barrier.cluster.wait.aligned': 'barrier.cluster.wait.aligned',
  mapa: 'mapa.u64 $d0, $0, $1',
  getctarank: 'getctarank.u64 $d0, $0',
  is_explicit_cluster: 'mov.pred $d0, %is_explicit_cluster',
  activemask: 'activemask.b32 $d0',
  'vote.all.sync': 'vote.sync.all.pred $d0, $1, $0',
  'vote.any.sync': 'vote.sync.any.pred $d0, $1, $0',
  'vote.uni.sync': 'vote.sync.uni.pred $d0, $1, $0',
  'vote.ballot.sync': 'vote.sync.ballot.b32 $d0, $1, $0',
  'match.any.sync.i32': 'match.any.sync.b32 $d0, $1, $0',
  'match.any.sync.i64': 'match.any.sync.b64 $d0, $1, $0',
  'match.all.sync.i32p': 'match.all.sync.b32 $d0|$d1, $1, $0',
  'match.all.sync.i64p': 'match.all.sync.b64 $d0|$d1, $1, $0',
  'redux.sync.umin': 'redux.sync.min.u32 $d0, $0, $1',
  'redux.sync.umax': 'redux.sync.max.u32 $d0, $0, $1',
  'redux.sync.min': 'redux.sync.min.s32 $d0, $0, $1',
  'redux.sync.max': 'redux.sync.max.s32 $d0, $0, $1',
  'redux.sync.add': 'redux.sync.add.s32 $d0, $0, $1',
  'redux.sync.and': 'redux.sync.and.b32 $d0, $0, $1',
  'redux.sync.or': 'redux.sync.or.b32 $d0, $0, $1',
  'redux.sync.xor': 'redux.sync.xor.b32 $d0, $0, $1',
  'elect.sync': 'elect.sync $d0|$d1, $0',
  'mulhi.s': 'mul.hi.s16 $d0, $0, $1',
  'mulhi.us': 'mul.hi.u16 $d0, $0, $1',
  'mulhi.i': 'mul.hi.s32 $d0, $0, $1',
  'mulhi.ui': 'mul.hi.u32 $d0, $0, $1',
  'mulhi.ll': 'mul.hi.s64 $d0, $0, $1',
  'mulhi.ull': 'mul.hi.u64 $d0, $0, $1',
  'mul24.i': 'mul24.lo.s32 $d0, $0, $1',
  'mul24.ui': 'mul24.lo.u32 $d0, $0, $1',
  'sad.i': 'sad.s32 $d0, $0, $1, $2',
  'sad.ui': 'sad.u32 $d0, $0, $1, $2',
  'sad.ll': 'sad.s64 $d0, $0, $1, $2',
  'sad.ull': 'sad.u64 $d0, $0, $1, $2',
  prmt: 'prmt.b32 $d0, $0, $1, $2',
  fns: 'fns.b32 $d0, $0, $1, $2',
  'idp4a.s.s': 'dp4a.s32.s32 $d0, $0, $1, $2',
  'idp4a.s.u': 'dp4a.s32.u32 $d0, $0, $1, $2',
  'idp4a.u.s': 'dp4a.u32.s32 $d0, $0, $1, $2',
  'idp4a.u.u': 'dp4a.u32.u32 $d0, $0, $1, $2',
  'saturate.f': 'cvt.sat.f32.f32 $d0, $0',
  'saturate.ftz.f': 'cvt.ftz.sat.f32.f32 $d0, $0',
  'saturate.d': 'cvt.sat.f64.f64 $d0, $0',
  'd2i.hi': 'mov.b64 {_, $d0}, $0',
  'd2i.lo': 'mov.b64 {$d0, _}, $0',
  'lohi.i2d': 'mov.b64 $d0, {$0, $1}',
  'f2h.rn': 'cvt.rn.f16.f32 $d0, $0',
  'f2h.rn.ftz': 'cvt.rn.ftz.f16.f32 $d0, $0',
  'f2bf16.rn': 'cvt.rn.bf16.f32 $d0, $0',
  'f2bf16.rz': 'cvt.rz.bf16.f32 $d0, $0',
  nanosleep: 'nanosleep.u32 $0',
  exit: 'exit',
  pmevent: 'pmevent $0',
};

const types: Readonly<Record<string, string>> = { f: 'f32', d: 'f64', f32: 'f32', f64: 'f64', f16: 'f16', bf16: 'bf16' };
const integers: Readonly<Record<string, string>> = { i: 's32', ui: 'u32', ll: 's64', ull: 'u64' };
const integral: Readonly<Record<string, string>> = { rn: 'rni', rz: 'rzi', rm: 'rmi', rp: 'rpi' };
const rounded: Readonly<Record<string, string>> = { ceil: 'rpi', floor: 'rmi', trunc: 'rzi', round: 'rni' };
const operandsOf: Readonly<Record<string, string>> = { add: '$0, $1', mul: '$0, $1', div: '$0, $1', fma: '$0, $1, $2' };

const dotted = (word: string | undefined): string => (word === undefined ? '' : `.${word}`);

/** Families of intrinsics. */
const patterns: readonly (readonly [RegExp, (groups: Groups) => string | undefined])[] = [
  [
    /^(add|mul|div|fma|sqrt|rcp|ex2|lg2|sin|cos|rsqrt|tanh)\.(rn|rz|rm|rp|approx|full)(?:\.(ftz))?\.(f|d|f32|f64)$/,
    ([op, rounding, ftz, type]) => `${op}.${rounding}${dotted(ftz)}.${types[type!]} $d0, ${operandsOf[op!] ?? '$0'}`,
  ],
  [
    /^(add|mul|div|fma|sqrt|rcp|ex2|lg2|sin|cos|rsqrt|tanh)\.(rn|rz|rm|rp|approx|full)\.(f32|f64)?\.?(ftz)$/,
    ([op, rounding, type, ftz]) => type && `${op}.${rounding}${dotted(ftz)}.${type} $d0, ${operandsOf[op!] ?? '$0'}`,
  ],
  [/^sqrt\.f$/, () => 'sqrt.rn.f32 $d0, $0'],
  [
    /^(ceil|floor|trunc|round)(?:\.(ftz))?\.(f|d)$/,
    ([op, ftz, type]) => `cvt.${rounded[op!]}${dotted(ftz)}.${types[type!]}.${types[type!]} $d0, $0`,
  ],
  [/^f(min|max|abs)(?:\.(ftz))?\.(f|d)$/, ([op, ftz, type]) => `${op}${dotted(ftz)}.${types[type!]} $d0, $0${op === 'abs' ? '' : ', $1'}`],
  [
    /^(f|d)2(i|ui|ll|ull)\.(rn|rz|rm|rp)(?:\.(ftz))?$/,
    ([from, to, rounding, ftz]) => `cvt.${integral[rounding!]}${dotted(ftz)}.${integers[to!]}.${types[from!]} $d0, $0`,
  ],
  [/^(i|ui|ll|ull)2(f|d)\.(rn|rz|rm|rp)$/, ([from, to, rounding]) => `cvt.${rounding}.${types[to!]}.${integers[from!]} $d0, $0`],
  [/^d2f\.(rn|rz|rm|rp)(?:\.(ftz))?$/, ([rounding, ftz]) => `cvt.${rounding}${dotted(ftz)}.f32.f64 $d0, $0`],
  [/^ff2(f16|bf16)x2\.(rn|rz)$/, ([type, rounding]) => `cvt.${rounding}.${type}x2.f32 $d0, $0, $1`],
  [/^shfl\.sync\.(down|up|bfly|idx)\.(?:i32|f32)(p)?$/, ([mode, pair]) => `shfl.sync.${mode}.b32 $d0${pair ? '|$d1' : ''}, $1, $2, $3, $0`],
  [/^isspacep\.(shared|global|local|const|shared\.cluster)$/, ([space]) => `isspacep.${space!.replace('.', '::')} $d0, $0`],
  [/^barrier\.cta\.red\.(and|or|popc)\.aligned\.all$/, ([op]) => `bar.red.${op}.${op === 'popc' ? 'u32' : 'pred'} $d0, $0, $1`],
  [/^read\.ptx\.sreg\.(.+)$/, ([register]) => specialRegister(register!)],
];

/** Special registers whose names are not those of the intrinsics with `%` in front. */
const registers: Readonly<Record<string, string>> = {
  warpsize: 'WARP_SZ',
  'lanemask.eq': '%lanemask_eq',
  'lanemask.le': '%lanemask_le',
  'lanemask.lt': '%lanemask_lt',
  'lanemask.ge': '%lanemask_ge',
  'lanemask.gt': '%lanemask_gt',
  'cluster.ctarank': '%cluster_ctarank',
  'cluster.nctarank': '%cluster_nctarank',
  'globaltimer.lo': '%globaltimer_lo',
};
const wide: ReadonlySet<string> = new Set(['clock64', 'globaltimer', 'gridid']);

function specialRegister(name: string): string {
  const register = registers[name] ?? `%${name.replace(/^cluster\.(n?ctaid)/, 'cluster_$1')}`;
  return `mov.${wide.has(name) ? 'u64' : 'u32'} $d0, ${register}`;
}
