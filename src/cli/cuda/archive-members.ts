/**
 * Members of archives that a program needs for its device code. A linker takes what host code names, and a member may have nothing but device
 * functions that kernels of other files call. Source: the format of `ar`, as LLVM writes it; CUDA Compiler Driver NVCC, "Libraries".
 */
import { relocatableCodes } from '../../program/index.ts';

export interface Member {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const magic = '!<arch>\n';
const headBytes = 60;
const latin = new TextDecoder('latin1');

/** The objects in an archive; none in a file that is none. */
export function membersOf(archive: Uint8Array): Member[] {
  if (latin.decode(archive.subarray(0, magic.length)) !== magic) return [];
  const members: Member[] = [];
  let names = '';
  for (let at = magic.length; at + headBytes <= archive.length; ) {
    const head = latin.decode(archive.subarray(at, at + headBytes));
    const size = Number.parseInt(head.slice(48, 58), 10);
    if (!Number.isSafeInteger(size)) break;
    const bytes = archive.subarray(at + headBytes, at + headBytes + size);
    const name = head.slice(0, 16).trim();
    // `//` has the long names, and `/N` is one of them; `/` is the table of symbols.
    if (name === '//') names = latin.decode(bytes);
    else if (/^\/\d+$/.test(name)) members.push({ name: names.slice(Number(name.slice(1))).replace(/\/?\n.*$/s, ''), bytes });
    else if (!/^\/$|^\/SYM64/.test(name)) members.push({ name: name.replace(/\/$/, ''), bytes });
    at += headBytes + size + (size % 2);
  }
  return members.filter(({ bytes }) => latin.decode(bytes.subarray(0, 4)) === '\0asm');
}

const name = String.raw`([A-Za-z_$][\w$]*)`;
const functionHead = String.raw`\.func\s*(?:\([^()]*\)\s*)?${name}`;
const variableHead = String.raw`\.(?:global|const|shared)\b[^;={}()]*?${name}\s*(?:\[[^\]]*\]\s*)*[;=]`;
const found = (text: string, linkage: string, head: string): string[] =>
  [...text.matchAll(new RegExp(String.raw`\.(?:${linkage})\s+${head}`, 'g'))].map(([, each]) => each!);

/** Names that a piece of device code defines for others, and those that it expects of them. */
export const definedIn = (text: string): string[] => [functionHead, variableHead].flatMap((head) => found(text, 'visible|weak', head));
export const expectedIn = (text: string): string[] => [functionHead, variableHead].flatMap((head) => found(text, 'extern', head));

/** The members, not yet taken, that define what the device code of a program expects and does not have. */
export function neededMembers(program: Uint8Array, members: readonly Member[]): Member[] {
  const texts = [...relocatableCodes(program).values()];
  const defined = new Set(texts.flatMap(definedIn));
  const missing = new Set(texts.flatMap(expectedIn).filter((each) => !defined.has(each)));
  if (missing.size === 0) return [];
  return members.filter(({ bytes }) =>
    [...relocatableCodes(bytes).values()].some((text) => definedIn(text).some((each) => missing.has(each))),
  );
}
