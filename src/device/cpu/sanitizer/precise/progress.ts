/** Counts of what threads do, by which threads that wait forever are found. */
import type { Code } from '../../../../wasm/index.ts';
import { stampFields } from './stamp.ts';
import type { SanitizerState } from './state.ts';

/** An access that counts; `site` and `address` are locals. */
interface Counted {
  readonly code: Code;
  readonly state: SanitizerState;
  readonly shape: { readonly what: 'load' | 'store' | 'atomic' };
  readonly site: number;
  readonly address: number;
}

/** Counts stores that others can see as progress, and strong loads and atomics as polls. */
export function writeProgress({ code, state, shape, site, address }: Counted): void {
  const { progress, polls } = state.globals;
  if (shape.what === 'store') {
    code.at('global.get', progress);
    code.i32(1);
    code.op('i32.add');
    return code.at('global.set', progress);
  }
  code.at('local.get', site);
  code.i32(2 ** stampFields.strong.at);
  code.op('i32.and');
  code.open('if');
  code.at('global.get', polls);
  code.i32(1);
  code.op('i32.add');
  code.at('global.set', polls);
  code.at('local.get', site);
  code.at('global.get', state.globals['last.poll']);
  code.op('i32.ne');
  code.open('if');
  code.at('global.get', state.globals['last.poll']);
  code.at('global.set', state.globals['other.poll']);
  code.at('global.get', state.globals['poll.address']);
  code.at('global.set', state.globals['other.address']);
  code.at('global.get', state.globals['poll.stamp']);
  code.at('global.set', state.globals['other.stamp']);
  code.end();
  code.at('local.get', site);
  code.at('global.set', state.globals['last.poll']);
  code.at('global.get', state.times.stamp);
  code.at('global.set', state.globals['poll.stamp']);
  code.at('local.get', address);
  code.at('global.set', state.globals['poll.address']);
  code.end();
}
