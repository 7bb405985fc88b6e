/** Module variables with their initial values. Source: PTX ISA 9.0, 5.4.1 to 5.4.4. */
import type { Constant, GlobalVariable } from '../bitcode/index.ts';
import { annotationsOf } from './annotations.ts';
import { declareExtern } from './externs.ts';
import { alignOf, bytesOf, elementOf, offsetOf, partsOf, sizeOf } from './layout.ts';
import { refuse } from './refused.ts';
import { spaceNumbers } from './spaces.ts';
import type { ModuleState } from './state.ts';
import { constantPlace, isMissing, nameOf, spaceOfGlobal } from './values.ts';

const spaces: Readonly<Record<number, string>> = { 1: '.global', 3: '.shared', 4: '.const', 5: '.local' };

/** Variables that are for the compiler alone. */
const isForCompiler = ({ name }: GlobalVariable): boolean => name.startsWith('llvm.');

/** Declarations of the module's variables. Nothing runs before a kernel, so that variables with constructors are refused. */
export function globalTexts(module: ModuleState, isUsed: (global: GlobalVariable) => boolean): string[] {
  for (const { name, init } of module.module.globals)
    if (/^llvm\.global_[cd]tors$/.test(name) && init && init.type.kind === 'array' && init.type.count > 0)
      refuse('code that runs before or after all kernels');
  const managed = managedVariables(module);
  return module.module.globals
    .filter((global) => !isForCompiler(global) && !isMissing(global) && isUsed(global))
    .map((global) => globalText(module, global, managed.has(global)));
}

/**
 * Variables that the host sees as well: those with this annotation, as LLVM has no attribute for them. PTX has one, from which whoever loads
 * the code knows them.
 */
const managedAnnotation = 'cumetal.managed';

const managedVariables = (module: ModuleState): ReadonlySet<unknown> =>
  new Set(annotationsOf(module.module).flatMap(({ of, text }) => (text === managedAnnotation ? [of] : [])));

function globalText(module: ModuleState, global: GlobalVariable, isManaged: boolean): string {
  const space = spaceOfGlobal(global);
  const word = spaces[space] ?? refuse(`the variable ${global.name} in address space ${space}`);
  const align = Math.max(global.align, alignOf(global.valueType));
  const size = sizeOf(global.valueType);
  const name = nameOf(module, global);
  const isOutside = global.init === undefined;
  if (space === spaceNumbers.shared)
    return isOutside ? `.extern .shared .align ${align} .b8 ${name}[];` : `.shared .align ${align} .b8 ${name}[${Math.max(1, size)}];`;
  const isOwn = global.linkage === 'internal' || global.linkage === 'private';
  const isOneOfMany = module.isRelocatable && (global.linkage.startsWith('weak') || global.linkage.startsWith('linkonce'));
  const linkage = isOutside ? '.extern ' : isOwn ? '' : isOneOfMany ? '.weak ' : '.visible ';
  const attribute = isManaged ? ' .attribute(.managed)' : '';
  if (isOutside || !global.init) return `${linkage}${word}${attribute} .align ${align} .b8 ${name}[${Math.max(1, size)}];`;
  return `${linkage}${word}${attribute} .align ${align} ${initialText(module, global, name, Math.max(1, size))};`;
}

/** Bytes of an initial value, and the words of 8 bytes that are addresses. */
interface Image {
  readonly bytes: Uint8Array;
  readonly addresses: Map<number, string>;
}

function initialText(module: ModuleState, global: GlobalVariable, name: string, size: number): string {
  const image: Image = { bytes: new Uint8Array(size), addresses: new Map() };
  fill(module, image, global.init!, global.valueType, 0);
  if (image.addresses.size > 0) return addressesText(image, name);
  let last = size - 1;
  while (last >= 0 && image.bytes[last] === 0) last--;
  return `.b8 ${name}[${size}]${last < 0 ? '' : ` = {${image.bytes.subarray(0, last + 1).join(', ')}}`}`;
}

/** A variable with addresses is an array of words of 8 bytes. */
function addressesText({ bytes, addresses }: Image, name: string): string {
  if (bytes.length % 8 !== 0) return refuse(`the variable ${name}, whose size is no multiple of that of the addresses in it`);
  const view = new DataView(bytes.buffer);
  const words = Array.from(
    { length: bytes.length / 8 },
    (_, i) => addresses.get(8 * i) ?? `0x${view.getBigUint64(8 * i, true).toString(16)}`,
  );
  return `.u64 ${name}[${words.length}] = {${words.join(', ')}}`;
}

function fill(module: ModuleState, image: Image, value: Constant, type: GlobalVariable['valueType'], at: number): void {
  if (value.kind === 'constant') {
    switch (value.form) {
      case 'null':
      case 'undef':
      case 'poison':
        return;
      case 'int':
        return putBits(
          image.bytes,
          value.value,
          at,
          partsOf(type).reduce((n, { part }) => n + bytesOf(part), 0),
        );
      case 'float':
        return putBits(image.bytes, value.bits, at, sizeOf(type));
      case 'aggregate':
        for (const [i, element] of value.elements.entries()) fill(module, image, element, elementOf(type, i), at + offsetOf(type, i));
        return;
    }
  }
  image.addresses.set(at, addressWord(module, value, at));
}

function putBits(bytes: Uint8Array, bits: bigint, at: number, count: number): void {
  for (let i = 0; i < count; i++) bytes[at + i] = Number((bits >> BigInt(8 * i)) & 255n);
}

/** The address of a symbol as an initial value: generic, or of its own space if its type names one. */
function addressWord(module: ModuleState, value: Constant, at: number): string {
  const inside: Constant = value.kind === 'constant' && value.form === 'cast' && value.opcode === 'ptrtoint' ? value.value : value;
  if (inside.kind === 'function' && inside.blocks.length === 0) declareExtern(module, inside);
  const place = constantPlace(module, inside);
  if (!place || at % 8 !== 0) return refuse('an initial value that is no constant address');
  const offset = place.offset === 0 ? '' : `+${place.offset}`;
  const isFunction = place.space === spaceNumbers.generic;
  const isRaw = isFunction || (inside.type.kind === 'pointer' && inside.type.space !== 0);
  return isRaw ? `${place.base}${offset}` : `generic(${place.base})${offset}`;
}
