/**
 * The estimate of registers against NVIDIA's assembler: `bun scripts/pressure.ts [--sm=86] FILE.ptx…`. Prints each kernel, and the median of the errors.
 */
import { readFileSync } from 'node:fs';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { registersOfKernels } from '../src/compile/index.ts';

const words = process.argv.slice(2);
/** The architecture. */
const sm = Number(words.find((word) => word.startsWith('--sm='))?.slice(5) ?? 80);

/** What the assembler says: registers by kernel. */
function assembled(path: string): Map<string, number> {
  const { stderr } = Bun.spawnSync(['ptxas', '-v', `-arch=sm_${sm}`, path, '-o', '/dev/null']);
  const found = String(stderr).matchAll(/Compiling entry function '([^']+)'[\s\S]*?Used (\d+) registers/g);
  return new Map([...found].map(([, name, count]) => [name!, Number(count)]));
}

const errors: number[] = [];
for (const path of words.filter((word) => !word.startsWith('--'))) {
  const source = new SourceFile(path, readFileSync(path, 'utf8'));
  const used = assembled(path);
  for (const { name, maxLive, estimate } of registersOfKernels(source, sm, new Diagnostics(source)) ?? []) {
    const count = used.get(name);
    if (count === undefined) continue;
    errors.push(Math.abs(estimate - count) / count);
    console.log(
      `${String(count).padStart(4)} used, ${String(estimate).padStart(4)} estimated, ${String(maxLive).padStart(4)} live: ${name}`,
    );
  }
}
errors.sort((a, b) => a - b);
console.log(`${errors.length} kernels, median error ${((errors[errors.length >> 1] ?? 0) * 100).toFixed(1)} %`);
