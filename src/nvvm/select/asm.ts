/**
 * Inline assembly: the text is PTX, in which `$N` stands for operand N.
 * Source: LLVM Language Reference, "Inline Assembler Expressions"; "Inline PTX Assembly in CUDA".
 */
import type { Constant, InstructionOf, Type, Value } from '../../bitcode/index.ts';
import { spell } from '../../bitcode/index.ts';
import { partsOf } from '../layout.ts';
import { refuse } from '../refused.ts';
import { emit, type FunctionState, into, newRegister } from '../state.ts';
import { moveType, operand, partsFor, registersFor } from '../values.ts';
import { resized } from './integers.ts';

type Asm = Extract<Constant, { form: 'asm' }>;

/** The register prefix and the bits of a constraint's letter. */
const letters: Readonly<Record<string, readonly [prefix: string, bits: number]>> = {
  b: ['p', 1],
  h: ['rs', 16],
  r: ['r', 32],
  l: ['rd', 64],
  N: ['rd', 64],
  f: ['f', 32],
  d: ['fd', 64],
};

interface Constraint {
  readonly text: string;
  readonly isOutput: boolean;
}

/** The operands of the constraints, without clobbers. */
const constraintsOf = (text: string): Constraint[] =>
  text
    .split(',')
    .filter((each) => each !== '' && !each.startsWith('~'))
    .map((each) => ({ text: each.replace(/^[=&]+/, ''), isOutput: each.startsWith('=') }));

/** A call of inline assembly. */
export function selectAsm(s: FunctionState, inst: InstructionOf<'call'>, asm: Asm): readonly string[] {
  const constraints = constraintsOf(asm.constraints);
  const results = partsOf(inst.type);
  const types = resultTypes(inst.type);
  const outputs = constraints.filter(({ isOutput }) => isOutput);
  if (outputs.length !== results.length || outputs.length !== types.length) return refuse('inline assembly whose results are no scalars');
  const registers = outputs.map(({ text }) => newRegister(s, letterOf(text)[0]));
  const texts = [...registers];
  const args = inst.args.map((arg) => (arg.kind === 'metadata' ? refuse('metadata in inline assembly') : arg));
  constraints.slice(outputs.length).forEach(({ text }, i) => {
    const arg = args[i] ?? refuse('inline assembly with too few operands');
    texts.push(inputText(s, text, arg, registers));
  });
  const filled = fill(asm.text, texts, `${s.next++}`);
  for (const line of filled.split('\n')) if (line.trim() !== '') s.text.push(`\t${line.trim()}`);
  return registers.map((register, i) => asResult(s, register, outputs[i]!.text, types[i]!));
}

const resultTypes = (type: Type): readonly Type[] => (type.kind === 'void' ? [] : type.kind === 'struct' ? (type.fields ?? []) : [type]);

const letterOf = (text: string): readonly [prefix: string, bits: number] =>
  letters[text] ?? refuse(`inline assembly with the constraint \`${text}\``);

/** The operand of an input. A number is that of the output whose register it shares. */
function inputText(s: FunctionState, text: string, arg: Value, registers: readonly string[]): string {
  if (/^\d+$/.test(text)) {
    const register = registers[Number(text)] ?? refuse('inline assembly with an operand that does not exist');
    const [value, type] = [registersFor(s, arg)[0]!, moveType(partsOf(arg.type)[0]!.part)];
    emit(s, `mov.${type === 'f32' ? 'b32' : type === 'f64' ? 'b64' : type} ${register}, ${asLetter(s, value, arg.type, register)}`);
    return register;
  }
  if (text === 'n' || text === 'i') return immediate(s, arg);
  const [prefix] = letterOf(text);
  const [value] = arg.type.kind === 'pointer' ? [operand(s, arg)] : registersFor(s, arg);
  return asLetter(s, value!, arg.type, `%${prefix}`);
}

/** A register of the class of another one: narrower integers are extended. */
function asLetter(s: FunctionState, text: string, type: Type, like: string): string {
  const prefix = /^%([a-z]+)/.exec(like)![1]!;
  const own = /^%([a-z]+)/.exec(text)?.[1];
  if (own === prefix) return text;
  const bits = Object.values(letters).find(([name]) => name === prefix)![1];
  if (own === undefined) return into(s, prefix, `mov.b${bits}`, text);
  if (type.kind === 'int' && ['rs', 'r', 'rd'].includes(prefix))
    return type.bits === 1 ? into(s, prefix, `selp.b${bits}`, 1, 0, text) : resized(s, text, type.bits, bits);
  return into(s, prefix, `mov.b${bits}`, text);
}

function immediate(s: FunctionState, arg: Value): string {
  if (arg.kind === 'constant' && arg.form === 'int') return String(BigInt.asIntN(arg.type.bits, arg.value));
  return arg.kind === 'constant' && arg.form === 'float'
    ? partsFor(s, arg)[0]!
    : refuse('inline assembly with an immediate operand that is no number');
}

/** A result in the register of its type. */
function asResult(s: FunctionState, register: string, constraint: string, type: Type): string {
  const [, bits] = letterOf(constraint);
  if (type.kind !== 'int' || type.bits === bits) return register;
  if (type.bits === 1) return into(s, 'p', `setp.ne.u${bits}`, register, 0);
  return type.bits < bits ? resized(s, register, bits, type.bits) : refuse(`a result of type ${spell(type)} in inline assembly`);
}

/** Replaces `$N` and `${N}` by operands, `${:uid}` by a number of its own, and `$$` by a dollar sign. */
const fill = (text: string, operands: readonly string[], unique: string): string =>
  text.replace(/\$\$|\$\{:uid\}|\$\{(\d+)(?::[a-z]+)?\}|\$(\d+)/g, (whole, braced: string | undefined, plain: string | undefined) => {
    if (whole === '$$') return '$';
    if (whole === '$' + '{:uid}') return unique;
    return operands[Number(braced ?? plain)] ?? refuse('inline assembly with an operand that does not exist');
  });
