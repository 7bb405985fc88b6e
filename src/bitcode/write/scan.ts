/**
 * The records of the functions of a module, and everything they refer to in order of first use. One walk collects all of it, because
 * the instructions of a large module do not fit the caches of a processor.
 */
import { locationFields, locationOf } from '../locations.ts';
import type { Attachment, AttributeList, Instruction, Function as LlvmFunction, Metadata, MetadataNode, Module } from '../model.ts';
import { type Type, types } from '../types.ts';
import { bodyRecords, endRecord, node, word } from './record-fields.ts';
import { recordInstruction } from './record-instruction.ts';
import { refer, references, type Tape, tapeFor } from './tape.ts';
import { type FunctionScan, type Numbered, numberOf, typeIndex, valueIndex, type Walk } from './walk.ts';

export interface Scan {
  readonly types: ReadonlyMap<Type, number>;
  /** Attribute lists of calls. */
  readonly attributes: ReadonlyMap<AttributeList, number>;
  /** Metadata of the module that calls take as arguments, and metadata attached to functions and instructions. */
  readonly metadata: readonly Metadata[];
  /** Kinds of attached metadata. */
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

type OfFunction = Pick<Walk, 'instructions' | 'values' | 'blocks' | 'locals' | 'forward' | 'lateTypes' | 'lists' | 'location'>;

const emptyFunction = (): OfFunction => ({
  instructions: [],
  values: new Map(),
  blocks: new Map(),
  locals: new Map(),
  forward: [],
  lateTypes: [],
  lists: [],
  location: undefined,
});

function scanFunction(w: Walk, fn: LlvmFunction): void {
  const { tape } = w;
  for (const { type } of fn.args) typeIndex(w, type);
  for (const attachment of fn.metadata) scanAttachment(w, attachment);
  Object.assign(w, emptyFunction());
  w.values = new Map(fn.args.map((arg, i) => [arg, i]));
  w.blocks = new Map(fn.blocks.map((block, i) => [block, i]));
  w.lists.push(fn.attributes);
  const [firstWord, firstFixup] = [tape.start, tape.fixupCount];
  const found = scanBody(w, fn);
  for (const list of w.lists) scanAttributes(w, list);
  resolve(w);
  w.functions.set(fn, {
    ...found,
    words: [firstWord, tape.start],
    fixups: [firstFixup, tape.fixupCount],
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

/** Resolves references to later instructions, at the end of a function. */
function resolve(w: Walk): void {
  for (const { at, from, to, isSigned } of w.forward) {
    const ahead = numberOf(w, to) - from;
    // The sign is the lowest bit; zero has none.
    w.tape.words[at] = isSigned && ahead > 0 ? 2 * ahead + 1 : -ahead;
  }
  for (const [at, type] of w.lateTypes) refer(w.tape, at, references.type, typeIndex(w, type));
}

function scanAttachment(w: Walk, { kind, node }: Attachment): void {
  w.kinds.add(kind);
  w.metadata.push(node);
}

/** Puts the record of an instruction's location behind its own; returns its other attachments. */
function recordAttached(w: Walk, inst: Instruction): readonly Attachment[] {
  const { location, others } = locationOf(inst);
  if (location) recordLocation(w, location);
  for (const attachment of others) scanAttachment(w, attachment);
  return others;
}

function recordLocation(w: Walk, location: MetadataNode): void {
  if (location === w.location) return endRecord(w, bodyRecords.debugLocAgain);
  w.location = location;
  const { line, column, implicit } = locationFields(location.debug?.values ?? []);
  const [scope, inlined] = location.operands;
  const { f } = bodyRecords.debugLoc;
  word(w, f.line, Number(line));
  word(w, f.column, Number(column));
  node(w, f.scope, scope);
  node(w, f.inlined, inlined);
  word(w, f.implicit, Number(implicit));
  endRecord(w, bodyRecords.debugLoc);
}
