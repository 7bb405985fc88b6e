/** Suggestions for undeclared names, and secondary labels at declarations. */
import { closest } from '../../base/closest.ts';
import type { Label, Where } from '../../base/diagnostic.ts';
import { specialRegisters } from '../model/special-registers.ts';
import type { Register } from '../model/types.ts';
import { bitsOfType, isFloatType } from '../model/types.ts';
import { namesIn, rangeAround, type Scope } from './scope.ts';

/** The largest number of names of a function that are compared with declarations: a damaged file may have very many of both. */
const maxCompared = 50;

/** The help for an undeclared name, and a label at the declaration of its range. */
export function forUndeclared(name: string, scope: Scope): Pick<Where, 'help' | 'more'> {
  if (scope.missing.reported.size > maxCompared) return {};
  const range = rangeAround(scope, name);
  if (range) {
    const { name: prefix, regCount: count = 0, nameSpan } = range;
    const help = `\`${prefix}<${count}>\` declares \`${prefix}0\` to \`${prefix}${count - 1}\``;
    return { help, more: [{ span: nameSpan, text: 'declared here' }] };
  }
  const near = nearName(name, scope);
  return near === undefined ? {} : { help: `did you mean \`${near}\`?` };
}

/** A name that differs only in case or `%`, a special register, or a name within a small edit distance. */
function nearName(name: string, scope: Scope): string | undefined {
  const plain = (one: string): string => one.replace(/[%.]/g, '').toLowerCase();
  const wanted = plain(name);
  for (const one of specialRegisters.keys()) if (plain(one) === wanted) return one;
  const names = [...namesIn(scope)];
  // Two letters are too few for a suggestion.
  return names.find((one) => plain(one) === wanted) ?? (wanted.length < 3 ? undefined : closest(name, names));
}

/** The common prefix of undeclared registers of one family, which are reported once. */
export function familyOf(name: string, scope: Scope): string {
  const [, family] = /^(%[A-Za-z_$]+)\d+$/.exec(name) ?? [];
  if (family === undefined || scope.missing.reported.size > maxCompared) return name;
  for (const one of namesIn(scope)) if (one.startsWith(family) && /^\d+$/.test(one.slice(family.length))) return name;
  return family;
}

/** Help for converting a value to an incompatible type. */
export function conversionHelp(have: string, want: string): { readonly help?: string } {
  if (have === 'pred' || want === 'pred')
    return have === 'pred' ? { help: '`selp` converts a predicate to a number' } : { help: '`setp` makes a predicate' };
  const [from, to] = [bitsOfType(have), bitsOfType(want)];
  if (from === 0 || to === 0 || want.endsWith('x2') || have.endsWith('x2')) return {};
  const isSame = isFloatType(have) === isFloatType(want) || have.startsWith('b') || want.startsWith('b');
  if (from === to) return isSame ? {} : { help: `\`cvt\` converts the value, and \`mov.b${to}\` copies its bits` };
  return { help: `it has ${from} bits, but ${to} are expected: \`cvt\` converts it` };
}

/** A secondary label at the declaration of a register, for a report about its type. */
export const typeDeclared = (register: Register | undefined): { readonly more?: readonly Label[] } =>
  register?.declaredAt ? { more: [{ span: register.declaredAt, text: `declared .${register.declared}` }] } : {};
