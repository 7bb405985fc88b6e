/**
 * Clusters of blocks against an NVIDIA H200: the launches of `fixtures/clusters/clusters.cu`, one behind the other in the same memory, by the PTX that
 * nvcc made of it. The recording has a digest of the first words behind each launch.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { type Dim3, openCpuDevice } from '../../src/device/index.ts';

const test = suite('h200/clusters');
const read = (name: string): string => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8');

interface Recorded {
  readonly kernel: string;
  readonly grid: Dim3;
  readonly block: number;
  readonly shared: number;
  readonly cluster: Dim3 | null;
  readonly words: number;
  readonly digest: string;
}
const { launches } = JSON.parse(read('h200/clusters.json')) as { launches: readonly Recorded[] };

const diagnostics = new Diagnostics(new SourceFile('clusters.ptx', read('clusters/clusters.ptx')));
const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
const device = openCpuDevice({ threads: 1 });
const module = device.load(compiled!.metallib, diagnostics)!;
const out = device.allocate(1 << 16, diagnostics)!;
out.write(new Uint8Array(1 << 16).fill(0xee));
test.after(() => device.close());

/** The number of words that `neighbours` exchanges. */
const exchanged = new Uint8Array(Int32Array.of(100).buffer);

for (const { kernel, grid, block, shared, cluster, words, digest } of launches)
  test(`${kernel} of ${grid.join(' x ')} blocks${cluster ? ` in clusters of ${cluster.join(' x ')}` : ''}`, () => {
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
    assert.is(
      createHash('sha256')
        .update(out.read().subarray(0, 4 * words))
        .digest('hex')
        .slice(0, 16),
      digest,
    );
  });

test.run();
