/**
 * `printf`, which CUDA's compilers make a call of `vprintf(format, arguments)` of: a record in the buffer that the kernel has as a
 * parameter behind its own (`src/ir/print-buffer.ts`). The format is known here; the launcher formats the records.
 */
import { type ArgumentKind, argumentsOf, type Conversion, kindsOf, type Piece, parseFormat } from '../base/printf/conversion.ts';
import {
  addBlockParam,
  addHiddenParam,
  nullLength,
  printBufferName,
  printedStringAlign,
  printHead,
  printListName,
  type Value,
} from '../ir/index.ts';
import { type CheckedCall, type CheckedInstruction, integerConstant } from '../ptx/index.ts';
import { give, valuesOf } from './calls.ts';
import { type Context, enter, lowerEither, lowerWhen } from './context.ts';
import { newFlow } from './flow.ts';
import { guardValue } from './instructions.ts';
import { link } from './ssa/ssa.ts';
import { storedIn, stringIn, variableAt } from './strings.ts';

/** A call of `vprintf`. Reports CM2051 where the format or its arguments are none that can be printed. */
export function lowerPrint(c: Context, item: CheckedInstruction, call: CheckedCall): void {
  c.scope = item.scope;
  c.ir.loc = item.match.instruction.span;
  const format = formatOf(c, call);
  if (!format) return;
  const print = (): void => emitPrint(c, call, format);
  if (item.guard) lowerWhen(c, guardValue(c, item.guard), print);
  else print();
}

interface Format {
  readonly text: string;
  readonly pieces: readonly Piece[];
}

function formatOf(c: Context, { args, span }: CheckedCall): Format | undefined {
  const refuse = (why: string, help?: string): undefined => {
    c.diagnostics.report('CM2051', { why }, { span, ...(help === undefined ? {} : { help }) });
    return undefined;
  };
  const [format, list] = args.map((operand) => storedIn(c, operand));
  const variable = variableAt(c, format);
  if (!variable) return refuse('its format is not the address of one string of the module', 'write the format as a literal in the call');
  // Constant memory is part of the library, and never written.
  if (variable.linkage === 'visible' && variable.space === 'global')
    return refuse(`its format, \`${variable.name}\`, is a variable that the host may write`);
  const bytes = stringIn(variable);
  if (!bytes) return refuse(`its format, \`${variable.name}\`, has no initial value of bytes`);
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const pieces = parseFormat(text);
  if ('why' in pieces) return refuse(pieces.why);
  const isBare = list !== undefined && integerConstant(list.node) === 0n;
  if (isBare && argumentsOf(pieces).length > 0) return refuse('its format has conversions, and there are no arguments');
  return { text, pieces };
}

function emitPrint(c: Context, call: CheckedCall, { text, pieces }: Format): void {
  const { ir } = c;
  if (c.natives) return keepPrint(c, call, { text, pieces });
  const { index, formats } = printParam(c);
  if (!formats.includes(text)) formats.push(text);
  const number = ir.const('i32', formats.indexOf(text) + 1);
  const buffer = ir.param('ptr.global', { index });
  const { words, strings } = readArguments(c, call, pieces, buffer);
  const fixed = ir.const('i32', 1 + words.length);
  const size = strings.reduce((sum, { length }) => ir.add(sum, wordsFor(c, length)), fixed);
  const at = takeWords(c, buffer, size);
  const hasRoom = ir.icmp(roomBehind(c, buffer, at), size, { pred: 'uge' });
  const hasNone = ir.xor(hasRoom, ir.const('i1', 1));
  lowerWhen(c, hasRoom, () =>
    writeRecord(c, ir.ptradd(wordAt(c, buffer, at), ir.const('i64', printHead.bytes)), [number, ...words], strings),
  );
  lowerWhen(c, hasNone, () => void ir.atomic(offset(c, buffer, printHead.lost), ir.const('i32', 1), { rmw: 'add' }));
  // The GPU returns the number of arguments printed, not of characters.
  const [result] = call.results;
  if (result) give(c, result, [ir.const('i32', argumentsOf(pieces).length)]);
}

/** For PTX again: the arguments and the number of the format, as stores that stand for the call. */
function keepPrint(c: Context, call: CheckedCall, { text, pieces }: Format): void {
  const { ir } = c;
  const { index, formats } = printParam(c, printListName);
  if (!formats.includes(text)) formats.push(text);
  const place = ir.param('ptr.global', { index });
  const conversions = pieces.filter((piece): piece is Conversion => typeof piece !== 'string');
  if (conversions.length > 0) {
    const [address] = valuesOf(c, call.args[1]!, call.fn.params[1]!);
    const list = ir.inttoptr('ptr.generic', address!);
    let at = 0;
    for (const kind of conversions.flatMap((conversion) => kindsOf(conversion))) {
      const bytes = kind === 'word' ? 4 : 8;
      at = Math.ceil(at / bytes) * bytes;
      const loaded = ir.load(kind === 'word' ? 'i32' : 'i64', offset(c, list, at), { align: bytes, volatile: false });
      if (kind === 'string') c.evidence.strings.add(loaded);
      ir.store(offset(c, place, 8 + at), loaded, { align: kind === 'string' ? printedStringAlign : bytes, volatile: true });
      at += bytes;
    }
  }
  ir.store(place, ir.const('i32', formats.indexOf(text) + 1), { align: 4, volatile: true });
  const [result] = call.results;
  if (result) give(c, result, [ir.const('i32', argumentsOf(pieces).length)]);
}

function printParam(c: Context, name = printBufferName): { index: number; formats: string[] } {
  const { kernel } = c;
  const known = kernel.params.findIndex((param) => param.formats !== undefined);
  if (known >= 0) return { index: known, formats: kernel.params[known]!.formats as string[] };
  const formats: string[] = [];
  const index = addHiddenParam(kernel, { name, size: 4, align: 4, element: 'i32', formats });
  return { index, formats };
}

const word = { align: 4, volatile: false } as const;

const offset = ({ ir }: Context, pointer: Value, bytes: number): Value =>
  bytes === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', bytes));

const wordAt = ({ ir }: Context, pointer: Value, at: Value): Value => ir.ptradd(pointer, ir.shl(ir.zext('i64', at), ir.const('i64', 2)));

/** Words that hold so many bytes; none for the length of a null pointer. */
const wordsFor = ({ ir }: Context, length: Value): Value => ir.lshr(ir.add(length, ir.const('i32', 3)), ir.const('i32', 2));

// ── arguments ──

interface StringArgument {
  readonly pointer: Value;
  /** Of the bytes that are printed. */
  readonly length: Value;
}

interface Arguments {
  /** As a record has them, the lengths of strings among them. */
  readonly words: readonly Value[];
  readonly strings: readonly StringArgument[];
}

/** Reads the arguments, which lie one behind the other, each aligned to its size. */
function readArguments(c: Context, call: CheckedCall, pieces: readonly Piece[], buffer: Value): Arguments {
  const { ir } = c;
  const [words, strings]: [Value[], StringArgument[]] = [[], []];
  const conversions = pieces.filter((piece): piece is Conversion => typeof piece !== 'string');
  if (conversions.length === 0) return { words, strings };
  const [address] = valuesOf(c, call.args[1]!, call.fn.params[1]!);
  const list = ir.inttoptr('ptr.generic', address!);
  let at = 0;
  const next = (bytes: number): Value => {
    const start = Math.ceil(at / bytes) * bytes;
    at = start + bytes;
    return offset(c, list, start);
  };
  const read: Record<ArgumentKind, (conversion: Conversion) => void> = {
    word: () => void words.push(ir.load('i32', next(4), word)),
    long() {
      const pointer = next(8);
      words.push(ir.load('i32', pointer, word), ir.load('i32', offset(c, pointer, 4), word));
    },
    string({ precision }) {
      const pointer = ir.load('i64', next(8), { align: 8, volatile: false });
      c.evidence.strings.add(pointer);
      const length = stringLength(c, pointer, maxBytes(c, buffer, precision, precision === '*' ? words.at(-1) : undefined));
      strings.push({ pointer: ir.inttoptr('ptr.generic', pointer), length });
      words.push(length);
    },
  };
  for (const conversion of conversions) for (const kind of kindsOf(conversion)) read[kind](conversion);
  return { words, strings };
}

/** How many bytes of a string are printed at most: its precision, else as many as the whole buffer has. */
function maxBytes({ ir }: Context, buffer: Value, precision: Conversion['precision'], argument: Value | undefined): Value {
  if (typeof precision === 'number') return ir.const('i32', precision);
  const whole = ir.shl(ir.load('i32', buffer, word), ir.const('i32', 2));
  return argument === undefined ? whole : ir.select(ir.icmp(argument, ir.const('i32', 0), { pred: 'slt' }), whole, argument);
}

/** The bytes before the first 0, at most `most`; a null pointer has a length of its own. */
function stringLength(c: Context, pointer: Value, most: Value): Value {
  const { ir } = c;
  const count = (): Value => {
    const start = ir.inttoptr('ptr.generic', pointer);
    return countWhile(c, (i) => {
      const isChar = (): Value => ir.icmp(ir.load('i8', byteAt(c, start, i), byte), ir.const('i8', 0), { pred: 'ne' });
      return lowerEither(c, ir.icmp(i, most, { pred: 'ult' }), isChar, () => ir.const('i1', 0));
    });
  };
  const isNull = ir.icmp(pointer, ir.const('i64', 0), { pred: 'eq' });
  return lowerEither(c, isNull, () => ir.const('i32', nullLength), count);
}

const byte = { align: 1, volatile: false } as const;

const byteAt = ({ ir }: Context, pointer: Value, at: Value): Value => ir.ptradd(pointer, ir.zext('i64', at));

/** Counts up from 0 while a condition holds, and does `body` for each number for which it does; gives the first for which it does not. */
function countWhile(c: Context, holds: (i: Value) => Value, body: (i: Value) => void = () => {}): Value {
  const { ir, kernel } = c;
  const [head, inside, after] = [newFlow(kernel, 2), newFlow(kernel, 1), newFlow(kernel, 1)];
  const goOn = (i: Value): void => {
    const to = link(c.flow, head);
    to.args.push(i);
    c.flow.block.end = { op: 'br', to };
    if (ir.loc) c.flow.block.endLoc = ir.loc;
  };
  goOn(ir.const('i32', 0));
  enter(c, head);
  const i = addBlockParam(kernel, head.block, 'i32');
  const condition = holds(i);
  c.flow.block.end = { op: 'condbr', cond: condition, then: link(c.flow, inside), else: link(c.flow, after) };
  if (ir.loc) c.flow.block.endLoc = ir.loc;
  enter(c, inside);
  body(i);
  goOn(ir.add(i, ir.const('i32', 1)));
  enter(c, after);
  return i;
}

// ── records ──

/** Words that are free from a place on. */
function roomBehind({ ir }: Context, buffer: Value, at: Value): Value {
  return ir.sub(ir.umax(ir.load('i32', buffer, word), at), at);
}

/**
 * The place of so many words: all ones, where nothing has room, for a record that has none. Words are taken only while there
 * seems to be room, so that their count does not come round to 0.
 */
function takeWords(c: Context, buffer: Value, size: Value): Value {
  const { ir } = c;
  const taken = offset(c, buffer, printHead.taken);
  const before = ir.atomic(taken, ir.const('i32', 0), { rmw: 'or' });
  const hasRoom = ir.icmp(roomBehind(c, buffer, before), size, { pred: 'uge' });
  return lowerEither(
    c,
    hasRoom,
    () => ir.atomic(taken, size, { rmw: 'add' }),
    () => ir.const('i32', -1),
  );
}

function writeRecord(c: Context, record: Value, words: readonly Value[], strings: readonly StringArgument[]): void {
  const { ir } = c;
  for (const [i, value] of words.entries()) ir.store(offset(c, record, 4 * i), value, word);
  let place = offset(c, record, 4 * words.length);
  for (const { pointer, length } of strings) {
    const start = place;
    const isInside = (i: Value): Value => ir.icmp(i, length, { pred: 'slt' });
    countWhile(c, isInside, (i) => void ir.store(byteAt(c, start, i), ir.load('i8', byteAt(c, pointer, i), byte), byte));
    place = wordAt(c, start, wordsFor(c, length));
  }
}
