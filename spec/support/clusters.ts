/** Kernels in clusters of blocks: the launches that were recorded on an H200, and a kernel whose blocks wait for themselves at different times. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import type { Device, DeviceBuffer, DeviceModule, Dim3 } from '../../src/device/index.ts';

const read = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8');

export interface RecordedCluster {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: number;
  readonly shared: number;
  readonly cluster: Dim3 | null;
  readonly words: number;
  /** The start of the SHA-256 of the first words of the memory. */
  readonly digest: string;
}

/** The launches of `fixtures/clusters/clusters.cu`, one behind the other in the same memory. */
export const recordedClusters = (JSON.parse(read('h200/clusters.json')) as { launches: readonly RecordedCluster[] }).launches;

export const clusterSource = (): SourceFile => new SourceFile('clusters.ptx', read('clusters/clusters.ptx'));

/** Bytes of the memory that they write, each of which is `0xee` before. */
export const clusterBytes = 1 << 16;

/** The number of words that `neighbours` exchanges. */
const exchanged = new Uint8Array(Int32Array.of(100).buffer);

/** A device with the recorded kernels, compiled as the options say, and the memory that they write. */
export function openRecorded(device: Device, options: CompileOptions): { module: DeviceModule; out: DeviceBuffer } {
  const diagnostics = new Diagnostics(clusterSource());
  const module = device.load(compile(diagnostics.file!, options, diagnostics)!.metallib, diagnostics)!;
  const out = device.allocate(clusterBytes, diagnostics)!;
  out.write(new Uint8Array(clusterBytes).fill(0xee));
  return { module, out };
}

/** Runs a recorded launch, and compares what it leaves. */
export function checkRecorded({ module, out }: ReturnType<typeof openRecorded>, recorded: RecordedCluster): void {
  const { kernel, grid, block, shared, cluster, words, digest } = recorded;
  const args = [
    { kind: 'buffer' as const, buffer: out },
    ...(kernel === 'neighbours' ? [{ kind: 'bytes' as const, bytes: exchanged }] : []),
  ];
  const shape = { grid, block: [block, 1, 1], dynamicSharedBytes: shared, timeoutMs: 60_000, ...(cluster ? { cluster } : {}) } as const;
  const own = new Diagnostics();
  module.launch({ kernel, ...shape, args }, own);
  assert.equal(
    own.list.map(({ message }) => message),
    [],
  );
  assert.is(digestOf(out.read().subarray(0, 4 * words)), digest, `${kernel} of ${grid.join(' x ')}`);
}

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/**
 * A kernel of which block `rank` of a cluster waits for itself `2 * (rank + 1)` times, and one thread of block 1 ends at once; then all read what the next
 * block has.
 */
export const unequalPtx = `.version 8.6
.target sm_90
.address_size 64
.visible .entry unequal(.param .u64 out)
{
.reg .pred p, q;
.reg .b32 rank, size, a, b, c, d, own, tid, i, n;
.reg .b64 o;
.shared .align 16 .b32 mem[64];
ld.param.u64 o, [out];
mov.u32 rank, %cluster_ctarank; mov.u32 size, %cluster_nctarank; mov.u32 tid, %tid.x; mov.u32 n, %ntid.x;
mad.lo.s32 own, %ctaid.x, n, tid; mad.wide.u32 o, own, 4, o;
mov.u32 a, mem; shl.b32 b, tid, 2; add.u32 b, a, b; add.u32 c, tid, 1; st.shared.u32 [b], c;
setp.eq.u32 q, tid, 3; setp.eq.and.u32 q, rank, 1, q; @q bra gone;
mov.u32 i, 0;
again: setp.gt.u32 p, i, rank; @p bra done;
bar.sync 0;
add.u32 c, tid, 1; rem.u32 c, c, n; shl.b32 c, c, 2; add.u32 c, a, c; ld.shared.u32 d, [c];
bar.sync 0;
ld.shared.u32 c, [b]; mad.lo.u32 c, c, 3, d; st.shared.u32 [b], c;
add.u32 i, i, 1; bra again;
done: barrier.cluster.arrive; barrier.cluster.wait;
add.u32 c, rank, 1; rem.u32 c, c, size; mapa.shared::cluster.u32 c, b, c; ld.shared::cluster.u32 d, [c];
ld.shared.u32 c, [b]; mad.lo.u32 d, d, 7, c; st.global.u32 [o], d;
barrier.cluster.arrive; barrier.cluster.wait;
gone: ret;
}
`;

/** What it leaves in clusters of `size` blocks of `n` threads. */
export function unequalExpected(blocks: number, size: number, n: number): number[] {
  const memories = Array.from({ length: blocks }, (_, block) => {
    let memory = Array.from({ length: n }, (_, t) => t + 1);
    const isGone = (t: number): boolean => block % size === 1 && t === 3;
    for (let turn = 0; turn <= block % size; turn++)
      memory = memory.map((own, t) => (isGone(t) ? own : (Math.imul(own, 3) + memory[(t + 1) % n]!) >>> 0));
    return memory;
  });
  return memories.flatMap((memory, block) => {
    const far = memories[block - (block % size) + ((block + 1) % size)]!;
    return memory.map((own, t) => (block % size === 1 && t === 3 ? 0 : (Math.imul(far[t]!, 7) + own) >>> 0));
  });
}

/** What a device leaves of it, compiled as the options say. */
export function runUnequal(device: Device, options: CompileOptions): { words: number[]; codes: string[] } {
  const diagnostics = new Diagnostics(new SourceFile('unequal.ptx', unequalPtx));
  const compiled = compile(diagnostics.file!, options, diagnostics);
  const module = compiled && device.load(compiled.metallib, diagnostics);
  const out = device.allocate(4 * 8 * 40, diagnostics)!;
  out.write(new Uint8Array(out.size));
  const shape = { grid: [8, 1, 1], block: [40, 1, 1], cluster: [4, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
  module?.launch({ kernel: 'unequal', ...shape, args: [{ kind: 'buffer', buffer: out }] }, diagnostics);
  return { words: [...new Uint32Array(out.read().slice().buffer)], codes: diagnostics.list.map(({ code }) => code) };
}
