/** What a reader may have meant by a name that is not declared, and where a name is declared. */
import { closest } from '../../base/closest.ts';
import type { Label, Where } from '../../base/diagnostic.ts';
import { specialRegisters } from '../model/special-registers.ts';
import type { Register } from '../model/types.ts';
import { bitsOfType, isFloatType } from '../model/types.ts';
import { namesIn, rangeAround, type Scope } from './scope.ts';

/** How many names of a function are compared with those that are declared: a damaged file may have very many of both. */
const compared = 50;

/** The help for a name that is not declared, and a look at the declaration that it misses. */
export function forUndeclared(name: string, scope: Scope): Pick<Where, 'help' | 'more'> {
  if (scope.missing.said.size > compared) return {};
  const range = rangeAround(scope, name);
  if (range) {
    const { name: prefix, regCount: count = 0, nameSpan } = range;
    const help = `\`${prefix}<${count}>\` declares \`${prefix}0\` to \`${prefix}${count - 1}\``;
    return { help, more: [{ span: nameSpan, text: 'declared here' }] };
  }
  const near = nearName(name, scope);
  return near === undefined ? {} : { help: `did you mean \`${near}\`?` };
}

/** A name that differs in its case or its `%`, a special register, or a name spelt nearly so. */
function nearName(name: string, scope: Scope): string | undefined {
  const plain = (one: string): string => one.replace(/[%.]/g, '').toLowerCase();
  const wanted = plain(name);
  for (const one of specialRegisters.keys()) if (plain(one) === wanted) return one;
  const names = [...namesIn(scope)];
  // Two letters are too few to tell what was meant.
  return names.find((one) => plain(one) === wanted) ?? (wanted.length < 3 ? undefined : closest(name, names));
}

/** What the names of an unknown number of registers have in common, where none of them is declared: they are told as one. */
export function familyOf(name: string, scope: Scope): string {
  const [, family] = /^(%[A-Za-z_$]+)\d+$/.exec(name) ?? [];
  if (family === undefined || scope.missing.said.size > compared) return name;
  for (const one of namesIn(scope)) if (one.startsWith(family) && /^\d+$/.test(one.slice(family.length))) return name;
  return family;
}

/** How a value of one type becomes one of another that it cannot stand for. */
export function conversionHelp(have: string, want: string): { readonly help?: string } {
  if (have === 'pred' || want === 'pred')
    return have === 'pred' ? { help: '`selp` makes a number of a predicate' } : { help: '`setp` makes a predicate' };
  const [from, to] = [bitsOfType(have), bitsOfType(want)];
  if (from === 0 || to === 0 || want.endsWith('x2') || have.endsWith('x2')) return {};
  const isSame = isFloatType(have) === isFloatType(want) || have.startsWith('b') || want.startsWith('b');
  if (from === to) return isSame ? {} : { help: `\`cvt\` converts the value, and \`mov.b${to}\` copies its bits` };
  return { help: `it has ${from} bits, and ${to} are wanted: \`cvt\` converts it` };
}

/** A look at the declaration of a register, for a report about its type. */
export const typeDeclared = (register: Register | undefined): { readonly more?: readonly Label[] } =>
  register?.declaredAt ? { more: [{ span: register.declaredAt, text: `declared .${register.declared}` }] } : {};
