/**
 * Names of registers in inline assembly. nvcc takes `%globaltimer` in a template with operands, where clang wants `%%globaltimer`; a percent sign
 * and two letters are nothing else there, since a modifier has one letter and a digit or a bracket behind it.
 */

const statement = /\b(?:asm|__asm|__asm__)\b(?:\s|\b(?:volatile|__volatile|__volatile__|goto)\b)*\(/g;
/** What may stand between the literals of a template. */
const between = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const literal = /R"([^()\\\s]{0,16})\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\[\s\S])*"/y;
const name = /%%|%(?=[A-Za-z][A-Za-z_])/g;

/** Where the template of a statement ends, if it is literals and operands come behind it. */
function endOfTemplate(text: string, start: number): number | undefined {
  let at = start;
  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found !== null && found[0].length > 0;
  };
  skip(between);
  while (skip(literal)) skip(between);
  return text[at] === ':' ? at : undefined;
}

/** Whether the letters are there at all, which most sources lack. */
function hasAsm(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(0x61); at >= 0; at = bytes.indexOf(0x61, at + 1))
    if (bytes[at + 1] === 0x73 && bytes[at + 2] === 0x6d) return true;
  return false;
}

/** A character for each byte, whatever the encoding is. */
function textOf(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return parts.join('');
}

/** A source in which these names have two percent signs; the same bytes if it has none. */
export function withAsmNames(bytes: Uint8Array): Uint8Array {
  if (!hasAsm(bytes)) return bytes;
  const text = textOf(bytes);
  let done = '';
  let from = 0;
  for (const match of text.matchAll(statement)) {
    const start = match.index + match[0].length;
    const end = start < from ? undefined : endOfTemplate(text, start);
    if (end === undefined) continue;
    done += text.slice(from, start) + text.slice(start, end).replace(name, '%%');
    from = end;
  }
  if (from === 0) return bytes;
  const changed = done + text.slice(from);
  return Uint8Array.from({ length: changed.length }, (_, i) => changed.charCodeAt(i));
}
