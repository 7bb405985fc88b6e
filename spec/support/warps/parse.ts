/** Reads the PTX of a program of `random-warps.ts`, one instruction in a line, for the model. */

export interface Instruction {
  readonly text: string;
  readonly opcode: string;
  /** Registers by number; predicates that are negated, constants, special registers and names as text. */
  readonly operands: readonly (string | number)[];
  /** The second destination, behind `|`. */
  readonly second: number | undefined;
  readonly guard: number | undefined;
  readonly negated: boolean;
  /** Where a branch or a call goes to, and the names of a call's result and arguments with those of the function. */
  target: number;
  /** Where a branch through a table goes to. */
  targets?: readonly number[];
  readonly call: CallNames | undefined;
}

export interface CallNames {
  readonly name: string;
  readonly result: string;
  readonly args: readonly string[];
}

export interface DeclaredFunction {
  readonly entry: number;
  readonly result: string;
  readonly params: readonly string[];
}

export interface ModelProgram {
  readonly instructions: readonly Instruction[];
  readonly registers: ReadonlyMap<string, number>;
  readonly functions: ReadonlyMap<string, DeclaredFunction>;
  readonly entry: number;
  readonly sharedBytes: number;
}

/** The instructions of a module. Throws at what it does not know. */
export function parse(ptx: string): ModelProgram {
  const instructions: Instruction[] = [];
  const registers = new Map<string, number>();
  const functions = new Map<string, DeclaredFunction>();
  const labels = new Map<string, number>();
  const tables = new Map<string, string[]>();
  let [entry, sharedBytes] = [0, 0];
  const register = (name: string): number => {
    if (!registers.has(name)) registers.set(name, registers.size);
    return registers.get(name)!;
  };
  for (const line of ptx.split('\n')) {
    const declared = /^\.func \(\.param \.b32 (\w+)\) (\w+)\((.*)\)$/.exec(line);
    if (declared) {
      const params = declared[3]!.split(',').map((each) => each.trim().split(' ')[2]!);
      functions.set(declared[2]!, { entry: instructions.length, result: declared[1]!, params });
    } else if (line.startsWith('.visible .entry')) entry = instructions.length;
    else if (line.startsWith('.shared')) sharedBytes = Number(/\[(\d+)\]/.exec(line)![1]);
    else if (line.includes('.branchtargets')) tables.set(line.split(':')[0]!, line.split('branchtargets ')[1]!.slice(0, -1).split(', '));
    else if (/^\w+:$/.test(line)) labels.set(line.slice(0, -1), instructions.length);
    else if (!/^\.|^[{}]?$/.test(line)) instructions.push(instructionOf(line, register));
  }
  for (const each of instructions) {
    if (each.opcode === 'bra') each.target = labels.get(String(each.operands[0]))!;
    if (each.opcode === 'brx.idx') each.targets = tables.get(String(each.operands[1]))!.map((label) => labels.get(label)!);
    if (each.call) each.target = functions.get(each.call.name)!.entry;
  }
  return { instructions, registers, functions, entry, sharedBytes };
}

function instructionOf(text: string, register: (name: string) => number): Instruction {
  const [, not, guard, opcode, rest = ''] = /^(?:@(!?)(%\w+) )?([\w.:]+)\s*(.*);$/.exec(text) ?? [];
  if (!opcode) throw new Error(`unknown line: ${text}`);
  const base = { text, opcode, guard: guard === undefined ? undefined : register(guard), negated: not === '!', target: -1 };
  if (opcode === 'call') {
    const [, result, name, args] = /^\((\w+)\), (\w+), \((.*)\)$/.exec(rest)!;
    return { ...base, operands: [], second: undefined, call: { name: name!, result: result!, args: args!.split(', ') } };
  }
  const isRegister = (word: string): boolean => /^%/.test(word) && !/^%(tid|ntid|ctaid|laneid|lanemask)/.test(word);
  let second: number | undefined;
  const words = opcode === 'mov.b64' ? rest.replace(/[{}]/g, '') : rest;
  const operands = words.split(', ').map((word): string | number => {
    const [first, other] = word.replace(/^\[(.*)\]$/, '$1').split(/[|]/);
    if (other !== undefined) second = register(other);
    if (/^!%/.test(first!)) register(first!.slice(1));
    return isRegister(first!) && !first!.includes('+') ? register(first!) : first!;
  });
  return { ...base, operands, second, call: undefined };
}
