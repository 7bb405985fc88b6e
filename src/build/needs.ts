/** The least version of PTX and the least architecture that a kernel needs, from the instruction table. */
import { type Instruction, instructionName, isMatch, matchForm, type Statement } from '../ptx/index.ts';
import { minVersions } from './targets.ts';

/** A version of PTX, and the number of an architecture. */
export interface Need {
  readonly ptx: number;
  readonly sm: number;
  /** Whether the architecture has to be named with an `a`: instructions of that chip alone. */
  readonly isSpecific?: boolean;
}

/** What the modifiers of an instruction need, where a row of the table has forms of several generations. Source: PTX ISA 9.0, the notes of each instruction. */
const byModifiers: readonly (readonly [pattern: RegExp, need: Need])[] = [
  [/^(?:atom|red)\.(?:.*\.)?(?:cta|gpu|sys)\b/, { ptx: 5, sm: 60 }],
  [/^(?:atom|red)\..*cluster\b/, { ptx: 7.8, sm: 90 }],
  [/^(?:atom|red)\..*add\.f64$/, { ptx: 5, sm: 60 }],
  [/^(?:atom|red)\..*relaxed\b/, { ptx: 6, sm: 70 }],
  [/^(?:ld|st)\.(?:relaxed|acquire|release)\.cluster/, { ptx: 7.8, sm: 90 }],
  [/^fence\.\w+\.cluster/, { ptx: 7.8, sm: 90 }],
  [/^(?:min|max)\..*NaN/, { ptx: 7, sm: 80 }],
  [/^mma\..*m16n8k(?:16|32)\b/, { ptx: 7, sm: 80 }],
  [/^mma\.sync\.aligned\.m16n8k(?:4|8|16)\.row\.col\.(?:r[nzmp]\.)?f64\b/, { ptx: 7.8, sm: 90 }],
  [/^setp.*\.f16/, { ptx: 4.2, sm: 53 }],
  [/^(?:wgmma|setmaxnreg)\b/, { ptx: 8, sm: 90, isSpecific: true }],
];

/** The oldest architecture that the builder writes for. */
const oldest: Need = { ptx: 4, sm: 50 };

/** What one instruction needs. */
export function needOf(instruction: Instruction): Need {
  const { opcode, modifiers, operands } = instruction;
  const form = matchForm(opcode, modifiers, operands.length);
  const name = instructionName(instruction);
  const refined = byModifiers.filter(([pattern]) => pattern.test(name)).map(([, need]) => need);
  return most([oldest, ...(form && isMatch(form) ? [form.row.since] : []), ...refined]);
}

const most = (needs: readonly Need[]): Need => ({
  ptx: Math.max(...needs.map(({ ptx }) => ptx)),
  sm: Math.max(...needs.map(({ sm }) => sm)),
  isSpecific: needs.some(({ isSpecific }) => isSpecific),
});

/** What a body needs, and others besides it. The version is one that has the architecture. */
export function needsOf(body: readonly Statement[], others: readonly Need[]): Need {
  const needs: Need[] = [oldest, ...others];
  const known = new Set<string>();
  const work = [...body];
  for (let statement = work.pop(); statement; statement = work.pop()) {
    if (statement.kind === 'block') for (const each of statement.body) work.push(each);
    if (statement.kind !== 'instruction') continue;
    const key = `${instructionName(statement)} ${statement.operands.length}`;
    if (!known.has(key)) needs.push(needOf(statement));
    known.add(key);
  }
  const { ptx, sm, isSpecific = false } = most(needs);
  const target = Object.keys(minVersions)
    .map(Number)
    .sort((a, b) => a - b)
    .find((each) => each >= sm)!;
  return { ptx: Math.max(ptx, minVersions[target]!, isSpecific ? 8 : 0), sm: target, isSpecific };
}
