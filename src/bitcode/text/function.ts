/** A function as LLVM 14 writes it, values numbered in order of definition. */
import { addTo } from '../../base/group.ts';
import { predicateName } from '../codes.ts';
import type { Atomicity, Block, Instruction, InstructionOf, Function as LlvmFunction, Value } from '../model.ts';
import { conventionText } from '../names.ts';
import { successorsOf } from '../operands.ts';
import { spell, spellName, types } from '../types.ts';
import { commentText, type Groups, inlineAttributes } from './attributes.ts';
import { constantText, quoted } from './constants.ts';
import type { MetadataText } from './metadata.ts';

/** Texts that the functions of a module share. */
export interface Around {
  readonly groups: Groups;
  readonly metadata: MetadataText;
}

interface Namer {
  value(value: Value): string;
  block(block: Block): string;
  /** Whether the function is variadic. */
  readonly isVararg: boolean;
}

/** Lines of a definition or declaration. */
export function functionLines(fn: LlvmFunction, around: Around): string[] {
  const comment = commentText(fn.attributes.function);
  const head = comment === '' ? [] : [`; Function Attrs: ${comment}`];
  const isDefined = fn.blocks.length > 0;
  const names = namer(fn);
  const params = fn.args.map((arg, i) => parameter(fn, i, isDefined ? names.value(arg) : undefined, spell(arg.type)));
  const linkage = fn.linkage === 'external' ? '' : `${fn.linkage} `;
  const words = `${linkage}${fn.dsoLocal ? 'dso_local ' : ''}${fn.visibility ? `${fn.visibility} ` : ''}${conventionText(fn.convention)}${inlineAttributes(fn.attributes.result)}${spell(fn.functionType.result)}`;
  const vararg = fn.functionType.vararg ? ['...'] : [];
  const unnamed = fn.unnamedAddr === 'none' ? '' : ` ${fn.unnamedAddr}`;
  const section = fn.section === undefined ? '' : ` section ${quoted(fn.section)}`;
  const align = fn.align ? ` align ${fn.align}` : '';
  const tail = `(${[...params, ...vararg].join(', ')})${unnamed}${around.groups.reference(fn.attributes.function)}${section}${align}`;
  const attached = around.metadata.attachments(fn.metadata, ' ');
  if (!isDefined) return [...head, `declare${attached} ${words} @${spellName(fn.name)}${tail}`];
  return [...head, `define ${words} @${spellName(fn.name)}${tail}${attached} {`, ...bodyLines(fn, names, around), '}'];
}

function parameter(fn: LlvmFunction, index: number, name: string | undefined, type: string): string {
  const attributes = inlineAttributes(fn.attributes.params[index] ?? []);
  return `${type}${attributes === '' ? '' : ` ${attributes.trimEnd()}`}${name === undefined ? '' : ` ${name}`}`;
}

/** Arguments, blocks and values share one counter, in the order of printing. */
function namer(fn: LlvmFunction): Namer {
  const numbers = new Map<object, string>();
  let next = 0;
  const give = (of: { name?: string | undefined }): void =>
    void numbers.set(of, of.name === undefined ? `%${next++}` : `%${spellName(of.name)}`);
  fn.args.forEach(give);
  for (const block of fn.blocks) {
    give(block);
    for (const inst of block.body) if (inst.type !== types.void) give(inst);
  }
  return {
    isVararg: fn.functionType.vararg,
    block: (block) => numbers.get(block) ?? '%<foreign>',
    value: (value) =>
      value.kind === 'argument' || value.kind === 'instruction' ? (numbers.get(value) ?? '%<foreign>') : constantText(value),
  };
}

function bodyLines(fn: LlvmFunction, names: Namer, around: Around): string[] {
  const predecessors = predecessorsOf(fn);
  return fn.blocks.flatMap((block, i) => {
    const from = (predecessors.get(block) ?? []).map(names.block);
    const note = from.length === 0 ? '; No predecessors!' : `; preds = ${from.join(', ')}`;
    const label =
      i === 0 && block.name === undefined
        ? []
        : [...(i === 0 ? [] : ['']), labelLine(names.block(block).slice(1), i === 0 && from.length === 0 ? '' : note)];
    return [
      ...label,
      ...block.body.map((inst) => `  ${instructionText(inst, names, around)}${around.metadata.attachments(inst.metadata, ', ')}`),
    ];
  });
}

const noteColumn = 50;
const labelLine = (name: string, note: string): string => (note === '' ? `${name}:` : `${`${name}:`.padEnd(noteColumn)}${note}`);

/** Predecessors by block. LLVM lists the uses of a block, the newest first. */
function predecessorsOf(fn: LlvmFunction): Map<Block, Block[]> {
  const found = new Map<Block, Block[]>();
  for (const block of fn.blocks) {
    const end = block.body[block.body.length - 1];
    for (const target of end ? successorsOf(end) : []) addTo(found, target, block);
  }
  for (const list of found.values()) list.reverse();
  return found;
}

function instructionText(inst: Instruction, names: Namer, around: Around): string {
  const result = inst.type === types.void ? '' : `${names.value(inst)} = `;
  return result + operationText(inst, names, around);
}

const fastFlags = [
  [128, 'reassoc'],
  [2, 'nnan'],
  [4, 'ninf'],
  [8, 'nsz'],
  [16, 'arcp'],
  [32, 'contract'],
  [64, 'afn'],
] as const;
const allFast = 254;

const fastText = (flags: number): string =>
  (flags & allFast) === allFast ? 'fast ' : fastFlags.map(([bit, name]) => (flags & bit ? `${name} ` : '')).join('');

function binaryFlags(inst: InstructionOf<'binary'>): string {
  if (inst.opcode.startsWith('f')) return fastText(inst.flags);
  if (['add', 'sub', 'mul', 'shl'].includes(inst.opcode)) return `${inst.flags & 1 ? 'nuw ' : ''}${inst.flags & 2 ? 'nsw ' : ''}`;
  return inst.flags & 1 ? 'exact ' : '';
}

function operationText(inst: Instruction, names: Namer, around: Around): string {
  const v = names.value;
  const t = (value: Value): string => `${spell(value.type)} ${v(value)}`;
  const label = (block: Block): string => `label ${names.block(block)}`;
  switch (inst.op) {
    case 'binary':
      return `${inst.opcode} ${binaryFlags(inst)}${t(inst.a)}, ${v(inst.b)}`;
    case 'fneg':
      return `fneg ${fastText(inst.flags)}${t(inst.value)}`;
    case 'cast':
      return `${inst.opcode} ${t(inst.value)} to ${spell(inst.type)}`;
    case 'icmp':
    case 'fcmp':
      return `${inst.op} ${fastText(inst.flags)}${predicateName(inst.predicate)} ${t(inst.a)}, ${v(inst.b)}`;
    case 'select':
      return `select ${fastText(inst.flags)}${t(inst.condition)}, ${t(inst.a)}, ${t(inst.b)}`;
    case 'phi':
      return `phi ${fastText(inst.flags)}${spell(inst.type)} ${inst.incoming.map((i) => `[ ${v(i.value)}, ${names.block(i.block)} ]`).join(', ')}`;
    case 'call':
      return callText(inst, names, around);
    case 'alloca':
      return allocaText(inst, v);
    case 'load':
      return `load ${accessWords(inst)}${spell(inst.type)}, ${t(inst.pointer)}${orderText(inst.atomic)}, align ${inst.align}`;
    case 'store':
      return `store ${accessWords(inst)}${t(inst.value)}, ${t(inst.pointer)}${orderText(inst.atomic)}, align ${inst.align}`;
    case 'fence':
      return `fence${orderText(inst.atomic)}`;
    case 'atomicrmw':
      return `atomicrmw ${inst.isVolatile ? 'volatile ' : ''}${inst.operation} ${t(inst.pointer)}, ${t(inst.value)}${orderText(inst.atomic)}, align ${inst.align}`;
    case 'cmpxchg':
      return `cmpxchg ${inst.isWeak ? 'weak ' : ''}${inst.isVolatile ? 'volatile ' : ''}${t(inst.pointer)}, ${t(inst.expected)}, ${t(inst.value)}${orderText(inst.atomic)} ${inst.failureOrder}, align ${inst.align}`;
    case 'gep':
      return `getelementptr ${inst.inbounds ? 'inbounds ' : ''}${spell(inst.sourceType)}, ${[inst.base, ...inst.indices].map(t).join(', ')}`;
    case 'extractvalue':
      return `extractvalue ${t(inst.aggregate)}, ${inst.path.join(', ')}`;
    case 'insertvalue':
      return `insertvalue ${t(inst.aggregate)}, ${t(inst.value)}, ${inst.path.join(', ')}`;
    case 'extractelement':
      return `extractelement ${t(inst.vector)}, ${t(inst.index)}`;
    case 'insertelement':
      return `insertelement ${t(inst.vector)}, ${t(inst.value)}, ${t(inst.index)}`;
    case 'shufflevector':
      return `shufflevector ${t(inst.a)}, ${t(inst.b)}, ${t(inst.mask)}`;
    case 'freeze':
      return `freeze ${t(inst.value)}`;
    case 'br':
      return `br ${label(inst.target)}`;
    case 'condbr':
      return `br ${t(inst.condition)}, ${label(inst.ifTrue)}, ${label(inst.ifFalse)}`;
    case 'switch':
      return `switch ${t(inst.condition)}, ${label(inst.defaultBlock)} [\n${inst.cases.map((c) => `    ${t(c.value)}, ${label(c.block)}\n`).join('')}  ]`;
    case 'ret':
      return inst.value ? `ret ${t(inst.value)}` : 'ret void';
    case 'unreachable':
      return 'unreachable';
  }
}

const accessWords = ({ atomic, isVolatile }: InstructionOf<'load' | 'store'>): string =>
  `${atomic ? 'atomic ' : ''}${isVolatile ? 'volatile ' : ''}`;

const orderText = (atomic: Atomicity | undefined): string =>
  atomic ? `${atomic.scope === '' ? '' : ` syncscope(${quoted(atomic.scope)})`} ${atomic.order}` : '';

function allocaText(inst: InstructionOf<'alloca'>, v: (value: Value) => string): string {
  const { count } = inst;
  const isOne = count.kind === 'constant' && count.form === 'int' && count.value === 1n && count.type.bits === 32;
  return `alloca ${spell(inst.allocated)}${isOne ? '' : `, ${spell(count.type)} ${v(count)}`}${inst.align ? `, align ${inst.align}` : ''}`;
}

function callText(inst: InstructionOf<'call'>, names: Namer, around: Around): string {
  const tail = inst.tail === 'none' ? '' : `${inst.tail} `;
  const type = inst.functionType.vararg ? spell(inst.functionType) : spell(inst.functionType.result);
  const args = inst.args.map((arg, i) => {
    if (arg.kind === 'metadata') return `metadata ${around.metadata.argument(arg.metadata, names.value)}`;
    const attributes = inlineAttributes(inst.attributes.params[i] ?? []);
    return `${spell(arg.type)} ${attributes}${names.value(arg)}`;
  });
  if (inst.tail === 'musttail' && names.isVararg) args.push('...');
  const results = inlineAttributes(inst.attributes.result);
  return `${tail}call ${fastText(inst.flags)}${conventionText(inst.convention)}${results}${type} ${names.value(inst.callee)}(${args.join(', ')})${around.groups.reference(inst.attributes.function)}`;
}
