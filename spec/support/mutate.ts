/** Damage that means something: PTX texts of which one word is wrong, the way people get words wrong. */

/** Numbers from 0 up to below 1, the same for the same seed. Source: mulberry32, Tommy Ettinger. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Random = () => number;

export interface Mutant {
  readonly text: string;
  /** The mutation. */
  readonly kind: string;
  /** The line as it reads now, for reports. */
  readonly line: string;
}

/** Changes one line; undefined if the line has no such word. */
type Change = (line: string, random: Random) => string | undefined;

const pick = <T>(list: readonly T[], random: Random): T | undefined => list[Math.floor(random() * list.length)];

/** Replaces one of the places that a pattern matches. */
function replaceOne(line: string, pattern: RegExp, random: Random, by: (found: string) => string | undefined): string | undefined {
  const found = pick([...line.matchAll(pattern)], random);
  const word = found && by(found[0]);
  return found && word !== undefined ? line.slice(0, found.index) + word + line.slice(found.index + found[0].length) : undefined;
}

/** Two letters the other way round, one left out, or one too many. */
function misspelt(word: string, random: Random): string {
  const at = 1 + Math.floor(random() * Math.max(1, word.length - 2));
  const kind = Math.floor(random() * 3);
  if (kind === 0) return word.slice(0, at) + (word[at + 1] ?? 'q') + (word[at] ?? 'q') + word.slice(at + 2);
  return kind === 1 ? word.slice(0, at) + word.slice(at + 1) : `${word.slice(0, at)}x${word.slice(at)}`;
}

const types = ['.u8', '.u16', '.s16', '.b16', '.u32', '.s32', '.b32', '.u64', '.s64', '.b64', '.f16', '.f32', '.f64', '.pred'];
const registers = ['%r', '%rd', '%f', '%p'];
const spaces = ['.global', '.shared', '.param', '.const', '.local'];
const badLiterals = ['0x', '12abc', '0b12', '09', '0f3f8', '1.2.3', '1e', '99999999999999999999999', '0d3ff', '1u', '--1', "'a'"];
const opcodes = [
  'add',
  'mul',
  'mad',
  'and',
  'shl',
  'setp',
  'selp',
  'cvt',
  'mov',
  'ld',
  'st',
  'bra',
  'bar',
  'atom',
  'ret',
  'fma',
  'neg',
  'cvta',
  'shfl',
];
const modifiers = ['u32', 'f32', 'lo', 'global', 'sync', 'to', 'rn', 'lt', 'v4', 'x', 'gpu', 'add', 'b64', 's16', 'aligned', 'relaxed'];
const extraWords = ['.ftz', '.sat', '.rn', '.wide', '.lo', '.v2', '.uni', '.volatile', '.approx', '.cc'];

const isInstruction = (line: string): boolean => /^\s*(@!?%p\d+\s+)?[a-z][a-z0-9]*[\s.;].*;/.test(line);
const onInstruction =
  (change: Change): Change =>
  (line, random) =>
    isInstruction(line) ? change(line, random) : undefined;

const operandsOf = (line: string): string[] => {
  const [, operands = ''] = /^\s*(?:@!?%p\d+\s+)?[a-z][\w.:]*\s+(.*);/.exec(line) ?? [];
  return operands.split(/,(?![^[{(]*[\]})])/).map((one) => one.trim());
};
const withOperands = (line: string, operands: readonly string[]): string =>
  line.replace(/^(\s*(?:@!?%p\d+\s+)?[a-z][\w.:]*)\s+.*;/, (_, head: string) => `${head} \t${operands.join(', ')};`);

const replacedAt = (list: readonly string[], at: number, by: string): string[] => list.map((one, i) => (i === at ? by : one));

export const changes: Readonly<Record<string, Change>> = {
  'type suffix': onInstruction((line, random) => replaceOne(line, /\.[busf](8|16|32|64)\b/g, random, () => pick(types, random))),
  'register class': onInstruction((line, random) =>
    replaceOne(line, /%(r|rd|f|p)(?=\d)/g, random, (was) =>
      pick(
        registers.filter((one) => one !== was),
        random,
      ),
    ),
  ),
  'operand dropped': onInstruction((line, random) => {
    const operands = operandsOf(line);
    const at = Math.floor(random() * operands.length);
    return operands.length > 1
      ? withOperands(
          line,
          operands.filter((_, i) => i !== at),
        )
      : undefined;
  }),
  'operand added': onInstruction((line, random) => {
    const operands = operandsOf(line);
    return operands[0] === '' ? undefined : withOperands(line, [...operands, pick([...operands, '0', '%r1'], random)!]);
  }),
  'operands swapped': onInstruction((line, random) => {
    const [first = '', ...rest] = operandsOf(line);
    const at = Math.floor(random() * rest.length);
    return rest.length > 0 ? withOperands(line, [rest[at]!, ...replacedAt(rest, at, first)]) : undefined;
  }),
  'constant for a destination': onInstruction((line) => {
    const operands = operandsOf(line);
    return /^%/.test(operands[0] ?? '') ? withOperands(line, ['7', ...operands.slice(1)]) : undefined;
  }),
  'undeclared register': onInstruction((line, random) => replaceOne(line, /%(r|rd|f|p)\d+/g, random, (was) => `${was}999`)),
  'undeclared name': (line, random) =>
    /^\s*\.|:\s*$/.test(line)
      ? undefined
      : replaceOne(line, /\b[A-Za-z_$][\w$]*_param_\d+|\$L__BB\w+|_ZZ\w+/g, random, (was) => misspelt(was, random)),
  'duplicate label': (line) => (/^\$L__BB\w+:/.test(line) ? `${line}\n${line}` : undefined),
  'duplicate declaration': (line) => (/^\s*\.(reg|shared)\b.*;/.test(line) ? `${line}\n${line}` : undefined),
  'smaller range': (line) => (/^\s*\.reg.*<\d+>;/.test(line) ? line.replace(/<\d+>/, '<1>') : undefined),
  'state space': (line, random) =>
    replaceOne(line, /\.(global|shared|param|const|local)\b/g, random, (was) =>
      pick(
        spaces.filter((one) => one !== was),
        random,
      ),
    ),
  'vector length': onInstruction((line, random) => replaceOne(line, /\.v[24]\b/g, random, (was) => (was === '.v2' ? '.v4' : '.v2'))),
  'vector element dropped': onInstruction((line, random) => replaceOne(line, /(?<=\{[^}]*), %\w+/g, random, () => '')),
  'missing semicolon': (line) => (/;\s*$/.test(line) ? line.replace(/;\s*$/, '') : undefined),
  'bad literal': onInstruction((line, random) =>
    replaceOne(line, /(?<=[\s,+-])(0f[0-9A-F]{8}|0d[0-9A-F]{16}|\d+)(?=[;,\]])/g, random, () => pick(badLiterals, random)),
  ),
  'misspelt opcode': onInstruction((line, random) =>
    replaceOne(line, /(?<=^\s*(@!?%p\d+\s+)?)[a-z]\w+/g, random, (was) => misspelt(was, random)),
  ),
  'misspelt modifier': onInstruction((line, random) => replaceOne(line, /(?<=\.)[a-z]\w+/g, random, (was) => misspelt(was, random))),
  'modifier dropped': onInstruction((line, random) => replaceOne(line, /\.[a-z]\w+/g, random, () => '')),
  'modifier added': onInstruction((line, random) => replaceOne(line, /\.(?=[a-z])/g, random, () => `${pick(extraWords, random)}.`)),
  'misspelt directive': (line, random) => replaceOne(line, /(?<=^\s*\.)[a-z]\w+/g, random, (was) => misspelt(was, random)),
  'misspelt special register': (line, random) =>
    replaceOne(line, /%(tid|ntid|ctaid|nctaid)\.[xyz]/g, random, (was) => misspelt(was, random)),
  'bad alignment': (line, random) => replaceOne(line, /\.align \d+/g, random, () => `.align ${pick(['0', '3', '6', '12'], random)}`),
  'no extent': (line) => (/^\s*\.(shared|const|global|local).*\[\d+\]/.test(line) ? line.replace(/\[\d+\]/, '[0]') : undefined),
  'bracket lost': (line, random) => replaceOne(line, /[[\](){}]/g, random, () => ''),
  'no address': onInstruction((line, random) => replaceOne(line, /\[([^\]]+)\]/g, random, (was) => was.slice(1, -1))),
  'guard of another class': onInstruction((line) => (/@!?%p/.test(line) ? line.replace(/@(!?)%p/, '@$1%r') : undefined)),
  'version or target': (line, random) =>
    /^\.(version|target)/.test(line) ? line.replace(/\S+$/, pick(['7.9', 'sm_81', '99', 'x'], random)!) : undefined,
  'two registers in an address': onInstruction((line, random) =>
    replaceOne(
      line,
      /(?<=\[)%rd\d+(\+-?\d+)?(?=\])/g,
      random,
      (was) => `${was.replace(/\+.*/, '')}${pick(['+%rd1', '*4', '+%r1', '.x'], random)}`,
    ),
  ),
  'a parameter written': onInstruction((line) =>
    /ld\.param\.\w+\s+(%\w+), (\[[^\]]+\]);/.test(line)
      ? line.replace(/ld\.param(\.\w+)\s+(%\w+), (\[[^\]]+\]);/, 'st.param$1 $3, $2;')
      : undefined,
  ),
  'load for a store': onInstruction((line) =>
    /\bst\./.test(line) ? line.replace(/\bst\./, 'ld.') : /\bld\./.test(line) ? line.replace(/\bld\./, 'st.') : undefined,
  ),
  'another opcode': onInstruction((line, random) =>
    replaceOne(line, /(?<=^\s*(@!?%p\d+\s+)?)[a-z]\w+/g, random, (was) =>
      pick(
        opcodes.filter((one) => one !== was),
        random,
      ),
    ),
  ),
  'modifier of another': onInstruction((line, random) => replaceOne(line, /(?<=\.)[a-z]\w+/g, random, () => pick(modifiers, random))),
  // The assembler accepts repeated `.sync` and `.uni`, which the manual does not allow.
  'modifier repeated': onInstruction((line, random) => replaceOne(line, /\.(?!sync|uni)[a-z]\w+/g, random, (was) => was + was)),
  'percent lost': onInstruction((line, random) => replaceOne(line, /%(?=[a-z])/g, random, () => '')),
  'other case': onInstruction((line, random) => replaceOne(line, /(?<=[.%\s])[a-z]+/g, random, (was) => was.toUpperCase())),
  'comma lost': onInstruction((line, random) => replaceOne(line, /,/g, random, () => '')),
  'comma doubled': onInstruction((line, random) => replaceOne(line, /,/g, random, () => ',,')),
  'colon lost': (line) => (/^\$L__BB\w+:/.test(line) ? line.replace(':', '') : undefined),
  'dot lost': (line, random) => (/^\s*\./.test(line) ? replaceOne(line, /\.(?=[a-z])/g, random, () => '') : undefined),
  'special register written': onInstruction((line) => {
    const operands = operandsOf(line);
    return /^%/.test(operands[0] ?? '') ? withOperands(line, ['%tid.x', ...operands.slice(1)]) : undefined;
  }),
  'immediate for an address': onInstruction((line, random) => replaceOne(line, /\[[^\]]+\]/g, random, () => '[16]')),
  'vector for a scalar': onInstruction((line, random) =>
    replaceOne(line, /(?<=, )%(r|rd|f)\d+(?=[;,])/g, random, (was) => `{${was}, ${was}}`),
  ),
  'type of a parameter': (line, random) =>
    replaceOne(line, /(?<=\.param \.)[a-z]\d+/g, random, () => pick(['pred', 'b128', 'f16x2', 'u33', 'reg'], random)),
  'array of registers': (line) => (/^\s*\.reg.*<\d+>;/.test(line) ? line.replace(/<(\d+)>/, '[$1]') : undefined),
  'count of registers': (line, random) =>
    /^\s*\.reg.*<\d+>;/.test(line) ? line.replace(/<\d+>/, pick(['<>', '<-1>', '<0>', '<n>', ''], random)!) : undefined,
  'thread counts': (line, random) =>
    /^\s*\.(max|req)ntid/.test(line) ? line.replace(/\d+/, pick(['0', '-1', '99999999', 'x'], random)!) : undefined,
  'label for a value': onInstruction((line, random) => replaceOne(line, /(?<=, )%(r|rd|f)\d+(?=[;,])/g, random, () => '$L__BB0_1')),
};

/** A mutant of a text by number; undefined if the mutation does not apply. */
export function mutate(text: string, kind: string, seed: number): Mutant | undefined {
  const next = random(seed);
  const lines = text.split('\n');
  const start = Math.max(
    0,
    lines.findIndex((line) => line.trimStart().startsWith('.version')),
  );
  for (let tries = 0; tries < 40; tries++) {
    const at = start + Math.floor(next() * (lines.length - start));
    const was = lines[at]!.replace(/\s*\/\/.*$/, '');
    const line = was === '' ? undefined : changes[kind]!(was, next);
    if (line !== undefined && line !== was) return { text: replacedAt(lines, at, line).join('\n'), kind, line: line.trim() };
  }
  return undefined;
}
