/**
 * What it costs to look for faults: the kernels of `cpu.ts`, launched as ever and with everything that the sanitizer looks for, in turns. A
 * launch is timed from the call to the return, with the shadow that it needs. `--only=NAME` takes one kernel, `--kinds=memory,race` some of it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { type SanitizeKind, type SanitizeRequest, sanitizeKinds } from '../src/device/device.ts';
import { type Kernel, kernels, launcher } from './cpu.ts';
import { type Bench, geomean, type Row } from './report.ts';

/** Milliseconds that launches are repeated for in a round, and rounds of which the best launch counts. */
const [lastsMs, rounds] = [250, 4];

/** Rows of milliseconds, of which the ratio is the cost: less is better. */
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
    .map((kernel) =>
      costOf(kernel, [launcher(kernel, metallibs[0]!, { threads: 1 }), launcher(kernel, metallibs[1]!, { threads: 1 }, { sanitize })]),
    );
  const cost = geomean(rows.map(({ ratio }) => ratio));
  const about = `launches with ${kinds.join(', ')} looked for (ours) and without (other), one thread, best of ${rounds} rounds`;
  return { bench: 'sanitize', about, rows, bars: [{ name: 'cost, geometric mean', value: cost, bar: 10, isMost: true }] };
}

/** The better of some rounds of each, in turns: a machine that does other work meanwhile is as busy for both. */
function costOf({ name }: Kernel, [plain, watched]: readonly [() => number, () => number]): Row {
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number];
  for (let round = 0; round < rounds; round++)
    [plain, watched].forEach((launch, i) => {
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
