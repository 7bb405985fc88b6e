/** What is said about the word at an offset, as Markdown: the rows of an instruction, the declaration of a name. */
import { demangle } from '../base/demangle/index.ts';
import type { Span } from '../base/source.ts';
import {
  type ExplainedForm,
  explainForms,
  explainRow,
  type Instruction,
  instructionName,
  isMatch,
  matchForm,
  type PtxFunction,
  specialRegisters,
} from '../ptx/index.ts';
import type { PtxDocument } from './document.ts';
import { statementsOf } from './names.ts';
import { definitionOf, type Found, nameAt } from './navigate.ts';

/** A text about a range. */
export interface Hover {
  readonly span: Span;
  readonly markdown: string;
}

/** At most this many forms of an instruction are shown. */
const maxForms = 6;

/** What is known of the word at an offset. */
export function hoverAt(document: PtxDocument, offset: number): Hover | undefined {
  const fn = document.focusAt(offset)?.fn;
  const instruction = fn && instructionAt(fn, offset);
  if (instruction && isWithin(instruction.opcodeSpan, offset)) return aboutInstruction(instruction);
  const found = nameAt(document, offset);
  return found && aboutName(document, found);
}

const isWithin = ({ start, end }: Span, offset: number): boolean => start <= offset && offset <= end;

/** The instruction at an offset of a function. */
export function instructionAt(fn: PtxFunction, offset: number): Instruction | undefined {
  for (const statement of statementsOf(fn.body ?? [])) {
    if (statement.kind === 'instruction' && isWithin(statement.span, offset)) return statement;
    if (statement.span.start > offset) return undefined;
  }
  return undefined;
}

function aboutInstruction(instruction: Instruction): Hover | undefined {
  const forms = formsOf(instruction);
  if (forms.length === 0) return undefined;
  const more = forms.length > maxForms ? `\n\n${forms.length - maxForms} more forms: \`cumetal explain ${instruction.opcode}\`` : '';
  return { span: instruction.opcodeSpan, markdown: forms.slice(0, maxForms).map(markdownOf).join('\n\n---\n\n') + more };
}

/** The form of an instruction, or all of its opcode if it is none of them. */
function formsOf({ opcode, modifiers, operands }: Instruction): readonly ExplainedForm[] {
  const match = matchForm(opcode, modifiers, operands.length);
  if (match && isMatch(match)) return [explainRow(match.row)];
  const forms = explainForms(instructionName({ opcode, modifiers } as Instruction));
  return typeof forms === 'string' ? [] : forms;
}

/** Syntax, words of slots, and the sentences of a row. */
function markdownOf({ text }: ExplainedForm): string {
  const lines = text.trimEnd().split('\n');
  const code = lines.filter((line, i) => i === 0 || line.startsWith('    '));
  const words = lines.filter((line) => !code.includes(line)).map((line) => line.trim());
  return `\`\`\`ptx\n${code.join('\n')}\n\`\`\`\n${words.join('\n\n')}`;
}

function aboutName(document: PtxDocument, found: Found): Hover | undefined {
  const { span, name, meaning } = found.mention;
  if (!meaning) {
    const special = specialRegisters.get(name);
    return special && { span, markdown: `\`\`\`ptx\n.sreg .${special.type} ${special.name}\n\`\`\`\n${special.doc}` };
  }
  const place = definitionOf(document, found);
  if (!place) return undefined;
  const readable = meaning.kind === 'function' ? demangle(name) : undefined;
  const parts = [`\`\`\`ptx\n${declarationAt(document.text, place, meaning.kind)}\n\`\`\``];
  if (readable !== undefined && readable !== name) parts.push(`\`${readable}\``);
  return { span, markdown: parts.join('\n') };
}

/** The text of a declaration: its statement, or the head of a function. */
function declarationAt(text: string, { start, end }: Span, kind: string): string {
  if (kind === 'label') return `${text.slice(start, end)}:`;
  const from = Math.max(...[';', '{', '}', '\n'].map((mark) => text.lastIndexOf(mark, start - 1))) + 1;
  if (kind === 'parameter') return text.slice(from, end + (/^[^,)\n]*/.exec(text.slice(end))?.[0].length ?? 0)).trim();
  const to = kind === 'function' ? text.slice(end).search(/[{;]/) : text.slice(end).search(/[;=]/);
  return text
    .slice(from, to < 0 ? end : end + to)
    .trim()
    .split('\n')
    .slice(0, 40)
    .join('\n');
}
