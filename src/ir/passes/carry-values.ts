/**
 * SSA form after blocks were made the targets of a common dispatch block: a value that such a block needs from before is carried through
 * parameters of the dispatch block.
 * Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (2013), for the joins.
 */
import { addTo } from '../../base/group.ts';
import { type Cfg, cfgOf } from '../analysis/cfg.ts';
import { type DominatorTree, dominatorsOf } from '../analysis/dominators.ts';
import { definingBlocks, livenessOf } from '../analysis/liveness.ts';
import { addBlockParam, type Builder, builder } from '../build.ts';
import { type Block, edgesOf, type Kernel, type Value } from '../kernel.ts';
import { mapBlock } from '../operands.ts';
import { elementOf, isVector, lanesOf, type Type } from '../types.ts';

/** A jump that is to lead through the dispatch block. In the graph it still leads straight to its target. */
export interface Detour {
  readonly leave: Block;
  readonly resume: Block;
  /** Whether it leads into the loop around the dispatch block for the first time. */
  readonly isEntry: boolean;
}

interface State {
  readonly kernel: Kernel;
  readonly cfg: Cfg;
  readonly home: Int32Array;
  readonly liveIn: readonly ReadonlySet<Value>[];
  /** The blocks that detours lead to. */
  readonly resumes: ReadonlySet<number>;
  /** The parameter of the dispatch block that carries each value. */
  readonly register: ReadonlyMap<Value, Value>;
}

/**
 * Gives the dispatch block parameters for the values that detours need, and renames their uses. Returns, for the block that each detour leaves,
 * the arguments for these parameters.
 */
export function carryValues(kernel: Kernel, detours: readonly Detour[], dispatch: Block): Map<Block, Value[]> {
  const cfg = cfgOf(kernel);
  const home = definingBlocks(kernel);
  const { liveIn } = livenessOf(kernel, cfg);
  const isAbove = aboveEntries(dominatorsOf(cfg), detours);
  const needed = detours.map(({ resume }) => [...liveIn[resume.id]!].filter((value) => !isAbove(home[value]!)));
  const register = assignRegisters(kernel, needed, dispatch);
  const state: State = { kernel, cfg, home, liveIn, register, resumes: new Set(detours.map(({ resume }) => resume.id)) };
  const names = new Map([...register.keys()].map((value) => [value, nameEverywhere(state, value)]));
  for (const block of kernel.blocks)
    mapBlock(kernel.insts, block, (value) => (home[value] === block.id ? value : (names.get(value)?.get(block.id) ?? value)));
  passJoins(state, names);
  return new Map(
    detours.map(({ leave }, i) => {
      const held = new Map(needed[i]!.map((value) => [register.get(value)!, nameAfter(state, names, leave.id, value)]));
      const b = builder(kernel, leave);
      return [leave, [...new Set(register.values())].map((param) => held.get(param) ?? filler(b, b.typeOf(param)))];
    }),
  );
}

/** Whether a block is above the loop on every way into it, so that its values need not be carried. */
function aboveEntries(dominators: DominatorTree, detours: readonly Detour[]): (block: number) => boolean {
  const entries = detours.filter(({ isEntry }) => isEntry).map(({ leave }) => leave.id);
  return (block) => entries.every((entry) => block !== entry && dominators.dominates(block, entry));
}

/** A parameter of the dispatch block for each value; values that no detour needs together share one. */
function assignRegisters(kernel: Kernel, needed: readonly (readonly Value[])[], dispatch: Block): Map<Value, Value> {
  const users = new Map<Value, number[]>();
  needed.forEach((values, i) => {
    for (const value of values) addTo(users, value, i);
  });
  const taken = new Map<Value, Set<number>>();
  const register = new Map<Value, Value>();
  for (const [value, detours] of users) {
    const { type } = kernel.insts[value]!;
    const free = [...taken].find(([param, by]) => kernel.insts[param]!.type === type && !detours.some((each) => by.has(each)));
    const param = free?.[0] ?? addBlockParam(kernel, dispatch, type);
    register.set(value, param);
    taken.set(param, new Set([...(taken.get(param) ?? []), ...detours]));
  }
  return register;
}

/** The name of a value at the start of each block that needs it from before; joins of two names get a parameter. */
function nameEverywhere({ kernel, cfg, home, liveIn, resumes, register }: State, value: Value): Map<number, Value> {
  const names = new Map<number, Value>();
  const joins = new Set<number>();
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of cfg.order) {
      if (!liveIn[id]!.has(value) || joins.has(id)) continue;
      const incoming = resumes.has(id)
        ? [register.get(value)!]
        : cfg.predecessors[id]!.map((from) => (home[value] === from ? value : names.get(from)));
      const found = [...new Set(incoming.filter((name) => name !== undefined))];
      if (found.length === 0 || (found.length === 1 && found[0] === names.get(id))) continue;
      changed = true;
      if (found.length === 1) names.set(id, found[0]!);
      else {
        joins.add(id);
        names.set(id, addBlockParam(kernel, kernel.blocks[id]!, kernel.insts[value]!.type));
      }
    }
  }
  return names;
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

/** Any value of a type, for a parameter that nobody reads. */
function filler(b: Builder, type: Type): Value {
  if (!isVector(type)) return b.const(type, 0);
  const zero = b.const(elementOf(type), 0);
  return lanesOf(type) === 2 ? b.vec2(type, zero, zero) : b.vec4(type, zero, zero, zero, zero);
}
