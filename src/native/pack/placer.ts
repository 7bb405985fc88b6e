/**
 * New instructions between those of a function: right behind a definition, or where the code of a block has got to. What a loop uses and does not
 * change is made behind its definition, outside the loop; all else at its first use in a block, so that nothing lives longer than it has to.
 */
import type { Inst, SsaFunction, SsaType, Value } from '../ssa/types.ts';

/** Where a value is defined: its block, and its place in that block's order, which is negative for a parameter. */
export interface DefinedAt {
  readonly block: number;
  readonly place: number;
}

/** What a value is needed for: the code of a block so far. */
export interface Site {
  readonly block: number;
  /** Where to add instructions: the code of the block, or a list that goes behind a definition. */
  readonly code: Inst[];
  /** What was made here already, by a name. */
  readonly made: Map<string, Value>;
}

export interface Placer {
  readonly fn: SsaFunction;
  /** The code of each block so far. */
  readonly sites: readonly Site[];
  define(value: Value, at: DefinedAt): void;
  newValue(type: SsaType): Value;
  /**
   * The value of a name, made by `make` if there is none yet: of values that it depends on the last one is `from`, and it is needed at `site`.
   */
  place(site: Site, name: string, from: readonly Value[], make: (site: Site) => Value): Value;
  /** The same for what has to be made right behind the definition of a value. */
  placeBehind(value: Value, name: string, make: (site: Site) => Value): Value;
  /** Puts all together. */
  finish(): void;
}

/** The site right behind the definition of a value. */
interface Behind extends Site {
  readonly value: Value;
}

export function newPlacer(fn: SsaFunction): Placer {
  const sites = fn.blocks.map((_, block): Site => ({ block, code: [], made: new Map() }));
  const definitions = new Map<Value, DefinedAt>();
  const behind = new Map<Value, Behind>();
  /** What was made behind definitions, by name. */
  const lasting = new Map<string, Value>();
  const last = (values: readonly Value[]): Value =>
    values.reduce((a, b) => {
      const [first, second] = [definitions.get(a)!, definitions.get(b)!];
      return second.block > first.block || (second.block === first.block && second.place > first.place) ? b : a;
    });
  const siteBehind = (value: Value): Behind => {
    const known = behind.get(value);
    if (known) return known;
    const site: Behind = { value, block: definitions.get(value)!.block, code: [], made: lasting };
    behind.set(value, site);
    return site;
  };
  const isOutside = (block: number, site: Site): boolean => {
    const [outer, inner] = [fn.blocks[block]!, fn.blocks[site.block]!];
    return outer.loopDepth < inner.loopDepth && inner.isRare !== true;
  };
  const makeAt = (site: Site, from: Value, name: string, make: (site: Site) => Value): Value => {
    const made = make(site);
    site.made.set(name, made);
    definitions.set(made, definitions.get(from)!);
    return made;
  };
  return {
    fn,
    sites,
    define: (value, at) => void definitions.set(value, at),
    newValue: (type) => fn.types.push(type) - 1,
    place(site, name, from, make) {
      const known = lasting.get(name) ?? site.made.get(name);
      if (known !== undefined) return known;
      const value = last(from);
      const { block } = definitions.get(value)!;
      return makeAt('value' in site || isOutside(block, site) ? siteBehind(value) : site, value, name, make);
    },
    placeBehind: (value, name, make) => lasting.get(name) ?? makeAt(siteBehind(value), value, name, make),
    finish() {
      for (const [block, { code }] of sites.entries()) {
        const insts: Inst[] = [];
        const add = (value: Value | undefined): void => {
          for (const inst of (value !== undefined && behind.get(value)?.code) || []) insts.push(inst);
        };
        for (const param of fn.blocks[block]!.params) add(param);
        for (const inst of code) {
          insts.push(inst);
          add(inst.result);
        }
        fn.blocks[block]!.insts = insts;
      }
    },
  };
}
