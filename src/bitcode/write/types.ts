/** The type table. */

import type { Type } from '../types.ts';
import type { Numbering } from './numbering.ts';
import type { StreamWriter } from './stream-writer.ts';

const floats = { half: 'half', bfloat: 'bfloat', float: 'float', double: 'double' } as const;

/** Writes every type in the order of its number. */
export function writeTypes(out: StreamWriter, numbers: Numbering<Type>): void {
  out.block('types', () => {
    out.record('types', 'count', { count: numbers.list.length });
    for (const type of numbers.list) writeType(out, type, numbers);
  });
}

function writeType(out: StreamWriter, type: Type, { idOf }: Numbering<Type>): void {
  switch (type.kind) {
    case 'int':
      return out.record('types', 'integer', { bits: type.bits });
    case 'float':
      return out.record('types', floats[type.name], {});
    case 'pointer':
      return out.record('types', 'pointer', { pointee: idOf(type.pointee), space: type.space });
    case 'array':
    case 'vector':
      return out.record('types', type.kind, { count: type.count, element: idOf(type.element) });
    case 'function':
      return out.record('types', 'function', { vararg: type.vararg ? 1 : 0, result: idOf(type.result), params: type.params.map(idOf) });
    case 'struct':
      return writeStruct(out, type, idOf);
    default:
      return out.record('types', type.kind, {});
  }
}

function writeStruct(out: StreamWriter, type: Extract<Type, { kind: 'struct' }>, idOf: (type: Type) => number): void {
  if (type.name !== undefined) out.record('types', 'structName', { name: type.name });
  if (!type.fields) return out.record('types', 'opaque', { packed: 0 });
  const fields = { packed: type.packed ? 1 : 0, elements: type.fields.map(idOf) };
  out.record('types', type.name === undefined ? 'structAnon' : 'structNamed', fields);
}
