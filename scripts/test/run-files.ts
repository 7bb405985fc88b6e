/** Spec files side by side, with a line for each. */
import { type FileOutcome, runFile } from './run-file.ts';

/** Files that the list at the end of a run names. */
const listed = 10;

/** Runs files in their order, so many side by side. */
export async function runFiles(files: readonly string[], jobs: number): Promise<FileOutcome[]> {
  const outcomes: FileOutcome[] = [];
  const queue = [...files];
  const worker = async (): Promise<void> => {
    for (let file = queue.shift(); file; file = queue.shift()) {
      const outcome = await runFile(file);
      outcomes.push(outcome);
      for (const line of linesOf(outcome)) console.log(line);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return outcomes;
}

function linesOf({ file, passed, failed, skipped, output, wall }: FileOutcome): string[] {
  const left = output.match(/^skipped: .*$/gm)?.map((line) => `  ${line}`) ?? [];
  if (failed > 0) return [output, `✗ ${file}`, ...left];
  return [`✓ ${file} (${passed}${skipped ? `, ${skipped} skipped` : ''}; ${wall.toFixed(1)} s)`, ...left];
}

/** The files that computed longest. */
export function slowest(outcomes: readonly FileOutcome[]): string[] {
  const sorted = [...outcomes].sort((a, b) => b.cpu - a.cpu).slice(0, listed);
  const line = ({ file, cpu, wall }: FileOutcome): string =>
    `${cpu.toFixed(1).padStart(7)} s of CPU time${wall.toFixed(1).padStart(8)} s  ${file}`;
  return ['slowest:', ...sorted.map(line)];
}
