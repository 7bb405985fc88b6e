/**
 * What the functions of a module say and refer to, each in order of first use. All is found in one walk, for there may be more
 * instructions than a processor keeps at hand.
 */
import { placeOf } from '../locations.ts';
import type { Attachment, AttributeList, Instruction, Function as LlvmFunction, Metadata, MetadataNode, Module } from '../model.ts';
import { type Type, types } from '../types.ts';
import { bodyRecords, endRecord, node, word } from './record-fields.ts';
import { recordInstruction } from './record-instruction.ts';
import { refer, references, type Tape, tapeFor } from './tape.ts';
import { type FunctionScan, type Numbered, numberOf, typeIndex, valueIndex, type Walk } from './walk.ts';

export interface Scan {
  readonly types: ReadonlyMap<Type, number>;
  /** Of calls. */
  readonly attributes: ReadonlyMap<AttributeList, number>;
  /** Arguments of calls that are metadata of the module, and what is attached to functions and instructions. */
  readonly metadata: readonly Metadata[];
  /** What is attached under. */
  readonly kinds: ReadonlySet<string>;
  readonly functions: ReadonlyMap<LlvmFunction, FunctionScan>;
  /** The records of all functions. */
  readonly tape: Tape;
}

/** Walks all functions. */
export function scanModule({ functions }: Module): Scan {
  let count = 0;
  for (const fn of functions) for (const { body } of fn.blocks) count += body.length;
  const walk: Walk = {
    tape: tapeFor(count),
    types: new Map(),
    attributes: new Map(),
    metadata: [],
    kinds: new Set(),
    functions: new Map(),
    lastType: types.void,
    lastIndex: -1,
    slot: 0,
    typeAt: -1,
    typeOfRecord: types.void,
    ...emptyFunction(),
  };
  for (const fn of functions) scanFunction(walk, fn);
  return walk;
}

type OfFunction = Pick<Walk, 'instructions' | 'values' | 'blocks' | 'locals' | 'forward' | 'lateTypes' | 'lists' | 'place'>;

const emptyFunction = (): OfFunction => ({
  instructions: [],
  values: new Map(),
  blocks: new Map(),
  locals: new Map(),
  forward: [],
  lateTypes: [],
  lists: [],
  place: undefined,
});

function scanFunction(w: Walk, fn: LlvmFunction): void {
  const { tape } = w;
  for (const { type } of fn.args) typeIndex(w, type);
  for (const attachment of fn.metadata) scanAttachment(w, attachment);
  Object.assign(w, emptyFunction());
  w.values = new Map(fn.args.map((arg, i) => [arg, i]));
  w.blocks = new Map(fn.blocks.map((block, i) => [block, i]));
  w.lists.push(fn.attributes);
  const [firstWord, firstPlace] = [tape.start, tape.placed];
  const found = scanBody(w, fn);
  for (const list of w.lists) scanAttributes(w, list);
  resolve(w);
  w.functions.set(fn, {
    ...found,
    words: [firstWord, tape.start],
    places: [firstPlace, tape.placed],
    values: w.values,
    locals: [...w.locals.keys()].map((local) => [local.kind === 'argument' ? valueIndex(w, local) : numberOf(w, local), local]),
  });
}

/** Puts the records of all instructions on the tape. */
function scanBody(w: Walk, fn: LlvmFunction): Pick<FunctionScan, 'names' | 'attached'> {
  const names: Numbered<string>[] = [];
  const attached: Numbered<readonly Attachment[]>[] = [];
  let number = 0;
  for (const { body } of fn.blocks)
    for (const inst of body) {
      recordInstruction(w, inst);
      if (inst.type !== types.void) {
        inst.number = w.instructions.push(inst) - 1;
        if (inst.name !== undefined) names.push([inst.number, inst.name]);
      }
      if (inst.metadata?.length) attached.push([number, recordAttached(w, inst)]);
      number++;
    }
  return { names, attached };
}

function scanAttributes(w: Walk, list: AttributeList): void {
  for (const attribute of [...list.function, ...list.result, ...list.params.flat()])
    if (attribute.form === 'type' && attribute.type) typeIndex(w, attribute.type);
}

/** Fills in what was not known before the function's end. */
function resolve(w: Walk): void {
  for (const { at, from, to, isSigned } of w.forward) {
    const ahead = numberOf(w, to) - from;
    // What is signed has its sign in the lowest bit, which zero has not.
    w.tape.words[at] = isSigned && ahead > 0 ? 2 * ahead + 1 : -ahead;
  }
  for (const [at, type] of w.lateTypes) refer(w.tape, at, references.type, typeIndex(w, type));
}

function scanAttachment(w: Walk, { kind, node }: Attachment): void {
  w.kinds.add(kind);
  w.metadata.push(node);
}

/** Puts the record of an instruction's place behind its own; gives what else hangs on it. */
function recordAttached(w: Walk, inst: Instruction): readonly Attachment[] {
  const { place, others } = placeOf(inst);
  if (place) recordPlace(w, place);
  for (const attachment of others) scanAttachment(w, attachment);
  return others;
}

function recordPlace(w: Walk, place: MetadataNode): void {
  if (place === w.place) return endRecord(w, bodyRecords.debugLocAgain);
  w.place = place;
  const [, line = 0, column = 0, , , implicit = 0] = place.debug?.values ?? [];
  const [scope, inlined] = place.operands;
  const { f } = bodyRecords.debugLoc;
  word(w, f.line, Number(line));
  word(w, f.column, Number(column));
  node(w, f.scope, scope);
  node(w, f.inlined, inlined);
  word(w, f.implicit, Number(implicit));
  endRecord(w, bodyRecords.debugLoc);
}
