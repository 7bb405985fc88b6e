/** The fake CUDA driver, built and loaded for one spec file, on Linux with a C compiler. */

import { dlopen } from 'bun:ffi';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CudaBinding } from '../../../src/ffi/index.ts';
import { openCudaAt } from '../../../src/ffi/index.ts';
import { has, needing, type Register } from '../need.ts';

export interface FakeCuda {
  /** The path of the library. */
  readonly path: string;
  /** Resets to the state at the start of a process, with one device. */
  reset(): void;
  /** The calls, in order. */
  record(): string[];
  /** Misuses of the driver. */
  violations(): string[];
  /** Objects and allocations that are not freed. */
  live(): number;
  /**
   * Settings by name: `devices`, `init`, `launch`, `run`, `hangs`, `attribute`, `maxThreads`, `memory`, `query` (the next state of an
   * event), `failsAt` (the launch that reads outside of memory, by how many are until then, which the host finds out later), `marks` (whether streams
   * write words), and `stays`, whether a reset does not help after an error.
   */
  set(name: string, value: number): void;
  /** Texts by name: `refusal` and `remark` of the compiler, `out` and `err` of the next kernel. */
  say(name: string, text: string): void;
  /** A binding to it. */
  open(): CudaBinding;
}

const functions = {
  fake_reset: { args: [], returns: 'void' },
  fake_record: { args: [], returns: 'cstring' },
  fake_violations: { args: [], returns: 'cstring' },
  fake_live: { args: [], returns: 'i32' },
  fake_set: { args: ['ptr', 'i64'], returns: 'void' },
  fake_say: { args: ['ptr', 'ptr'], returns: 'void' },
} as const;

const text = (words: string): Uint8Array => Buffer.from(`${words}\0`);
const lines = (found: unknown): string[] => String(found).split('\n').slice(0, -1);

function build(path: string): void {
  const args = ['-Wall', '-Wextra', '-Werror', '-O1', '-fPIC', '-shared', join(import.meta.dirname, 'fake.c'), '-o', path];
  const { status, stderr, error } = spawnSync('cc', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cc did not build the fake CUDA driver: ${error?.message ?? stderr}`);
}

/** Builds it for a suite and removes it when the suite has run. Tests are skipped where it cannot be built. */
export function openFakeCuda<T>(suite: Test<T>): { readonly test: Register; readonly fake: FakeCuda } {
  // It has the same requirements as the fake Metal.
  const test = needing(suite, ['fake-metal']);
  if (!has('fake-metal')) return { test, fake: undefined as never };
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-fake-cuda-'));
  suite.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'libcuda.so.1');
  build(path);
  const { symbols } = dlopen(path, functions);
  const fake: FakeCuda = {
    path,
    reset: () => symbols.fake_reset(),
    record: () => lines(symbols.fake_record()),
    violations: () => lines(symbols.fake_violations()),
    live: () => symbols.fake_live(),
    set: (name, value) => symbols.fake_set(text(name), value),
    say: (name, words) => symbols.fake_say(text(name), text(words)),
    open() {
      const { binding, failures } = openCudaAt(path);
      assert.ok(binding, failures.join('; '));
      return binding;
    },
  };
  fake.reset();
  return { test, fake };
}
