/**
 * Runs pages in a headless browser: a server gives them the package as it is built for pages, with and without the headers that let
 * memory be shared, and takes what they report. Nothing drives the browser: pages ask for orders, and go on to the next page themselves.
 */
import { join } from 'node:path';
import { buildForPages } from '../../../scripts/browser/build.ts';
import { isolation } from '../../../scripts/browser/serve.ts';
import type { Orders, Report } from './page.ts';
import { whileOpen } from './process.ts';

/** A visit to a page: whether it is isolated, and what it is to do. */
export interface Visit {
  readonly isIsolated: boolean;
  /** What the page may load (`Content-Security-Policy`). */
  readonly policy?: string;
  readonly orders: Omit<Orders, 'programs'>;
  /** Modules that the page imports; `cumetal` is the package in them. */
  readonly programs: readonly string[];
  /** More that the server gives, by name. */
  readonly files: Readonly<Record<string, string>>;
}

/** Milliseconds for all visits. */
const limitMs = 120_000;

const types: Readonly<Record<string, string>> = { js: 'text/javascript', html: 'text/html' };

/** The folder of a visit, as the address has it. */
const folderOf = (index: number): string => `/visit${index}`;

/** Has a browser make visits in their order; what the pages report. */
export async function visit(browser: string, visits: readonly Visit[]): Promise<Report[]> {
  const files = await filesOf(visits);
  const reports: Report[] = [];
  let finish: (reports: Report[]) => void;
  const finished = new Promise<Report[]>((resolve) => {
    finish = resolve;
  });
  using server = Bun.serve({
    port: 0,
    hostname: 'localhost',
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const index = Number(/^\/visit(\d+)\//.exec(pathname)?.[1] ?? -1);
      const asked = visits[index];
      const name = pathname.slice(folderOf(index).length + 1);
      if (!asked) return new Response('', { status: 404 });
      if (name === 'report') {
        reports.push((await request.json()) as Report);
        if (reports.length === visits.length) finish(reports);
        return new Response(reports.length < visits.length ? `${folderOf(index + 1)}/index.html` : '');
      }
      const headers = { ...(asked.isIsolated ? isolation : {}), ...(asked.policy ? { 'content-security-policy': asked.policy } : {}) };
      if (name === 'orders')
        return Response.json({ ...asked.orders, programs: asked.programs.map((_, i) => programName(index, i)) }, { headers });
      const body = asked.files[name] ?? files.get(name);
      if (!body) return new Response('', { status: 404 });
      return new Response(body, { headers: { ...headers, 'content-type': types[name.split('.').at(-1)!] ?? '' } });
    },
  });
  // The server lives until then.
  return await whileOpen(browser, `http://localhost:${server.port}${folderOf(0)}/index.html`, finished, {
    limitMs,
    state: () => `reported ${reports.length} of ${visits.length} pages`,
  });
}

const programName = (visit: number, index: number): string => `program${visit}-${index}.js`;

/** The package, the page, and the programs, by their names in the folder of any visit. */
async function filesOf(visits: readonly Visit[]): Promise<Map<string, string | Uint8Array<ArrayBuffer>>> {
  const files = new Map<string, string | Uint8Array<ArrayBuffer>>([
    ['index.html', '<!doctype html><script type="module" src="page.js"></script>'],
  ]);
  for (const { path, bytes } of await buildForPages()) files.set(`dist/browser/${path}`, bytes as Uint8Array<ArrayBuffer>);
  const { outputs } = await Bun.build({ entrypoints: [join(import.meta.dirname, 'page.ts')], target: 'browser' });
  files.set('page.js', await outputs[0]!.text());
  for (const [v, { programs }] of visits.entries())
    for (const [i, text] of programs.entries()) files.set(programName(v, i), await programOf(text));
  return files;
}

/** A program as a browser takes it, with the package as it was built. */
async function programOf(text: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: ['program'],
    target: 'browser',
    plugins: [
      {
        name: 'program',
        setup(build) {
          build.onResolve({ filter: /^program$/ }, () => ({ path: 'program', namespace: 'program' }));
          build.onLoad({ filter: /.*/, namespace: 'program' }, () => ({ contents: text, loader: 'ts' }));
          build.onResolve({ filter: /^cumetal(\/\w+)?$/ }, ({ path }) => ({
            path: `./dist/browser${path.slice('cumetal'.length)}/index.js`,
            external: true,
          }));
        },
      },
    ],
  });
  return outputs[0]!.text();
}
