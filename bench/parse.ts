/** `cumetal check` against `ptxas`, which also makes code; and what the parser and the checker take of it, without the start. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { check, parse } from '../src/ptx/index.ts';
import { againstPtxas, compareCold, root } from './cold.ts';
import { type Bench, median } from './report.ts';

/** Kernels of about 20 KB. */
const kernels = ['bench/kernels/nbody.ptx', 'bench/kernels/matmul_regs.ptx', 'bench/kernels/blur17.ptx'];
/** That which the large file is made of. */
const repeatedKernel = 'bench/kernels/blur17.ptx';

/** Nothing where ptxas is not installed. */
export function parsing(): Bench | undefined {
  const rows = againstPtxas((folder) => {
    const large = join(folder, 'one-megabyte.ptx');
    writeFileSync(large, repeated(readFileSync(join(root, repeatedKernel), 'utf8'), 1_000_000));
    const small = kernels.map((kernel) => compareCold(join(root, kernel), ['check'], folder, 15));
    return [...small, compareCold(large, ['check'], folder, 5), warm(large)];
  });
  return (
    rows && { bench: 'parse', about: 'cumetal check against ptxas -arch=sm_80, whole process; parse and check alone against 5 MB/s', rows }
  );
}

/** A module of so many bytes: its entries again and again, under other names. */
function repeated(text: string, bytes: number): string {
  const at = text.indexOf('.visible .entry');
  const entries = text.slice(at);
  const copies = Math.ceil(bytes / entries.length);
  const copy = (i: number): string => entries.replace(/(\.entry )(\w+)/g, `$1$2_${i}`);
  return text.slice(0, at) + Array.from({ length: copies }, (_, i) => copy(i)).join('\n');
}

/** Milliseconds for a megabyte in a process that runs, against those of the speed that editors need. */
function warm(path: string) {
  const text = readFileSync(path, 'utf8');
  const times = Array.from({ length: 7 }, () => {
    const start = performance.now();
    const file = new SourceFile(path, text);
    const diagnostics = new Diagnostics(file);
    const module = parse(file, diagnostics);
    if (module) check(module, {}, diagnostics);
    if (diagnostics.hasErrors) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
    return performance.now() - start;
  });
  const other = (text.length / 5e6) * 1000;
  return { name: 'parse and check, warm', ours: median(times), other, unit: 'ms', ratio: other / median(times) };
}
