/** The rule of each op in WGSL: a total record, for what a backend does exactly and how a kernel has memory. */
import { bug } from '../../base/bug.ts';
import type { InstOf, PointerType, ScalarType } from '../../ir/index.ts';
import { spaceOf } from '../../ir/index.ts';
import { atom, type Expression } from '../expression.ts';
import type { Language, Printer, Rules } from '../language.ts';
import { commonRules } from '../rules.ts';
import { wgslSyntax } from '../syntax.ts';
import { bitcast, bitcastRule, floatRules } from './floats.ts';
import { integerRules } from './integers.ts';
import { memoryRules } from './memory.ts';
import { call, constant, typeName, type WgslState, words } from './types.ts';

function param(p: Printer, { offsets }: WgslState, { index }: InstOf<'param'>): Expression {
  const { kind } = p.kernel.params[index]!;
  if (kind === 'threadgroup') return constant('i64', BigInt(p.addresses.windows.get('shared')!.dynamicOffset ?? 0));
  return kind === 'value' ? constant('i64', BigInt(offsets[index]!)) : atom(p.parameter(index));
}

/** Warp operations and barriers are written by the code around the parts of a body (`sync.ts`). */
const apart = (): undefined => undefined;

/** The rules of a kernel. */
export const rulesOf = (state: WgslState): Rules => ({
  ...commonRules,
  ...integerRules,
  ...floatRules(state.exact),
  ...memoryRules(state),
  const: (p, { type, bits }) => {
    const found = constant(type.startsWith('ptr.') ? 'i64' : (type as ScalarType), bits);
    if (found.text.startsWith('f32_of(')) p.helper('f32_of');
    return found;
  },
  bitcast: bitcastRule,
  call1: (p, { fn, a }) => call(p.helper(`fn ${fn}`), p.use(a)),
  call2: (p, { fn, a, b }) => call(p.helper(`fn ${fn}`), p.use(a), p.use(b)),
  call3: (p, { fn, a, b, c }) => call(p.helper(`fn ${fn}`), p.use(a), p.use(b), p.use(c)),
  param: (p, inst) => param(p, state, inst),
  variable: (p, { name, type }) =>
    constant('i64', BigInt(p.addresses.windows.get(spaceOf(type as PointerType) as 'shared')!.offsets.get(name)!)),
  clock: (p, { name }, value) =>
    p.refuse(value, name === 'time' ? 'the time (`%globaltimer`)' : 'a clock (`%clock`, `%clock64`)', 'WGSL has no clock'),
  fence: apart,
  barrier: apart,
  shuffle: apart,
  ballot: apart,
  reduce: apart,
  matmul: (p, _, value) => p.refuse(value, 'a product of matrices', 'it is not expanded'),
  mma: (p, _, value) =>
    p.refuse(value, 'a product of matrices by a warp (`mma.sync`, `wmma`)', 'it was compiled for the CPU device; other targets expand it'),
  syncwarp: apart,
  shufflesync: apart,
  ballotsync: apart,
  reducesync: apart,
  warpsync: apart,
});

const none = (): never => bug('a place of C in WGSL');

/** The language with the rules of a kernel. */
export const languageOf = (state: WgslState): Language => ({
  name: 'wgsl',
  syntax: wgslSyntax,
  rules: rulesOf(state),
  typeName,
  spaceName: none,
  windowSpaces: { shared: 'workgroup', constant: 'storage', local: 'private' },
  memoryName: typeName,
  signedName: () => 'i32',
  constant,
  bitcast,
  reserved: new Set(words),
});
