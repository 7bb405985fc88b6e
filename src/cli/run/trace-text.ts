/** What a traced thread did, for people and for programs. */
import type { Trace, TraceOperation, TraceStep, TraceValue } from '../../device/trace.ts';
import { decodeElements, type ElementType, formatValue } from '../../runtime/index.ts';

/** An element as people read it: integers signed, floats as the shortest decimal that is the same. */
function elementText(type: string, bits: bigint): string {
  if (type === 'i1') return bits === 0n ? 'false' : 'true';
  if (type.startsWith('ptr.')) return `0x${bits.toString(16)}`;
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, bits, true);
  return formatValue(type as ElementType, decodeElements(type as ElementType, bytes, 1)[0]!);
}

function valueText({ type, bits, place }: TraceValue): string {
  if (place !== undefined) return `[${place}]`;
  const element = /^v\d\.(.*)$/.exec(type)?.[1];
  if (element === undefined) return bits.length > 0 ? elementText(type, bits[0]!) : '?';
  return `(${bits.map((each) => elementText(element, each)).join(', ')})`;
}

function operationText({ what, operands, result }: TraceOperation): string {
  const given = result ? ` -> ${valueText(result)}` : '';
  return `${what} ${operands.map(valueText).join(', ')}${given}`.replace(/ $/, '');
}

/** Characters of an instruction beside which its values stand; those of longer ones follow on the next line. */
const widest = 60;

/** A line per instruction, with what was computed beside it; a `+` before what is done apart from its line. */
export function traceText({ kernel, block, thread, steps, count }: Trace): string {
  const place = `thread (${thread.join(', ')}) of block (${block.join(', ')}) of \`${kernel}\``;
  const lines = [`trace of ${place}: ${count} instruction${count === 1 ? '' : 's'}`, ...steps.flatMap(stepLines)];
  const shown = steps.filter(({ isStart }) => isStart).length;
  return [...lines, ...(shown < count ? [`… ${count - shown} more, which --trace-limit leaves out`] : []), ''].join('\n');
}

function stepLines({ line, text, isStart, operations }: TraceStep): string[] {
  const place = `${isStart ? ' ' : '+'}${(line > 0 ? String(line) : '').padStart(6)}  `;
  const [first = '', ...rest] = operations.map(operationText);
  const margin = ' '.repeat(place.length + widest + 2);
  const head = text.length <= widest ? [`${place}${text.padEnd(widest)}  ${first}`] : [`${place}${text}`, `${margin}${first}`];
  return [...head, ...rest.map((each) => `${margin}${each}`)].map((each) => each.trimEnd()).filter((each) => each !== '');
}

/** The steps as values of JSON: bits in hexadecimal beside what they mean. */
export function traceJson({ kernel, block, thread, steps, count }: Trace): object {
  const valueJson = (value: TraceValue): object => ({
    type: value.type,
    bits: value.bits.map((each) => `0x${each.toString(16)}`),
    text: valueText(value),
  });
  const operationJson = ({ what, operands, result }: TraceOperation): object => ({
    op: what,
    operands: operands.map(valueJson),
    ...(result ? { result: valueJson(result) } : {}),
  });
  return {
    kernel,
    block,
    thread,
    count,
    steps: steps.map(({ line, column, file, text, isStart, operations }) => ({
      line,
      column,
      file,
      text,
      starts: isStart,
      operations: operations.map(operationJson),
    })),
  };
}
