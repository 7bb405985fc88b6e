/**
 * Function bodies. Operands are distances back; an operand that is defined later gets a placeholder, which is replaced at the end of
 * the body.
 */

import { planOf, slotsOf } from '../fields.ts';
import { dbg, type Locations, newLocations } from '../locations.ts';
import { Malformed } from '../malformed.ts';
import type { Constant, Instruction, Function as LlvmFunction, Metadata, MetadataNode, Value } from '../model.ts';
import { blocks } from '../records.ts';
import { types as llvm, type Type } from '../types.ts';
import { type BodyReader, type ModuleTables, node, openFields, optional, valueAt, word } from './body-reader.ts';
import { readConstants } from './constants.ts';
import { readInstruction } from './instruction.ts';
import { nodeAt, readAttached, readMetadata, type ValueSource } from './metadata.ts';
import { fieldsOf, maxFields } from './record-fields.ts';
import type { OpenRecord } from './record-reader.ts';
import { type RawBlock, records, type Stream, type UnreadBlock } from './stream-reader.ts';

const codes = blocks.function.records;

/** Reads the bodies of all defined functions, in their order. */
export function readFunctions(
  stream: Stream,
  bodies: readonly UnreadBlock[],
  functions: readonly LlvmFunction[],
  tables: ModuleTables,
): void {
  const defined = functions.filter((fn) => fn.blocks.length > 0);
  if (bodies.length !== defined.length)
    throw new Malformed(bodies[0]?.bit ?? 0, 'module', `${bodies.length} bodies for ${defined.length} functions`);
  const scratch: Scratch = {
    values: Array.from({ length: tables.values.count }, () => undefined),
    open: [],
    located: new Int32Array(maxFields),
  };
  bodies.forEach((body, i) => void readBody(stream, body, bodyOf(defined[i]!, tables, scratch)));
}

interface Placeholder {
  readonly kind: 'placeholder';
  readonly id: number;
  readonly type: Type;
}

/** Lists that all bodies share, so that they need not grow again. */
interface Scratch {
  /** Values of the module that bodies used, then those of the body. */
  readonly values: (Value | undefined)[];
  /** Instructions of the current basic block. */
  readonly open: Instruction[];
  /** The first operand of each field of a record. */
  readonly located: Int32Array;
}

/** The state of reading a body. */
interface Body extends Scratch {
  readonly fn: LlvmFunction;
  readonly reader: BodyReader;
  readonly first: number;
  metadata: readonly Metadata[];
  readonly locations: Locations;
  last: Instruction | undefined;
  /** Instructions that use values defined later. */
  readonly waiting: Instruction[];
  isWaiting: boolean;
  /** The declared number of basic blocks, and the number of the current one. */
  blocks: number;
  current: number;
  /** Instructions of the current basic block so far. */
  opened: number;
  location: MetadataNode | undefined;
}

function readBody(stream: Stream, block: UnreadBlock, body: Body): void {
  const { fn } = body;
  // Names and attachments may refer to any value of the body.
  const later: RawBlock[] = [];
  stream.walk(block, {
    record: (record) => readRecord(body, record),
    block(inner) {
      if (inner.id === blocks.constants.id) addConstants(stream, body, inner);
      else if (inner.id === blocks.metadata.id) addMetadata(body, stream.read(inner));
      else if (inner.id !== blocks.useList.id) later.push(stream.read(inner));
    },
  });
  if (body.current !== fn.blocks.length || body.current === 0)
    throw new Malformed(block.bit, 'function', 'a basic block without terminator');
  if (body.blocks !== body.current) throw new Malformed(block.bit, 'function', `${body.current} basic blocks of ${body.blocks}`);
  replacePlaceholders(body.waiting, (id) => localAt(body, id), block.bit);
  for (const inner of later) {
    if (inner.id === blocks.metadataAttachment.id) readAttachments(inner, body);
    if (inner.id === blocks.valueSymtab.id) readNames(inner, body);
  }
}

function bodyOf(fn: LlvmFunction, tables: ModuleTables, { values, open, located }: Scratch): Body {
  const first = tables.values.count;
  for (const arg of fn.args) values[first + arg.index] = arg;
  const placeholders = new Map<number, Placeholder>();
  fn.blocks = [];
  const body: Body = {
    fn,
    reader: {
      tables,
      record: noRecord,
      located,
      isLocated: false,
      values,
      next: first + fn.args.length,
      other(id, type) {
        if (!(id < first)) return later(id, type);
        values[id] = tables.values.at(id, body.reader.record.bit);
        return values[id];
      },
      block(id) {
        if (!(id < body.blocks)) throw new Malformed(body.reader.record.bit, 'function', `basic block ${id} does not exist`);
        fn.blocks[id] ??= { kind: 'block', name: undefined, body: [] };
        return fn.blocks[id];
      },
      metadata(id, at) {
        const found = body.metadata[id] ?? noMetadata(at, id);
        // It may be a value that is defined later.
        if (found.kind === 'value') body.isWaiting = true;
        return found;
      },
    },
    values,
    open,
    located,
    first,
    metadata: tables.metadata.list,
    locations: newLocations(() => body.metadata),
    last: undefined,
    waiting: [],
    isWaiting: false,
    blocks: 0,
    current: 0,
    opened: 0,
    location: undefined,
  };
  const later = (id: number, type: Type | undefined): Value => {
    if (!type || !(id >= first)) throw new Malformed(body.reader.record.bit, 'function', `value ${id} does not exist`);
    const placeholder = placeholders.get(id) ?? { kind: 'placeholder', id, type };
    placeholders.set(id, placeholder);
    body.isWaiting = true;
    return placeholder as unknown as Value;
  };
  return body;
}

/** A value of the function that is defined already. */
const localAt = ({ values, first, reader }: Body, id: number): Value | undefined =>
  id >= first && id < reader.next ? values[id] : undefined;

const noRecord: OpenRecord = { code: 0, count: 0, ops: new Float64Array(0), bit: 0 };

/** Adds constants of the function, which later instructions refer to. */
function addConstants(stream: Stream, body: Body, block: UnreadBlock): void {
  const { reader, values, first } = body;
  const { tables } = reader;
  const at = (id: number | bigint | undefined, bit: number): Constant => {
    const found = Number(id) < first ? tables.values.at(id, bit) : localAt(body, Number(id));
    return found && found.kind !== 'argument' && found.kind !== 'instruction' ? found : noConstant(bit, id);
  };
  const own = readConstants(stream, [block], tables.types, { first: reader.next, outer: { at } });
  for (const constant of own.all(block.bit)) values[reader.next++] = constant;
}

/** Adds metadata of the function. */
function addMetadata(body: Body, block: RawBlock): void {
  const { reader } = body;
  const at: ValueSource['at'] = (id, bit, type) => valueAt(reader, Number(id), reader.tables.types.at(type, bit));
  body.metadata = readMetadata([block], { at }, { dialect: reader.tables.types.dialect, before: body.metadata }).list;
}

function noConstant(bit: number, id: unknown): never {
  throw new Malformed(bit, 'constants', `constant ${id} does not exist`);
}

function noMetadata(bit: number, id: number): never {
  throw new Malformed(bit, 'function', `metadata ${id} does not exist`);
}

function readRecord(body: Body, record: OpenRecord): void {
  switch (record.code) {
    case codes.declareBlocks.code:
      openFields(body.reader, record, declareBlocks);
      body.blocks = word(body.reader, slotsOf(codes.declareBlocks).count);
      return;
    case codes.debugLoc.code:
      openFields(body.reader, record, debugLoc);
      body.location = readLocation(body);
      return attachLocation(body, record);
    case codes.debugLocAgain.code:
      return attachLocation(body, record);
    default:
      if (body.reader.tables.types.dialect === 'latest' && isPassedOver(record.code)) return;
      add(body, readInstruction(body.reader, record));
  }
}

/** Records without a meaning for code: operand bundles of assumptions, users of a block's address, places of variables for debuggers. */
const isPassedOver = (code: number): boolean => code === codes.operandBundle.code || (code >= blockAddressUsers && code <= debugLabel);
/** Numbers of LLVM 19. */
const blockAddressUsers = 60;
const debugLabel = 65;

const terminators: ReadonlySet<number> = new Set([codes.br.code, codes.switch.code, codes.ret.code, codes.unreachable.code]);

function add(body: Body, inst: Instruction): void {
  const { reader, values, open } = body;
  if (body.current >= body.blocks) throw new Malformed(reader.record.bit, 'function', 'instructions behind the last basic block');
  open[body.opened++] = inst;
  if (inst.type !== llvm.void) values[reader.next++] = inst;
  else if (terminators.has(reader.record.code)) {
    reader.block(body.current++).body = open.slice(0, body.opened);
    body.opened = 0;
  }
  if (body.isWaiting) body.waiting.push(inst);
  body.isWaiting = false;
  body.last = inst;
}

/** Attaches the current source location to the instruction before. */
function attachLocation({ last, location }: Body, { bit }: OpenRecord): void {
  if (!last || !location) throw new Malformed(bit, 'function', 'a source location without an instruction');
  last.metadata = [{ kind: dbg, node: location }];
}

const declareBlocks = planOf(codes.declareBlocks);
const debugLoc = planOf(codes.debugLoc);

function readLocation({ reader, locations }: Body): MetadataNode {
  const f = slotsOf(codes.debugLoc);
  const { bit } = reader.record;
  const [scope, inlined] = [node(reader, f.scope), node(reader, f.inlined)];
  // Lines and columns have 32 bits; further bits in a file are ignored, as LLVM does.
  const location = {
    line: word(reader, f.line) >>> 0,
    column: word(reader, f.column) >>> 0,
    implicit: optional(reader, f.implicit) === 0 ? 0 : 1,
  };
  return locations.at(location, scope && nodeAt([scope], 0, bit), inlined && nodeAt([inlined], 0, bit));
}

function replacePlaceholders(instructions: readonly Instruction[], definition: (id: number) => Value | undefined, bit: number): void {
  const fixed = (field: unknown): unknown => {
    if (Array.isArray(field)) return field.map(fixed);
    if (typeof field !== 'object' || field === null) return field;
    if ('metadata' in field && 'kind' in field && field.kind === 'metadata') return { ...field, metadata: fixed(field.metadata) };
    if ('value' in field && ('block' in field || ('kind' in field && field.kind === 'value')))
      return { ...field, value: fixed(field.value) };
    const placeholder = field as Placeholder;
    if (placeholder.kind !== 'placeholder') return field;
    const value = definition(placeholder.id);
    if (!value || value.type !== placeholder.type)
      throw new Malformed(bit, 'function', `value ${placeholder.id} is used and never defined`);
    return value;
  };
  for (const inst of instructions) {
    const fields = inst as unknown as Record<string, unknown>;
    for (const name of Object.keys(fields)) if (name !== 'type' && name !== 'attributes') fields[name] = fixed(fields[name]);
  }
}

/** Metadata attached to instructions; without the number of an instruction, to the function. */
function readAttachments(block: RawBlock, { fn, reader }: Body): void {
  const instructions = fn.blocks.flatMap(({ body }) => body);
  for (const record of records(block)) {
    const { instruction, attachments } = fieldsOf(blocks.metadataAttachment.records.attachment, record);
    const target = instruction === undefined ? fn : instructions[Number(instruction)];
    if (!target) throw new Malformed(record.bit, 'metadataAttachment', `instruction ${instruction} does not exist`);
    const at = (id: number): Metadata => reader.metadata(id, record.bit);
    target.metadata = [...(target.metadata ?? []), ...readAttached(attachments, record.bit, at, reader.tables.kinds)];
  }
}

/** Names of arguments, instructions and basic blocks, if the file has them. */
function readNames(block: RawBlock, body: Body): void {
  const { fn } = body;
  const { entry, bbEntry } = blocks.valueSymtab.records;
  for (const record of records(block)) {
    if (record.code === bbEntry.code) {
      const { block: id, name } = fieldsOf(bbEntry, record);
      const named = fn.blocks[Number(id)];
      if (named) named.name = name;
    } else if (record.code === entry.code) {
      const { value: id, name } = fieldsOf(entry, record);
      const named = localAt(body, Number(id));
      if (named && named.kind !== 'constant') named.name = name;
    }
  }
}
