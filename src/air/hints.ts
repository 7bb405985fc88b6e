/** Functions that are hints of compilers. */

/** Compiler hints without effect, which raising drops. `air.is_uniform` is used only by `llvm.assume`, so its result does not matter. */
const hints = [
  'air.is_uniform.',
  'llvm.sideeffect',
  'llvm.dbg.',
  'llvm.lifetime.',
  'llvm.assume',
  'llvm.experimental.noalias.scope.decl',
  'llvm.donothing',
];
export const isHint = (name: string): boolean => hints.some((hint) => name.startsWith(hint));
