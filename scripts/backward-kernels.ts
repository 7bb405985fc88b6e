/**
 * Kernels that training needs, of the library (`src/kernels`), on several devices against references in double precision.
 *
 *   bun scripts/backward-kernels.ts [--sources FOLDER] [--without WORD] [DEVICE…]
 *
 * A row for each kernel and device: the largest error over the elements, relative to the largest of the reference; and the bits that differ from
 * those of the first device. The devices are `cpu` and `webgpu`, unless others are named. `--without` leaves out kernels with a word in their
 * names: software drivers take minutes to compile the products. `--sources` also writes each kernel as PTX and as WGSL.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toIr } from '../src/compile/index.ts';
import { type Buffer, Device, Diagnostics, SourceFile } from '../src/index.ts';
import {
  activationBackward,
  adam,
  dequantize,
  gemm,
  normalFloat,
  normWeightsBackward,
  rmsNormBackward,
  rope,
  ropeTables,
} from '../src/kernels/index.ts';
import { wgslFile, wgslKernel } from '../src/text/index.ts';

const words = process.argv.slice(2);
const optionOf = (name: string): string | undefined => {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words.splice(at, 2)[1];
};
const folder = optionOf('--sources');
const without = optionOf('--without');
const names = words.length > 0 ? words : ['cpu', 'webgpu'];

/** Numbers from -1 to 1 that are the same in every run, rounded to f32. */
function numbers(count: number, seed: number): Float32Array {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

const sum = (count: number, of: (i: number) => number): number => {
  let total = 0;
  for (let i = 0; i < count; i++) total += of(i);
  return total;
};

interface Case {
  readonly name: string;
  readonly ptx: string;
  /** Launches it, and gives what it wrote. */
  run(device: Device): Buffer<'f32', 'device'>;
  readonly expected: () => ArrayLike<number>;
}

const cases: Case[] = [];

// silu: dx = dy (s + x s (1 - s)) with s = 1 / (1 + e^-x).
const count = 5000;
const [xs, slopes] = [numbers(count, 1).map((x) => 8 * x), numbers(count, 2)];
cases.push({
  name: 'silu backward',
  ptx: activationBackward('silu').kernel.ptx,
  run(device) {
    const dx = device.allocate('f32', count);
    activationBackward('silu').launch(device, { x: device.bufferOf('f32', xs), dy: device.bufferOf('f32', slopes), dx, n: count });
    return dx;
  },
  expected: () =>
    Array.from(xs, (x, i) => {
      const s = 1 / (1 + Math.exp(-x));
      return slopes[i]! * (s + x * s * (1 - s));
    }),
});

// c = a b: da = dc bT, db = aT dc.
const [m, n, k] = [30, 17, 26];
const [a, b, dc] = [numbers(m * k, 3), numbers(k * n, 4), numbers(m * n, 5)];
const ofA = gemm({ tile: 64, transposeB: true });
const ofB = gemm({ tile: 64, transposeA: true });
cases.push(
  {
    name: 'gemm backward, a',
    ptx: ofA.kernel.ptx,
    run(device) {
      const c = device.allocate('f32', m * k);
      ofA.launch(device, { a: device.bufferOf('f32', dc), b: device.bufferOf('f32', b), c, m, n: k, k: n });
      return c;
    },
    expected: () => Array.from({ length: m * k }, (_, i) => sum(n, (x) => dc[Math.floor(i / k) * n + x]! * b[(i % k) * n + x]!)),
  },
  {
    name: 'gemm backward, b',
    ptx: ofB.kernel.ptx,
    run(device) {
      const c = device.allocate('f32', k * n);
      ofB.launch(device, { a: device.bufferOf('f32', a), b: device.bufferOf('f32', dc), c, m: k, n, k: m });
      return c;
    },
    expected: () => Array.from({ length: k * n }, (_, i) => sum(m, (x) => a[x * k + Math.floor(i / n)]! * dc[x * n + (i % n)]!)),
  },
);

// RMS norm: dx = scale (g - normal mean(g normal)) with g = dy weight; dweight = Σ dy normal.
const [rows, columns] = [13, 300];
const [values, gains, outer] = [numbers(rows * columns, 6), numbers(columns, 7), numbers(rows * columns, 8)];
const scales = Float32Array.from(
  { length: rows },
  (_, r) => 1 / Math.sqrt(sum(columns, (c) => values[r * columns + c]! ** 2) / columns + 1e-5),
);
const rmsArguments = (device: Device) => ({
  ...{ x: device.bufferOf('f32', values), dy: device.bufferOf('f32', outer), mean: null, scale: device.bufferOf('f32', scales) },
  ...{ rows, columns },
});
cases.push(
  {
    name: 'rmsnorm backward, x',
    ptx: rmsNormBackward().kernel.ptx,
    run(device) {
      const dx = device.allocate('f32', rows * columns);
      rmsNormBackward().launch(device, { ...rmsArguments(device), weight: device.bufferOf('f32', gains), dx });
      return dx;
    },
    expected: () =>
      Array.from({ length: rows * columns }, (_, i) => {
        const r = Math.floor(i / columns);
        const normal = (c: number): number => values[r * columns + c]! * scales[r]!;
        const g = (c: number): number => outer[r * columns + c]! * gains[c]!;
        return scales[r]! * (g(i % columns) - normal(i % columns) * (sum(columns, (c) => g(c) * normal(c)) / columns));
      }),
  },
  {
    name: 'rmsnorm backward, weight',
    ptx: normWeightsBackward().kernel.ptx,
    run(device) {
      const dweight = device.allocate('f32', columns);
      normWeightsBackward().launch(device, { ...rmsArguments(device), dweight, dbias: null });
      return dweight;
    },
    expected: () =>
      Array.from({ length: columns }, (_, c) => sum(rows, (r) => outer[r * columns + c]! * values[r * columns + c]! * scales[r]!)),
  },
);

// RoPE backward turns the other way.
const [tokens, heads, size] = [6, 3, 64];
const pairs = size / 2;
const positions = [0, 1, 2, 17, 300, 901];
const turned = numbers(tokens * heads * size, 9);
const back = rope({ inverse: true });
cases.push({
  name: 'rope backward',
  ptx: back.kernel.ptx,
  run(device) {
    const { cosines, sines } = ropeTables(902, pairs);
    const y = device.allocate('f32', turned.length);
    const tables = { cosines: device.bufferOf('f32', cosines), sines: device.bufferOf('f32', sines) };
    const x = device.bufferOf('f32', turned);
    back.launch(device, { x, y, positions: device.bufferOf('i32', positions), ...tables, tokens, heads, size, pairs });
    return y;
  },
  expected: () =>
    Array.from(turned, (_, i) => {
      const [head, place] = [i - (i % size), i % size];
      const pair = place % pairs;
      const angle = positions[Math.floor(i / (heads * size))]! * 10_000 ** (-pair / pairs);
      const [first, second] = [turned[head + pair]!, turned[head + pair + pairs]!];
      return place < pairs ? first * Math.cos(angle) + second * Math.sin(angle) : second * Math.cos(angle) - first * Math.sin(angle);
    }),
});

// AdamW, the third step.
const [weights, gradients] = [numbers(count, 10), numbers(count, 11)];
const [first, second] = [numbers(count, 12).map((x) => x / 10), numbers(count, 13).map((x) => x * x)];
const step = { rate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.1 };
cases.push({
  name: 'adamw',
  ptx: adam({ decoupled: true }).kernel.ptx,
  run(device) {
    const own = device.bufferOf('f32', weights);
    const moments = { first: device.bufferOf('f32', first), second: device.bufferOf('f32', second) };
    adam({ decoupled: true }).launch(device, {
      ...{ weights: own, gradients: device.bufferOf('f32', gradients), ...moments },
      ...{ n: count, step: 3, ...step },
    });
    return own;
  },
  expected: () =>
    Array.from(weights, (w, i) => {
      const { rate, beta1, beta2, epsilon, decay } = step;
      const mean = beta1 * first[i]! + (1 - beta1) * gradients[i]!;
      const square = beta2 * second[i]! + (1 - beta2) * gradients[i]! ** 2;
      return w * (1 - rate * decay) - (rate * (mean / (1 - beta1 ** 3))) / (Math.sqrt(square / (1 - beta2 ** 3)) + epsilon);
    }),
});

// NF4: a byte has two weights of a block of 64, the first in its high half.
const blocks = 40;
const packed = Uint8Array.from(numbers(blocks * 32, 14), (x) => Math.floor((x + 1) * 128) & 255);
const blockScales = numbers(blocks, 15);
cases.push({
  name: 'nf4 dequantisation',
  ptx: dequantize('nf4').kernel.ptx,
  run(device) {
    const y = device.allocate('f32', blocks * 64);
    const given = { weights: device.bufferOf('u8', packed), scales: device.bufferOf('f32', blockScales), rows: 4, columns: blocks * 16 };
    dequantize('nf4').launch(device, { ...given, y });
    return y;
  },
  expected: () =>
    Array.from({ length: blocks * 64 }, (_, i) => {
      const byte = packed[i >> 1]!;
      return normalFloat[i % 2 === 0 ? byte >> 4 : byte & 15]! * blockScales[Math.floor(i / 64)]!;
    }),
});

/** A kernel in WGSL, as `--emit wgsl` writes it. */
function wgslOf(name: string, ptx: string): string {
  const diagnostics = new Diagnostics(new SourceFile(name, ptx));
  const source = diagnostics.file!;
  const kernels = toIr(source, { target: 'cpu', isForText: true }, diagnostics)?.kernels ?? [];
  const text = wgslFile(kernels.map((kernel) => wgslKernel(kernel, diagnostics, { source })));
  if (diagnostics.hasErrors) throw new Error(diagnostics.list.map(({ message }) => message).join('; '));
  return text;
}

if (folder !== undefined) {
  mkdirSync(folder, { recursive: true });
  for (const { name, ptx } of cases) {
    const file = join(folder, name.replaceAll(/\W+/g, '-'));
    writeFileSync(`${file}.ptx`, ptx);
    writeFileSync(`${file}.wgsl`, wgslOf(`${name}.ptx`, ptx));
  }
}
const of = new Map<string, Float32Array>();
console.log('| kernel | device | largest error | bits |\n| --- | --- | ---: | --- |');
for (const name of names) {
  const device = Device.open(name, { print: false });
  for (const each of cases) {
    if (without !== undefined && each.name.includes(without)) continue;
    const found = Float32Array.from(await each.run(device).read());
    const expected = each.expected();
    const scale = Math.max(...Array.from(expected, Math.abs));
    const error = Math.max(...Array.from(expected, (value, i) => Math.abs(found[i]! - value))) / scale;
    const known = of.get(each.name) ?? found;
    of.set(each.name, known);
    const bits = (list: Float32Array): Uint32Array => new Uint32Array(list.buffer);
    const differing = bits(found).filter((word, i) => word !== bits(known)[i]).length;
    console.log(
      `| ${each.name} | ${name} | ${error.toExponential(1)} | ${differing === 0 ? 'the same' : `${differing} of ${found.length} differ`} |`,
    );
  }
  device.close();
}
