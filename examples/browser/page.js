/** Draws the Mandelbrot set by `examples/mandelbrot.ptx`: compiled in the page, run by as many workers as the page may have. */
import { Device } from '../../dist/browser/index.js';

const canvas = document.querySelector('canvas');
const form = document.querySelector('form');
const output = document.querySelector('output');
const { threads, steps } = form.elements;
const size = canvas.width;

// Memory is shared with workers only where the server says that the page is isolated.
const most = globalThis.crossOriginIsolated ? navigator.hardwareConcurrency : 1;
for (let count = 1; count <= most; count++) threads.add(new Option(`${count}`, `${count}`, count === most, count === most));

/** From the grey of a point to its colour: dark, bright and dark again with the steps; what is inside stays black. */
const palette = Uint32Array.from({ length: 256 }, (_, grey) => {
  if (grey === 0) return 0xff000000;
  const light = Math.sin(((255 - grey) / 256) * Math.PI);
  const [red, green, blue] = [2.6, 1.4, 0.7].map((power) => Math.round(14 + 241 * light ** power));
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
});

const whole = { left: -2.2, top: -1.5, step: 3 / size };
let view = whole;
let opened;

/** A device of so many threads, with the kernel on it. */
async function open(count) {
  opened?.device.close();
  const ptx = await (await fetch('../mandelbrot.ptx')).text();
  const start = performance.now();
  const device = Device.open('cpu', { threads: count });
  const kernel = device.load(ptx).kernel('mandelbrot', ['u8*', 'u32', 'f32', 'f32', 'f32', 'u32']);
  const image = device.allocate('u8', size * size);
  return { device, kernel, image, compileMs: performance.now() - start };
}

async function draw() {
  const { kernel, image, compileMs } = opened;
  const limit = Number(steps.value);
  const args = [image, size, view.left, view.top, view.step, limit];
  const { durationMs } = await kernel.launch({ grid: [size / 16, size / 8], block: [16, 8], args }).ended();
  const pixels = Uint32Array.from(await image.read(), (grey) => palette[grey]);
  canvas.getContext('2d').putImageData(new ImageData(new Uint8ClampedArray(pixels.buffer), size), 0, 0);
  output.className = '';
  output.textContent = `${size} × ${size} points, at most ${limit} steps each
${durationMs.toFixed(1)} ms on ${threads.value} ${threads.value === '1' ? 'thread' : 'threads'}${most === 1 ? ' (the page is not isolated, and has no more)' : ''}
PTX compiled and loaded in ${compileMs.toFixed(0)} ms`;
}

/** One after the other, and what went wrong in words. */
let last = Promise.resolve();
function then(act) {
  last = last.then(act).catch((error) => {
    output.className = 'failed';
    output.textContent = `${error.message ?? error}`;
  });
}

async function restart() {
  opened = await open(Number(threads.value));
  await draw();
}

canvas.addEventListener('click', ({ offsetX, offsetY, shiftKey }) => {
  const [x, y] = [offsetX, offsetY].map((at) => (at / canvas.clientWidth) * size);
  const factor = shiftKey ? 2 : 0.5;
  const step = view.step * factor;
  view = { left: view.left + x * view.step - (size / 2) * step, top: view.top + y * view.step - (size / 2) * step, step };
  then(draw);
});
threads.addEventListener('change', () => then(restart));
steps.addEventListener('change', () => then(draw));
form.addEventListener('reset', () => {
  view = whole;
  setTimeout(() => then(draw));
});

then(restart);
