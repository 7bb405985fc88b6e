/**
 * Detours: jumps that are to lead through a block that several of them have in common. A value that the target of a detour needs from before is
 * carried through parameters of that block.
 * Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013), for the joins.
 */
import { addTo } from '../../base/group.ts';
import { type Cfg, cfgOf } from '../analysis/cfg.ts';
import { dominatorsOf } from '../analysis/dominators.ts';
import { definingBlocks, livenessOf } from '../analysis/liveness.ts';
import { addBlock, addBlockParam, type Builder, builder, splitBlock } from '../build.ts';
import { type Block, edgesOf, type Kernel, type Value } from '../kernel.ts';
import { mapBlock } from '../operands.ts';
import { elementOf, isVector, lanesOf, type Type } from '../types.ts';

/** A jump that is to lead through another block. In the graph it still leads straight to its target. */
export interface Detour {
  readonly leave: Block;
  readonly through: Block;
  readonly resume: Block;
}

/** Splits a block behind an instruction, which is removed. A value that it has becomes a parameter of the block `resume`. */
export function splitBehind(kernel: Kernel, block: Block, value: Value): Pick<Detour, 'leave' | 'resume'> {
  const resume = splitBlock(kernel, block, block.body.indexOf(value) + 1);
  block.body.pop();
  const leave = addBlock(kernel);
  block.end = { op: 'br', to: { block: leave, args: [] } };
  leave.end = { op: 'br', to: { block: resume, args: [] } };
  const { type } = kernel.insts[value]!;
  if (type !== 'void') {
    kernel.insts[value] = { op: 'arg', type };
    resume.params.push(value);
  }
  return { leave, resume };
}

interface State {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly home: Int32Array;
  /** The blocks that need a value from before, in the order of the graph. */
  readonly liveInto: ReadonlyMap<Value, readonly number[]>;
  /** By id of a block that a detour leads to: the parameter that carries each value. */
  readonly carried: ReadonlyMap<number, ReadonlyMap<Value, Value>>;
}

/**
 * Gives the blocks that detours lead through parameters for the values that these need, and renames their uses. Values of blocks that dominate
 * all blocks of `entries`, from where the first detours start, need not be carried. Returns, for the block that each detour leaves, the
 * arguments for these parameters.
 */
export function carryValues(kernel: Kernel, detours: readonly Detour[], entries: readonly Block[]): Map<Block, Value[]> {
  const cfg = cfgOf(kernel);
  const home = definingBlocks(kernel);
  const { dominates } = dominatorsOf(cfg);
  const above = Uint8Array.from(kernel.blocks, (block) => (entries.every(({ id }) => dominates(block.id, id)) ? 1 : 0));
  const { liveIn } = livenessOf(kernel, cfg, above);
  const needs = new Map(detours.map(({ resume }) => [resume, [...liveIn[resume.id]!]]));
  const registers = new Map<Block, ReadonlyMap<Value, Value>>();
  for (const block of new Set(detours.map(({ through }) => through))) {
    const needed = detours.filter(({ through }) => through === block).map(({ resume }) => needs.get(resume)!);
    registers.set(block, assignRegisters(kernel, needed, block));
  }
  const carried = new Map(detours.map(({ resume, through }) => [resume.id, registers.get(through)!]));
  const all = new Set([...needs.values()].flat());
  const state: State = { kernel, cfg, home, liveInto: blocksNeeding(all, cfg, liveIn), carried };
  const names = new Map([...all].map((value) => [value, nameEverywhere(state, value)]));
  // A value is not live into the block that defines it, and so has no other name there.
  for (const block of kernel.blocks) mapBlock(kernel.insts, block, (value) => names.get(value)?.get(block.id) ?? value);
  passJoins(state, names);
  return new Map(
    detours.map(({ leave, through, resume }) => {
      const register = registers.get(through)!;
      const held = new Map(needs.get(resume)!.map((value) => [register.get(value)!, nameAfter(state, names, leave.id, value)]));
      const b = builder(kernel, leave);
      return [leave, [...new Set(register.values())].map((param) => held.get(param) ?? filler(b, b.typeOf(param)))];
    }),
  );
}

/** A parameter of a block for each value that detours through it need; values that no detour needs together share one. */
function assignRegisters(kernel: Kernel, needed: readonly (readonly Value[])[], through: Block): Map<Value, Value> {
  const users = new Map<Value, number[]>();
  needed.forEach((values, i) => {
    for (const value of values) addTo(users, value, i);
  });
  const taken = new Map<Value, Set<number>>();
  const register = new Map<Value, Value>();
  for (const [value, detours] of users) {
    const { type } = kernel.insts[value]!;
    const param = freeOf(kernel, type, taken, detours) ?? addBlockParam(kernel, through, type);
    register.set(value, param);
    const by = taken.get(param) ?? new Set();
    for (const each of detours) by.add(each);
    taken.set(param, by);
  }
  return register;
}

/** A parameter of a type that none of some detours has taken. */
function freeOf(kernel: Kernel, type: Type, taken: ReadonlyMap<Value, ReadonlySet<number>>, detours: readonly number[]): Value | undefined {
  for (const [param, by] of taken) if (kernel.insts[param]!.type === type && !detours.some((each) => by.has(each))) return param;
  return undefined;
}

/** For each of some values, the blocks that it is live into. Most values are live into few blocks of many. */
function blocksNeeding(values: ReadonlySet<Value>, { order }: Cfg, liveIn: readonly ReadonlySet<Value>[]): Map<Value, number[]> {
  const found = new Map<Value, number[]>();
  for (const id of order) for (const value of liveIn[id]!) if (values.has(value)) addTo(found, value, id);
  return found;
}

/** The name of a value at the start of each block that needs it from before; joins of two names get a parameter. */
function nameEverywhere({ kernel, cfg, home, liveInto, carried }: State, value: Value): Map<number, Value> {
  const names = new Map<number, Value>();
  const joins = new Set<number>();
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of liveInto.get(value) ?? []) {
      if (joins.has(id)) continue;
      const register = carried.get(id);
      const nameBehind = (from: number): Value | undefined => (home[value] === from ? value : names.get(from));
      const found = register ? register.get(value)! : soleName(cfg.predecessors[id]!, nameBehind);
      if (found === undefined || found === names.get(id)) continue;
      changed = true;
      if (found !== 'several') names.set(id, found);
      else {
        joins.add(id);
        names.set(id, addBlockParam(kernel, kernel.blocks[id]!, kernel.insts[value]!.type));
      }
    }
  }
  return names;
}

/** The one name that a value has behind the predecessors of a block where it has any. */
function soleName(from: readonly number[], nameBehind: (id: number) => Value | undefined): Value | 'several' | undefined {
  let found: Value | undefined;
  for (const id of from) {
    const name = nameBehind(id);
    if (name === undefined || name === found) continue;
    if (found !== undefined) return 'several';
    found = name;
  }
  return found;
}

/** The name of a value at the end of a block. */
const nameAfter = ({ home }: State, names: ReadonlyMap<Value, ReadonlyMap<number, Value>>, block: number, value: Value): Value =>
  home[value] === block ? value : (names.get(value)?.get(block) ?? value);

/** Passes the names of values to the parameters of joins. */
function passJoins(state: State, names: ReadonlyMap<Value, ReadonlyMap<number, Value>>): void {
  const { kernel, cfg } = state;
  for (const [value, byBlock] of names)
    for (const [id, name] of byBlock) {
      const block = kernel.blocks[id]!;
      if (!block.params.includes(name)) continue;
      for (const from of new Set(cfg.predecessors[id]!))
        for (const edge of edgesOf(kernel.blocks[from]!.end))
          if (edge.block === block) edge.args.push(nameAfter(state, names, from, value));
    }
}

/** Any value of a type, for a parameter that is not read. */
function filler(b: Builder, type: Type): Value {
  if (!isVector(type)) return b.const(type, 0);
  const zero = b.const(elementOf(type), 0);
  return lanesOf(type) === 2 ? b.vec2(type, zero, zero) : b.vec4(type, zero, zero, zero, zero);
}
