/** What the processor and the system support, by the instructions that say so. */
import { type CodePages, placeCode } from './code-pages.ts';
import { nativeSystem } from './system.ts';

/** Extensions of x86-64 of which native code is made. */
export interface ProcessorFeatures {
  /** AVX2, FMA, BMI1, BMI2, LZCNT, POPCNT and F16C. */
  readonly hasBaseline: boolean;
  /** AVX-512 F, VL, BW and DQ, and a system that saves its registers. */
  readonly hasAvx512: boolean;
  /**
   * Whether gathers are faster than loads of one lane after the other. That is taken for so where AVX-512 has FP16, as Intel's processors have since
   * Sapphire Rapids, which need no microcode against CVE-2022-40982. It makes gathers of earlier ones many times slower; AMD's, which are slow, have no FP16
   * up to Zen 5.
   */
  readonly hasFastGathers: boolean;
}

/**
 * `void probe(uint32_t leaf, uint32_t subleaf, uint32_t out[4])` in the System V ABI: CPUID, whose eax, ebx, ecx and edx go to `out`. The leaf
 * 0xFFFFFFFF is XGETBV of register 0 in its place, whose eax and edx go to the first two words.
 */
const probeCode = [
  ...[0x53], // push rbx
  ...[0x49, 0x89, 0xd0], // mov r8, rdx
  ...[0x89, 0xf8], // mov eax, edi
  ...[0x89, 0xf1], // mov ecx, esi
  ...[0x83, 0xff, 0xff], // cmp edi, -1
  ...[0x74, 0x13], // je xgetbv
  ...[0x0f, 0xa2], // cpuid
  ...[0x41, 0x89, 0x00], // mov [r8], eax
  ...[0x41, 0x89, 0x58, 0x04], // mov [r8 + 4], ebx
  ...[0x41, 0x89, 0x48, 0x08], // mov [r8 + 8], ecx
  ...[0x41, 0x89, 0x50, 0x0c], // mov [r8 + 12], edx
  ...[0x5b, 0xc3], // pop rbx; ret
  ...[0x31, 0xc9], // xgetbv: xor ecx, ecx
  ...[0x0f, 0x01, 0xd0], // xgetbv
  ...[0x41, 0x89, 0x00], // mov [r8], eax
  ...[0x41, 0x89, 0x50, 0x04], // mov [r8 + 4], edx
  ...[0x5b, 0xc3], // pop rbx; ret
];
const xgetbv = 0xffff_ffff;

type Probe = (leaf: number, subleaf: number) => { readonly eax: number; readonly ebx: number; readonly ecx: number; readonly edx: number };

function openProbe(): { readonly probe: Probe; readonly pages: CodePages } | undefined {
  const system = nativeSystem();
  const pages = system && placeCode(Uint8Array.from(probeCode));
  if (!system || !pages) return undefined;
  const call = system.ffi.CFunction({ ptr: pages.address as never, args: ['u32', 'u32', 'ptr'], returns: 'void' });
  const probe: Probe = (leaf, subleaf) => {
    const out = new Uint32Array(new ArrayBuffer(16));
    call(leaf, subleaf, out);
    const [eax = 0, ebx = 0, ecx = 0, edx = 0] = out;
    return { eax, ebx, ecx, edx };
  };
  return { probe, pages };
}

const hasAll = (word: number, bits: readonly number[]): boolean => bits.every((bit) => ((word >>> bit) & 1) === 1);

/**
 * Bits of CPUID, by the leaf and the register.
 * Source: Intel SDM volume 2, CPUID, tables 3-8 to 3-20.
 */
const [f16c, osxsave, fma, popcnt, avx] = [29, 27, 12, 23, 28];
const [bmi1, avx2, bmi2, avx512f, avx512dq, avx512bw, avx512vl] = [3, 5, 8, 16, 17, 30, 31];
const [lzcnt, avx512fp16] = [5, 23];
/** Registers that the system saves, in XCR0: those of SSE and AVX; and masks, upper halves and upper registers of AVX-512. */
const [stateAvx, stateAvx512] = [
  [1, 2],
  [5, 6, 7],
];

const nothing: ProcessorFeatures = { hasBaseline: false, hasAvx512: false, hasFastGathers: false };

let known: ProcessorFeatures | undefined;

/** The extensions of this processor; none on another platform or under another runtime. */
export function processorFeatures(): ProcessorFeatures {
  known ??= findFeatures();
  return known;
}

function findFeatures(): ProcessorFeatures {
  const opened = openProbe();
  if (!opened) return nothing;
  const { probe, pages } = opened;
  const first = probe(1, 0).ecx;
  const features = hasAll(first, [osxsave]) ? featuresBy(probe, first) : nothing;
  pages.release();
  return features;
}

function featuresBy(probe: Probe, first: number): ProcessorFeatures {
  const { ebx: extended, edx: newer } = probe(0, 0).eax >= 7 ? probe(7, 0) : { ebx: 0, edx: 0 };
  const more = probe(0x8000_0001, 0).ecx;
  const saved = probe(xgetbv, 0).eax;
  const hasBaseline =
    hasAll(first, [f16c, fma, popcnt, avx]) && hasAll(extended, [bmi1, avx2, bmi2]) && hasAll(more, [lzcnt]) && hasAll(saved, stateAvx!);
  const hasAvx512 = hasBaseline && hasAll(extended, [avx512f, avx512dq, avx512bw, avx512vl]) && hasAll(saved, stateAvx512!);
  return { hasBaseline, hasAvx512, hasFastGathers: hasAvx512 && hasAll(newer, [avx512fp16]) };
}
