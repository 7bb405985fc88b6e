/** Types in LLVM text. */
import { type Type, types } from '../types.ts';
import type { Symbols } from './symbols.ts';
import type { TextReader } from './text-reader.ts';

const plain: Readonly<Record<string, Type>> = {
  void: types.void,
  label: types.label,
  metadata: types.metadata,
  token: types.token,
  half: types.half,
  bfloat: types.bfloat,
  float: types.float,
  double: types.double,
};

/** The deepest nesting of types. */
const maxDepth = 64;

/** A type with its pointers and parameters: `float addrspace(1)*`, `void (i32)*`. */
export function readType(reader: TextReader, symbols: Symbols, depth = 0): Type {
  if (depth > maxDepth) reader.fail('the type is nested too deeply');
  let type = readFirst(reader, symbols, depth);
  for (;;) {
    const space = reader.match(/addrspace\((\d{1,7})\)\*/y)?.[1];
    if (space !== undefined) type = types.pointer(type, Number(space));
    else if (reader.take('*')) type = types.pointer(type);
    else if (reader.peek() === '(') type = readFunction(reader, symbols, type, depth);
    else return type;
  }
}

function readFunction(reader: TextReader, symbols: Symbols, result: Type, depth: number): Type {
  reader.expect('(');
  let isVararg = false;
  const params = reader.list(')', () => {
    isVararg = reader.take('...');
    return isVararg ? types.void : readType(reader, symbols, depth + 1);
  });
  return types.function(result, isVararg ? params.slice(0, -1) : params, isVararg);
}

function readFirst(reader: TextReader, symbols: Symbols, depth: number): Type {
  const bits = reader.match(/i(\d{1,7})\b/y)?.[1];
  if (bits !== undefined) return types.int(Number(bits));
  if (reader.peek() === '%') {
    const name = reader.name('%');
    return symbols.structs.get(name) ?? reader.fail(`the module has no type \`%${name}\``);
  }
  if (reader.take('[')) return types.array(...readCounted(reader, symbols, ']', depth));
  if (reader.take('<{')) return readFields(reader, symbols, '}>', depth);
  if (reader.take('<')) return types.vector(...readCounted(reader, symbols, '>', depth));
  if (reader.take('{')) return readFields(reader, symbols, '}', depth);
  const word = reader.word();
  if (word === 'ptr') reader.fail('opaque pointers are not supported; AIR has typed pointers, as LLVM 14 writes them');
  return Object.hasOwn(plain, word) ? plain[word]! : reader.fail(`unknown type \`${word}\``);
}

function readCounted(reader: TextReader, symbols: Symbols, close: string, depth: number): [element: Type, count: number] {
  const count = reader.number();
  if (!reader.takeWord('x')) reader.fail('expected `x`');
  const element = readType(reader, symbols, depth + 1);
  reader.expect(close);
  return [element, count];
}

const readFields = (reader: TextReader, symbols: Symbols, close: string, depth: number): Type =>
  types.struct(
    reader.list(close, () => readType(reader, symbols, depth + 1)),
    close === '}>',
  );

/** The fields of a named struct; undefined for an opaque one. */
export function readBody(reader: TextReader, symbols: Symbols): { readonly fields: readonly Type[] | undefined; readonly packed: boolean } {
  if (reader.takeWord('opaque')) return { fields: undefined, packed: false };
  const packed = reader.peek() === '<';
  const type = readFirst(reader, symbols, 0);
  return type.kind === 'struct' ? { fields: type.fields, packed } : reader.fail('expected the fields of a struct');
}
