/** A worker that runs a module of another thread. */
import { instantiate } from '../../src/device/cpu/native/instantiate.ts';
import type { NativeModule } from '../../src/device/cpu/native/module.ts';

declare const self: Worker;

const caught = (run: () => unknown): string => {
  try {
    return String(run());
  } catch (error) {
    return String(error);
  }
};

self.onmessage = ({ data: { module, memory } }: MessageEvent<{ module: NativeModule; memory: WebAssembly.Memory }>) => {
  const functions = {
    next(x: number): number {
      if (x < 0) throw new Error('own');
      return x + 1;
    },
  };
  const exports = instantiate(module, memory, functions) as Record<string, (...args: number[]) => number>;
  exports.store!(20);
  self.postMessage({
    sum: exports.add!(40, 2),
    imported: exports.imported!(42),
    trap: caught(() => exports.trap!()),
    thrown: caught(() => exports.imported!(-1)),
  });
};
