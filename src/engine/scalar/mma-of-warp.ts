/**
 * Products of matrices whose registers are in thread records: a WebAssembly function for each form, which copies the registers of the lanes to the
 * staging area, computes the product there (`codegen/mma-function.ts`), and copies the result to the records.
 */
import { mmaForm, mmaRegisters } from '../../ir/index.ts';
import type { Code, WasmModule } from '../../wasm/index.ts';
import type { Host } from '../codegen/host.ts';
import { stagingOf } from '../codegen/mma-frame.ts';
import type { Plan } from '../codegen/plan.ts';

const warp = 32;

/** Parameters: the record of the warp's first thread, the mask of lanes, and the offsets in the record of a, b, c, the positions, and d. */
const parameters = { records: 0, mask: 1, a: 2, b: 3, c: 4, positions: 5, d: 6 } as const;

/** The index of the function of a form; the first call writes it into the module. */
export function mmaOfWarpTable(module: WasmModule, host: Host, plan: Plan, product: (form: string) => number): (form: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const inner = product(text);
    const { index, code } = module.fn({ params: ['i32', 'i32', 'i32', 'i32', 'i32', 'i32', 'i32'], results: [] });
    known.set(text, index);
    const staging = code.local('i32');
    // Behind the records of all threads.
    code.at('global.get', host.globals.threads);
    code.i32(plan.recordBytes);
    code.op('i32.mul');
    code.i32(15);
    code.op('i32.add');
    code.i32(-16);
    code.op('i32.and');
    code.at('global.get', host.globals.records);
    code.op('i32.add');
    code.at('local.set', staging);
    const form = mmaForm(text);
    const [count, places] = [mmaRegisters(form), stagingOf(form)];
    const frame: Frame = { code, staging, recordBytes: plan.recordBytes, wordBytes: places.wordBytes };
    eachLane(frame, (lane) => {
      lane.bring(parameters.a, places.a, count.a);
      lane.bring(parameters.b, places.b, count.b);
      lane.bring(parameters.c, places.c, count.c);
      if (form.selector !== undefined) lane.bring(parameters.positions, places.d, 1);
    });
    code.at('local.get', staging);
    code.at('call', inner);
    eachLane(frame, (lane) => lane.takeBack(parameters.d, places.c, count.c));
    return index;
  };
}

interface Frame {
  readonly code: Code;
  readonly staging: number;
  readonly recordBytes: number;
  readonly wordBytes: 4 | 8;
}

interface Lane {
  /** Copies registers from the record to the staging area. */
  bring(from: number, place: number, count: number): void;
  /** Copies registers from the staging area to the record. */
  takeBack(to: number, place: number, count: number): void;
}

function eachLane({ code, staging, recordBytes, wordBytes }: Frame, act: (lane: Lane) => void): void {
  const [number, record, word] = [code.local('i32'), code.local('i32'), code.local('i32')];
  const [load, store] = wordBytes === 8 ? (['i64.load', 'i64.store'] as const) : (['i32.load', 'i32.store'] as const);
  const pushRecord = (parameter: number): void => {
    code.at('local.get', record);
    code.at('local.get', parameter);
    code.op('i32.add');
  };
  const offset = (place: number, register: number): number => place + register * warp * wordBytes;
  const lane: Lane = {
    bring(from, place, count) {
      for (let register = 0; register < count; register++) {
        code.at('local.get', word);
        pushRecord(from);
        code.access(load, 4, register * wordBytes);
        code.access(store, 4, offset(place, register));
      }
    },
    takeBack(to, place, count) {
      for (let register = 0; register < count; register++) {
        pushRecord(to);
        code.at('local.get', word);
        code.access(load, 4, offset(place, register));
        code.access(store, 4, register * wordBytes);
      }
    },
  };
  code.i32(0);
  code.at('local.set', number);
  code.at('local.get', parameters.records);
  code.at('local.set', record);
  code.at('local.get', staging);
  code.at('local.set', word);
  code.open('loop');
  code.at('local.get', parameters.mask);
  code.at('local.get', number);
  code.op('i32.shr_u');
  code.i32(1);
  code.op('i32.and');
  code.open('if');
  act(lane);
  code.end();
  const advance = (local: number, by: number): void => {
    code.at('local.get', local);
    code.i32(by);
    code.op('i32.add');
    code.at('local.set', local);
  };
  advance(record, recordBytes);
  advance(word, wordBytes);
  advance(number, 1);
  code.at('local.get', number);
  code.i32(warp);
  code.op('i32.lt_u');
  code.at('br_if', 0);
  code.end();
}
