/** Starts workers in Bun, in Node and in a page. */

/** The program of a worker: the address of a module, or the text of a script. */
export type WorkerSource = { readonly url: string } | { readonly text: string };

/** A running worker. */
export interface SpawnedWorker {
  post(message: unknown): void;
  terminate(): void;
}

export interface Listener {
  message(data: unknown): void;
  /** Called when the worker has ended or could not start. */
  ended(why: string): void;
}

/** The worker of pages and Bun. */
interface PageWorker {
  postMessage(message: unknown): void;
  terminate(): unknown;
  addEventListener(type: string, act: (event: { readonly data?: unknown; readonly message?: string }) => void): void;
  unref?(): void;
}

/** The worker of `node:worker_threads`. */
interface NodeWorker {
  postMessage(message: unknown): void;
  terminate(): unknown;
  on(type: string, act: (value: unknown) => void): void;
  unref(): void;
}

interface Scope {
  readonly Worker?: new (url: string, options: { type: 'module' }) => PageWorker;
  readonly SharedArrayBuffer?: unknown;
  readonly crossOriginIsolated?: boolean;
  readonly navigator?: { readonly hardwareConcurrency?: number };
  readonly process?: { getBuiltinModule?(name: string): unknown };
}
const scope = globalThis as unknown as Scope;

const builtin = <T>(name: string): T | undefined => scope.process?.getBuiltinModule?.(name) as T | undefined;

/** Whether memory can be shared with workers: pages must be isolated for that. */
export const canShare = (): boolean => scope.SharedArrayBuffer !== undefined && scope.crossOriginIsolated !== false;

/** Threads that this machine executes at once. */
export function coreCount(): number {
  const known = scope.navigator?.hardwareConcurrency;
  return known ?? builtin<{ availableParallelism(): number }>('node:os')?.availableParallelism() ?? 1;
}

/** Starts a worker, which does not keep the program alive; undefined where there are no workers. */
export function spawn(source: WorkerSource, listener: Listener): SpawnedWorker | undefined {
  try {
    return scope.Worker ? spawnInPage(scope.Worker, source, listener) : spawnInNode(source, listener);
  } catch {
    return undefined;
  }
}

/** URLs of texts, for the life of the program. */
const urls = new Map<string, string>();

function urlOf(source: WorkerSource): string {
  if ('url' in source) return source.url;
  const { text } = source;
  const url = urls.get(text) ?? URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  urls.set(text, url);
  return url;
}

/** Milliseconds after which a terminated worker of a page has certainly ended: pages have no event for it. */
const terminatedMs = 1000;

function spawnInPage(Worker: NonNullable<Scope['Worker']>, source: WorkerSource, listener: Listener): SpawnedWorker {
  // Deno has module workers only.
  const worker = new Worker(urlOf(source), { type: 'module' });
  worker.addEventListener('message', ({ data }) => listener.message(data));
  worker.addEventListener('error', ({ message }) => listener.ended(message ?? 'an error'));
  // Bun has this event; pages do not.
  worker.addEventListener('close', () => listener.ended('it was closed'));
  worker.unref?.();
  return {
    post: (message) => worker.postMessage(message),
    terminate() {
      worker.terminate();
      if (!worker.unref) setTimeout(() => listener.ended('it was terminated'), terminatedMs);
    },
  };
}

function spawnInNode(source: WorkerSource, listener: Listener): SpawnedWorker | undefined {
  const threads = builtin<{ Worker: new (source: string | URL, options: { eval: boolean }) => NodeWorker }>('node:worker_threads');
  if (!threads) return undefined;
  const worker =
    'url' in source ? new threads.Worker(new URL(source.url), { eval: false }) : new threads.Worker(source.text, { eval: true });
  worker.on('message', (data) => listener.message(data));
  worker.on('error', () => {});
  worker.on('exit', () => listener.ended('it has ended'));
  worker.unref();
  return { post: (message) => worker.postMessage(message), terminate: () => void worker.terminate() };
}
