/** The host's half of a trace: it turns the values that the thread computes into steps, with operands and the places of pointers. */
import { lineOf } from '../../../../air/index.ts';
import { paramGlobal } from '../../../../engine/codegen/host.ts';
import { isLeaf } from '../../../../engine/codegen/plan.ts';
import { type Inst, type InstOf, isPointer, operandsOf, type Type, type Value } from '../../../../ir/index.ts';
import type { Dim3 } from '../../../device.ts';
import type { Trace, TraceOperation, TraceRequest, TraceStep, TraceValue } from '../../../trace.ts';
import { hex, type Places, placeIn, regionAt } from '../../observe/describe-address.ts';
import { placesOf } from '../../observe/launch-variables.ts';
import type { ObservedLaunch, Observer } from '../../observe/observer.ts';
import { instructionAt } from '../../source-text.ts';
import type { TraceImport } from './record.ts';

const defaultLimit = 5000;

interface Run {
  readonly observed: ObservedLaunch;
  readonly request: TraceRequest;
  /** The numbers of block and thread. */
  readonly at: { readonly block: number; readonly thread: number };
  readonly places: Places;
  /** The bits of the lanes of each value, when it was last computed. */
  readonly known: Map<Value, bigint[]>;
  readonly steps: Step[];
  /** Whether the metallib marks where instructions of the source start. */
  readonly hasMarks: boolean;
  count: number;
  global: ((name: string) => WebAssembly.Global) | undefined;
}

type Step = TraceStep & { readonly operations: TraceOperation[] };

/** Starts the trace of one thread. */
export function startTrace(observed: ObservedLaunch, request: TraceRequest): Observer {
  const { grid, block } = observed.request;
  const at = { block: linear(request.block, grid)!, thread: linear(request.thread, block)! };
  const { kernel } = observed.compiled.instrumented!.plan;
  const hasMarks = kernel.insts.some(({ op }) => op === 'mark');
  const places = placesOf(observed);
  const run: Run = { observed, request, at, places, known: new Map(), steps: [], hasMarks, count: 0, global: undefined };
  const imports: Record<TraceImport, (...args: never[]) => unknown> = {
    isTraced: (thread: number): number => Number(thread === at.thread && blockOf(run) === at.block),
    computed: (value: Value, lane: number, bits: bigint): void => computed(run, value, lane, BigInt.asUintN(64, bits)),
    done: (value: Value): void => {
      if (kernel.insts[value]!.op === 'mark') startStep(run, value, true);
      else operate(run, value, undefined);
    },
    decided: (holds: number): void => {
      const step = run.steps.at(-1);
      if (step && isKept(run))
        step.operations.push({ what: 'condbr', operands: [{ type: 'i1', bits: [BigInt(holds)] }], result: undefined });
    },
  };
  return {
    imports,
    begin(global) {
      run.global = global;
    },
    end: () => request.take(traceOf(run)),
  };
}

const isKept = ({ count, request }: Run): boolean => count <= (request.limit ?? defaultLimit);

const word = ({ global }: Run, name: string): number => global!(name).value as number;

function blockOf(run: Run): number {
  const [x, y, z] = ['ctaid.x', 'ctaid.y', 'ctaid.z'].map((name) => word(run, name)) as [number, number, number];
  const { grid } = run.observed.request;
  return x + grid[0] * (y + grid[1] * z);
}

/** The linear number of a block or thread, x fastest; undefined if there is none. */
export function linear(at: number | Dim3, [nx, ny, nz]: Dim3): number | undefined {
  if (typeof at === 'number') return at < nx * ny * nz ? at : undefined;
  return at[0] < nx && at[1] < ny && at[2] < nz ? at[0] + nx * (at[1] + ny * at[2]) : undefined;
}

const split = (at: number, [nx, ny]: Dim3): Dim3 => [at % nx, Math.floor(at / nx) % ny, Math.floor(at / (nx * ny))];

function traceOf({ observed, at, steps, count }: Run): Trace {
  const { kernel, grid, block } = observed.request;
  return { kernel, block: split(at.block, grid), thread: split(at.thread, block), steps, count };
}

// ── steps ──

function computed(run: Run, value: Value, lane: number, bits: bigint): void {
  const { kernel } = run.observed.compiled.instrumented!.plan;
  const inst = kernel.insts[value]!;
  const lanes = lane === 0 ? [] : run.known.get(value)!;
  lanes.push(bits);
  run.known.set(value, lanes);
  const isWhole = lane === 0 || inst.type.startsWith(`v${lane + 1}.`);
  const isVector = inst.type.startsWith('v');
  if (inst.op !== 'arg' && (isVector ? lane > 0 && isWhole : true)) operate(run, value, lanes);
}

/** Adds an operation to the step of its line, or begins a step: passes may move operations away from the start of their line. */
function operate(run: Run, value: Value, result: bigint[] | undefined): void {
  if (run.hasMarks && !isKept(run)) return;
  const { kernel } = run.observed.compiled.instrumented!.plan;
  const inst = kernel.insts[value]!;
  const line = lineOf(kernel.locs[value]);
  const last = run.steps.at(-1);
  // Without marks, each operation counts as an instruction.
  if (!run.hasMarks) startStep(run, value, true);
  else if (!last || (line && (line.line !== last.line || line.column !== last.column))) startStep(run, value, false);
  if (!isKept(run)) return;
  const operands = operandsOf(inst).map((operand) => heldBy(run, operand));
  const given = result && shown(run, inst.type, [...result]);
  run.steps.at(-1)!.operations.push({ what: nameOf(kernel, inst), operands, result: given });
}

function startStep(run: Run, value: Value, isStart: boolean): void {
  if (isStart) run.count++;
  if (!isKept(run)) return;
  const line = lineOf(run.observed.compiled.instrumented!.plan.kernel.locs[value]);
  const text = line && run.request.source ? instructionAt(run.request.source, line) : '';
  run.steps.push({ line: line?.line ?? 0, column: line?.column ?? 0, file: line?.file ?? '', text, isStart, operations: [] });
}

function nameOf({ insts }: { readonly insts: readonly Inst[] }, inst: Inst): string {
  if (inst.op === 'store') return `store ${insts[inst.value]!.type}`;
  const word = inst.op === 'icmp' || inst.op === 'fcmp' ? ` ${inst.pred}` : inst.op === 'atomic' ? ` ${inst.rmw}` : '';
  const type = inst.op === 'icmp' || inst.op === 'fcmp' ? insts[inst.a]!.type : inst.type;
  return type === 'void' ? inst.op : `${inst.op}${word} ${type}`;
}

// ── values ──

function shown(run: Run, type: Type, bits: readonly bigint[]): TraceValue {
  return isPointer(type) ? { type, bits, place: placeOf(run, bits[0]!) } : { type, bits };
}

function placeOf(run: Run, address: bigint): string {
  const region = regionAt(run.places, address);
  return region ? placeIn(region, address) : hex(address);
}

function heldBy(run: Run, value: Value): TraceValue {
  const { kernel } = run.observed.compiled.instrumented!.plan;
  const inst = kernel.insts[value]!;
  return shown(run, inst.type, isLeaf(inst) ? [freeBits(run, inst)] : (run.known.get(value) ?? []));
}

/** The bits of a leaf value, which is not computed. */
function freeBits(run: Run, inst: Inst): bigint {
  if (inst.op === 'const') return inst.bits;
  if (inst.op === 'param') return BigInt.asUintN(64, run.global!(paramGlobal(inst.index)).value as bigint);
  if (inst.op === 'variable') return variableAddress(run, inst.name);
  return BigInt(specialRegister(run, (inst as InstOf<'sreg'>).name));
}

function variableAddress(run: Run, name: string): bigint {
  const { plan } = run.observed.compiled.instrumented!;
  const { space } = plan.kernel.variables.find((variable) => variable.name === name)!;
  const own = space === 'local' ? plan.windows.local * run.at.thread : 0;
  return BigInt(word(run, space) + own + plan.offsets.get(name)!);
}

function specialRegister(run: Run, name: InstOf<'sreg'>['name']): number {
  const { thread } = run.at;
  const { block } = run.observed.request;
  const [what, axis = 'x'] = name.split('.') as [string, string?];
  const at = split(thread, block)['xyz'.indexOf(axis)]!;
  if (name === 'tid.linear') return thread;
  if (what === 'tid') return at;
  if (what === 'gid') return (word(run, `ctaid.${axis}`) * word(run, `ntid.${axis}`) + at) >>> 0;
  if (what === 'laneid') return thread & 31;
  if (what === 'warpid') return thread >> 5;
  if (what === 'nwarpid') return (word(run, 'threads') + 31) >> 5;
  return word(run, name);
}
