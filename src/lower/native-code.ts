/**
 * Instructions with effects that stay what they are (`kept.ts`): their operands become those of an `asm` of the IR, and the registers that they
 * write its results. Calls of functions that have no body in the module, or that may come to call themselves, are calls again.
 */
import type { ScalarType, Value } from '../ir/index.ts';
import {
  type Address,
  integerConstant,
  laneOf,
  lookUp,
  type Match,
  type Operand,
  printFunctionHead,
  printOperand,
  printVariable,
  type Register,
  sink,
  specialRegisters,
} from '../ptx/index.ts';
import { namedPointer } from './address.ts';
import { type Context, type Natives, readRegister, registerIn, writeRegister } from './context.ts';
import { formOf } from './kept.ts';

/** Instructions being put together. Operands and results share their numbers. */
export interface Code {
  /** A place for an operand. */
  give(value: Value): string;
  /** A place for a result, which `use` is given. */
  take(type: ScalarType, use: (value: Value) => void): string;
  /** A place for a register that is read and written. */
  change(value: Value, use: (value: Value) => void): string;
  /** Text that the module needs. */
  declare(text: string): void;
  /** Emits the instructions. */
  emit(text: string, since: number): void;
}

/** Code without operands so far. */
export function newCode(c: Pick<Context, 'ir'>): Code {
  const inputs: (readonly [index: number, value: Value])[] = [];
  const outputs: { readonly index: number; readonly type: ScalarType; use(value: Value): void }[] = [];
  const declared: string[] = [];
  let count = 0;
  const code: Code = {
    give(value) {
      const known = inputs.find(([index, given]) => given === value && !outputs.some((output) => output.index === index));
      if (known) return `$${known[0]}`;
      inputs.push([count, value]);
      return `$${count++}`;
    },
    take(type, use) {
      outputs.push({ index: count, type, use });
      return `#${count++}:${type}`;
    },
    change(value, use) {
      const type = c.ir.typeOf(value) as ScalarType;
      inputs.push([count, value]);
      outputs.push({ index: count, type, use });
      return `&${count++}:${type}`;
    },
    declare: (text) => void declared.push(text),
    emit(text, since) {
      for (const [index, value] of inputs) c.ir.input(value, { index });
      c.ir.asm({ text, declares: declared.join('\n'), since });
      const values = outputs.map(({ index, type }) => c.ir.output(type, { index }));
      outputs.forEach(({ use }, i) => void use(values[i]!));
    },
  };
  return code;
}

/** The value of a register of the architecture. */
export function nativeRegister(c: Context, name: string): Value {
  const { type } = specialRegisters.get(name)!;
  const held: ScalarType = type === 'pred' ? 'i1' : type === 'u64' ? 'i64' : 'i32';
  const code = newCode(c);
  let found: Value | undefined;
  const place = code.take(held, (value) => {
    found = value;
  });
  code.emit(`mov.${type} ${place}, ${name};`, c.natives!.version);
  return found!;
}

/** The instructions whose destinations are sums of what is in them. */
const accumulates = /^wgmma\.mma_async/;

/** Emits an instruction as it is. */
export function lowerKept(c: Context, natives: Natives, match: Match): void {
  const code = newCode(c);
  const form = formOf(match);
  const destinations = new Set(match.operands.filter(({ slot }) => slot.isDestination).map(({ node }) => node));
  const texts = match.instruction.operands.map((node) =>
    destinations.has(node) ? writtenText(c, code, node, accumulates.test(form)) : readText(c, code, node, spaceOfForm(form)),
  );
  code.emit(`${[form, texts.join(', ')].filter((each) => each !== '').join(' ')};`, Math.max(match.row.since.ptx, natives.version));
}

/** Whether an address in an instruction is generic. */
const spaceOfForm = (form: string): 'generic' | 'stated' =>
  /^(?:tex|tld4|txq|suld|sust|sured|suq)\b|\.(?:shared|global|local|const|param)\b/.test(form) ? 'stated' : 'generic';

const lanesOf = (c: Context, name: string): readonly Register[] | undefined => {
  const symbol = lookUp(c.scope, name);
  return symbol?.kind === 'register' ? [symbol.register] : symbol?.kind === 'vector' ? symbol.lanes : undefined;
};

/** The text of a destination. */
function writtenText(c: Context, code: Code, node: Operand, isSum: boolean): string {
  const one = (register: Register): string => {
    const write = (value: Value): void => writeRegister(c, register, value);
    return isSum ? code.change(c.registers.read(c.flow, registerIn(c, c.frame, register)), write) : code.take(register.type, write);
  };
  if (node.kind === 'vector') return `{${node.elements.map((each) => writtenText(c, code, each, isSum)).join(', ')}}`;
  if (node.kind === 'pair') return `${writtenText(c, code, node.first, isSum)}|${writtenText(c, code, node.second, isSum)}`;
  if (node.kind === 'element') {
    const lane = laneOf(node, c.scope);
    return lane ? one(lane) : refused(c, node);
  }
  if (node.kind !== 'name') return refused(c, node);
  if (node.name === sink) return sink;
  const lanes = lanesOf(c, node.name);
  if (!lanes) return refused(c, node);
  return lanes.length === 1 ? one(lanes[0]!) : `{${lanes.map(one).join(', ')}}`;
}

function refused(c: Context, node: Operand): string {
  const why = 'the instruction stays as it is, and this operand has no such form';
  c.diagnostics.report('CM2049', { operand: printOperand(node), why }, { span: node.span });
  return '_';
}

/** The text of a source. */
function readText(c: Context, code: Code, node: Operand, space: 'generic' | 'stated'): string {
  const read = (each: Operand): string => readText(c, code, each, space);
  switch (node.kind) {
    case 'vector':
      return `{${node.elements.map(read).join(', ')}}`;
    case 'not':
      return `!${read(node.operand)}`;
    case 'address':
      return addressText(c, code, node, space);
    case 'element': {
      const lane = laneOf(node, c.scope);
      return lane ? code.give(readRegister(c, lane)) : printOperand(node);
    }
    case 'name':
      return nameText(c, code, node);
    default:
      return node.kind === 'float' || integerConstant(node) !== undefined ? printOperand(node) : refused(c, node);
  }
}

function nameText(c: Context, code: Code, node: Operand & { kind: 'name' }): string {
  if (node.name === sink || node.name === 'WARP_SZ' || specialRegisters.has(node.name)) return node.name;
  const lanes = lanesOf(c, node.name);
  if (lanes) {
    const texts = lanes.map((lane) => code.give(readRegister(c, lane)));
    return texts.length === 1 ? texts[0]! : `{${texts.join(', ')}}`;
  }
  return opaqueText(c, code, node.name) ?? refused(c, node);
}

/** A texture, a sampler or a surface by its name. */
function opaqueText(c: Context, code: Code, name: string): string | undefined {
  const symbol = lookUp(c.scope, name);
  const variable = symbol?.kind === 'opaque' || symbol?.kind === 'variable' ? symbol.variable : undefined;
  if (!variable || !/^(?:tex|sampler|surf)ref$/.test(variable.type)) return undefined;
  code.declare(printVariable(variable));
  return name;
}

function addressText(c: Context, code: Code, { base, offset, rest }: Address, space: 'generic' | 'stated'): string {
  const behind = rest.map((each) => `, ${readText(c, code, each, space)}`).join('');
  const plus = offset === 0n ? '' : `+${offset}`;
  if (base.kind === 'name') {
    const [register] = lanesOf(c, base.name) ?? [];
    const own = register ? code.give(readRegister(c, register)) : opaqueText(c, code, base.name);
    if (own !== undefined) return `[${own}${plus}${behind}]`;
  }
  if (integerConstant(base) !== undefined) return `[${printOperand(base)}${plus}${behind}]`;
  const pointer = base.kind === 'name' || base.kind === 'index' ? namedPointer(c, base, space) : undefined;
  return pointer === undefined ? refused(c, base) : `[${code.give(pointer)}${plus}${behind}]`;
}

/** The address of a kernel of the module; undefined for another function. */
export function nativeKernel(c: Context, name: string): Value | undefined {
  const symbol = lookUp(c.scope, name);
  const kernel = symbol?.kind === 'function' ? c.natives?.kernels.get(name) : undefined;
  if (!kernel) return undefined;
  const code = newCode(c);
  let found: Value | undefined;
  const place = code.take('i64', (value) => {
    found = value;
  });
  code.declare(printFunctionHead(kernel));
  code.emit(`mov.b64 ${place}, ${name};`, c.natives!.version);
  return found;
}
