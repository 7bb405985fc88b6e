/** A page in Chromium that fetches its work, has a worker, and tells what it found. */
import { withoutLibraries } from '../../../scripts/browser/build.ts';
import { isolation } from '../../../scripts/browser/serve.ts';
import { embeddedWorker } from '../../../scripts/worker.ts';
import { whileOpen } from './process.ts';

export interface Visit {
  /** The text of the page, which fetches `/work`, may start `/worker.js`, and posts its answer to `/told`. */
  readonly page: string;
  /** What `/work` answers, as JSON. */
  readonly work: unknown;
  /** The path of the worker's source. */
  readonly worker: string;
  /** Milliseconds until the page is taken for one that does not answer. */
  readonly limitMs: number;
  /** What is said of such a page. */
  readonly state: string;
}

/** Opens the page, and gives what it tells. */
export async function visitChromium<T>({ page, work, worker, limitMs, state }: Visit): Promise<T> {
  const code = await bundled(worker);
  let told: (what: T) => void = () => undefined;
  const finished = new Promise<T>((resolve) => {
    told = resolve;
  });
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/work') return Response.json(work);
      if (pathname === '/told') told((await request.json()) as T);
      const [body, type] = pathname === '/worker.js' ? [code, 'text/javascript'] : [page, 'text/html'];
      return new Response(body, { headers: { ...isolation, 'content-type': type } });
    },
  });
  try {
    return await whileOpen('chromium', `http://localhost:${server.port}/`, finished, { limitMs, state: () => state, hasGpu: true });
  } finally {
    await server.stop(true);
  }
}

/** The code of a worker, with the package in it. */
async function bundled(path: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [path],
    target: 'browser',
    format: 'esm',
    plugins: [withoutLibraries, await embeddedWorker([withoutLibraries])],
  });
  return outputs[0]!.text();
}
