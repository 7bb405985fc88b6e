/** Prints a tree as PTX text that parses to an equal tree (spans aside), in the layout of nvcc. */
import { unreachable } from '../../base/bug.ts';
import { upperHex } from '../../base/bytes.ts';
import type {
  Address,
  Attribute,
  Binary,
  Directive,
  Float,
  FunctionDirective,
  Instruction,
  Item,
  LocDirective,
  Module,
  Operand,
  PtxFunction,
  Section,
  Statement,
  Variable,
} from './ast.ts';
import { floatValue, instructionName } from './ast.ts';

/** The text of a module. */
export function print(module: Module): string {
  const lines: string[] = [];
  if (module.version) lines.push(`.version ${module.version.major}.${module.version.minor}`);
  if (module.targets.length > 0) lines.push(`.target ${module.targets.map((t) => t.name).join(', ')}`);
  if (module.addressSize !== undefined) lines.push(`.address_size ${module.addressSize}`);
  for (const item of module.items) lines.push('', ...itemLines(item));
  return `${lines.join('\n')}\n`;
}

function itemLines(item: Item): string[] {
  switch (item.kind) {
    case 'variable':
      return [printVariable(item)];
    case 'function':
      return functionLines(item);
    case 'section':
      return sectionLines(item);
    case 'directive':
      return [printDirective(item)];
    default:
      return unreachable(item, 'item');
  }
}

function functionLines(f: PtxFunction): string[] {
  const lines = headLines(f);
  if (!f.body) return [`${lines.join('\n')};`];
  return [...lines, '{', ...bodyLines(f.body, '\t'), '}'];
}

function headLines(f: PtxFunction): string[] {
  const linkage = f.linkage ? `.${f.linkage} ` : '';
  const results = f.results.length > 0 ? `${parameters(f.results)} ` : '';
  const head = `${linkage}${f.isEntry ? '.entry' : '.func'} ${attributes(f.attributes)}${results}${f.name}${parameters(f.params)}`;
  return [head, ...f.directives.map(printFunctionDirective)];
}

/** The declaration of a function, including the semicolon. */
export const printFunctionHead = (f: PtxFunction): string => `${headLines(f).join('\n')};`;

const printFunctionDirective = ({ name, values }: FunctionDirective): string =>
  name === 'pragma' ? `.pragma ${values.map((v) => `"${v}"`).join(', ')};` : `.${name}${values.length > 0 ? ` ${values.join(', ')}` : ''}`;

/** One statement per line, with indented scopes. */
function bodyLines(body: readonly Statement[], indent: string): string[] {
  return body.flatMap((statement) => {
    if (statement.kind === 'block') return [`${indent}{`, ...bodyLines(statement.body, `${indent}\t`), `${indent}}`];
    return [statement.kind === 'label' ? `${statement.name}:` : indent + printSimple(statement)];
  });
}

function printSimple(statement: Exclude<Statement, { kind: 'block' | 'label' }>): string {
  if (statement.kind === 'variable') return printVariable(statement);
  return statement.kind === 'instruction' ? printInstruction(statement) : printDirective(statement);
}

/** The text of an instruction, including the semicolon. */
export function printInstruction(i: Instruction): string {
  const guard = i.guard ? `@${i.guard.negated ? '!' : ''}${i.guard.register} ` : '';
  const operands = i.operands.map(printOperand).join(', ');
  return `${guard}${instructionName(i)}${operands ? ` ${operands}` : ''};`;
}

/** The text of a declaration, including the semicolon. */
export const printVariable = (v: Variable): string =>
  `${v.linkage ? `.${v.linkage} ` : ''}${declaration(v)}${v.init ? ` = ${printOperand(v.init)}` : ''};`;

function declaration(v: Variable): string {
  const align = v.align === undefined ? '' : `.align ${v.align} `;
  const vector = v.vector ? `.${v.vector} ` : '';
  const count = v.regCount === undefined ? '' : `<${v.regCount}>`;
  const dims = v.dims.map((d) => `[${d ?? ''}]`).join('');
  return `.${v.space} ${attributes(v.attributes)}${align}${vector}.${v.type} ${pointer(v)}${v.name}${count}${dims}`;
}

function pointer({ ptr }: Variable): string {
  if (!ptr) return '';
  return `.ptr ${ptr.space ? `.${ptr.space} ` : ''}${ptr.align === undefined ? '' : `.align ${ptr.align} `}`;
}

function attributes(list: readonly Attribute[]): string {
  if (list.length === 0) return '';
  const one = ({ name, values }: Attribute) => `.${name}${values.length > 0 ? `(${values.join(', ')})` : ''}`;
  return `.attribute(${list.map(one).join(', ')}) `;
}

const parameters = (list: readonly Variable[]): string => `(${list.map(declaration).join(', ')})`;

function sectionLines({ name, items }: Section): string[] {
  const lines = items.map((item) =>
    item.kind === 'label' ? `${item.name}:` : `\t.${item.type} ${item.values.map(printOperand).join(', ')}`,
  );
  return [`.section ${name}`, '{', ...lines, '}'];
}

function printDirective(d: Directive): string {
  switch (d.name) {
    case 'file':
      return `.file ${d.index} "${d.path}"${d.stamp ? `, ${d.stamp[0]}, ${d.stamp[1]}` : ''}`;
    case 'loc':
      return printLoc(d);
    case 'pragma':
      return `.pragma ${d.values.map((v) => `"${v}"`).join(', ')};`;
    case 'alias':
      return `.alias ${d.alias.name}, ${d.aliasee.name};`;
    case 'branchtargets':
    case 'calltargets':
      return `.${d.name} ${d.targets.map((t) => t.name).join(', ')};`;
    case 'callprototype': {
      const results = d.results.length > 0 ? `${parameters(d.results)} ` : '';
      return `.callprototype ${results}_ ${parameters(d.params)}${d.directives.map((x) => ` ${printFunctionDirective(x)}`).join('')};`;
    }
    default:
      return unreachable(d, 'directive');
  }
}

function printLoc({ index, line, column, inlined }: LocDirective): string {
  if (!inlined) return `.loc ${index} ${line} ${column}`;
  const offset = inlined.offset > 0 ? `+${inlined.offset}` : '';
  const at = `${inlined.index} ${inlined.line} ${inlined.column}`;
  return `.loc ${index} ${line} ${column}, function_name ${inlined.functionName}${offset}, inlined_at ${at}`;
}

/** The text of an operand or initializer. */
export function printOperand(o: Operand): string {
  switch (o.kind) {
    case 'name':
      return o.name;
    case 'element':
      return `${o.name}.${o.element}`;
    case 'integer':
      return `${o.value}${o.isUnsigned ? 'U' : ''}`;
    case 'float':
      return printFloat(o);
    case 'address':
      return printAddress(o);
    case 'vector':
      return `{${list(o.elements)}}`;
    case 'list':
      return `(${list(o.elements)})`;
    case 'pair':
      return `${printOperand(o.first)}|${printOperand(o.second)}`;
    case 'not':
      return `!${tight(o.operand)}`;
    case 'unary':
      return `${o.operator}${tight(o.operand)}`;
    case 'binary':
      return printBinary(o);
    case 'conditional':
      return `${tight(o.condition)} ? ${tight(o.whenTrue)} : ${tight(o.whenFalse)}`;
    case 'cast':
      return `(.${o.type}) ${tight(o.operand)}`;
    case 'apply':
      return `${printOperand(o.operator)}(${printOperand(o.operand)})`;
    case 'index':
      return `${o.name}[${printOperand(o.index)}]`;
    case 'field':
      return `${o.name} = ${printOperand(o.value)}`;
    default:
      return unreachable(o, 'operand');
  }
}

const list = (operands: readonly Operand[]): string => operands.map(printOperand).join(', ');

/** A name before `|` would be parsed as a pair. */
function printBinary({ operator, left, right }: Binary): string {
  const first = operator === '|' && left.kind === 'name' ? `(${left.name})` : tight(left);
  return `${first} ${operator} ${tight(right)}`;
}

/** An operand of an operator: in parentheses, unless it is atomic. */
const tight = (o: Operand): string => (o.kind === 'binary' || o.kind === 'conditional' ? `(${printOperand(o)})` : printOperand(o));

function printAddress({ base, offset, rest, isUnified }: Address): string {
  const target = offset === 0n ? printOperand(base) : `${tight(base)}+${offset}`;
  return `[${[target, ...rest.map(printOperand)].join(', ')}]${isUnified ? '.unified' : ''}`;
}

function printFloat(float: Float): string {
  if (float.format === 'f32') return `0f${upperHex(float.bits, 8)}`;
  return float.format === 'f64' ? `0d${upperHex(float.bits, 16)}` : printDecimal(floatValue(float));
}

function printDecimal(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  // A literal outside the range of f64 was parsed as infinity.
  if (!Number.isFinite(value)) return value > 0 ? '1.0e999' : '-1.0e999';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
