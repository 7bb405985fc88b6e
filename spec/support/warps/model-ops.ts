/** The instructions of one lane alone, for the model. */
import { type BlockModel, type Lane, outAt, type Word } from './model.ts';
import type { Instruction } from './parse.ts';

type Binary = (a: number, b: number) => number;

const shift =
  (by: (a: number, b: number) => number): Binary =>
  (a, b) =>
    b > 31 ? 0 : by(a, b);
const binary: Record<string, Binary> = {
  'add.u32': (a, b) => a + b,
  'sub.u32': (a, b) => a - b,
  'mul.lo.u32': Math.imul,
  'and.b32': (a, b) => a & b,
  'or.b32': (a, b) => a | b,
  'xor.b32': (a, b) => a ^ b,
  'shl.b32': shift((a, b) => a << b),
  'shr.u32': shift((a, b) => a >>> b),
  'min.u32': Math.min,
  'max.u32': Math.max,
  'min.s32': (a, b) => Math.min(a | 0, b | 0),
  'max.s32': (a, b) => Math.max(a | 0, b | 0),
};
const unary: Record<string, (a: number) => number> = {
  'mov.u32': (a) => a,
  'mov.b32': (a) => a,
  'mov.u64': (a) => a,
  'cvt.u64.u32': (a) => a,
  'cvt.rn.f64.u32': (a) => a,
  'cvt.rzi.u32.f64': (a) => a,
  'cvt.u16.u32': (a) => a & 0xffff,
  'cvt.u32.u16': (a) => a,
  'not.b32': (a) => ~a,
  'clz.b32': Math.clz32,
  'popc.b32': bits,
  'brev.b32': reversed,
};
const comparisons: Record<string, (a: number, b: number) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};
const atomics: Record<string, Binary> = {
  'add.u32': binary['add.u32']!,
  'max.u32': Math.max,
  'xor.b32': binary['xor.b32']!,
  'exch.b32': (_, b) => b,
};

function bits(a: number): number {
  let count = 0;
  for (let i = 0; i < 32; i++) count += (a >>> i) & 1;
  return count;
}

function reversed(a: number): number {
  let result = 0;
  for (let i = 0; i < 32; i++) result |= ((a >>> i) & 1) << (31 - i);
  return result;
}

/** Runs an instruction of one lane. Throws at one that is not known. */
export function apply(block: BlockModel, lane: Lane, instruction: Instruction): void {
  const { opcode, operands, target, call } = instruction;
  const at = lane.pc++;
  // Messages name the instruction of the program counter.
  const word = (i: number): number => Number(within(lane, at, () => block.word(lane, operands[i]!)));
  const set = (value: Word | boolean): void => {
    lane.registers[operands[0] as number] = value;
  };
  if (opcode === 'bra') lane.pc = target;
  else if (opcode === 'brx.idx') lane.pc = instruction.targets![word(0)]!;
  else if (call) enter(block, lane, instruction);
  else if (opcode in binary) set(binary[opcode]!(word(1), word(2)) >>> 0);
  else if (opcode in unary) set(unary[opcode]!(word(1)) >>> 0);
  else if (opcode.startsWith('setp')) {
    const [, comparison, type] = opcode.split('.');
    const number = (i: number): number => (type === 's32' ? word(i) | 0 : word(i) >>> 0);
    set(comparisons[comparison!]!(number(1), number(2)));
  } else if (opcode === 'selp.b32') set(within(lane, at, () => (block.predicate(lane, operands[3]!) ? word(1) : word(2))));
  else if (opcode === 'mad.lo.u32') set((Math.imul(word(1), word(2)) + word(3)) >>> 0);
  else if (opcode === 'and.pred') set(within(lane, at, () => block.predicate(lane, operands[1]!) && block.predicate(lane, operands[2]!)));
  else if (opcode === 'mul.wide.u32') set(word(1) * word(2));
  else if (opcode === 'add.u64') set(word(1) + word(2));
  else if (opcode === 'mov.b64' && instruction.text.includes('b64 {')) unpack(block, lane, instruction);
  else if (opcode === 'mov.b64') set(BigInt(word(1)) | (BigInt(word(2)) << 32n));
  else if (opcode === 'activemask.b32') set(active(block, lane, at));
  else if (!/^(membar|fence)/.test(opcode)) memory(block, lane, instruction, word, set);
}

/** The two halves of a wide register. */
function unpack(block: BlockModel, lane: Lane, { operands }: Instruction): void {
  const value = BigInt(block.word(lane, operands[2]!));
  lane.registers[operands[0] as number] = Number(value & 0xffff_ffffn);
  lane.registers[operands[1] as number] = Number(value >> 32n);
}

/** Reads an operand as of an instruction. */
function within<T>(lane: Lane, at: number, read: () => T): T {
  const next = lane.pc;
  lane.pc = at;
  const value = read();
  lane.pc = next;
  return value;
}

/** The lane itself, and some of those that are at the same place. */
function active(block: BlockModel, lane: Lane, at: number): number {
  const others = lane.warp.filter((each) => each.state === 'ready' && each.pc === at && block.random() % 2 === 0);
  return others.reduce((mask, each) => mask | (1 << each.lane), 1 << lane.lane) >>> 0;
}

/** Passes parameters, which are named once in a module. */
function enter(block: BlockModel, lane: Lane, { call, target }: Instruction): void {
  const { params } = block.program.functions.get(call!.name)!;
  for (const [i, name] of params.entries()) lane.params.set(name, lane.params.get(call!.args[i]!)!);
  lane.returns.push(lane.pc);
  lane.pc = target;
}

function memory(
  block: BlockModel,
  lane: Lane,
  instruction: Instruction,
  word: (i: number) => number,
  set: (value: Word | boolean) => void,
): void {
  const { opcode, operands, text } = instruction;
  if (opcode.startsWith('ld.param')) {
    const value = lane.params.get(String(operands[1]));
    if (value === undefined) throw new Error(`undefined parameter: ${text}`);
    set(value);
  } else if (opcode.startsWith('st.param')) {
    lane.params.set(String(operands[0]), word(1));
    // The caller has a name of its own for the result.
    const result = [...block.program.functions.values()].some((each) => each.result === operands[0]);
    if (result) lane.params.set('v', word(1));
  } else if (opcode === 'ld.local.u32') set(lane.local[checked(word(1) / 4, 8, text)]!);
  else if (opcode === 'st.local.u32') lane.local[checked(word(0) / 4, 8, text)] = word(1);
  else if (opcode === 'ld.global.u32') set(block.around.input[checked(word(1) / 4, block.around.input.length, text)]!);
  else if (opcode === 'st.global.u32') {
    const [, base, offset] = /\[(%\w+)\+(\d+)\]/.exec(text)!;
    const address = Number(block.word(lane, block.program.registers.get(base!)!)) + Number(offset) - outAt;
    block.around.output[checked(address / 4, block.around.output.length, text)] = word(1);
  } else if (opcode.includes('.shared')) sharedAccess(block, lane, instruction, word, set);
  else throw new Error(`unknown instruction: ${text}`);
}

function checked(index: number, length: number, text: string): number {
  if (!Number.isInteger(index) || index < 0 || index >= length) throw new Error(`outside of memory: ${text}`);
  return index;
}

function sharedAccess(
  block: BlockModel,
  lane: Lane,
  { opcode, operands, text }: Instruction,
  word: (i: number) => number,
  set: (value: Word | boolean) => void,
): void {
  const { shared, races } = block;
  const isStore = /^(st|red)/.test(opcode);
  const place = operands[isStore ? 0 : 1]!;
  const [, base, offset] = typeof place === 'string' ? /^(%\w+)\+(\d+)$/.exec(place)! : [];
  const address = base ? Number(block.word(lane, block.program.registers.get(base)!)) + Number(offset) : word(isStore ? 0 : 1);
  const index = checked(address / 4, shared.length, text);
  const isPlain = /^(ld|st)\.shared/.test(opcode);
  if (isPlain) races.access(lane.tid, index, isStore, text);
  else races.synchronize(lane.tid, index);
  const before = shared[index]!;
  if (opcode.startsWith('st')) shared[index] = word(1);
  else if (opcode.startsWith('ld')) set(before);
  else if (opcode.startsWith('red')) shared[index] = atomics[opcode.slice('red.shared.'.length)]!(before, word(1));
  else if (opcode === 'atom.shared.cas.b32') {
    set(before);
    if (before === word(2)) shared[index] = word(3);
  } else {
    set(before);
    shared[index] = atomics[opcode.slice('atom.shared.'.length)]!(before, word(2));
  }
}
