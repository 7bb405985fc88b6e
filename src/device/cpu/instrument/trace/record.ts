/** The hooks that hand the host what one thread computes, at the place where it does. */

import { writeBits } from '../../../../engine/codegen/emitter.ts';
import type { Probe, ProbeWriter } from '../../../../engine/codegen/hooks.ts';
import { isLeaf, type Plan } from '../../../../engine/codegen/plan.ts';
import { withScratch } from '../../../../engine/codegen/scratch.ts';
import { continuation, syncPointsOf } from '../../../../engine/codegen/split-at-sync-points.ts';
import { elementOf, type Kernel, lanesOf, type Value } from '../../../../ir/index.ts';
import type { Code, Signature, WasmModule } from '../../../../wasm/index.ts';

const imports = {
  /** Whether a thread of the block that runs is the one that is traced. */
  isTraced: { params: ['i32'], results: ['i32'] },
  /** The value, its lane, its bits. */
  computed: { params: ['i32', 'i32', 'i64'], results: [] },
  /** An instruction without result was done. */
  done: { params: ['i32'], results: [] },
  /** Whether a condition holds. */
  decided: { params: ['i32'], results: [] },
} as const satisfies Record<string, Signature>;
export type TraceImport = keyof typeof imports;

interface Parts {
  readonly kernel: Kernel;
  readonly functions: Readonly<Record<TraceImport, number>>;
  /** Global: whether the thread that runs is traced. */
  readonly isOn: number;
}

/** Declares what a traced module needs; before its first function. Every value is kept to be told, so the plan says that it is used once more. */
export function newTraceProbe(plan: Plan, module: WasmModule): Probe {
  const { kernel } = plan;
  const names = Object.keys(imports) as TraceImport[];
  const functions = Object.fromEntries(names.map((name) => [name, module.importFunction(name, imports[name])])) as Parts['functions'];
  const parts: Parts = { kernel, functions, isOn: module.global('i32') };
  for (const { body } of kernel.blocks) for (const value of body) if (isTold(kernel, value)) plan.uses[value]!++;
  return {
    blockStart: () => {},
    threadStart(code, thread) {
      code.at('local.get', thread);
      code.at('call', functions.isTraced);
      code.at('global.set', parts.isOn);
    },
    resumed(e, { entry }) {
      const before = kernel.blocks.filter((block) => syncPointsOf(kernel, block).length > 0 && continuation(block).id === entry);
      const brought = plan.liveIns.get(entry)!;
      tell(
        parts,
        e,
        before.flatMap((block) => syncPointsOf(kernel, block)).filter((value) => brought.includes(value)),
      );
    },
    regionEnd: () => {},
    enter: (e, block) => tell(parts, e, block.params),
    wrote(e, value) {
      const { op, type } = kernel.insts[value]!;
      if (isLeaf(kernel.insts[value]!)) return;
      if (op !== 'mark' && type !== 'void') return tell(parts, e, [value]);
      whenOn(parts, e.code, () => {
        e.code.i32(value);
        e.code.at('call', functions.done);
      });
    },
    accesses: () => {},
    leave: () => {},
    decide(e) {
      withScratch(e, 'i32', 1, ([condition]) => {
        e.code.at('local.tee', condition);
        whenOn(parts, e.code, () => {
          e.code.at('local.get', condition);
          e.code.at('call', functions.decided);
        });
      });
    },
  };
}

const isTold = (kernel: Kernel, value: Value): boolean => !isLeaf(kernel.insts[value]!) && kernel.insts[value]!.type !== 'void';

function whenOn({ isOn }: Parts, code: Code, body: () => void): void {
  code.at('global.get', isOn);
  code.open('if');
  body();
  code.end();
}

function tell(parts: Parts, e: ProbeWriter, values: readonly Value[]): void {
  if (values.length === 0) return;
  whenOn(parts, e.code, () => {
    for (const value of values) tellLanes(parts, e, value);
  });
}

function tellLanes({ kernel, functions }: Parts, { code, values }: ProbeWriter, value: Value): void {
  const { type } = kernel.insts[value]!;
  const lanes = lanesOf(type);
  for (let lane = 0; lane < lanes; lane++) {
    code.i32(value);
    code.i32(lane);
    if (lanes === 1) values.push(value);
    else values.pushLane(value, lane);
    writeBits(code, elementOf(type));
    code.at('call', functions.computed);
  }
}
