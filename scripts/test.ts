/**
 * Runs every spec file in a process of its own, two at a time, and ends with `N passed, N failed, N skipped`.
 * `bun scripts/test.ts WORD…` runs the files whose path holds one of the words. A file that crashes, hangs or reports no test
 * counts as failed.
 */
import { Glob } from 'bun';

const limitSeconds = 180;
const words = process.argv.slice(2);

interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Everything the file printed, and why it counts as failed where that does not say. */
  readonly output: string;
}

async function run(file: string): Promise<Outcome> {
  // What is tested is the compiler, not what it did before.
  const env = { ...process.env, FORCE_COLOR: '0', CUMETAL_CACHE_DISABLE: '1' };
  const child = Bun.spawn([process.execPath, file], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore', env });
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    child.kill('SIGKILL');
  }, limitSeconds * 1000);
  const [out, err, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  clearTimeout(timer);
  return judge(out + err, code, hung);
}

function judge(printed: string, code: number, hung: boolean): Outcome {
  // One report for each suite of the file. uvu counts skipped tests neither as passed nor as part of the total.
  const sum = (word: string): number =>
    [...printed.matchAll(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'gm'))].reduce((n, match) => n + Number(match[1]), 0);
  const [total, passed, skipped] = [sum('Total'), sum('Passed'), sum('Skipped')];
  const fault = hung
    ? `stopped after ${limitSeconds} s`
    : total + skipped === 0
      ? 'no test was reported'
      : code !== 0
        ? `exit code ${code}`
        : '';
  const failed = Math.max(total - passed, fault === '' ? 0 : 1);
  return { passed, failed, skipped, output: fault === '' ? printed : `${printed}\n${fault}` };
}

const files = [...new Glob('spec/**/*.spec.ts').scanSync('.')].sort().filter((f) => words.length === 0 || words.some((w) => f.includes(w)));
const outcomes: Outcome[] = [];
const queue = [...files];

async function worker(): Promise<void> {
  for (let file = queue.shift(); file; file = queue.shift()) {
    const start = performance.now();
    const outcome = await run(file);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    outcomes.push(outcome);
    if (outcome.failed > 0) console.log(`${outcome.output}\n✗ ${file}`);
    else console.log(`✓ ${file} (${outcome.passed}${outcome.skipped ? `, ${outcome.skipped} skipped` : ''}; ${seconds} s)`);
    for (const line of outcome.output.match(/^skipped: .*$/gm) ?? []) console.log(`  ${line}`);
  }
}

await Promise.all([worker(), worker()]);
if (files.length === 0) console.log(`no spec file${words.length ? ` with ${words.join(' or ')} in its path` : ''}`);
const count = (pick: (o: Outcome) => number): number => outcomes.reduce((n, o) => n + pick(o), 0);
const failed = count((o) => o.failed);
console.log(`${count((o) => o.passed)} passed, ${failed} failed, ${count((o) => o.skipped)} skipped`);
process.exit(failed > 0 || files.length === 0 ? 1 : 0);
