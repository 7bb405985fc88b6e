/** Parameters of blocks that are another value: all edges pass that value, or the parameter itself. */
import { type Edge, type End, edgeAt, edgeCount, type SsaFunction, type Value } from './types.ts';

/** Calls `change` for each value that an end reads, and puts its result there. */
export function mapEndUses(end: End, change: (value: Value) => Value): void {
  for (let at = 0, count = edgeCount(end); at < count; at++) {
    const { args } = edgeAt(end, at);
    for (let i = 0; i < args.length; i++) args[i] = change(args[i]!);
  }
  if (end.op === 'branch') end.cond = change(end.cond);
  else if (end.op === 'switch') end.index = change(end.index);
  else if (end.op === 'return') end.values = end.values.map(change);
}

/** Calls `change` for each value that an instruction or an end reads, and puts its result there. */
export function mapUses({ blocks }: SsaFunction, change: (value: Value) => Value): void {
  for (const { insts, end } of blocks) {
    for (const { args } of insts) for (let i = 0; i < args.length; i++) args[i] = change(args[i]!);
    mapEndUses(end, change);
  }
}

/** Replacements of values by values, each of which may be replaced, too. */
export interface Replacements {
  set(value: Value, by: Value): void;
  /** What stands for a value in the end. */
  of(value: Value): Value;
  readonly size: number;
}

export function newReplacements(): Replacements {
  /** What stands for each value, -1 where nothing does. */
  let by = new Int32Array(1024).fill(-1);
  let size = 0;
  const next = (value: Value): Value => (value < by.length ? by[value]! : -1);
  return {
    set(value, other) {
      if (value >= by.length) {
        const larger = new Int32Array(2 * value).fill(-1);
        larger.set(by);
        by = larger;
      }
      by[value] = other;
      size++;
    },
    of(value) {
      let last = value;
      for (let to = next(last); to >= 0; to = next(last)) last = to;
      // Later look-ups take one step.
      for (let at = value; at !== last; ) {
        const to = by[at]!;
        by[at] = last;
        at = to;
      }
      return last;
    },
    get size() {
      return size;
    },
  };
}

/** The edges to each block. */
export function edgesInto(fn: SsaFunction): Edge[][] {
  const into: Edge[][] = fn.blocks.map(() => []);
  for (const { end } of fn.blocks)
    for (let at = 0, count = edgeCount(end); at < count; at++) {
      const edge = edgeAt(end, at);
      into[edge.block]!.push(edge);
    }
  return into;
}

/**
 * Removes parameters that are another value, and says whether there were any. In a function whose loops have one entry each, this leaves as few
 * parameters as possible. Source: Braun et al., Simple and Efficient Construction of SSA Form, 2013, section 2.2.
 */
export function removeTrivialParams(fn: SsaFunction): boolean {
  const into = edgesInto(fn);
  const places = placesOf(fn);
  const passedTo = passedParams(places, into);
  const replaced = newReplacements();
  const gone = new Set<Value>();
  const left = [...places.keys()].reverse();
  while (left.length > 0) {
    const param = left.pop()!;
    if (gone.has(param)) continue;
    const { block, position } = places.get(param)!;
    const same = onlyOther(param, into[block]!, position, replaced);
    if (same === undefined) continue;
    gone.add(param);
    replaced.set(param, same);
    const users = passedTo.get(param) ?? [];
    left.push(...users);
    // What was passed a replaced parameter is now passed what stands for it.
    const others = passedTo.get(same);
    if (others) for (const user of users) others.push(user);
    else if (places.has(same)) passedTo.set(same, users);
  }
  if (gone.size === 0) return false;
  removeParams(fn, gone, into);
  mapUses(fn, replaced.of);
  return true;
}

interface Place {
  readonly block: number;
  readonly position: number;
}

/** Where the parameters of all blocks but the entry stand. */
export function placesOf({ blocks }: SsaFunction): Map<Value, Place> {
  const places = new Map<Value, Place>();
  for (let block = 1; block < blocks.length; block++)
    blocks[block]!.params.forEach((param, position) => void places.set(param, { block, position }));
  return places;
}

/** The parameters to which each parameter is passed. */
function passedParams(places: ReadonlyMap<Value, Place>, into: readonly (readonly Edge[])[]): Map<Value, Value[]> {
  const passedTo = new Map<Value, Value[]>();
  for (const [param, { block, position }] of places)
    for (const { args } of into[block]!) {
      const arg = args[position]!;
      if (!places.has(arg) || arg === param) continue;
      const list = passedTo.get(arg);
      if (list) list.push(param);
      else passedTo.set(arg, [param]);
    }
  return passedTo;
}

/** The one value other than the parameter itself that edges pass to it; undefined where there are several. */
function onlyOther(param: Value, into: readonly Edge[], position: number, replaced: Replacements): Value | undefined {
  let only: Value | undefined;
  for (const { args } of into) {
    const arg = replaced.of(args[position]!);
    if (arg === param || arg === only) continue;
    if (only !== undefined) return undefined;
    only = arg;
  }
  return only;
}

/** Removes parameters with what edges pass to them. */
export function removeParams(fn: SsaFunction, gone: ReadonlySet<Value>, into = edgesInto(fn)): void {
  fn.blocks.forEach((block, i) => {
    if (i === 0 || !block.params.some((param) => gone.has(param))) return;
    const isLeft = block.params.map((param) => !gone.has(param));
    block.params = block.params.filter((_, position) => isLeft[position]);
    for (const edge of into[i]!) edge.args = edge.args.filter((_, position) => isLeft[position]);
  });
}
