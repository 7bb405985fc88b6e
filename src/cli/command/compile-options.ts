/** The compile options of a command. */
import type { CompileOptions, Fallback, Fp64Mode, MmaMode } from '../../compile/index.ts';
import { hostTarget } from '../../device/host-target.ts';
import { allValues, has, lastValue, type ParsedArguments } from './command.ts';
import { fallbackChoices } from './options.ts';

/** `--target`, `--fp64`, `--mma`, `--allow-fallback` and `--ptx-strict`; the parser has checked the choices. `CUMETAL_VERIFY` comes from the environment. */
export function compileOptions(parsed: ParsedArguments): CompileOptions {
  const target = lastValue(parsed, 'target');
  const fp64 = lastValue(parsed, 'fp64');
  const mma = lastValue(parsed, 'mma');
  const named = allValues(parsed, 'allow-fallback');
  const allowed = named.includes('all') ? fallbackChoices.filter((name) => name !== 'all') : [...new Set(named)].sort();
  return {
    ...(target ? { target: target as NonNullable<CompileOptions['target']> } : { hostTarget: hostTarget() }),
    ...(fp64 ? { fp64: fp64 as Fp64Mode } : {}),
    ...(mma ? { mma: mma as MmaMode } : {}),
    ...(allowed.length > 0 ? { allowFallback: allowed as Fallback[] } : {}),
    ...(has(parsed, 'ptx-strict') ? { ptxStrict: true } : {}),
    ...(globalThis.process?.env.CUMETAL_VERIFY === '1' ? { verifiesPasses: true } : {}),
  };
}
