/** The type table of a module that is read. */

import { Malformed } from '../malformed.ts';
import { blocks } from '../records.ts';
import { type Type, type TypeOf, types } from '../types.ts';
import { checkTypes } from './limits.ts';
import { type RawRecord, textOf } from './record-reader.ts';
import { type RawBlock, records } from './stream-reader.ts';

export interface TypeTable {
  /** The type of an id; refuses those out of range. */
  at(id: number | bigint | undefined, bit: number): Type;
  readonly structs: TypeOf<'struct'>[];
}

const codes = blocks.types.records;

export function readTypes(block: RawBlock | undefined, bit: number): TypeTable {
  if (!block) throw new Malformed(bit, 'module', 'there is no type table');
  const list: Type[] = [];
  const structs: TypeOf<'struct'>[] = [];
  const forward = forwardStructs(block);
  const at = (id: number | bigint | undefined, where: number): Type => {
    const n = Number(id);
    const known = list[n] ?? forward.get(n);
    if (!known) throw new Malformed(where, 'types', `type ${id} does not exist`);
    return known;
  };
  for (const record of records(block)) {
    if (record.code === codes.count.code || record.code === codes.structName.code) continue;
    const declared = forward.get(list.length);
    if (declared) structs.push(fillStruct(declared, record, at));
    list.push(declared ?? makeType(record, at));
  }
  checkTypes(list, block.bit);
  return { at, structs };
}

/** Named structs by their number, made before their fields are known: types may refer to themselves. */
function forwardStructs(block: RawBlock): Map<number, TypeOf<'struct'>> {
  const found = new Map<number, TypeOf<'struct'>>();
  let id = 0;
  let name = '';
  for (const record of records(block)) {
    if (record.code === codes.count.code) continue;
    if (record.code === codes.structName.code) {
      name = textOf(record);
      continue;
    }
    if (record.code === codes.structNamed.code || record.code === codes.opaque.code) found.set(id, types.namedStruct(name, undefined));
    id++;
  }
  return found;
}

function fillStruct(struct: TypeOf<'struct'>, record: RawRecord, at: TypeTable['at']): TypeOf<'struct'> {
  if (record.code === codes.opaque.code) return struct;
  const fields = record.ops.slice(1).map((id) => sized(at(id, record.bit), record.bit));
  return Object.assign(struct, { packed: record.ops[0] === 1, fields });
}

function vector(element: Type, count: number, bit: number): Type {
  if (count < 1 || count > 2 ** 16) throw new Malformed(bit, 'types', `a vector of ${count} elements`);
  if (element.kind !== 'int' && element.kind !== 'float' && element.kind !== 'pointer')
    throw new Malformed(bit, 'types', `a vector of ${element.kind}`);
  return types.vector(element, count);
}

/** Address spaces have 24 bits. Source: LLVM 14 Language Reference, pointer type. */
export function addressSpace(space: number | bigint | undefined, bit: number): number {
  const n = Number(space ?? 0);
  if (!(n < 2 ** 24)) throw new Malformed(bit, 'types', `address space ${space}`);
  return n;
}

/** Types whose values can lie in memory, apart from functions. */
const isSized = (type: Type): boolean => !['void', 'label', 'metadata', 'token', 'function'].includes(type.kind);

function sized(type: Type, bit: number): Type {
  if (!isSized(type)) throw new Malformed(bit, 'types', `an aggregate of ${type.kind}`);
  return type;
}

function makeType(record: RawRecord, at: TypeTable['at']): Type {
  const { code, ops, bit } = record;
  const type = (i: number): Type => at(ops[i], bit);
  const count = (): number => {
    if (!(Number(ops[0]) <= 2 ** 31)) throw new Malformed(bit, 'types', 'an array that is too long');
    return Number(ops[0]);
  };
  switch (code) {
    case codes.void.code:
      return types.void;
    case codes.label.code:
      return types.label;
    case codes.metadata.code:
      return types.metadata;
    case codes.token.code:
      return types.token;
    case codes.half.code:
      return types.half;
    case codes.bfloat.code:
      return types.bfloat;
    case codes.float.code:
      return types.float;
    case codes.double.code:
      return types.double;
    case codes.integer.code:
      if (!(Number(ops[0]) >= 1 && Number(ops[0]) <= 4096)) throw new Malformed(bit, 'types', `integers of ${ops[0]} bits`);
      return types.int(Number(ops[0]));
    case codes.pointer.code:
      return types.pointer(type(0), addressSpace(ops[1], bit));
    case codes.array.code:
      return types.array(sized(type(1), bit), count());
    case codes.vector.code:
      return vector(type(1), count(), bit);
    case codes.structAnon.code:
      return types.struct(
        ops.slice(1).map((id) => sized(at(id, bit), bit)),
        ops[0] === 1,
      );
    case codes.function.code:
      return types.function(
        type(1),
        ops.slice(2).map((id) => at(id, bit)),
        ops[0] === 1,
      );
    default:
      throw new Malformed(bit, 'types', `type record ${code} is not known`);
  }
}
