/** Starts workers from a text, in Bun, in Node and in a page. */

/** A worker that was started. */
export interface Handle {
  post(message: unknown): void;
  terminate(): void;
}

export interface Listener {
  message(data: unknown): void;
  /** Called when the worker has ended, whoever ended it, or could not start. */
  ended(why: string): void;
}

/** As pages have it, and Bun. */
interface PageWorker {
  postMessage(message: unknown): void;
  terminate(): unknown;
  addEventListener(type: string, act: (event: { readonly data?: unknown; readonly message?: string }) => void): void;
  unref?(): void;
}

/** Of `node:worker_threads`. */
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

/** Whether memory can be shared with workers here: pages need to be isolated for that. */
export const canShare = (): boolean => scope.SharedArrayBuffer !== undefined && scope.crossOriginIsolated !== false;

/** Threads that this machine runs at once. */
export function coreCount(): number {
  const known = scope.navigator?.hardwareConcurrency;
  return known ?? builtin<{ availableParallelism(): number }>('node:os')?.availableParallelism() ?? 1;
}

/** Starts a worker; nothing where there are none. A program does not go on for its sake. */
export function spawn(text: string, listener: Listener): Handle | undefined {
  try {
    return scope.Worker ? spawnInPage(scope.Worker, text, listener) : spawnInNode(text, listener);
  } catch {
    return undefined;
  }
}

/** Addresses of texts, which are there as long as the program is. */
const addresses = new Map<string, string>();

function addressOf(text: string): string {
  const address = addresses.get(text) ?? URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  addresses.set(text, address);
  return address;
}

/** Milliseconds after which a worker of a page has ended for sure that was terminated: nobody says when. */
const goneMs = 1000;

function spawnInPage(Worker: NonNullable<Scope['Worker']>, text: string, listener: Listener): Handle {
  // Deno has no others.
  const worker = new Worker(addressOf(text), { type: 'module' });
  worker.addEventListener('message', ({ data }) => listener.message(data));
  worker.addEventListener('error', ({ message }) => listener.ended(message ?? 'an error'));
  // Bun says when one has ended; pages do not.
  worker.addEventListener('close', () => listener.ended('it was closed'));
  worker.unref?.();
  return {
    post: (message) => worker.postMessage(message),
    terminate() {
      worker.terminate();
      if (!worker.unref) setTimeout(() => listener.ended('it was terminated'), goneMs);
    },
  };
}

function spawnInNode(text: string, listener: Listener): Handle | undefined {
  const threads = builtin<{ Worker: new (text: string, options: { eval: true }) => NodeWorker }>('node:worker_threads');
  if (!threads) return undefined;
  const worker = new threads.Worker(text, { eval: true });
  worker.on('message', (data) => listener.message(data));
  worker.on('error', () => {});
  worker.on('exit', () => listener.ended('it has ended'));
  worker.unref();
  return { post: (message) => worker.postMessage(message), terminate: () => void worker.terminate() };
}
