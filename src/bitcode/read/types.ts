/** The type table of a module. */

import { Malformed } from '../malformed.ts';
import { blocks } from '../records.ts';
import { type Type, type TypeOf, types } from '../types.ts';
import { checkTypes } from './limits.ts';
import { fieldsOf } from './record-fields.ts';
import type { RawRecord } from './record-reader.ts';
import { type RawBlock, records } from './stream-reader.ts';

/**
 * The LLVM whose modules are read. `air`: typed pointers, the records of LLVM 14 and before. `latest`: opaque pointers, the records of
 * LLVM 19 and later; properties that say nothing about what code does (comdats, operand bundles, debug information of variables) are
 * passed over.
 */
export type Dialect = 'air' | 'latest';

export interface TypeTable {
  readonly dialect: Dialect;
  /** The type of an id; refuses those out of range. */
  at(id: number | bigint | undefined, bit: number): Type;
  readonly structs: TypeOf<'struct'>[];
}

const codes = blocks.types.records;

export function readTypes(block: RawBlock | undefined, bit: number, dialect: Dialect): TypeTable {
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
    list.push(declared ?? (dialect === 'latest' ? opaquePointer(record) : undefined) ?? makeType(record, at));
  }
  checkTypes(list, block.bit);
  return { at, structs, dialect };
}

/** Named structs by id, made before their fields are resolved: types may refer to themselves. */
function forwardStructs(block: RawBlock): Map<number, TypeOf<'struct'>> {
  const found = new Map<number, TypeOf<'struct'>>();
  let id = 0;
  let name = '';
  for (const record of records(block)) {
    if (record.code === codes.count.code) continue;
    if (record.code === codes.structName.code) {
      ({ name } = fieldsOf(codes.structName, record));
      continue;
    }
    if (record.code === codes.structNamed.code || record.code === codes.opaque.code) found.set(id, types.namedStruct(name, undefined));
    id++;
  }
  return found;
}

function fillStruct(struct: TypeOf<'struct'>, record: RawRecord, at: TypeTable['at']): TypeOf<'struct'> {
  if (record.code === codes.opaque.code) return struct;
  const { packed, elements } = fieldsOf(codes.structNamed, record);
  return Object.assign(struct, { packed: packed === 1, fields: elements.map((id) => sized(at(id, record.bit), record.bit)) });
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

/** Whether values of a type have a size in memory. */
const isSized = (type: Type): boolean => !['void', 'label', 'metadata', 'token', 'function'].includes(type.kind);

function sized(type: Type, bit: number): Type {
  if (!isSized(type)) throw new Malformed(bit, 'types', `an aggregate of ${type.kind}`);
  return type;
}

/** Types without fields. */
const plainTypes: ReadonlyMap<number, Type> = new Map<number, Type>([
  [codes.void.code, types.void],
  [codes.label.code, types.label],
  [codes.metadata.code, types.metadata],
  [codes.token.code, types.token],
  [codes.half.code, types.half],
  [codes.bfloat.code, types.bfloat],
  [codes.float.code, types.float],
  [codes.double.code, types.double],
]);

function opaquePointer(record: RawRecord): Type | undefined {
  if (record.code !== codes.opaquePointer.code) return undefined;
  return types.pointer(types.opaque, addressSpace(fieldsOf(codes.opaquePointer, record).space, record.bit));
}

function makeType(record: RawRecord, at: TypeTable['at']): Type {
  const { code, bit } = record;
  switch (code) {
    case codes.integer.code: {
      const { bits } = fieldsOf(codes.integer, record);
      if (!(bits >= 1 && bits <= 4096)) throw new Malformed(bit, 'types', `integers of ${bits} bits`);
      return types.int(Number(bits));
    }
    case codes.pointer.code: {
      const { pointee, space } = fieldsOf(codes.pointer, record);
      return types.pointer(at(pointee, bit), addressSpace(space, bit));
    }
    case codes.array.code: {
      const { count, element } = fieldsOf(codes.array, record);
      return types.array(sized(at(element, bit), bit), arrayCount(count, bit));
    }
    case codes.vector.code: {
      const { count, element } = fieldsOf(codes.vector, record);
      return vector(at(element, bit), arrayCount(count, bit), bit);
    }
    case codes.structAnon.code: {
      const { packed, elements } = fieldsOf(codes.structAnon, record);
      return types.struct(
        elements.map((id) => sized(at(id, bit), bit)),
        packed === 1,
      );
    }
    case codes.function.code: {
      const { vararg, result, params } = fieldsOf(codes.function, record);
      return types.function(
        at(result, bit),
        params.map((id) => at(id, bit)),
        vararg === 1,
      );
    }
    default:
      return plainTypes.get(code) ?? unknown(code, bit);
  }
}

function unknown(code: number, bit: number): never {
  throw new Malformed(bit, 'types', `type record ${code} is not known`);
}

function arrayCount(count: number | bigint, bit: number): number {
  if (!(count <= 2 ** 31)) throw new Malformed(bit, 'types', 'an array that is too long');
  return Number(count);
}
