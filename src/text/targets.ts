/**
 * All targets of the compiler with what each can express: the texts of `capabilities.ts`, the systems of `src/air/targets.ts`, and the
 * architectures of PTX. `cumetal targets` and `docs/targets.md` print the table.
 */
import { hasFences, type Target, targets } from '../air/index.ts';
import { type Construct, expanded, native, profiles, refused, type Shown } from './capabilities.ts';
import { ptxArchitectures } from './ptx/index.ts';

/** A target, and how it is chosen on the command line. */
export interface TargetProfile {
  readonly name: string;
  /** What the compiler writes. */
  readonly output: 'metallib' | 'opencl' | 'msl' | 'wgsl' | 'ptx';
  readonly title: string;
  /** Words of the command line. */
  readonly option: string;
  /** Bytes that a kernel may declare, and in total with those of the launch; undefined if the device decides. */
  readonly shared: { readonly declared: number; readonly total: number } | undefined;
  readonly forms: Readonly<Record<Construct, Shown>>;
}

const systems: Readonly<Record<string, string>> = {
  macos13: 'macOS 13',
  macos14: 'macOS 14',
  macos15: 'macOS 15',
  macos26: 'macOS 26',
  ios17: 'iOS 17',
  ios18: 'iOS 18',
  cpu: 'the CPU device',
};

/** What metallibs of a system can express. */
function ofSystem(target: Target): TargetProfile['forms'] {
  const { allowsCpuOnly, dialect } = target;
  const { f64, minmax, atomics64, matrices, named, mbarriers, groups } = profiles.msl.forms;
  const withFences = (form: Shown): Shown => (hasFences(target) ? form : refused('it needs fences'));
  const cpuOnly = (how: string, other: Shown): Shown => (allowsCpuOnly ? native(how) : other);
  return {
    ...profiles.msl.forms,
    f64: cpuOnly('`double`', f64),
    bf16: dialect.hasBfloat ? native('`bfloat`') : refused('AIR has bfloat from macOS 14 on'),
    contraction: native('operations without fast-math flags'),
    division: native('`fdiv` and `air.sqrt`, without fast-math flags'),
    minmax: cpuOnly('`air.fmin` and `air.fmax`, with the zeros in order', minmax),
    conversion: native('`air.convert`'),
    atomics32: native('`air.atomic`'),
    atomics64: cpuOnly(
      '`air.atomic`',
      hasFences(target) ? atomics64 : expanded('two halves, if all are the same sum or bitwise operation without an old value'),
    ),
    counters: cpuOnly('`air.atomic`', expanded('a loop of comparisons and exchanges')),
    pointers: native('casts of `i64` to pointers'),
    warps: native('`air.simd_shuffle`, `air.simd_ballot` and the like'),
    masks: cpuOnly('collectives by masks', profiles.msl.forms.masks),
    fences: hasFences(target) ? native('`air.atomic.fence`') : refused('AIR has fences from macOS 15 on'),
    clock: cpuOnly('nanoseconds', profiles.msl.forms.clock),
    grid: cpuOnly('blocks that run at the same time', withFences(profiles.msl.forms.grid)),
    clusters: cpuOnly('areas of shared memory', profiles.msl.forms.clusters),
    named: cpuOnly('words and loops in which every thread makes progress', withFences(named)),
    mbarriers: cpuOnly('64-bit words, and loops in which every thread makes progress', withFences(mbarriers)),
    groups: cpuOnly('products by warps', groups),
    heap: hasFences(target) ? native('memory of the launch') : refused('its lock needs fences'),
    stack: native('the end of local memory'),
    launches: native('notes in memory of the launch, which the host follows'),
    matrices: { ...matrices, form: 'native', how: '`air.simdgroup_matrix`, of which lowering makes use with `--mma=fast`' },
  };
}

/** What PTX of an architecture can express. */
function ofArchitecture(name: string): TargetProfile['forms'] {
  const sm = Number.parseInt(name.slice(3), 10);
  const isSpecific = name.endsWith('a');
  const { forms } = profiles.ptx;
  const inFloat = 'in `.f32`, rounded once more without effect';
  return {
    ...forms,
    f16: sm >= 53 ? native('`.f16`') : expanded(`${inFloat}; fused sums are refused`),
    bf16:
      sm >= 90
        ? native('`.bf16`')
        : sm >= 80
          ? expanded('`fma.rn.bf16`, and `.f32` otherwise')
          : expanded(`${inFloat}; fused sums are refused`),
    minmax: sm >= 80 ? native('`min` and `max`') : native('`min` and `max`, of halves in `.f32`'),
    clusters: sm >= 90 ? forms.clusters : refused('clusters need sm_90'),
    mbarriers:
      sm >= 90
        ? native(isSpecific ? '`mbarrier`, `cp.async` and `tensormap`' : '`mbarrier` and `cp.async`')
        : expanded(
            `${sm >= 80 ? '`mbarrier` and `cp.async`, or ' : ''}64-bit words in shared memory, and a thread copies where it asks for a copy; tensor maps are refused`,
          ),
    groups: isSpecific ? native('`wgmma`') : expanded(sm >= 80 ? '`mma.sync`' : 'shuffles and fused sums'),
    stack: native(sm >= 52 ? 'functions that are called, and `alloca`' : 'functions that are called; `alloca` is refused'),
    masks:
      sm >= 80
        ? native('`shfl.sync`, `vote.sync` and `redux.sync`')
        : expanded('`shfl.sync` and `vote.sync`; reductions are loops of shuffles'),
  };
}

/** All targets: the CPU device, systems of Apple, texts of other languages, and architectures of NVIDIA. */
export function targetProfiles(): readonly TargetProfile[] {
  const own = Object.values(targets).map((target): TargetProfile => {
    const { name, shared } = target;
    return { name, output: 'metallib', title: systems[name] ?? name, option: `--target ${name}`, shared, forms: ofSystem(target) };
  });
  const texts = (['opencl', 'msl', 'wgsl'] as const).map((name): TargetProfile => {
    const { title, forms } = profiles[name];
    return { name, output: name, title, option: `--emit ${name}`, shared: name === 'msl' ? targets.macos15.shared : undefined, forms };
  });
  const ptx = Object.keys(ptxArchitectures).map((name): TargetProfile => {
    return {
      name,
      output: 'ptx',
      title: `PTX ${ptxArchitectures[name]!.toFixed(1)} or later`,
      option: `--emit ptx --arch ${name}`,
      shared: undefined,
      forms: ofArchitecture(name),
    };
  });
  return [...own.filter(({ name }) => name === 'cpu'), ...own.filter(({ name }) => name !== 'cpu'), ...texts, ...ptx];
}
