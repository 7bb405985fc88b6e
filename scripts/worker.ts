/** The programs of workers as text, for bundles: each `worker-source.ts` finds its program by its address, which a bundle does not have. */
import { join } from 'node:path';
import type { BunPlugin } from 'bun';

/** The folders of workers, each with `worker.ts` and `worker-source.ts`. */
const workers = ['src/device/cpu/workers', 'src/device/webgpu/worker'];

/** The module in the place of `worker-source.ts`, in JavaScript. */
async function sourceModule(folder: string, plugins: BunPlugin[]): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, '..', folder, 'worker.ts')],
    target: 'browser',
    format: 'iife',
    minify: true,
    plugins,
  });
  const text = await outputs[0]!.text();
  return `export const workerSource = () => ({ text: ${JSON.stringify(text.trim())} });\n`;
}

/** Puts the programs of the workers into a bundle; they are built with the given plugins. */
export async function embeddedWorker(plugins: BunPlugin[] = []): Promise<BunPlugin> {
  const contents = new Map<string, string>();
  for (const folder of workers) contents.set(`${folder}/worker-source.ts`, await sourceModule(folder, plugins));
  const of = (path: string): string => [...contents].find(([file]) => path.replaceAll('\\', '/').endsWith(file))![1];
  return {
    name: 'embedded-worker',
    setup: (build) => void build.onLoad({ filter: /\/worker-source\.ts$/ }, ({ path }) => ({ contents: of(path), loader: 'js' })),
  };
}
