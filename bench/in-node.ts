/** A kernel of `cpu.ts` on the CPU device in Node, which `cpu.ts` bundles this for: prints units a second. Words: metallib, kernel, fma. */
import { readFileSync } from 'node:fs';
import type { Fma } from '../src/device/device.ts';
import { kernels, ours } from './cpu.ts';

const [path, name, fma] = process.argv.slice(2);
const kernel = kernels.find((each) => each.name === name)!;
console.log(ours(kernel, new Uint8Array(readFileSync(path!)), { fma: fma as Fma, threads: 1 })());
