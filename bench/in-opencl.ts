/** A kernel of `cpu.ts` on the OpenCL device, for `opencl.ts`: prints units a second. Words: PTX, kernel. */
import { readFileSync } from 'node:fs';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { openDevice } from '../src/device/index.ts';
import { kernels, launcher, rater } from './cpu.ts';

const [path, name] = process.argv.slice(2);
const kernel = kernels.find((each) => each.name === name)!;
const diagnostics = new Diagnostics();
const entries = [kernel.entry ?? kernel.name];
const compiled = compile(new SourceFile(path!, readFileSync(path!, 'utf8')), { target: 'cpu', isForText: true, entries }, diagnostics);
const device = openDevice('opencl', diagnostics);
if (!compiled || !device) {
  console.error(diagnostics.list.map(({ message }) => message).join('; '));
  process.exit(1);
}
console.log(rater(kernel, launcher(kernel, compiled.metallib, device))());
process.exit(0);
