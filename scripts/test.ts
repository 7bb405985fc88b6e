/**
 * Runs every spec file in a process of its own, two at a time, and ends with `N passed, N failed, N skipped`.
 * `bun scripts/test.ts WORD…` runs the files whose path holds one of the words. A file that crashes, hangs or reports no test
 * counts as failed.
 */
import { Glob } from 'bun';

const limitMs = 120_000;
const words = process.argv.slice(2);

interface Outcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly output: string;
}

async function run(file: string): Promise<Outcome> {
  const child = Bun.spawn([process.execPath, file], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' });
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const [out, err, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  clearTimeout(timer);
  const output = out + err;
  const sum = (word: string): number =>
    [...output.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'gm'))].reduce((n, m) => n + Number(m[1]), 0);
  const [total, passed, skipped] = [sum('Total'), sum('Passed'), sum('Skipped')];
  // uvu counts skipped tests neither as passed nor as part of the total.
  const failed = Math.max(total - passed, code !== 0 || total + skipped === 0 ? 1 : 0);
  return { file, passed, failed, skipped, output };
}

const files = [...new Glob('spec/**/*.spec.ts').scanSync('.')].sort().filter((f) => words.length === 0 || words.some((w) => f.includes(w)));
const outcomes: Outcome[] = [];
const queue = [...files];

async function worker(): Promise<void> {
  for (let file = queue.shift(); file; file = queue.shift()) {
    const outcome = await run(file);
    outcomes.push(outcome);
    if (outcome.failed > 0) console.log(`${outcome.output}\n✗ ${file}`);
    else console.log(`✓ ${file} (${outcome.passed}${outcome.skipped ? `, ${outcome.skipped} skipped` : ''})`);
    for (const line of outcome.output.match(/^skipped: .*$/gm) ?? []) console.log(`  ${line}`);
  }
}

await Promise.all([worker(), worker()]);
const count = (pick: (o: Outcome) => number): number => outcomes.reduce((n, o) => n + pick(o), 0);
const failed = count((o) => o.failed);
console.log(`${count((o) => o.passed)} passed, ${failed} failed, ${count((o) => o.skipped)} skipped`);
process.exit(failed > 0 || files.length === 0 ? 1 : 0);
