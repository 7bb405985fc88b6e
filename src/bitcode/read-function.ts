/**
 * Function bodies. Operands are distances back; an operand that is defined later gets a placeholder, which is replaced once the
 * whole body is known.
 */
import type { BodyReader, ModuleTables } from './body-reader.ts';
import { dbg, type Locations, locations } from './locations.ts';
import type { Attachment, Block, Instruction, Function as LlvmFunction, MetadataNode, Value } from './model.ts';
import { readConstants } from './read-constants.ts';
import { readInstruction } from './read-instruction.ts';
import { nodeAt, readAttached, readMetadata } from './read-metadata.ts';
import { blocks } from './records.ts';
import { childBlocks, Malformed, type RawBlock, type RawRecord, records, textOf } from './stream-reader.ts';
import { types as llvm, type Type } from './types.ts';

const codes = blocks.function.records;

/** Reads the bodies of all defined functions, in their order. */
export function readFunctions(bodies: readonly RawBlock[], functions: readonly LlvmFunction[], tables: ModuleTables): void {
  const defined = functions.filter((fn) => fn.blocks.length > 0);
  if (bodies.length !== defined.length)
    throw new Malformed(bodies[0]?.bit ?? 0, 'module', `${bodies.length} bodies for ${defined.length} functions`);
  bodies.forEach((body, i) => void readBody(body, defined[i]!, tables));
}

interface Placeholder {
  readonly kind: 'placeholder';
  readonly id: number;
  readonly type: Type;
}

function readBody(body: RawBlock, fn: LlvmFunction, tables: ModuleTables): void {
  const count = Number(records(body).find((r) => r.code === codes.declareBlocks.code)?.ops[0] ?? 0);
  if (count < 1 || count > body.items.length) throw new Malformed(body.bit, 'function', `${count} basic blocks`);
  fn.blocks = Array.from({ length: count }, (): Block => ({ kind: 'block', name: undefined, body: [] }));
  const base = tables.values.count;
  // Constants of a function continue the numbering behind the module's values and the arguments.
  const own = readConstants(childBlocks(body, blocks.constants.id), tables.types, { first: base + fn.args.length, outer: tables.values });
  const locals: Value[] = [...fn.args, ...own.all(body.bit)];
  const placeholders = new Map<number, Placeholder>();
  // Whether the instruction that is being read uses what is defined later, and those that do.
  let isWaiting = false;
  const waiting: Instruction[] = [];
  const made = (inst: Instruction): void => {
    if (isWaiting) waiting.push(inst);
    isWaiting = false;
  };
  const reader: BodyReader = {
    tables,
    next: () => base + locals.length,
    absolute(id, type, bit) {
      if (id < base) return tables.values.at(id, bit);
      const known = locals[id - base];
      if (known) return known;
      if (!type || id - base > locals.length + body.items.length) throw new Malformed(bit, 'function', `value ${id} does not exist`);
      const placeholder = placeholders.get(id) ?? { kind: 'placeholder', id, type };
      placeholders.set(id, placeholder);
      isWaiting = true;
      return placeholder as unknown as Value;
    },
    block: (id, bit) => fn.blocks[Number(id)] ?? noBlock(bit, id),
    metadata(id, bit) {
      const found = functionMetadata.list[id] ?? noMetadata(bit, id);
      // A value of the function may be one that is defined later.
      if (found.kind === 'value') isWaiting = true;
      return found;
    },
  };
  const functionMetadata = readMetadata(
    childBlocks(body, blocks.metadata.id),
    { at: (id, bit, type) => reader.absolute(Number(id), tables.types.at(type, bit), bit) },
    tables.metadata.list,
  );
  const instructions = readInstructions(body, fn, reader, locals, { places: locations(() => functionMetadata.list), made });
  replacePlaceholders(waiting, (id) => locals[id - base], body.bit);
  readAttachments(body, fn, instructions, reader);
  readNames(body, fn, (id) => locals[id - base]);
}

/** Names of arguments, instructions and basic blocks, where the file kept them. */
function readNames(body: RawBlock, fn: LlvmFunction, local: (id: number) => Value | undefined): void {
  const { entry, bbEntry } = blocks.valueSymtab.records;
  for (const table of childBlocks(body, blocks.valueSymtab.id))
    for (const record of records(table)) {
      const id = Number(record.ops[0]);
      const named = record.code === bbEntry.code ? fn.blocks[id] : record.code === entry.code ? local(id) : undefined;
      if (named && named.kind !== 'constant') named.name = textOf(record, 1);
    }
}

function noBlock(bit: number, id: unknown): never {
  throw new Malformed(bit, 'function', `basic block ${id} does not exist`);
}

function noMetadata(bit: number, id: number): never {
  throw new Malformed(bit, 'function', `metadata ${id} does not exist`);
}

const terminators: ReadonlySet<string> = new Set(['br', 'condbr', 'switch', 'ret', 'unreachable']);
const isTerminator = (inst: Instruction): boolean => terminators.has(inst.op);

interface Around {
  readonly places: Locations;
  /** Told of each instruction. */
  made(inst: Instruction): void;
}

function readInstructions(body: RawBlock, fn: LlvmFunction, reader: BodyReader, locals: Value[], { places, made }: Around): Instruction[] {
  const found: Instruction[] = [];
  let place: MetadataNode | undefined;
  let current = 0;
  for (const record of records(body)) {
    if (record.code === codes.declareBlocks.code) continue;
    if (record.code === codes.debugLoc.code || record.code === codes.debugLocAgain.code) {
      if (record.code === codes.debugLoc.code) place = readPlace(record, reader, places);
      const last = found[found.length - 1];
      if (!last || !place) throw new Malformed(record.bit, 'function', 'a place in the source of nothing');
      last.metadata = [{ kind: dbg, node: place }];
      continue;
    }
    const block = fn.blocks[current];
    if (!block) throw new Malformed(record.bit, 'function', 'instructions behind the last basic block');
    const inst = readInstruction(reader, record);
    made(inst);
    block.body.push(inst);
    found.push(inst);
    if (inst.type !== llvm.void) locals.push(inst);
    if (isTerminator(inst)) current++;
  }
  if (current !== fn.blocks.length) throw new Malformed(body.bit, 'function', 'a basic block without terminator');
  return found;
}

/** `[line, column, scope, inlined at, implicit]`; the scope and what is inlined with 1 added, 0 for none. */
function readPlace({ ops, bit }: RawRecord, reader: BodyReader, places: Locations): MetadataNode {
  const at = (i: number): MetadataNode | undefined =>
    Number(ops[i] ?? 0) === 0 ? undefined : nodeAt([reader.metadata(Number(ops[i]) - 1, bit)], 0, bit);
  return places.at([0, ops[0] ?? 0, ops[1] ?? 0, 0, 0, ops[4] ?? 0], at(2), at(3));
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

/** `[instruction, (kind, node)…]`; without the instruction it is the function's own. */
function readAttachments(body: RawBlock, fn: LlvmFunction, instructions: readonly Instruction[], reader: BodyReader): void {
  for (const block of childBlocks(body, blocks.metadataAttachment.id))
    for (const record of records(block)) {
      const ofFunction = record.ops.length % 2 === 0;
      const target = ofFunction ? fn : instructions[Number(record.ops[0])];
      if (!target) throw new Malformed(record.bit, 'metadataAttachment', `instruction ${record.ops[0]} does not exist`);
      target.metadata = [...(target.metadata ?? []), ...attachments(record, ofFunction ? 0 : 1, reader)];
    }
}

const attachments = (record: RawRecord, from: number, reader: BodyReader): Attachment[] =>
  readAttached(record, from, (id) => reader.metadata(id, record.bit), reader.tables.kinds);
