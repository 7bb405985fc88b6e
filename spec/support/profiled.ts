/** Kernels of which it is known how warps run them (`fixtures/profile`), profiled on the CPU device. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { DeviceModule, LaunchArgument } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import type { Profile } from '../../src/device/profile.ts';

const folder = join(import.meta.dirname, '../../fixtures/profile');

export interface ProfiledLaunch {
  readonly kernel: string;
  readonly grid: number;
  readonly block: number;
}

export const profiledLaunches = JSON.parse(readFileSync(join(folder, 'launches.json'), 'utf8')) as readonly ProfiledLaunch[];

const source = new SourceFile('profile.ptx', readFileSync(join(folder, 'profile.ptx'), 'utf8'));
const [floats, permuted] = [65536, 4096];

/** What the arguments of the kernels hold, as `scripts/record/profile.py` has it. */
const contents = [
  new Float32Array(floats),
  Float32Array.from({ length: floats }, (_, i) => i % 251),
  Int32Array.from({ length: permuted }, (_, i) => (i * 8 + (i >> 9)) % permuted),
];

const diagnostics = new Diagnostics(source);
const device = openCpuDevice();
let loaded: DeviceModule | undefined;

function moduleOf(): DeviceModule {
  if (loaded) return loaded;
  const made = compile(source, { target: 'cpu', marks: true }, diagnostics);
  loaded = made && device.load(made.metallib, diagnostics);
  if (!loaded) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  return loaded;
}

/** The profile of one of the kernels. */
export function profileOf(kernel: string): Profile {
  const { grid, block } = profiledLaunches.find((each) => each.kernel === kernel)!;
  const module = moduleOf();
  const { params } = module.kernels.find(({ name }) => name === kernel)!;
  const said = new Diagnostics();
  const args = params.map((param, i): LaunchArgument => {
    if (param.kind !== 'buffer') return { kind: 'bytes', bytes: new Uint8Array(8) };
    const buffer = device.allocate(contents[i]!.byteLength, said)!;
    buffer.write(new Uint8Array(contents[i]!.buffer));
    return { kind: 'buffer', buffer };
  });
  let found: Profile | undefined;
  const take = (profile: Profile): void => {
    found = profile;
  };
  const shape = { grid: [grid, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0 } as const;
  module.launch({ kernel, ...shape, args, timeoutMs: 0, profile: { source, take } }, said);
  for (const arg of args) if (arg.kind === 'buffer') arg.buffer.free();
  if (!found) throw new Error(said.list.map((d) => d.message).join('; '));
  return found;
}
