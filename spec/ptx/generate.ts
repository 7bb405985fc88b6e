/** PTX texts for property tests, generated from the language and independent of the parser. */
import fc from 'fast-check';
import { binaryOperators } from '../../src/ptx/index.ts';

const pick = (...texts: string[]) => fc.constantFrom(...texts);
const words = (text: string) => fc.constantFrom(...text.split(' '));
const maybe = (text: fc.Arbitrary<string>) => fc.option(text, { nil: '' });
const joined = (separator: string, part: fc.Arbitrary<string>, minLength: number, maxLength: number) =>
  fc.array(part, { minLength, maxLength }).map((parts) => parts.join(separator));
const sequence = (...parts: fc.Arbitrary<string>[]) => fc.tuple(...parts).map((texts) => texts.filter((t) => t !== '').join(' '));
const template = (strings: TemplateStringsArray, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((texts) => strings.map((s, i) => s + (texts[i] ?? '')).join(''));

const name = fc.oneof(
  words('a b %r1 %rd22 $L_3 _x f%d WARP_SZ retval0 function_name inlined_at x'.replace('f%d', 'f_d')),
  fc.stringMatching(/^[a-z_%$][a-z0-9_$]{1,6}$/),
);
const count = fc.nat(4096).map(String);
const hex = (digits: number) => fc.stringMatching(new RegExp(`^[0-9a-fA-F]{${digits}}$`));
const integer = fc.oneof(
  count,
  fc.bigInt(0n, 2n ** 64n - 1n).map(String),
  fc.bigInt(0n, 2n ** 64n - 1n).map((v) => `0x${v.toString(16)}`),
  fc.bigInt(0n, 2n ** 32n).map((v) => `0${v.toString(8)}`),
  fc.bigInt(0n, 2n ** 32n).map((v) => `0b${v.toString(2)}U`),
  fc.nat().map((v) => `${v}U`),
);
const float = fc.oneof(
  hex(8).map((digits) => `0f${digits}`),
  hex(16).map((digits) => `0d${digits}`),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }).map((v) => (/[.e]/.test(String(v)) ? String(v) : `${v}.`)),
  pick('.5', '1e999', '0.0', '1.E-3', '12e+3'),
);
const operators = fc.constantFrom(...binaryOperators);

const { expression } = fc.letrec<{ expression: string; term: string; primary: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4 },
    tie('term'),
    template`${tie('term')} ${operators} ${tie('expression')}`,
    template`${tie('term')} ? ${tie('expression')} : ${tie('expression')}`,
  ),
  term: fc.oneof({ maxDepth: 4 }, tie('primary'), template`${pick('-', '+', '~', '!', '(.s64) ', '(.u64)', '- -', '-~')}${tie('primary')}`),
  primary: fc.oneof(
    { maxDepth: 4 },
    name,
    integer,
    float,
    template`(${tie('expression')})`,
    template`${name}.${words('x y z w b0 h1')}`,
    template`${fc.oneof(name, integer)}(${tie('expression')})`,
    template`${name}[${tie('expression')}]`,
  ),
}));

const { operand } = fc.letrec<{ operand: string; list: string }>((tie) => ({
  list: joined(', ', tie('operand'), 1, 3),
  operand: fc.oneof(
    { maxDepth: 3 },
    name,
    // An expression that starts with a name and `|` would parse as a pair, so it is parenthesized.
    expression.map((text) => (/^[\w$%]+ \| /.test(text) ? `+(${text})` : text)),
    template`[${tie('list')}]`,
    template`[${name}${pick('+', '-', '+-')}${count}]`,
    template`{${tie('list')}}`,
    template`(${tie('list')})`,
    template`${name}|${name}`,
    template`{${tie('list')}}|${name}`,
    pick('{}', '()', '_', '_|p'),
  ),
}));

const types = words('b8 b16 b32 b64 b128 pred u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 f32 f64 texref');
const spaces = words('reg sreg const global local param shared tex');
const qualifiers = sequence(
  maybe(pick('.attribute(.managed)', '.attribute(.unified(1, 0x2))', '.attribute(.managed, .unified())')),
  maybe(template`.align ${words('1 2 4 8 16')}`),
  maybe(words('.v2 .v4 .v8')),
);
const { initializer } = fc.letrec<{ initializer: string }>((tie) => ({
  initializer: fc.oneof(
    { maxDepth: 3 },
    expression,
    template`{${joined(', ', tie('initializer'), 0, 4)}}`,
    template`${name} = ${expression}`,
  ),
}));
const extents = joined('', pick('[]', '[4]', '[0x10]', '[WARP_SZ]'), 0, 2);
const declarator = fc.oneof(template`${name}${extents}`, template`${name}<${count}>`, template`${name}${extents} = ${initializer}`);
const variable = template`${maybe(words('.extern .visible .weak .common'))} .${spaces} ${qualifiers} .${types} ${joined(', ', declarator, 1, 3)};`;

const text = fc.stringMatching(/^[ -!#-~]{0,12}$/);
const pragma = template`.pragma ${joined(', ', template`"${text}"`, 1, 2)};`;
const file = fc.oneof(template`.file ${count} "${text}"`, template`.file ${count} "${text}", ${count}, ${count}`);
const loc = fc.oneof(
  template`.loc ${count} ${count} ${count}`,
  template`.loc ${count} ${count} ${count}, function_name ${name}${pick('', '+7', ' + 1')}, inlined_at ${count} ${count} ${count}`,
);
const pointer = maybe(template`.ptr ${maybe(words('.global .shared .const .local'))} ${maybe(template`.align ${count}`)}`);
const parameter = template`.${words('param reg')} ${qualifiers} .${types} ${pointer} ${name}${extents}`;
const parameters = template`(${joined(', ', parameter, 0, 3)})`;
const performance = joined(
  '\n',
  fc.oneof(
    template`.${words('maxntid reqntid minnctapersm maxnreg')} ${joined(', ', count, 1, 3)}`,
    pick('.noreturn', '.explicitcluster'),
    pragma,
  ),
  0,
  2,
);

const opcode = words('add ld st mov setp bra call ret cvt tex mma x');
const modifiers = joined('', template`.${words('global v4 f32 2d shared::cta rn sat mbarrier::complete_tx::bytes')}`, 0, 4);
const guard = maybe(template`@${pick('', '!')}${name}`);
export const instruction = fc.oneof(
  { weight: 6, arbitrary: template`${guard} ${opcode}${modifiers} ${joined(', ', operand, 0, 4)};` },
  { weight: 1, arbitrary: template`${guard} ${opcode}${modifiers};` },
);
const codeDirective = fc.oneof(
  template`.branchtargets ${joined(', ', name, 1, 3)};`,
  template`.calltargets ${joined(',', name, 1, 3)};`,
  template`.callprototype ${maybe(parameters)} _ ${maybe(parameters)} ${pick('', '.noreturn', '.abi_preserve 3')};`,
);
const { statement } = fc.letrec<{ statement: string; block: string }>((tie) => ({
  statement: fc.oneof(
    { maxDepth: 3 },
    { weight: 5, arbitrary: instruction },
    { weight: 2, arbitrary: variable },
    { weight: 1, arbitrary: template`${name}:` },
    { weight: 1, arbitrary: fc.oneof(pragma, file, loc, codeDirective) },
    { weight: 1, arbitrary: tie('block') },
  ),
  block: template`{\n${joined('\n', tie('statement'), 0, 4)}\n}`,
}));

export { statement };

const head = template`${maybe(words('.extern .visible .weak'))} .${words('entry func')} ${maybe(pick('.attribute(.unified(1, 2))'))} ${maybe(parameters)} ${name} ${maybe(parameters)}\n${performance}`;
const fun = fc.oneof(
  { weight: 4, arbitrary: template`${head}\n{\n${joined('\n', statement, 0, 6)}\n}` },
  { weight: 1, arbitrary: template`${head};` },
);
const datum = fc.oneof(
  template`.${words('b8 b16 b32 b64')} ${joined(
    ', ',
    fc.oneof(
      integer,
      name,
      template`${name} + ${count}`,
      template`.debug_str${pick('', '+', ' - ')}`.chain((t) => (/[+-] ?$/.test(t) ? count.map((c) => t + c) : fc.constant(t))),
    ),
    1,
    4,
  )}`,
  template`${name}:`,
);
const section = template`.section ${pick('.debug_info', '.debug_line', 'a', '.a.b')} {\n${joined('\n', datum, 0, 5)}\n}`;
const item = fc.oneof(
  { weight: 4, arbitrary: fun },
  { weight: 3, arbitrary: variable },
  { weight: 1, arbitrary: section },
  { weight: 1, arbitrary: fc.oneof(pragma, file, loc, template`.alias ${name}, ${name};`) },
);
const header = template`${maybe(pick('.version 8.4', '.version 9.0'))}\n${maybe(pick('.target sm_80', '.target sm_90a, debug'))}\n${maybe(pick('.address_size 64', '.address_size 32'))}`;

/** A module without a fault. */
export const module = template`${header}\n${joined('\n\n', item, 0, 5)}\n`;
