/**
 * Clusters of blocks where a whole cluster is one block of the device: metallibs of Apple targets, and their source by the stand-in, against an NVIDIA H200;
 * and what does not fit. `opencl.spec.ts` and `webgpu.spec.ts` run them on other devices.
 */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, toLegalIr } from '../../src/compile/index.ts';
import { type Dim3, openCpuDevice } from '../../src/device/index.ts';
import { parseModule, printModule } from '../../src/ir/index.ts';
import { mslFile, mslKernel } from '../../src/text/index.ts';
import {
  checkRecorded,
  clusterBytes,
  clusterSource,
  digestOf,
  openRecorded,
  type RecordedCluster,
  recordedClusters,
  runUnequal,
  unequalExpected,
} from '../support/clusters.ts';
import { buildStandIn, compiler } from '../support/msl/run.ts';

const test = suite('device/cluster-groups');

const device = openCpuDevice({ threads: 1 });
test.after(() => device.close());

/** Those of many threads, whose shape others have as well. */
const isLong = ({ kernel, grid }: RecordedCluster): boolean => kernel === 'neighbours' && grid[0] === 16;

test('threadgroups that are clusters leave what an H200 does', () => {
  const recorded = openRecorded(device, { target: 'macos15' });
  for (const launch of recordedClusters) if (!isLong(launch)) checkRecorded(recorded, launch);
});

test('threads of a block that wait for themselves alone are told apart where threads may wait in loops', () => {
  assert.equal(runUnequal(device, { target: 'cpu', isForText: true }), { words: unequalExpected(8, 4, 40), codes: [] });
  assert.equal(runUnequal(device, { target: 'cpu' }), { words: unequalExpected(8, 4, 40), codes: [] });
  assert.equal(runUnequal(device, { target: 'macos15' }).codes, ['CM2090']);
});

(compiler ? test : test.skip)('the stand-in of Metal leaves what an H200 does', () => {
  const at = recordedClusters.findIndex(({ kernel }) => kernel === 'fixed4');
  const { grid, block, words, digest } = recordedClusters[at]!;
  const source = clusterSource();
  const diagnostics = new Diagnostics(source);
  const [kernel] = toLegalIr(source, { target: 'macos15', entries: ['fixed4'] }, diagnostics)!.kernels;
  const printed = mslKernel(kernel!, diagnostics, { source, target: 'macos15' });
  const built = buildStandIn(mslFile([printed]), printed);
  if (typeof built === 'string') throw new Error(built);
  // Four blocks of 4 bytes of shared memory, each in 16.
  const head = Uint32Array.of(4, 1, 1, 1, 16, block, 1, 1);
  const [out] = built.run({
    ...{ grid: [grid[0] / 4, 1, 1], block: [4 * block, 1, 1], dynamicSharedBytes: 4 * 16 },
    bytes: [new Uint8Array(clusterBytes).fill(0xee), new Uint8Array(head.buffer)],
  });
  built.remove();
  assert.is(digestOf(out!.subarray(0, 4 * words)), digest);
});

const kernelOf = (body: string, directives = ''): string => `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
${directives}
{
.reg .b32 a, b; .reg .b64 o;
.shared .align 16 .b32 mem[1024];
ld.param.u64 o, [out];
mov.u32 a, %laneid; st.shared.u32 [mem], a;
${body}
barrier.cluster.arrive; barrier.cluster.wait;
ld.shared.u32 b, [mem]; st.global.u32 [o], b;
ret;
}
`;

test('CM5054: clusters that do not fit in a block of the device', () => {
  const said = (ptx: string, grid: Dim3, block: Dim3, cluster: Dim3 | undefined, shared = 0): string[] => {
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx));
    const module = device.load(compile(diagnostics.file!, { target: 'macos15' }, diagnostics)!.metallib, diagnostics)!;
    const buffer = device.allocate(16, diagnostics)!;
    const request = { grid, block, dynamicSharedBytes: shared, timeoutMs: 60_000, ...(cluster ? { cluster } : {}) };
    module.launch({ kernel: 'k', ...request, args: [{ kind: 'buffer', buffer }] }, diagnostics);
    return diagnostics.list.map(({ code, message }) => `${code} ${message.split(', ').slice(1).join(', ') || message}`);
  };
  const plain = kernelOf('');
  const ofWarps = kernelOf('shfl.sync.bfly.b32 a, a, 1, 31, -1;');
  assert.equal(said(plain, [4, 1, 1], [48, 1, 1], [4, 1, 1]), []);
  assert.equal(said(ofWarps, [4, 1, 1], [48, 1, 1], undefined), []);
  assert.equal(said(ofWarps, [4, 1, 1], [48, 1, 1], [2, 1, 1]), ['CM5054 and the 48 threads of each are not whole warps']);
  assert.equal(said(plain, [4, 1, 1], [512, 1, 1], [4, 1, 1]), ['CM5054 which has at most 1024 threads, and not 2048']);
  assert.equal(said(plain, [8, 1, 1], [32, 1, 1], [8, 1, 1], 16), ['CM5054 which has at most 32768 bytes of shared memory, and not 32896']);
  assert.equal(
    said(kernelOf('', '.reqntid 64\n.reqnctapercluster 2'), [4, 1, 1], [32, 1, 1], undefined).map((each) => each.slice(0, 6)),
    ['CM5020'],
  );
  assert.equal(
    said(kernelOf('', '.reqntid 64\n.reqnctapercluster 2'), [3, 1, 1], [64, 1, 1], undefined).map((each) => each.slice(0, 6)),
    ['CM5054'],
  );
});

test('a metallib, and the text of the IR, say what the blocks of the source are', () => {
  const source = new SourceFile('k.ptx', kernelOf('', '.reqntid 64, 2, 1\n.reqnctapercluster 2, 1, 1'));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'macos15' }, diagnostics)!;
  const [made] = compiled.reflection.kernels;
  const [raised] = device.load(compiled.metallib, diagnostics)!.kernels;
  const cluster = {
    required: [2, 1, 1],
    group: { sharedBytes: 4096, isOfWarps: false, isDynamic: false, requiredThreads: [64, 2, 1], maxThreads: 128 },
  };
  for (const found of [made!, raised!])
    assert.equal(
      [found.cluster, found.staticSharedBytes, found.usesDynamicShared, found.requiredThreads],
      [cluster, 4096, false, [64, 2, 1]],
    );
  const module = toLegalIr(source, { target: 'macos15' }, diagnostics)!;
  const text = printModule(module);
  assert.is(printModule(parseModule(new SourceFile('k.ir', text), diagnostics)!), text);
});

test('a kernel that only asks for its place runs in blocks of its own', () => {
  const text = readFileSync(new URL('../../fixtures/clusters/clusters.ptx', import.meta.url), 'utf8');
  const source = new SourceFile('clusters.ptx', text);
  const diagnostics = new Diagnostics(source);
  const [made] = compile(source, { target: 'macos15', entries: ['registers'] }, diagnostics)!.reflection.kernels;
  assert.equal([made!.cluster, made!.services?.map(({ service }) => service)], [undefined, ['group']]);
});

test.run();
