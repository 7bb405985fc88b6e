/** Writes a function anew with its groups as wide instructions. */
import type { Edge, End, Inst, SsaType, Value } from '../ssa/types.ts';
import type { Node } from './numbering.ts';
import { argumentsOf, livePacks, operandOf, operandsOf, type Pack, type Packs, packOf } from './packs.ts';
import { newPlacer, type Placer, type Site } from './placer.ts';
import type { Reduction } from './reductions.ts';
import { removeDead } from './remove-dead.ts';
import type { Schedule } from './schedule.ts';
import { sourceOf } from './sources.ts';
import { groupsOf, writeReduction } from './write-reduction.ts';

interface Rewriting {
  readonly packs: Packs;
  readonly placer: Placer;
  /** By group: its wide value. */
  readonly wide: Map<number, Value>;
  /** Values of which a wide form was made beside them. */
  readonly remade: Set<Value>;
}

const wideType = (parts: number): SsaType => (parts === 4 ? 'v512' : parts === 2 ? 'v256' : 'v128');

/** Writes a function with the groups of `packs`, whose schedules these are. */
export function rewrite(packs: Packs, schedules: readonly Schedule[]): void {
  const { numbering } = packs;
  const { fn } = numbering;
  const r: Rewriting = { packs, placer: newPlacer(numbering), wide: new Map(), remade: new Set() };
  for (const pack of livePacks(packs)) {
    if (numbering.values[pack.members[0]!]! >= 0) r.wide.set(pack.id, r.placer.newValue(wideType(packs.width)));
  }
  const paramsOf = fn.blocks.map((_, block) => paramPacks(packs, block));
  const newParams: Value[][] = [];
  for (const [block, { params }] of fn.blocks.entries()) {
    const all = [...params.filter((param) => !packOf(packs, param)), ...paramsOf[block]!.map(({ id }) => r.wide.get(id)!)];
    for (const [i, param] of all.entries()) r.placer.define(param, { block, place: i - all.length });
    newParams.push(all);
    for (const [place, node] of schedules[block]!.entries()) {
      const pack = packs.list[packs.of[node]!];
      const value = pack ? r.wide.get(pack.id) : numbering.insts[node]!.result;
      if (value !== undefined) r.placer.define(value, { block, place });
    }
  }
  for (const [block, order] of schedules.entries()) {
    const site = r.placer.sites[block]!;
    for (const node of order) writeNode(r, site, node);
    writeEnd(r, site, paramsOf);
  }
  for (const [block, params] of newParams.entries()) fn.blocks[block]!.params = params;
  r.placer.finish();
  removeDead(fn, r.remade);
}

/** The groups of parameters of a block. */
function paramPacks({ list, of, numbering }: Packs, block: number): Pack[] {
  const ids = new Set<number>();
  for (let node = numbering.firstNode[block]!; node < numbering.firstInst[block]!; node++) if (of[node]! >= 0) ids.add(of[node]!);
  return [...ids].map((id) => list[id]!);
}

function writeNode(r: Rewriting, site: Site, node: Node): void {
  const { packs } = r;
  const pack = packs.list[packs.of[node]!];
  const inst = packs.numbering.insts[node]!;
  const reduction = packs.reductions.byRoot.get(node);
  if (reduction && reduce(r, site, reduction, inst.result!)) return;
  if (!pack)
    return void site.code.push({
      ...inst,
      args: inst.op === 'vector.join' ? joinArgs(r, site, inst.args) : inst.args.map((arg) => narrow(r, site, arg)),
    });
  const result = r.wide.get(pack.id);
  if (pack.halves) {
    const { sources, whole } = pack.halves;
    return void site.code.push({ ...whole, args: [wide(r, site, sources)], result });
  }
  if (pack.words) {
    const args = operandsOf(packs, pack).map((values) => wide(r, site, values));
    return void site.code.push({ op: 'vector.words', args, words: pack.words.words, result });
  }
  const first = packs.numbering.insts[pack.members[0]!]!;
  const args = first.args.map((arg, operand) =>
    packs.numbering.fn.types[arg] === 'v128'
      ? wide(
          r,
          site,
          pack.members.map((_, member) => operandOf(packs, pack, member, operand)),
        )
      : arg,
  );
  site.code.push({ ...first, args, result });
}

/** Writes a reduction by the groups among its vectors, if there are any. */
function reduce(r: Rewriting, site: Site, reduction: Reduction, result: Value): boolean {
  const { groups, rest } = groupsOf(r.packs, reduction);
  if (groups.length === 0) return false;
  writeReduction(reduction, {
    groups: groups.map(({ pack, shift }) => ({ wide: r.wide.get(pack.id)!, shift })),
    rest: rest.map(({ vector, number }) => (reduction.kind === 'bits' ? number : narrow(r, site, vector))),
    wideType: wideType(r.packs.width),
    parts: r.packs.width,
    add: (inst, type) => add(r, site, inst, type),
    end: (inst) => site.code.push({ ...inst, result }),
  });
  return true;
}

function writeEnd(r: Rewriting, site: Site, paramsOf: readonly (readonly Pack[])[]): void {
  const { packs } = r;
  const { fn, outOf, flows } = packs.numbering;
  const block = fn.blocks[site.block]!;
  if (block.end.op === 'return') {
    block.end.values = block.end.values.map((value) => narrow(r, site, value));
    return;
  }
  const edges = outOf[site.block]!.map((flow): Edge => {
    const edge = flows[flow]!.edge!;
    const { params } = fn.blocks[edge.block]!;
    const plain = edge.args.filter((_, i) => !packOf(packs, params[i]!)).map((value) => narrow(r, site, value));
    return { block: edge.block, args: [...plain, ...paramsOf[edge.block]!.map((pack) => wide(r, site, argumentsOf(packs, pack, flow)))] };
  });
  block.end = withEdges(block.end, edges);
}

function withEdges(end: End, edges: Edge[]): End {
  switch (end.op) {
    case 'jump':
      return { ...end, to: edges[0]! };
    case 'branch':
      return { ...end, then: edges[0]!, else: edges[1]! };
    case 'switch':
      return { ...end, edges };
    default:
      return end;
  }
}

/** A value as a vector of 128 bits, or a scalar. */
function narrow(r: Rewriting, site: Site, value: Value): Value {
  const { packs, placer } = r;
  const pack = packOf(packs, value);
  if (!pack) return value;
  const whole = r.wide.get(pack.id)!;
  return placer.place(site, `part ${value}`, [whole], (to) =>
    add(r, to, { op: 'vector.part', lane: packs.place[packs.numbering.nodeOf[value]!]!, args: [whole] }, 'v128'),
  );
}

/** Vectors of 128 bits as one wide vector. */
function wide(r: Rewriting, site: Site, values: readonly Value[]): Value {
  const { packs, placer } = r;
  const source = sourceOf(packs, values);
  const type = wideType(values.length);
  /** The values that the operand is made of, as they are defined now. */
  const from = values.map((value) => definedAs(r, value));
  const name = `wide ${values.join()}`;
  switch (source.kind) {
    case 'pack':
      return r.wide.get(source.pack.id)!;
    case 'narrow':
      return narrow(r, site, values[0]!);
    case 'constant': {
      const bytes = values.flatMap((value) => definition(r, value).bytes!);
      return placer.place(site, name, from, (to) => add(r, to, { op: 'v128.const', args: [], bytes }, type));
    }
    case 'parts': {
      const wholes = source.wholes.map((whole) => (typeof whole === 'number' ? whole : r.wide.get(whole.id)!));
      const words = source.parts.flatMap((part) => [0, 1, 2, 3].map((word) => 4 * part + word));
      return placer.place(site, name, wholes, (to) => add(r, to, { op: 'vector.words', args: wholes, words }, type));
    }
    case 'uniform':
      if (source.isRemade) return remade(r, values[0]!, type);
      break;
    default:
  }
  return placer.place(site, name, from, (to) => add(r, to, { op: 'vector.join', args: joinArgs(r, to, values) }, type));
}

/** The operands of a join: halves where these are groups or the like, else vectors of 128 bits. */
function joinArgs(r: Rewriting, site: Site, values: readonly Value[]): Value[] {
  const halves = [values.slice(0, 2), values.slice(2)];
  const isMade = (half: readonly Value[]): boolean => ['pack', 'parts', 'constant'].includes(sourceOf(r.packs, half).kind);
  if (values.length === 4 && halves.every(isMade)) return halves.map((half) => wide(r, site, half));
  return values.map((value) => narrow(r, site, value));
}

/** A splat, wide: right behind the narrow one, where memory has the same contents. */
function remade(r: Rewriting, value: Value, type: SsaType): Value {
  r.remade.add(value);
  return r.placer.placeBehind(value, `${type} ${value}`, (to) => add(r, to, definition(r, value), type));
}

const definition = ({ packs: { numbering } }: Rewriting, value: Value): Inst => numbering.insts[numbering.nodeOf[value]!]!;

const definedAs = (r: Rewriting, value: Value): Value => {
  const pack = packOf(r.packs, value);
  return pack ? r.wide.get(pack.id)! : value;
};

function add({ placer }: Rewriting, { code }: Site, inst: Omit<Inst, 'result'>, type: SsaType): Value {
  const result = placer.newValue(type);
  code.push({ ...inst, result });
  return result;
}
