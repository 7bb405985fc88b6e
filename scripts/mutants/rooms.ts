/** The rooms that have mutants: which sources they are made of, and the specs that have to find them. `--sources` and `--specs` say otherwise. */
import { Glob } from 'bun';

export interface Room {
  readonly sources: readonly string[];
  readonly specs: readonly string[];
}

/** What runs kernels of every kind and compares what they leave with what was recorded. */
const recorded = ['spec/h200/{atomic,matrix,printf,symbols,warp,warps,wmma}.spec.ts', 'spec/examples/h200.spec.ts'];

/** What runs passes of any room on text, and verifies after each of them. */
const passes = ['spec/ir/{file-tests,verify-passes}.spec.ts'];

export const rooms: Readonly<Record<string, Room>> = {
  engine: {
    sources: ['src/device/cpu/**/*.ts', 'src/engine/**/*.ts'],
    specs: ['spec/{device,engine}/**/*.spec.ts', 'spec/h200/{profile,sanitize}.spec.ts', ...passes, ...recorded],
  },
  lower: {
    sources: ['src/lower/**/*.ts'],
    specs: [
      'spec/{lower,compile}/**/*.spec.ts',
      'spec/ptx/{rows,refuse-calls,constant,declarations,carry}.spec.ts',
      'spec/device/{many-params,masks}.spec.ts',
      ...passes,
      ...recorded,
    ],
  },
  ir: {
    sources: ['src/ir/**/*.ts'],
    specs: [
      'spec/{ir,compile}/**/*.spec.ts',
      'spec/device/{masks,workers}.spec.ts',
      'spec/engine/{active-threads,lane-groups,ops,predication}.spec.ts',
      'spec/ptx/rows.spec.ts',
      ...recorded,
    ],
  },
  nvvm: { sources: ['src/nvvm/**/*.ts'], specs: ['spec/nvvm/**/*.spec.ts'] },
  air: {
    sources: ['src/air/**/*.ts'],
    specs: [
      'spec/{air,compile}/**/*.spec.ts',
      'spec/{metallib,oracle}/**/*.spec.ts',
      'spec/bitcode/llvm.spec.ts',
      'spec/device/{many-params,wide-atomics}.spec.ts',
      'spec/ptx/rows.spec.ts',
      ...passes,
      ...recorded,
    ],
  },
};

/** Made by scripts, not by hand. */
const isGenerated = (path: string): boolean => /\.(recipe|generated)\.ts$/.test(path);

/** The files below a folder that some patterns name, in the order of their paths. */
export function filesOf(root: string, patterns: readonly string[]): string[] {
  const found = patterns.flatMap((pattern) => [...new Glob(pattern).scanSync(root)]);
  return [...new Set(found)].filter((path) => !isGenerated(path)).sort();
}
