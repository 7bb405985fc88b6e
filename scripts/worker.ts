/** The program of a worker as text, for bundles: `worker-source.ts` finds the program by its address, which a bundle does not have. */
import { join } from 'node:path';
import type { BunPlugin } from 'bun';

const workers = 'src/device/cpu/workers';

/** The module in the place of `worker-source.ts`, in JavaScript. */
async function sourceModule(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, '..', workers, 'worker.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
  });
  const text = await outputs[0]!.text();
  return `export const workerSource = () => ({ text: ${JSON.stringify(text.trim())} });\n`;
}

/** Puts the program of the worker into a bundle. */
export async function embeddedWorker(): Promise<BunPlugin> {
  const contents = await sourceModule();
  return {
    name: 'embedded-worker',
    setup: (build) => void build.onLoad({ filter: /\/workers\/worker-source\.ts$/ }, () => ({ contents, loader: 'js' })),
  };
}
