/** A process that runs a kernel whose code is stored: the folder, `auto` or `always`, whether it may compile, and the kernel; prints what the kernel writes. */
import type { NativeMode } from '../../src/device/device.ts';
import { folderStore, kernelIn, wordsOf } from './stored.ts';

const [folder, native, mayMake, body] = process.argv.slice(2);
console.log(wordsOf(kernelIn(folderStore(folder!), body!, mayMake === 'true'), native as NativeMode).join());
