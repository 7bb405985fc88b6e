/** The text of a function, for people who look for a mistake in it. */
import type { Edge, End, Inst, SsaFunction, Value } from './types.ts';

/** A function with one instruction per line. */
export function printSsa(fn: SsaFunction): string {
  const typed = (value: Value): string => `v${value}: ${fn.types[value]}`;
  const lines = [`function ${fn.index} (${fn.params.join(', ')}) -> (${fn.results.join(', ')})`];
  fn.blocks.forEach(({ params, insts, end, loopDepth, isRare }, i) => {
    const notes = [...(loopDepth > 0 ? [`depth ${loopDepth}`] : []), ...(isRare ? ['rare'] : [])];
    lines.push(`b${i}(${params.map(typed).join(', ')})${notes.length > 0 ? ` ; ${notes.join(', ')}` : ''}`);
    for (const inst of insts) lines.push(`  ${instText(inst, typed)}`);
    lines.push(`  ${endText(end)}`);
  });
  return `${lines.join('\n')}\n`;
}

const valuesText = (values: readonly Value[]): string => values.map((value) => `v${value}`).join(', ');

function instText({ op, args, result, offset, lane, index, bits, bytes, words, kind }: Inst, typed: (value: Value) => string): string {
  const immediates = [
    ...(kind === undefined ? [] : [kind]),
    ...(index === undefined ? [] : [`#${index}`]),
    ...(offset ? [`+${offset}`] : []),
    ...(lane === undefined ? [] : [`[${lane}]`]),
    ...(bits === undefined ? [] : [`0x${bits.toString(16)}`]),
    ...(bytes === undefined ? [] : [bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')]),
    ...(words === undefined ? [] : [`{${words.join(' ')}}`]),
  ];
  const text = [op, ...immediates, valuesText(args)].filter((part) => part !== '').join(' ');
  return result === undefined ? text : `${typed(result)} = ${text}`;
}

const edgeText = ({ block, args }: Edge): string => `b${block}(${valuesText(args)})`;

function endText(end: End): string {
  switch (end.op) {
    case 'jump':
      return `jump ${edgeText(end.to)}`;
    case 'branch':
      return `branch${end.isRare ? ' rare' : ''} v${end.cond}, ${edgeText(end.then)}, ${edgeText(end.else)}`;
    case 'switch':
      return `switch v${end.index}, ${end.edges.map(edgeText).join(', ')}`;
    case 'return':
      return `return ${valuesText(end.values)}`.trimEnd();
    case 'trap':
      return 'trap';
  }
}
