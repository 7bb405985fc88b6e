/** Advice on a text: for the launch that it carries, for one that is given, or for none. */
import { type AdvisedLaunch, advise, type KernelAdvice } from '../../advise/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { encodeValue, type LaunchPlan } from '../../runtime/index.ts';
import type { ParsedArguments } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';
import type { Input } from '../input/index.ts';
import { run } from '../run/command.ts';
import { readOwnLaunch } from '../run/own-launch.ts';
import type { Terminal } from '../terminal/index.ts';

/** Adds the advice on a text that compiles. */
export function addAdvice(
  input: Extract<Input, { kind: 'ptx' }>,
  parsed: ParsedArguments,
  terminal: Terminal,
  diagnostics: Diagnostics,
): void {
  const own = readOwnLaunch(input.source, run, { io: terminal, allowsOutside: false }, new Diagnostics(input.source));
  const found = new Diagnostics(input.source);
  adviceOn(input, own?.plan ?? { constants: [] }, parsed, found);
  // What a check without advice reports has been reported.
  diagnostics.addNew(found.list);
}

/** The advice on the kernels of a text, with the launch of one of them. */
export function adviceOn(
  { source }: Extract<Input, { kind: 'ptx' }>,
  plan: LaunchPlan,
  parsed: ParsedArguments,
  diagnostics: Diagnostics,
): KernelAdvice[] | undefined {
  const launch = launchOf(plan);
  const options = compileOptions(parsed);
  return advise(source, (name) => (plan.kernel === undefined || plan.kernel === name ? launch : undefined), options, diagnostics);
}

/** What a plan says of its launch, without what only a run would read: files and defaults. */
function launchOf({ grid, block, sharedBytes, args }: LaunchPlan): AdvisedLaunch {
  return {
    grid,
    block,
    sharedBytes,
    bytesOf: (index) => {
      const argument = args?.[index];
      return argument?.kind === 'scalar' ? encodeValue(argument.element, argument.value) : undefined;
    },
    offsetOf: (index) => {
      const argument = args?.[index];
      return argument?.kind === 'within' ? argument.offset % 256 : 0;
    },
  };
}
