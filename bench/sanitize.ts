/**
 * The cost of the sanitizer: the kernels of `cpu.ts`, launched alternately without it and with all its kinds. A launch is timed from the
 * call to the return, including its shadow memory. `--only=NAME` selects a kernel, `--kinds=memory,race` selects kinds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { type SanitizeKind, type SanitizeRequest, sanitizeKinds } from '../src/device/device.ts';
import { openCpuDevice } from '../src/device/index.ts';
import { type Kernel, kernels, launcher } from './cpu.ts';
import { type Bench, geomean, type Row } from './report.ts';

/** Milliseconds of repeated launches in a round, and the number of rounds, of which the best launch counts. */
const [lastsMs, rounds] = [250, 4];

/** Rows in milliseconds, whose ratio is the cost: less is better. */
export function sanitizing(given: readonly string[] = []): Bench {
  const wordOf = (name: string): string | undefined => given.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
  const [only, kinds] = [wordOf('only'), wordOf('kinds')?.split(',') ?? sanitizeKinds];
  const path = join(import.meta.dirname, 'kernels/cpu/eleven.ptx');
  const source = new SourceFile(path, readFileSync(path, 'utf8'));
  const metallibs = [false, true].map((sanitize) => {
    const compiled = compile(source, { target: 'macos15', sanitize }, new Diagnostics(source));
    if (!compiled) throw new Error('the kernels do not compile');
    return compiled.metallib;
  });
  const sanitize: SanitizeRequest = { kinds: new Set(kinds as readonly SanitizeKind[]), source };
  const rows = kernels
    .filter(({ name }) => only === undefined || name === only)
    .map((kernel) => {
      const of = (metallib: Uint8Array, watch = {}) => launcher(kernel, metallib, openCpuDevice({ threads: 1 }), watch);
      return costOf(kernel, [of(metallibs[0]!), of(metallibs[1]!, { sanitize })]);
    });
  const cost = geomean(rows.map(({ ratio }) => ratio));
  const about = `launches with the sanitizer for ${kinds.join(', ')} (ours) and without (other), one thread, best of ${rounds} rounds`;
  return { bench: 'sanitize', about, rows, bars: [{ name: 'cost, geometric mean', value: cost, bar: 10, isMost: true }] };
}

/** The best of some alternating rounds of each, so that other load on the machine affects both. */
function costOf({ name }: Kernel, [plain, sanitized]: readonly [() => number, () => number]): Row {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number];
  for (let round = 0; round < rounds; round++)
    [plain, sanitized].forEach((launch, i) => {
      const start = performance.now();
      for (let before = start; before - start < lastsMs; ) {
        launch();
        const now = performance.now();
        least[i] = Math.min(least[i]!, now - before);
        before = now;
      }
    });
  const [other, ours] = least;
  console.log(`${name}: ${(ours / other).toFixed(2)} times`);
  return { name, ours, other, unit: 'ms', ratio: ours / other };
}
