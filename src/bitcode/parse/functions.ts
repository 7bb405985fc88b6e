/** Functions and variables in LLVM text. */
import { linkageCodes, unnamedAddrCodes, visibilityCodes } from '../codes.ts';
import type { Attribute, GlobalVariable, Linkage, Function as LlvmFunction, UnnamedAddr, Visibility } from '../model.ts';
import { type Type, types } from '../types.ts';
import { readAttributes, readGroup } from './attributes.ts';
import { Body, isNumber } from './body.ts';
import { readConstant } from './constants.ts';
import { readConvention, readInstruction } from './instructions.ts';
import { readAttachments } from './metadata.ts';
import type { Symbols } from './symbols.ts';
import type { TextReader } from './text-reader.ts';
import { readType } from './types.ts';

const isLinkage = (word: string): word is Linkage => Object.hasOwn(linkageCodes, word);
const isVisibility = (word: string): word is Visibility => Object.hasOwn(visibilityCodes, word);
const isUnnamed = (word: string): word is UnnamedAddr => word !== 'none' && Object.hasOwn(unnamedAddrCodes, word);

/** A word of a table if it is next. */
function takeOne<T extends string>(reader: TextReader, is: (word: string) => word is T): T | undefined {
  const word = reader.peekWord();
  if (!is(word)) return undefined;
  reader.word();
  return word;
}

interface Properties {
  linkage: Linkage;
  dsoLocal: boolean;
  visibility?: Visibility;
}

function readProperties(reader: TextReader): Properties {
  const linkage = takeOne(reader, isLinkage) ?? 'external';
  const first = reader.takeWord('dso_local');
  const visibility = takeOne(reader, isVisibility);
  return { linkage, dsoLocal: first || reader.takeWord('dso_local'), ...(visibility ? { visibility } : {}) };
}

/** A function whose head was read, and how to read the rest. */
export interface FunctionText {
  readonly fn: LlvmFunction;
  /** The names of the parameters of a definition. */
  readonly names: readonly string[];
  readonly isDefined: boolean;
}

/** `define … {` or `declare …`, up to the body. The attributes `#0` are read with the body, after the groups. */
export function readHead(reader: TextReader, symbols: Symbols, isDefined: boolean): FunctionText {
  const attached = isDefined ? [] : readAttachments(reader, symbols, '');
  const properties = readProperties(reader);
  const convention = readConvention({ reader });
  const result = readAttributes(reader, symbols);
  const returns = readType(reader, symbols);
  const name = reader.name('@');
  const names: string[] = [];
  const params: Attribute[][] = [];
  const paramTypes: Type[] = [];
  let isVararg = false;
  reader.expect('(');
  reader.list(')', () => {
    isVararg = reader.take('...');
    if (isVararg) return;
    paramTypes.push(readType(reader, symbols));
    params.push(readAttributes(reader, symbols));
    if (isDefined) names.push(reader.name('%'));
  });
  const functionType = types.function(returns, paramTypes, isVararg);
  const unnamedAddr = takeOne(reader, isUnnamed) ?? 'none';
  const attributes = { function: readGroup(reader, symbols), result, params };
  const section = reader.takeWord('section') ? reader.quoted() : undefined;
  const align = reader.takeWord('align') ? reader.number() : undefined;
  const fn: LlvmFunction = {
    kind: 'function',
    name,
    type: types.pointer(functionType),
    functionType,
    ...properties,
    ...(convention === undefined ? {} : { convention }),
    ...(align === undefined ? {} : { align }),
    attributes,
    unnamedAddr,
    section,
    args: paramTypes.map((type, index) => ({ kind: 'argument', type, index, name: nameOf(names[index]) })),
    blocks: [],
    metadata: isDefined ? readAttachments(reader, symbols, '') : attached,
  };
  return { fn, names, isDefined };
}

const nameOf = (name: string | undefined): string | undefined => (name === undefined || isNumber(name) ? undefined : name);

/** The blocks of a definition, behind `{`. */
export function readBody(reader: TextReader, symbols: Symbols, { fn, names }: FunctionText): void {
  const body = new Body(reader, symbols, fn);
  names.forEach((name, i) => void body.addArgument(name, fn.args[i]!));
  reader.expect('{');
  const entry = labelName(reader) ?? String(names.filter(isNumber).length);
  let block = body.defineBlock(entry);
  fn.blocks.push(block);
  while (!reader.take('}')) {
    const label = labelName(reader);
    if (label !== undefined) {
      block = body.defineBlock(label);
      fn.blocks.push(block);
      continue;
    }
    const name = reader.peek() === '%' ? reader.name('%') : undefined;
    if (name !== undefined) reader.expect('=');
    const inst = readInstruction(body);
    const metadata = readAttachments(reader, symbols, ',');
    if ((name === undefined) !== (inst.type === types.void)) reader.fail('only an instruction with a result has a name');
    const whole = metadata.length > 0 ? { ...inst, metadata } : inst;
    block.body.push(name === undefined ? whole : body.define(name, whole));
  }
  body.finish();
}

/** The name of a block, before its colon. */
const labelName = (reader: TextReader): string | undefined => {
  const found = reader.match(/([-\w$.]+|"[^"\n]*"):/y)?.[1];
  return found?.startsWith('"') ? found.slice(1, -1) : found;
};

/** A variable whose head was read; `readInit` reads the rest. */
export function readGlobal(reader: TextReader, symbols: Symbols): { readonly global: GlobalVariable; readonly hasInit: boolean } {
  const name = reader.name('@');
  reader.expect('=');
  const isExternal = reader.takeWord('external');
  const properties = readProperties(reader);
  const unnamedAddr = takeOne(reader, isUnnamed) ?? 'none';
  const space = Number(reader.match(/addrspace\((\d{1,7})\)/y)?.[1] ?? 0);
  const externallyInitialized = reader.takeWord('externally_initialized');
  const isConstant = reader.takeWord('constant');
  if (!isConstant && !reader.takeWord('global')) reader.fail('expected `global` or `constant`');
  const valueType = readType(reader, symbols);
  const global: GlobalVariable = {
    kind: 'global',
    name,
    type: types.pointer(valueType, space),
    valueType,
    isConstant,
    init: undefined,
    ...properties,
    align: 0,
    section: undefined,
    unnamedAddr,
    externallyInitialized,
  };
  return { global, hasInit: !isExternal && properties.linkage !== 'extern_weak' };
}

/** The value, the section, the alignment and the metadata of a variable. */
export function readInit(reader: TextReader, symbols: Symbols, global: GlobalVariable, hasInit: boolean): void {
  if (hasInit) global.init = readConstant(reader, symbols, global.valueType);
  for (;;) {
    const before = reader.at;
    if (!reader.take(',')) return;
    if (reader.takeWord('section')) global.section = reader.quoted();
    else if (reader.takeWord('align')) global.align = reader.number();
    else {
      reader.at = before;
      const metadata = readAttachments(reader, symbols, ',');
      if (metadata.length > 0) global.metadata = metadata;
      return;
    }
  }
}
