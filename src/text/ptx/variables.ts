/** Parameters and variables as PTX declares them. */
import { bug } from '../../base/bug.ts';
import { isHidden, type Kernel, type KernelParam, type ModuleMemory, type ModuleSymbol, type Variable } from '../../ir/index.ts';
import type { Module } from './printer.ts';

/** A name that PTX takes, and no register has. */
export function identifier(name: string): string {
  const word = name.replace(/^%(?=(?:p|rs?|rd|fd?)\d+$)/, '_').replaceAll(/(?!^)[^\w$]|^[^\w$%]/g, '_');
  return /^[A-Za-z]|^[_$%]\w/.test(word) ? word : `_${word}`;
}

/** Names of the parameters of a kernel, which are unique. */
export function parameterNames({ params }: Kernel): string[] {
  const taken = new Set<string>();
  return params.map(({ name }) => {
    const wanted = identifier(name);
    let own = wanted;
    for (let i = 1; taken.has(own); i++) own = `${wanted}_${i}`;
    taken.add(own);
    return own;
  });
}

const scalarTypes: Readonly<Record<string, string>> = { f16: 'b16', bf16: 'b16', f32: 'f32', f64: 'f64' };

/** The parameters of a kernel that was not PTX. */
export const parameterDeclarations = ({ params }: Kernel, names: readonly string[]): string[] =>
  params.flatMap((param, index) => (isHidden(param) || param.kind === 'threadgroup' ? [] : [parameter(param, names[index]!)]));

function parameter({ kind, size, align, element, signed }: KernelParam, name: string): string {
  if (kind === 'pointer') return `.param .u64 .ptr .global .align ${Math.max(1, align)} ${name}`;
  if (element === undefined || element === 'i1') return `.param .align ${align} .b8 ${name}[${size}]`;
  const type = scalarTypes[element] ?? `${signed ? 's' : 'u'}${element.slice(1)}`;
  return `.param .${type} ${name}`;
}

export interface OwnVariables {
  /** By the name in the kernel. */
  readonly names: ReadonlyMap<string, string>;
  /** Declarations in the body. */
  readonly own: readonly string[];
}

/** The variables of a kernel: shared and local ones in its body, and constants and shared memory of the launch in the module. */
export function variableNames(kernel: Kernel, module: Module, areConstantsGlobal: boolean): OwnVariables {
  const names = new Map<string, string>();
  const own: string[] = [];
  const taken = new Set<string>();
  for (const variable of kernel.variables) {
    const wanted = identifier(variable.name);
    let name = wanted;
    const text = (): string => declaration(variable, name, areConstantsGlobal);
    // Functions that are called have the variables of the module in common with their callers.
    const isCommon = module.hasCallees && variable.space === 'shared' && variable.isOfModule === true;
    const isModules = variable.space === 'constant' || variable.isDynamic || isCommon;
    for (let i = 1; taken.has(name) || (module.declared.get(name) ?? text()) !== text() || (!isModules && module.declared.has(name)); i++)
      name = `${wanted}_${i}`;
    taken.add(name);
    names.set(variable.name, name);
    if (isModules) module.declared.set(name, text());
    else own.push(text());
  }
  return { names, own };
}

function declaration({ space, size, align, isDynamic, init }: Variable, name: string, areConstantsGlobal: boolean): string {
  if (isDynamic) return `.extern .shared .align ${align} .b8 ${name}[];`;
  const word = space === 'constant' ? (areConstantsGlobal ? 'global' : 'const') : space;
  return `.${word} .align ${align} .b8 ${name}[${Math.max(1, size)}]${init ? initializer(init) : ''};`;
}

/** Bytes up to the last one that is not 0. */
function initializer(bytes: Uint8Array): string {
  let length = bytes.length;
  while (length > 1 && bytes[length - 1] === 0) length--;
  return ` = {${bytes.subarray(0, length).join(', ')}}`;
}

/** The name of the memory of a metallib, whose variables are parts of one block. */
export const blockName = ({ symbols }: ModuleMemory): string => (symbols.length === 1 ? symbols[0]!.name : 'cumetal_globals');

/** The variables of a metallib as one variable: kernels compute the addresses of some from those of others. */
function blockOf(memory: ModuleMemory): ModuleMemory {
  const init = new Uint8Array(memory.size);
  for (const symbol of memory.symbols) if (symbol.init) init.set(symbol.init, symbol.offset);
  const addresses = memory.symbols.flatMap(({ offset, addresses: own = [] }) => own.map(({ at, to }) => ({ at: offset + at, to })));
  const whole: ModuleSymbol = {
    name: blockName(memory),
    offset: 0,
    size: memory.size,
    init,
    ...(addresses.length > 0 ? { addresses } : {}),
  };
  return { ...memory, symbols: [whole] };
}

/** The variables of a module that hosts reach, in order; those that hold addresses follow what they point to. */
export function declareMemory(memory: ModuleMemory, module: Module): void {
  const { symbols, align } = memory.isApart ? memory : blockOf(memory);
  const done = new Set<ModuleSymbol>();
  const declare = (symbol: ModuleSymbol, above: ReadonlySet<ModuleSymbol>): void => {
    if (done.has(symbol) || above.has(symbol)) return;
    for (const { to } of symbol.addresses ?? []) declare(holderOf(symbols, to), new Set([...above, symbol]));
    done.add(symbol);
    module.declared.set(symbol.name, memoryDeclaration(symbol, symbols, align, module));
  };
  for (const symbol of symbols) declare(symbol, new Set());
}

/** The variable that an address is in, or just behind. */
const holderOf = (symbols: readonly ModuleSymbol[], at: number): ModuleSymbol =>
  symbols.find(({ offset, size }) => at >= offset && at < offset + size) ??
  symbols.find(({ offset, size }) => at === offset + size) ??
  bug(`no variable at ${at}`);

function memoryDeclaration(symbol: ModuleSymbol, symbols: readonly ModuleSymbol[], most: number, module: Module): string {
  const { name, size, offset, init, addresses = [] } = symbol;
  // The greatest power of two that the place is a multiple of.
  let align = symbol.align ?? most;
  while (align > 1 && offset % align !== 0) align /= 2;
  const head = `${module.linkage(name)}.${module.constants.has(name) ? 'const' : 'global'} .align ${Math.max(align, addresses.length > 0 ? 8 : 1)}`;
  if (!init) return `${head} .b8 ${name}[${Math.max(1, size)}];`;
  if (addresses.length === 0) return `${head} .b8 ${name}[${Math.max(1, size)}]${initializer(init)};`;
  const view = new DataView(init.buffer, init.byteOffset, init.byteLength);
  const words = Array.from({ length: Math.floor(size / 8) }, (_, i) => {
    const address = addresses.find(({ at }) => at === 8 * i);
    if (!address) return String(view.getBigUint64(8 * i, true));
    const holder = holderOf(symbols, address.to);
    const by = address.to - holder.offset;
    return `generic(${holder.name})${by === 0 ? '' : `+${by}`}`;
  });
  return `${head} .u64 ${name}[${words.length}] = {${words.join(', ')}};`;
}
