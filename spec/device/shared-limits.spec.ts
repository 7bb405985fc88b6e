/** The limit of shared memory on the CPU device, which depends on the target of the library. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('device/shared-limits');

/** Declares static shared memory, uses the dynamic one behind it, and stores a word at the end of both. */
const kernel = (declared: number, end: number): string => `.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 own[${declared}];
.extern .shared .align 16 .b8 more[];
.entry k(.param .u64 out)
{
  .reg .b32 r;
  .reg .b64 at;
  ld.param.u64 at, [out];
  st.shared.u32 [own+${declared - 4}], 11;
  st.shared.u32 [more+${end - 4}], 31;
  ld.shared.u32 r, [own+${declared - 4}];
  st.global.u32 [at], r;
  ld.shared.u32 r, [more+${end - 4}];
  st.global.u32 [at+4], r;
  ret;
}
`;

/** The two words, or the diagnostics. */
function launched(target: 'macos14' | 'macos15' | 'cpu', declared: number, given: number): number[] | string[] {
  const diagnostics = new Diagnostics();
  const compiled = compile(new SourceFile('k.ptx', kernel(declared, given)), { target }, diagnostics)!;
  const device = openCpuDevice();
  const module = device.load(compiled.metallib, diagnostics)!;
  // The reflection and the metallib have equal values.
  assert.is(module.kernels[0]!.maxSharedBytes, compiled.reflection.kernels[0]!.maxSharedBytes);
  const buffer = device.allocate(8, diagnostics)!;
  buffer.write(new Uint8Array(8).fill(0xa5));
  const request = { kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: given, timeoutMs: 1000 } as const;
  const done = module.launch({ ...request, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  return done ? [...new Uint32Array(buffer.read().buffer)] : diagnostics.list.map(({ code, message }) => `${code} ${message}`);
}

const tooMuch = (given: number, limit: number): string[] => [
  `CM5022 ${given} bytes of shared memory exceed the device limit of ${limit} bytes`,
];

for (const target of ['macos14', 'macos15'] as const)
  test(`${target}: 32768 bytes in total, as on every Apple GPU`, () => {
    assert.equal(launched(target, 16384, 16384), [11, 31]);
    assert.equal(launched(target, 16384, 16388), tooMuch(32772, 32768));
    assert.equal(launched(target, 32768, 4), tooMuch(32772, 32768));
  });

test('cpu: 232448 bytes in total, as on an NVIDIA GPU', () => {
  assert.equal(launched('cpu', 16384, 16388), [11, 31]);
  assert.equal(launched('cpu', 49152, 232448 - 49152), [11, 31]);
  assert.equal(launched('cpu', 16, 232432), [11, 31]);
  assert.equal(launched('cpu', 49152, 232452 - 49152), tooMuch(232452, 232448));
});

test.run();
