/** The checks of the whole project, each a command. */

export interface StepOutcome {
  readonly name: string;
  readonly isOk: boolean;
  readonly seconds: number;
  readonly output: string;
}

/** Commands by name. They take a few seconds each and change nothing. */
const steps: Readonly<Record<string, readonly string[]>> = {
  typecheck: ['node_modules/.bin/tsc', '--noEmit'],
  lint: ['node_modules/.bin/biome', 'check', '.'],
  'generate --check': [process.execPath, 'scripts/generate.ts', '--check'],
};

export const runSteps = (): Promise<StepOutcome[]> => Promise.all(Object.entries(steps).map(([name, command]) => runStep(name, command)));

async function runStep(name: string, command: readonly string[]): Promise<StepOutcome> {
  const start = performance.now();
  const child = Bun.spawn([...command], { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' });
  const [out, err, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { name, isOk: code === 0, seconds: (performance.now() - start) / 1000, output: (out + err).trimEnd() };
}
