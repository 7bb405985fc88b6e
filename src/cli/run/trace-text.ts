/** A trace as text and as JSON. */
import { readableName } from '../../base/demangle/index.ts';
import { printable } from '../../base/printable.ts';
import type { Trace, TraceOperation, TraceStep, TraceValue } from '../../device/trace.ts';
import { decodeElements, type ElementType, formatValue } from '../../runtime/index.ts';

/** An element in decimal: integers as signed, floats as the shortest decimal that reads back equal. */
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

/** The width of the instruction column in characters; the values of a longer instruction start on the next line. */
const maxTextWidth = 60;

/** One line per instruction, followed by its operations. `+` marks operations that the compiler moved away from their line. */
export function traceText({ kernel, block, thread, steps, count }: Trace): string {
  const place = `thread (${thread.join(', ')}) of block (${block.join(', ')}) of \`${readableName(kernel)}\``;
  const lines = [`trace of ${place}: ${count} instruction${count === 1 ? '' : 's'}`, ...steps.flatMap(stepLines)];
  const shown = steps.filter(({ isStart }) => isStart).length;
  return [...lines, ...(shown < count ? [`… ${count - shown} more beyond --trace-limit`] : []), ''].map(printable).join('\n');
}

function stepLines({ line, text, isStart, operations }: TraceStep): string[] {
  const place = `${isStart ? ' ' : '+'}${(line > 0 ? String(line) : '').padStart(6)}  `;
  const [first = '', ...rest] = operations.map(operationText);
  const margin = ' '.repeat(place.length + maxTextWidth + 2);
  const head = text.length <= maxTextWidth ? [`${place}${text.padEnd(maxTextWidth)}  ${first}`] : [`${place}${text}`, `${margin}${first}`];
  return [...head, ...rest.map((each) => `${margin}${each}`)].map((each) => each.trimEnd()).filter((each) => each !== '');
}

/** The steps as JSON values: bits in hexadecimal, and their text. */
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
    truncated: steps.filter(({ isStart }) => isStart).length < count,
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
