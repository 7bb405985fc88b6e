/**
 * Lints of asynchronous products of matrices (`wgmma`): registers that are used while a product may still read or write them, and registers that are
 * written without a fence before a product uses them. Moves between registers rename them, as compilers write moves that no machine performs.
 * Source: PTX ISA 9.0, 9.7.15.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Span } from '../../base/source.ts';
import type { Register } from '../model/types.ts';
import type { CheckedFunction, CheckedInstruction } from './checked.ts';
import { graphOf, type Note, noteReads, noteWrites } from './lint-flow.ts';

/** Groups that `wgmma.wait_group` can leave in flight, and one more. */
const oldest = 8;

/** What is known of registers at a place. */
interface State {
  /** Of registers of products that may be in flight: the groups that were closed since, at least. */
  readonly flying: Map<Register, number>;
  /** Registers that may have been written since the last fence. */
  readonly written: Set<Register>;
}

type Step = 'product' | 'fence' | 'commit' | 'wait' | 'move' | undefined;

function stepOf({ match }: CheckedInstruction): Step {
  const { name, syntax } = match.row;
  if (name === 'mov') return match.operands.length === 2 && match.operands.every(({ register }) => register) ? 'move' : undefined;
  if (name !== 'wgmma') return undefined;
  if (syntax.startsWith('wgmma.mma_async')) return 'product';
  if (syntax.startsWith('wgmma.fence')) return 'fence';
  return syntax.startsWith('wgmma.commit_group') ? 'commit' : 'wait';
}

/** Reports CM2211 and CM2212 for an entry. Every instruction must have been matched. */
export function lintProducts(fn: CheckedFunction, diagnostics: Diagnostics): void {
  const isOfProducts = fn.items.some((item) => item.kind !== 'label' && stepOf(item) === 'product');
  if (!isOfProducts) return;
  const graph = graphOf(fn.items);
  const states: (State | undefined)[] = graph.map(() => undefined);
  states[0] = { flying: new Map(), written: new Set() };
  const work = [0];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    const state = copyOf(states[at]!);
    for (const item of graph[at]!.code) advance(item, state, () => {});
    for (const to of graph[at]!.next) {
      const known = states[to];
      if (known === undefined) states[to] = copyOf(state);
      else if (!joined(known, state)) continue;
      work.push(to);
    }
  }
  const said = new Set<string>();
  for (const [i, { code }] of graph.entries()) {
    if (!states[i]) continue;
    const state = copyOf(states[i]);
    for (const item of code)
      advance(item, state, (lint, register, span) => {
        // Once for an instruction, which has many registers.
        const key = `${lint} ${item.match.instruction.span.start}`;
        if (said.has(key)) return;
        said.add(key);
        diagnostics.report(lint, { name: register.name }, { span });
      });
  }
}

const copyOf = ({ flying, written }: State): State => ({ flying: new Map(flying), written: new Set(written) });

/** Adds what is known at the end of another block. Returns whether that is more. */
function joined(into: State, { flying, written }: State): boolean {
  const before = into.written.size;
  for (const register of written) into.written.add(register);
  let grew = into.written.size > before;
  for (const [register, groups] of flying) {
    const known = into.flying.get(register) ?? oldest;
    if (groups >= known) continue;
    into.flying.set(register, groups);
    grew = true;
  }
  return grew;
}

type Report = (lint: 'CM2211' | 'CM2212', register: Register, span: Span) => void;

function advance(item: CheckedInstruction, state: State, report: Report): void {
  const step = stepOf(item);
  if (step === 'fence') state.written.clear();
  else if (step === 'commit') for (const [register, groups] of state.flying) state.flying.set(register, Math.min(groups + 1, oldest - 1));
  else if (step === 'wait') land(item, state);
  else if (step === 'move' && !item.guard) rename(item, state);
  else if (step === 'product') start(item, state, report);
  else use(item, state, report);
}

/** A wait for all groups but the last ones, whose number is an operand. */
function land({ match }: CheckedInstruction, { flying }: State): void {
  const left = match.operands[0]?.node;
  const count = left?.kind === 'integer' ? Number(left.value) : 0;
  for (const [register, groups] of flying) if (groups > count) flying.delete(register);
}

function rename({ match }: CheckedInstruction, { flying, written }: State): void {
  const [to, from] = match.operands.map(({ register }) => register!) as [Register, Register];
  const groups = flying.get(from);
  if (groups === undefined) flying.delete(to);
  else flying.set(to, groups);
  if (written.has(from)) written.add(to);
  else written.delete(to);
}

function start(item: CheckedInstruction, { flying, written }: State, report: Report): void {
  for (const [register, span] of registersOf(item)) {
    if (written.has(register)) report('CM2212', register, span);
    flying.set(register, 0);
  }
}

/** The registers of the sum of a product, and of its factor if that is in registers; descriptors are read at once. */
function registersOf(item: CheckedInstruction): Map<Register, Span> {
  const found = new Map<Register, Span>();
  const note: Note = (register, span) => void found.set(register, span);
  noteWrites(item, note);
  const { match } = item;
  const factor = match.operands[1];
  if (factor?.lanes !== undefined) noteReads({ ...item, guard: undefined, match: { ...match, operands: [factor] } }, note);
  return found;
}

function use(item: CheckedInstruction, { flying, written }: State, report: Report): void {
  const note: Note = (register, span) => {
    if (flying.has(register)) report('CM2211', register, span);
  };
  noteReads(item, note);
  noteWrites(item, note);
  noteWrites(item, (register) => {
    written.add(register);
    flying.delete(register);
  });
}
