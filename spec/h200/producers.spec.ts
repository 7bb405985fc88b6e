/**
 * Kernels that Triton, PyTorch's Inductor, XLA, Numba, NVRTC and clang compiled for sm_80, with what an NVIDIA H200 made of them, and kernels for
 * sm_90. A selection runs on the CPU device; `CUMETAL_PRODUCERS=all` runs every kernel, on both engines.
 *
 * A result is that of the H200 bit for bit, unless the manual leaves it open: approximations, and sums of products of matrices of floats. Those
 * differ by at most a share of the largest magnitude.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import type { Engine } from '../../src/device/device.ts';
import { check, parse } from '../../src/ptx/index.ts';
import {
  bytesOf,
  compileRecorded,
  contentsBefore,
  digestOf,
  hasOpenResults,
  outputsOf,
  type RecordedArgument,
  type RecordedKernel,
  readFamily,
  readTexts,
  relativeError,
} from '../support/producers.ts';

const test = suite('h200/producers');

const isWhole = process.env.CUMETAL_PRODUCERS === 'all';
const engines: readonly Engine[] = isWhole ? ['simd', 'lane'] : ['simd'];

/** Kernels of each family; what runs by default takes less CPU time than the kernels of the same kinds that are left out. */
const families: Readonly<Record<string, { readonly count: number; readonly chosen: RegExp }>> = {
  triton: {
    count: 69,
    chosen: /^(atomic_kinds|attention_combine|calls|dequantize_fp8|nan_rules|printed)$/,
  },
  inductor: { count: 75, chosen: /^(adamw|bucketize|index_add|moves)\./ },
  xla: { count: 23, chosen: /^(gelu_sum|halves|scatter|transposed)\./ },
  numba: { count: 8, chosen: /^(saxpy|matmul|quotients)/ },
  nvrtc: { count: 20, chosen: /^(lines\.videos|rdc\.block_sum)$/ },
  clang: { count: 12, chosen: /^clang-O2-lines\.(filter|videos)$/ },
};

/** Results of one rounding to a narrow type, or of sums in a wider one: shares of the largest magnitude. */
const bounds: Readonly<Record<string, number>> = { f64: 2 ** -50, f32: 2 ** -19, f16: 2 ** -10, bf16: 2 ** -7 };
/** Kernels that round what they compute on the way to halves, which then differ in the last bit. */
const narrow = /^attention_backward_|flex_attention_backward_1$/;
const narrowBound = 2 ** -13;

function checkOutput(kernel: RecordedKernel, argument: RecordedArgument, got: Uint8Array): void {
  const { name, buffer, digest, after } = argument;
  if (digest !== undefined) return assert.is(digestOf(buffer!, got), digest, name);
  // A launch that changed nothing may have written what was there.
  const want = after === undefined ? contentsBefore(argument) : bytesOf(after);
  const bound = hasOpenResults(kernel.ptx) ? Math.max(bounds[buffer!] ?? 0, narrow.test(kernel.name) ? narrowBound : 0) : 0;
  if (bound === 0 || /^[iu]/.test(buffer!)) return assert.is(digestOf(buffer!, got), digestOf(buffer!, want), name);
  const error = relativeError(buffer!, got.subarray(0, want.length), want);
  assert.ok(error <= bound, `${name} differs by 2^${Math.log2(error).toFixed(1)}`);
}

for (const [name, { count, chosen }] of Object.entries(families)) {
  const { kernels } = readFamily(name);
  test(`${name}: all kernels are there`, () => assert.is(kernels.length, count));
  for (const kernel of kernels.filter((kernel) => isWhole || chosen.test(kernel.name)))
    test(`${name}: ${kernel.name}`, () => {
      const compiled = compileRecorded(kernel);
      for (const engine of kernel.args ? engines : []) {
        const outputs = outputsOf(compiled, kernel, engine);
        kernel.args!.forEach((argument, i) => {
          if (argument.buffer) checkOutput(kernel, argument, outputs.get(i)!);
        });
      }
    });
}

/** Instructions that an sm_80 lacks, and what is said where they stand. */
const newer = /^\s*(?:@!?%\w+\s+)?((?:wgmma|tensormap|cp\.async\.bulk|mbarrier|setmaxnreg|fence\.proxy)\b|atom\.[\w.]*\.v[24]\b)/;

for (const [name, text] of Object.entries(readTexts('sm_90')).filter(([, text]) => isWhole || text.length < 14_000))
  test(`sm_90: ${name} is taken, or refused at the lines of what only an sm_90 has`, () => {
    const source = new SourceFile(`${name}.ptx`, text);
    const diagnostics = new Diagnostics(source);
    check(parse(source, diagnostics), {}, diagnostics);
    const lines = text.split('\n');
    for (const { code, labels } of diagnostics.list.filter(({ severity }) => severity === 'error')) {
      assert.is(code, 'CM2001');
      const line = lines[source.position(labels[0]!.span.start).line - 1]!;
      assert.match(line, newer);
    }
  });

// The kernel makes tensor maps in memory that Triton's launcher allocates, which the one for sm_80 does not need.
test('sm_90: a product of matrices by tensor copies has the result of the kernel for sm_80', () => {
  const older = readFamily('triton').kernels.find(({ name }) => name === 'matmul_descriptor')!;
  const args = older.args!.map(
    (argument): RecordedArgument =>
      argument.name === 'scratch0' ? { name: 'scratch0', buffer: 'u8', count: 4 * 3 * 128, init: 'zeros' } : argument,
  );
  const kernel = { ...older, ptx: readTexts('sm_90').matmul_descriptor!, args, sharedBytes: 16_640 };
  const outputs = outputsOf(compileRecorded(kernel, { target: 'cpu' }), kernel, 'simd');
  checkOutput(kernel, args[2]!, outputs.get(2)!);
});

test.run();
