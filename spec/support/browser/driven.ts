/** Pages that a script drives in Chromium, and what it reports. */
import type { Built } from '../../../scripts/browser/build.ts';
import { isolation } from '../../../scripts/browser/serve.ts';
import { whileOpen } from './process.ts';

interface Drive {
  /** The files of the page. */
  readonly files: readonly Built[];
  /** The module that drives it, from beside the page; it sends its report as JSON to `report`. */
  readonly driver: string;
  /** What the driver fetches, by its name. */
  readonly given: Readonly<Record<string, string>>;
  readonly isIsolated: boolean;
  readonly hasGpu?: boolean;
  readonly limitMs: number;
}

const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', json: 'application/json' };

/** Serves a page, opens the driver beside it, and returns its report. */
export async function driven<R>({ files, driver, given, isIsolated, hasGpu = false, limitMs }: Drive): Promise<R> {
  const own: Readonly<Record<string, string>> = {
    ...given,
    'driver.html': '<!doctype html><body><script type="module" src="driver.js"></script>',
    'driver.js': driver,
  };
  const byPath = new Map(files.map(({ path, bytes }) => [path, bytes as Uint8Array<ArrayBuffer>]));
  const headers = isIsolated ? isolation : {};
  let finish: (report: R) => void;
  const finished = new Promise<R>((resolve) => {
    finish = resolve;
  });
  using server = Bun.serve({
    port: 0,
    hostname: 'localhost',
    async fetch(request) {
      const path = new URL(request.url).pathname.slice(1);
      if (path === 'report') finish((await request.json()) as R);
      const body = path === 'report' ? '' : (own[path] ?? byPath.get(path));
      if (body === undefined) return new Response('', { status: 404 });
      return new Response(body, { headers: { ...headers, 'content-type': types[path.split('.').at(-1)!] ?? 'application/octet-stream' } });
    },
  });
  const state = (): string => 'has not reported';
  return await whileOpen('chromium', `http://localhost:${server.port}/driver.html`, finished, { limitMs, hasGpu, state });
}
