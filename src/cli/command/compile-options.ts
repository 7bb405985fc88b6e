/** The options of a command that say how PTX is compiled. */
import type { CompileOptions, Fp64Mode, MmaMode } from '../../compile/index.ts';
import { has, lastValue, type Words } from './command.ts';

/** `--target`, `--fp64`, `--mma` and `--ptx-strict`, whose choices were checked before, and `CUMETAL_VERIFY` of the environment. */
export function compileOptions(words: Words): CompileOptions {
  const target = lastValue(words, 'target');
  const fp64 = lastValue(words, 'fp64');
  const mma = lastValue(words, 'mma');
  return {
    ...(target ? { target: target as NonNullable<CompileOptions['target']> } : {}),
    ...(fp64 ? { fp64: fp64 as Fp64Mode } : {}),
    ...(mma ? { mma: mma as MmaMode } : {}),
    ...(has(words, 'ptx-strict') ? { ptxStrict: true } : {}),
    ...(process.env.CUMETAL_VERIFY === '1' ? { verifiesPasses: true } : {}),
  };
}
