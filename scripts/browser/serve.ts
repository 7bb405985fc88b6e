/**
 * Serves the page of `examples/browser`, with the package built for it, the page of whole programs (`program-page.ts`) at `/program/`,
 * and the page of kernels (`explore-page.ts`) at `/explore/`: `npm run page`. `--alone` leaves out the headers that let its
 * memory be shared with workers, as servers do that do not know of them; `--port N` takes a port, 8080 where none is named.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Built, buildForPages } from './build.ts';
import { explorePage } from './explore-page.ts';
import { programPage } from './program-page.ts';

/** What a server says for a page to be isolated from others, without which browsers let no memory be shared. */
export const isolation = { 'cross-origin-opener-policy': 'same-origin', 'cross-origin-embedder-policy': 'require-corp' } as const;

/** Files of the examples, in whose folder the page is. */
const examples = join(import.meta.dirname, '../../examples');

/** Serves the page at a port, 0 for any that is free. */
export async function servePage({
  port,
  isIsolated,
}: {
  readonly port: number;
  readonly isIsolated: boolean;
}): Promise<Bun.Server<undefined>> {
  const built = await buildForPages();
  const headers = isIsolated ? isolation : {};
  return Bun.serve({
    port,
    hostname: 'localhost',
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/') return Response.redirect('/examples/browser/index.html');
      const module = built.find(({ path }) => pathname === `/dist/browser/${path}`);
      if (module)
        return new Response(module.bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, 'content-type': 'text/javascript' } });
      const [, page, path] = /^\/(program|explore)(?:\/(.*))?$/.exec(pathname) ?? [];
      if (page !== undefined && path === undefined) return Response.redirect(`/${page}/`);
      if (page !== undefined) return ofPage(page === 'program' ? programFiles() : exploreFiles(), path || 'index.html', headers);
      const [, name] = /^\/examples\/((?:browser\/)?[\w-]+\.(?:html|js|ptx))$/.exec(pathname) ?? [];
      const file = name === undefined ? undefined : Bun.file(join(examples, name));
      if (!file || !(await file.exists())) return new Response('there is no such file', { status: 404, headers });
      return new Response(file, { headers });
    },
  });
}

/** Pages are made when they are first asked for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
const programFiles = once(programPage);
const exploreFiles = once(async () => explorePage(typeof (await programFiles()) === 'string' ? undefined : '../program/'));
const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', json: 'application/json' };

/** A file of a page. */
async function ofPage(made: Promise<Built[] | string>, path: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  const files = await made;
  if (typeof files === 'string') return new Response(`the page cannot be made: ${files}`, { status: 503, headers });
  const bytes = files.find((file) => file.path === path)?.bytes;
  if (!bytes) return new Response('there is no such file', { status: 404, headers });
  const type = types[path.split('.').at(-1)!] ?? 'application/octet-stream';
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { ...headers, 'content-type': type } });
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' }, alone: { type: 'boolean', default: false } } });
  const server = await servePage({ port: Number(values.port), isIsolated: !values.alone });
  console.log(`${server.url}examples/browser/index.html\n${server.url}program/\n${server.url}explore/`);
}
