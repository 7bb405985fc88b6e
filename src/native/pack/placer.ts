/**
 * New instructions between those of a function: right behind a definition, or where the code of a block has got to. What a loop uses and does not
 * change is made behind its definition, outside the loop; all else at its first use in a block, so that nothing lives longer than it has to.
 */
import type { Inst, SsaFunction, SsaType, Value } from '../ssa/types.ts';
import type { Numbering } from './numbering.ts';

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

/** What was made, and where. */
interface Made {
  readonly block: number;
  readonly value: Value;
  readonly isBehind: boolean;
}

export function newPlacer({ fn, dominates }: Pick<Numbering, 'fn' | 'dominates'>): Placer {
  const sites = fn.blocks.map((_, block): Site => ({ block, code: [] }));
  const definitions = new Map<Value, DefinedAt>();
  const behind = new Map<Value, Behind>();
  const made = new Map<string, Made[]>();
  /** What was made already and is before a site. What is in the same block, and not right behind a definition, may be after one. */
  const known = (name: string, { block, ...site }: Site): Value | undefined =>
    made.get(name)?.find((each) => dominates(each.block, block) && (each.block !== block || each.isBehind || !('value' in site)))?.value;
  const last = (values: readonly Value[]): Value =>
    values.reduce((a, b) => {
      const [first, second] = [definitions.get(a)!, definitions.get(b)!];
      return second.block > first.block || (second.block === first.block && second.place > first.place) ? b : a;
    });
  const siteBehind = (value: Value): Behind => {
    const old = behind.get(value);
    if (old) return old;
    const site: Behind = { value, block: definitions.get(value)!.block, code: [] };
    behind.set(value, site);
    return site;
  };
  const isOutside = (block: number, site: Site): boolean => {
    const [outer, inner] = [fn.blocks[block]!, fn.blocks[site.block]!];
    return outer.loopDepth < inner.loopDepth && inner.isRare !== true;
  };
  const makeAt = (site: Site, from: Value, name: string, make: (site: Site) => Value): Value => {
    const value = make(site);
    const others = made.get(name);
    const own = { block: site.block, value, isBehind: 'value' in site };
    if (others) others.push(own);
    else made.set(name, [own]);
    definitions.set(value, definitions.get(from)!);
    return value;
  };
  return {
    fn,
    sites,
    define: (value, at) => void definitions.set(value, at),
    newValue: (type) => fn.types.push(type) - 1,
    place(site, name, from, make) {
      const same = known(name, site);
      if (same !== undefined) return same;
      const value = last(from);
      const { block } = definitions.get(value)!;
      return makeAt('value' in site || isOutside(block, site) ? siteBehind(value) : site, value, name, make);
    },
    placeBehind: (value, name, make) => known(name, siteBehind(value)) ?? makeAt(siteBehind(value), value, name, make),
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
