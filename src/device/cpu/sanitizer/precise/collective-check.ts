/** Checks that the lanes of a warp collective are those that their masks name. The host examines the cases that this code does not decide. */
import { eachParticipant, type WarpLocals } from '../../../../engine/codegen/lane-loop.ts';
import type { Code, WasmModule } from '../../../../wasm/index.ts';
import type { SanitizerState } from './state.ts';

/** Emits the function; parameters are the first thread of a warp, the end of its threads, the active lanes, and the number of the collective. */
export function writeCollectiveCheck(module: WasmModule, state: SanitizerState): number {
  const { index, code } = module.fn({ params: ['i32', 'i32', 'i32', 'i32'], results: [] });
  const [base, last, active, collective] = [0, 1, 2, 3];
  const local = (): number => code.local('i32');
  const [thread, at, all, some, named, mask] = [local(), local(), local(), local(), local(), local()];
  code.i32(-1);
  code.at('local.set', all);
  const each = (body: () => void): void => eachTakingAt(code, state, { base, last, mask: active, thread, at }, body);
  each(() => {
    code.at('local.get', at);
    code.access('i32.load', 4, 4);
    code.at('local.get', named);
    code.op('i32.or');
    code.at('local.set', named);
    code.at('local.get', at);
    code.access('i32.load', 4);
    code.at('local.tee', mask);
    code.at('local.get', all);
    code.op('i32.and');
    code.at('local.set', all);
    code.at('local.get', mask);
    code.at('local.get', some);
    code.op('i32.or');
    code.at('local.set', some);
  });
  code.at('local.get', named);
  code.op('i32.eqz');
  code.open('if');
  code.op('return');
  code.end();
  // All lanes named one mask, which contains exactly the active ones of the existing threads.
  code.at('local.get', all);
  code.at('local.get', some);
  code.op('i32.eq');
  pushExisting(code, base, last);
  code.at('local.get', all);
  code.op('i32.and');
  code.at('local.get', active);
  code.op('i32.eq');
  code.op('i32.and');
  code.open('if');
  each(() => {
    code.at('local.get', at);
    code.i32(0);
    code.access('i32.store', 4, 4);
  });
  code.else();
  for (const each of [base, last, active, collective]) code.at('local.get', each);
  code.at('call', state.functions.meet);
  code.end();
  return index;
}

/** Pushes a bit for each lane that has a thread. */
function pushExisting(code: Code, base: number, last: number): void {
  code.i32(-1);
  code.i32(32);
  code.at('local.get', last);
  code.at('local.get', base);
  code.op('i32.sub');
  code.op('i32.sub');
  code.op('i32.shr_u');
}

interface Locals extends WarpLocals {
  /** Address of the mask that the thread has named. */
  readonly at: number;
}

function eachTakingAt(code: Code, { globals }: SanitizerState, { at, ...warp }: Locals, body: () => void): void {
  eachParticipant(code, warp, () => {
    code.at('local.get', warp.thread);
    code.i32(3);
    code.op('i32.shl');
    code.at('global.get', globals['thread.members']);
    code.op('i32.add');
    code.at('local.set', at);
    body();
  });
}
