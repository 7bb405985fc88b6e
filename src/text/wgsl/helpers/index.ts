/** Helper functions of WGSL: the definition of each by its key. */
import { bug } from '../../../base/bug.ts';
import { approximateHelpers } from './approximate.ts';
import { floatHelpers, saturating } from './floats.ts';
import type { Helper } from './helper.ts';
import { integerHelpers } from './integers.ts';
import { memoryHelper, nameOfStoreKey } from './memory.ts';

const fixed: Readonly<Record<string, Helper>> = {
  ...integerHelpers,
  ...floatHelpers,
  ...approximateHelpers,
  block_barrier: { text: '// Orders both kinds of memory.\nfn block_barrier() {\n  storageBarrier();\n  workgroupBarrier();\n}' },
};

/** The definition of a helper. */
export const helperOf = (key: string): Helper => fixed[key] ?? saturating(key) ?? memoryHelper(key) ?? bug(`no helper ${key}`);

/** The name that a helper is called by. */
export const helperName = (key: string): string => (key.includes(' ') ? nameOfStoreKey(key) : key);

/** The definitions of helpers and of what they need, each once and after those that it calls. */
export function helperTexts(keys: Iterable<string>): string[] {
  const found = new Map<string, string>();
  const add = (key: string): void => {
    if (found.has(key)) return;
    const { needs = [], text } = helperOf(key);
    for (const need of needs) add(need);
    found.set(key, text);
  };
  for (const key of keys) add(key);
  return [...found.values()];
}
