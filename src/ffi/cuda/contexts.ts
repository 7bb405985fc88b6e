/** Several contexts in one process: the driver works on the one that is current in the thread. */
import type { CudaBinding } from './binding.ts';
import type { CudaHandle } from './driver.ts';

/** The current context of each driver, as far as it was set here. */
const current = new WeakMap<CudaBinding, { handle: CudaHandle | undefined }>();

/** Functions that work without a context, or make one current themselves. */
const free: ReadonlySet<string> = new Set([
  'lastFault',
  'deviceCount',
  'deviceName',
  'deviceMemory',
  'deviceAttribute',
  'makeCurrent',
  'pack',
] satisfies (keyof CudaBinding)[]);

/** The primary context of a device, with a binding that makes it current before each call which needs one. */
export interface RetainedContext {
  readonly handle: CudaHandle;
  readonly binding: CudaBinding;
}

/** Retains the primary context of a device; undefined if the driver does not. */
export function retainContext(binding: CudaBinding, device: number): RetainedContext | undefined {
  const state = current.get(binding) ?? { handle: undefined };
  current.set(binding, state);
  const handle = binding.retain(device);
  state.handle = handle;
  if (handle === undefined) return undefined;
  const use = (): void => {
    if (state.handle !== handle && binding.makeCurrent(handle)) state.handle = handle;
  };
  /** After these, the context may be gone. */
  const ending = (run: (device: number) => boolean) => (of: number) => {
    state.handle = undefined;
    return run(of);
  };
  const own = { release: ending(binding.release), reset: ending(binding.reset) };
  return { handle, binding: { ...withUse(binding, use), ...own } };
}

type Functions = Readonly<Record<string, unknown>>;

/** An object whose functions call `use` first, and those of its objects. */
function withUse<T extends object>(of: T, use: () => void): T {
  const before = ([name, value]: readonly [string, unknown]): readonly [string, unknown] => {
    if (free.has(name)) return [name, value];
    if (typeof value === 'object' && value !== null) return [name, withUse(value, use)];
    if (typeof value !== 'function') return [name, value];
    return [
      name,
      (...args: unknown[]) => {
        use();
        return value(...args);
      },
    ];
  };
  return Object.fromEntries(Object.entries(of as Functions).map(before)) as T;
}
