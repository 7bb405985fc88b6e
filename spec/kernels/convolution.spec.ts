/** Convolutions and adapters of low rank against JavaScript in f64. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f16 } from '../../src/build/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { type ConvolutionShape, convolution, convolutionBackward, convolutionSize, lora, loraBackward } from '../../src/kernels/index.ts';
import { close, numbers, procedureFindings } from '../support/library.ts';
import { prove } from '../support/prove.ts';

const test = suite('kernels/convolution');
const device = Device.open('cpu', { print: false });
test.after(() => device.close());

interface Whole {
  readonly batch: number;
  readonly channels: number;
  readonly size: readonly [number, number];
  readonly filters: number;
  readonly kernel: readonly [number, number];
  readonly stride: readonly [number, number];
  readonly padding: readonly [number, number];
  readonly dilation: readonly [number, number];
  readonly groups: number;
}
const shapes: Whole[] = [
  { batch: 2, channels: 4, size: [5, 11], filters: 6, kernel: [3, 3], stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 },
  { batch: 1, channels: 8, size: [10, 7], filters: 8, kernel: [3, 2], stride: [2, 3], padding: [0, 2], dilation: [2, 1], groups: 2 },
  { batch: 2, channels: 3, size: [6, 5], filters: 3, kernel: [5, 5], stride: [1, 2], padding: [2, 2], dilation: [1, 1], groups: 3 },
  { batch: 1, channels: 20, size: [3, 3], filters: 66, kernel: [1, 1], stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 },
];

/** Calls a function for each product of an element of the image and one of a filter, with their indices and that of the result. */
function eachProduct(s: Whole, visit: (x: number, w: number, y: number) => void): void {
  const [rows, columns] = convolutionSize(s);
  const [cs, ks] = [s.channels / s.groups, s.filters / s.groups];
  for (let n = 0; n < s.batch; n++)
    for (let k = 0; k < s.filters; k++)
      for (let p = 0; p < rows; p++)
        for (let q = 0; q < columns; q++)
          for (let c = 0; c < cs; c++)
            for (let r = 0; r < s.kernel[0]; r++)
              for (let t = 0; t < s.kernel[1]; t++) {
                const h = p * s.stride[0] + r * s.dilation[0] - s.padding[0];
                const w = q * s.stride[1] + t * s.dilation[1] - s.padding[1];
                if (h < 0 || w < 0 || h >= s.size[0] || w >= s.size[1]) continue;
                const channel = Math.floor(k / ks) * cs + c;
                visit(
                  ((n * s.channels + channel) * s.size[0] + h) * s.size[1] + w,
                  ((k * cs + c) * s.kernel[0] + r) * s.kernel[1] + t,
                  ((n * s.filters + k) * rows + p) * columns + q,
                );
              }
}
const counts = (s: Whole): { x: number; w: number; y: number } => {
  const [rows, columns] = convolutionSize(s);
  return {
    x: s.batch * s.channels * s.size[0] * s.size[1],
    w: (s.filters * s.channels * s.kernel[0] * s.kernel[1]) / s.groups,
    y: s.batch * s.filters * rows * columns,
  };
};

async function forward(tried: readonly Whole[]): Promise<void> {
  for (const [i, s] of tried.entries()) {
    const of = counts(s);
    const [images, filters, biases] = [numbers(of.x, i), numbers(of.w, i + 10), numbers(s.filters, i + 20)];
    const expected = new Float64Array(of.y);
    const perFilter = of.y / s.batch / s.filters;
    for (let j = 0; j < of.y; j++) expected[j] = biases[Math.floor(j / perFilter) % s.filters]!;
    eachProduct(s, (x, w, y) => (expected[y] = expected[y]! + images[x]! * filters[w]!));
    for (const algorithm of ['gemm', 'direct'] as const) {
      const y = device.allocate('f32', of.y);
      const [x, weights, bias] = [device.bufferOf('f32', images), device.bufferOf('f32', filters), device.bufferOf('f32', biases)];
      convolution({ algorithm }).launch(device, { ...s, x, weights, bias, y });
      close(await y.read(), expected, 2e-6, `${algorithm} ${i}`, 4);
    }
  }
}

test('a convolution by a product and by elements, with strides, padding, dilation and groups', () => forward(shapes.slice(1, 2)));
prove(test, 'convolutions of other shapes', () => forward(shapes));

async function backward(tried: readonly Whole[]): Promise<void> {
  for (const [i, s] of tried.entries()) {
    const of = counts(s);
    const [images, filters, slopes] = [numbers(of.x, i), numbers(of.w, i + 10), numbers(of.y, i + 30)];
    const [ofImages, ofFilters, ofBias] = [new Float64Array(of.x), new Float64Array(of.w), new Float64Array(s.filters)];
    eachProduct(s, (x, w, y) => {
      ofImages[x] = ofImages[x]! + slopes[y]! * filters[w]!;
      ofFilters[w] = ofFilters[w]! + slopes[y]! * images[x]!;
    });
    const perFilter = of.y / s.batch / s.filters;
    for (const [j, slope] of slopes.entries()) ofBias[Math.floor(j / perFilter) % s.filters]! += slope;
    const [dx, dweights, dbias] = [device.allocate('f32', of.x), device.allocate('f32', of.w), device.allocate('f32', s.filters)];
    const [x, weights, dy] = [device.bufferOf('f32', images), device.bufferOf('f32', filters), device.bufferOf('f32', slopes)];
    convolutionBackward().launch(device, { ...s, dy, x, weights, dx, dweights, dbias });
    close(await dx.read(), ofImages, 3e-6, `dx ${i}`, 4);
    close(await dweights.read(), ofFilters, 3e-6, `dweights ${i}`, 4);
    close(await dbias.read(), ofBias, 3e-6, `dbias ${i}`, 8);
  }
}

test('its gradients of the images, of the filters and of the bias', () => backward(shapes.slice(1, 2)));
prove(test, 'gradients of other shapes', () => backward(shapes));

test('halves, and what is refused', async () => {
  const s: ConvolutionShape = { batch: 1, channels: 4, size: 5, filters: 4, kernel: 3, padding: 1 };
  const [x, weights] = [device.bufferOf('f16', numbers(100, 1)), device.bufferOf('f16', numbers(144, 2))];
  const y = device.allocate('f16', 100);
  convolution({ type: f16 }).launch(device, { ...s, x, weights, y });
  const [images, filters, expected] = [await x.read(), await weights.read(), new Float64Array(100)];
  const one: readonly [number, number] = [1, 1];
  const whole = { ...s, size: [5, 5], kernel: [3, 3], stride: one, padding: one, dilation: one, groups: 1 } as Whole;
  eachProduct(whole, (a, b, c) => (expected[c] = expected[c]! + images[a]! * filters[b]!));
  close(await y.read(), expected, 2 ** -11 + 1e-6, 'f16', 0.01);
  for (const wrong of [{ groups: 3 }, { stride: 0 }, { channels: 5 }, { batch: 1.5 }])
    assert.throws(
      () => convolution({ type: f16 }).launch(device, { ...s, ...wrong, x, weights, y }),
      (error: unknown) => error instanceof CumetalError,
    );
});

const product = (a: Float64Array, b: Float64Array, [m, n, k]: readonly number[], [ta, tb]: readonly boolean[]): Float64Array =>
  Float64Array.from({ length: m! * n! }, (_, i) => {
    const [r, c] = [Math.floor(i / n!), i % n!];
    let sum = 0;
    for (let q = 0; q < k!; q++) sum += a[ta ? q * m! + r : r * k! + q]! * b[tb ? c * k! + q : q * n! + c]!;
    return sum;
  });
const plus = (a: Float64Array, b: Float64Array, scale: number): Float64Array => a.map((value, i) => value + scale * b[i]!);

prove(test, 'an adapter of low rank and its gradients', async () => {
  const [rows, inputs, outputs, rank, scale] = [13, 37, 29, 5, 0.5];
  const sizes = { rows, inputs, outputs, rank, scale };
  const values = [rows * inputs, outputs * inputs, rank * inputs, outputs * rank, rows * outputs].map((n, i) => numbers(n, i));
  const [x, w, a, b, dy] = values.map((each) => Float64Array.from(each)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const [bx, bw, ba, bb, bdy] = values.map((each) => device.bufferOf('f32', each)) as [never, never, never, never, never];
  const [y, hidden] = [device.allocate('f32', rows * outputs), device.allocate('f32', rows * rank)];
  lora().launch(device, { ...sizes, x: bx, weights: bw, a: ba, b: bb, y, hidden });
  const middle = product(x, a, [rows, rank, inputs], [false, true]);
  const expected = plus(
    product(x, w, [rows, outputs, inputs], [false, true]),
    product(middle, b, [rows, outputs, rank], [false, true]),
    scale,
  );
  close(await y.read(), expected, 3e-6, 'y', 4);
  const [da, db, dx] = [a, b, x].map(({ length }) => device.allocate('f32', length)) as [never, never, never];
  loraBackward().launch(device, { ...sizes, x: bx, weights: bw, a: ba, b: bb, hidden, dy: bdy, da, db, dx });
  const back = product(dy, b, [rows, rank, outputs], [false, false]).map((value) => value * scale);
  const read = (buffer: { read(): Promise<Float32Array> }): Promise<Float32Array> => buffer.read();
  close(await read(da), product(back, x, [rank, inputs, rows], [true, false]), 3e-6, 'da', 4);
  close(
    await read(db),
    product(dy, middle, [outputs, rank, rows], [true, false]).map((v) => v * scale),
    3e-6,
    'db',
    4,
  );
  const throughWeights = product(dy, w, [rows, inputs, outputs], [false, false]);
  close(await read(dx), plus(throughWeights, product(back, a, [rows, inputs, rank], [false, false]), 1), 3e-6, 'dx', 4);
});

prove(test, 'the sanitizer finds nothing', async () => {
  const s = shapes[1]!;
  const of = counts(s);
  const found = await procedureFindings(convolutionBackward(), (d) => ({
    ...{
      ...s,
      dy: d.bufferOf('f32', numbers(of.y, 1)),
      x: d.bufferOf('f32', numbers(of.x, 2)),
      weights: d.bufferOf('f32', numbers(of.w, 3)),
    },
    ...{ dx: d.allocate('f32', of.x), dweights: d.allocate('f32', of.w), dbias: d.allocate('f32', s.filters) },
  }));
  assert.equal(found, []);
});

test.run();
