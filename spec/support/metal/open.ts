/** The fake Metal, built and loaded for one spec file, on Linux with a C compiler. */
import { dirname } from 'node:path';
import type { Test } from 'uvu';
import type { MetalBinding } from '../../../src/ffi/index.ts';
import { openShim } from '../../../src/ffi/metal/shim.ts';
import { has, needing, type Register } from '../need.ts';
import { type Built, buildFake } from './build.ts';
import { type Fake, loadFake } from './harness.ts';

export interface OpenedFake {
  /** Registers tests that need the fake: they are skipped if it cannot be built, and fail in CI on Linux. */
  readonly test: Register;
  readonly fake: Fake;
  /** By the shim. */
  readonly binding: MetalBinding;
  readonly built: Built;
  /** The paths of fake and shim; undefined if they could not be built, and then no test may use the rest. */
  readonly folder: string | undefined;
}

/** Builds the fake for a suite, and removes it when the suite has run. */
export function openFake<T>(suite: Test<T>): OpenedFake {
  const test = needing(suite, ['fake-metal']);
  if (!has('fake-metal')) return { test, folder: undefined } as OpenedFake;
  const built = buildFake();
  suite.after(() => built.remove());
  return { test, built, fake: loadFake(built.fake), binding: openShim(built.shim), folder: dirname(built.fake) };
}
