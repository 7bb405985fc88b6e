/** Kernels with more parameters than a pipeline has slots: values share one constant buffer, transparently to hosts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { describeModule, type KernelReflection, reflectModule } from '../../src/air/index.ts';
import { node } from '../../src/air/metadata-values.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { readModule } from '../../src/bitcode/index.ts';
import type { Metadata } from '../../src/bitcode/model.ts';
import { type Compiled, compile } from '../../src/compile/index.ts';
import { type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';
import { packedValuesName } from '../../src/ir/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';

const test = suite('device/many-params');

/** Values of all sizes, each misaligned with respect to the previous one, and two pointers among them. */
const kinds = ['u8', 'u64', 'u16', 'f32', 'u32'] as const;
const bytesOf = { u8: 1, u64: 8, u16: 2, f32: 4, u32: 4 } as const;
const names = Array.from({ length: 45 }, (_, i) => `p${i}`);
const isPointer = (i: number): boolean => i === 7 || i === 31;
const kindOf = (i: number) => kinds[i % kinds.length]!;

const head = '.version 7.0\n.target sm_70\n.address_size 64\n';

/** Adds the value of one parameter (its low 32 bits) to each word of the output, and a word of the other buffer. */
const source = `${head}.visible .entry k(${names.map((name, i) => `.param .${isPointer(i) ? 'u64' : kindOf(i)} ${name}`).join(', ')}, .param .align 4 .b8 pair[8])
{ .reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [p7]; ld.param.u64 %rd2, [p31]; cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
ld.global.u32 %r2, [%rd2];
${names
  .flatMap((name, i) => {
    if (isPointer(i)) return [];
    const load = kindOf(i) === 'f32' ? 'ld.param.u32' : `ld.param.${kindOf(i)}`;
    const read = kindOf(i) === 'u64' ? `${load} %rd3, [${name}]; cvt.u32.u64 %r1, %rd3;` : `${load} %r1, [${name}];`;
    return [`${read} add.u32 %r1, %r1, %r2; st.global.u32 [%rd1+${4 * i}], %r1;`];
  })
  .join('\n')}
ld.param.u32 %r1, [pair+4]; st.global.u32 [%rd1+180], %r1;
ret; }`;

function compiled(text: string): { readonly output: Compiled | undefined; readonly messages: string[] } {
  const file = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(file);
  const output = compile(file, {}, diagnostics);
  return { output, messages: diagnostics.list.map(({ code, message, notes }) => [code, message, ...notes].join(' ')) };
}

test('every parameter has its own value', () => {
  const { output, messages } = compiled(source);
  assert.equal(messages, []);
  const device = openCpuDevice();
  const diagnostics = new Diagnostics();
  const module = device.load(output!.metallib, diagnostics);
  const out = device.allocate(4 * 46, diagnostics)!;
  const other = device.allocate(4, diagnostics)!;
  out.write(new Uint8Array(4 * 46).fill(0xaa));
  other.write(Uint8Array.of(1, 0, 0, 0));
  // Distinct values: the bytes of parameter i are i + 1, i + 2 and so on.
  const bytesFor = (i: number, size: number): Uint8Array => Uint8Array.from({ length: size }, (_, at) => i + 1 + at);
  const args = names.map((_, i): LaunchArgument => {
    if (isPointer(i)) return { kind: 'buffer', buffer: i === 7 ? out : other };
    return { kind: 'bytes', bytes: bytesFor(i, bytesOf[kindOf(i)]) };
  });
  args.push({ kind: 'bytes', bytes: bytesFor(100, 8) });
  const launch = { kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 10_000 } as const;
  assert.ok(module?.launch(launch, diagnostics), diagnostics.list.map((d) => d.message).join('; '));
  const words = new Uint32Array(out.read().slice().buffer);
  const expected = names.map((_, i) => {
    if (isPointer(i)) return 0xaaaaaaaa;
    const bytes = bytesFor(i, Math.min(4, bytesOf[kindOf(i)]));
    return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0) + 1;
  });
  assert.equal([...words], [...expected, 105 + 106 * 256 + 107 * 65536 + 108 * 16777216]);
  device.close();
});

test('hosts see the parameters of the source in order, in the reflection and in the metallib', () => {
  const { output } = compiled(source);
  const [kernel] = output!.reflection.kernels;
  assert.equal(
    kernel!.params.map(({ name }) => name),
    [...names, 'pair'],
  );
  assert.equal(
    kernel!.params.map(({ slot }) => slot).filter((slot) => slot !== 2),
    [0, 1],
  );
  const diagnostics = new Diagnostics();
  const library = readMetallib(output!.metallib, diagnostics)!;
  const [read] = reflectModule(readModule(library.functions[0]!.bitcode, diagnostics)!, diagnostics);
  // Apple's metadata does not distinguish write-only buffers.
  const withoutAccess = ({ params }: KernelReflection) => params.map(({ access: _, ...rest }) => rest);
  assert.equal(withoutAccess(read!), withoutAccess(kernel!));
  // Natural alignment: a u8, a u64 at 8, a u16 at 16, a float at 20, a u32 at 24.
  assert.equal(
    kernel!.params.slice(0, 5).map(({ offset }) => offset),
    [0, 8, 16, 20, 24],
  );
});

test('a metallib whose values leave parameters of the source without a place is refused', () => {
  const { output } = compiled(source);
  /** The kernel's values, the last of which is said to be at this position. */
  const withLastAt = (position: number) => {
    const diagnostics = new Diagnostics();
    const module = readModule(readMetallib(output!.metallib, diagnostics)!.functions[0]!.bitcode, diagnostics)!;
    const { nodes } = module.namedMetadata.find(({ name }) => name === packedValuesName)!;
    const [, ...rest] = nodes.at(-1)!.operands;
    nodes[nodes.length - 1] = node(position, ...(rest as Metadata[]));
    const raised = [reflectModule(module, diagnostics), describeModule(module, diagnostics).map(({ reflection }) => reflection)];
    return {
      names: raised.map(([kernel]) => kernel?.params.map(({ name }) => name)),
      said: diagnostics.list.map(({ message }) => message),
    };
  };
  assert.equal(withLastAt(45), {
    names: [
      [...names, 'pair'],
      [...names, 'pair'],
    ],
    said: [],
  });
  const refusal = 'kernel `k` cannot run on this device: `cumetal.values` with an invalid description is not supported';
  // Behind the end, far behind it, and the place of another.
  for (const position of [46, 0xffffffff, 44])
    assert.equal(withLastAt(position), { names: [undefined, undefined], said: [refusal, refusal] });
});

test('kernels with enough slots keep one slot per value', () => {
  const params = Array.from({ length: 31 }, (_, i) => `.param .u32 p${i}`).join(', ');
  const [kernel] = compiled(`${head}.visible .entry k(${params}) { ret; }`).output!.reflection.kernels;
  assert.equal(
    kernel!.params.map(({ slot, offset }) => [slot, offset]),
    Array.from({ length: 31 }, (_, i) => [i, undefined]),
  );
});

test('CM2092: every buffer needs a slot', () => {
  const params = Array.from({ length: 32 }, (_, i) => `.param .u64 .ptr .global p${i}`).join(', ');
  assert.equal(compiled(`${head}.visible .entry k(${params}) { ret; }`).messages, [
    'CM2092 kernel `k` needs 32 buffers, but a pipeline has 31 slots',
  ]);
});

test.run();
