/**
 * The independent oracle, which shares no code with cumetal, runs the metallib of every example: LLVM reads the bitcode; accesses
 * outside of buffers, divergent barriers and reads of inactive lanes end the run. Two orders of the lanes detect races.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KernelReflection } from '../../src/air/abi.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { type ArgumentSpec, bindArguments, type LaunchFile } from '../../src/runtime/index.ts';
import {
  assertQuiet,
  compileExample,
  diskIo,
  exampleNames,
  exampleText,
  launchOnCpu,
  poisoned,
  recordedLaunch,
} from '../support/examples.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools as tools } from '../support/oracle.ts';

const test = suite('oracle/examples');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** The messages and results of one run of the oracle. */
interface OracleRun {
  readonly status: number | null;
  readonly complaints: string;
  /** By the index of the buffer parameter. */
  readonly buffers: ReadonlyMap<number, Uint8Array>;
}

function kernelOf(metallib: Uint8Array, name: string | undefined): KernelReflection {
  const diagnostics = new Diagnostics();
  const module = openCpuDevice().load(metallib, diagnostics);
  assertQuiet(diagnostics);
  return module!.kernels.find((kernel) => kernel.name === name)!;
}

/** Runs a kernel with the arguments of a launch. */
function runOracle(metallib: Uint8Array, plan: LaunchFile, order: string): OracleRun {
  const kernel = kernelOf(metallib, plan.kernel);
  const { grid, block, args } = plan as Required<LaunchFile>;
  const { sharedBytes = 0 } = plan;
  const full = { ...plan, sharedBytes, kernel: kernel.name, grid, block, args, defaults: [] };
  const bound = bindArguments(full, kernel, diskIo, new Diagnostics())!;
  const { status, complaints, after } = launchOracle(folder, metallib, {
    kernel: kernel.name,
    grid,
    block,
    args: bound.map((b) => (b.kind === 'buffer' ? b.buffer.bytes : b.kind === 'bytes' ? b.bytes : new Uint8Array(8))),
    sharedBytes: kernel.usesDynamicShared ? sharedBytes : undefined,
    order,
  });
  const isRead = bound.flatMap((b, index) => (b.kind === 'buffer' && status === 0 ? [index] : []));
  return { status, complaints, buffers: new Map(isRead.map((index) => [index, after[index]!])) };
}

for (const name of exampleNames)
  need(test, tools, `${name}: the oracle and the CPU device have equal results, in both lane orders`, () => {
    const plan = poisoned(recordedLaunch(name), 93);
    const { metallib } = compileExample(name);
    const { outputs } = launchOnCpu(metallib, plan);
    assert.ok(outputs.length > 0);
    for (const order of ['fwd', 'rev']) {
      const { status, complaints, buffers } = runOracle(metallib, plan, order);
      assert.is(complaints, '', order);
      assert.is(status, 0);
      assert.equal(
        outputs.map((output) => output.index),
        [...buffers.keys()],
      );
      for (const { index, name: buffer, bytes } of outputs)
        assert.ok(Buffer.compare(bytes, buffers.get(index)!) === 0, `${buffer} in the order ${order}`);
    }
  });

// ── the oracle's checks work ──

need(test, tools, 'a buffer that is too small is detected by the oracle, and by the CPU device', () => {
  const plan = recordedLaunch('vector_add');
  const args = plan.args!.map((argument) => (argument.name === 'c' ? { ...argument, shape: [1000] } : argument)) as ArgumentSpec[];
  const { metallib } = compileExample('vector_add');
  const { status, complaints } = runOracle(metallib, { ...plan, args }, 'fwd');
  assert.is(status, 1);
  assert.match(complaints, /argument 2/);
});

const cutAtBarriers = (name: string): Uint8Array => {
  const source = new SourceFile(`${name}.ptx`, exampleText(name).replace(/^\s*bar\.sync.*$/gm, ''));
  const compiled = compile(source, {}, new Diagnostics(source));
  return compiled!.metallib;
};

need(test, tools, 'a missing barrier is detected by one of the orders', () => {
  const plan = recordedLaunch('scan');
  const right = launchOnCpu(compileExample('scan').metallib, plan).outputs.find((output) => output.expect)!;
  const runs = ['fwd', 'rev'].map((order) => runOracle(cutAtBarriers('scan'), plan, order).buffers.get(right.index)!);
  assert.ok(runs.some((bytes) => Buffer.compare(bytes, right.bytes) !== 0));
});

test.run();
