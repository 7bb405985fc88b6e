/**
 * The verifier: the promises that every kernel keeps. Each broken promise is a CM3001 that names it by its number; all are reported, not the first.
 * A kernel that passes may still be refused by a back-end, but never crashes one.
 *
 * Blocks
 *  B1  there is an entry block, without parameters, and no edge leads to it
 *  B2  a block's id is its position
 *  B3  edges lead to blocks of the kernel
 *  B4  an edge passes one argument for each parameter of its target, of the same type
 *  B5  a branch's condition is an i1
 * Values
 *  V1  a value is in one place; `arg` only among block parameters, all else only in bodies
 *  V2  every use is dominated by its definition
 *  V3  a value used is not void
 *  V4  there is a location slot for each instruction
 * Types
 *  T1  operands are in the domain that the op table states, `=a` operands of the type of `a`
 *  T2  the result type follows the op table's rule
 *  T3  a stated result type fits the op: conversions widen, narrow or keep the width by their names; addresses and offsets are i64, in the
 *      narrowed dialect i32 where the pointer has 32 bits
 *  T4  vectors have two or four elements of one type with a memory form, and lanes exist
 *  T5  attributes hold values of their closed sets, and constant bits fit their type
 *  T6  in the narrowed dialect a pointer is as wide as the pointers that it is made of by an offset, a choice or an edge
 * Memory and parameters
 *  M1  a load or store moves a scalar or vector with a memory form, with a power of two as alignment
 *  M2  nothing is stored to constant or parameter memory
 *  M3  `param` names a parameter and has the type of its kind
 *  M4  `variable` names a variable of the kernel, in its space
 *  M5  variables have distinct names, sizes that are not negative, powers of two as alignments; only shared ones are dynamic, only
 *      constant ones have initial bytes, as many as their size
 */
import { bug } from '../../base/bug.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { cfgOf } from '../analysis/cfg.ts';
import { dominatorsOf } from '../analysis/dominators.ts';
import { definingBlocks } from '../analysis/liveness.ts';
import type { Kernel, Module } from '../kernel.ts';
import type { AfterPass } from '../pass.ts';
import { checkBlocks, checkEdges } from './blocks.ts';
import { checkVariables } from './memory.ts';
import { type Report, type Rule, spanOf } from './report.ts';
import { checkInst } from './types.ts';
import { checkPlaces, checkUses } from './values.ts';

/** Adds a CM3001 for each broken promise of a kernel, by the rules of its dialect; true if there is none. */
export function verify(kernel: Kernel, diagnostics: Diagnostics): boolean {
  const before = diagnostics.list.length;
  const report: Report = (rule: Rule, why, loc) =>
    diagnostics.report('CM3001', { rule, kernel: kernel.name, why }, spanOf(loc, diagnostics.file));
  // Dominance and types mean nothing while the graph or the places are broken.
  if (checkBlocks(kernel, report) && checkPlaces(kernel, report)) checkInside(kernel, report);
  checkVariables(kernel, report);
  return diagnostics.list.length === before;
}

/** Verifies every kernel of a module. */
export const verifyModule = (module: Module, diagnostics: Diagnostics): boolean =>
  module.kernels.map((kernel) => verify(kernel, diagnostics)).every((isSound) => isSound);

/** An observer that verifies: a kernel that a pass left broken is a bug of ours, and the message names the pass. */
export const verifyAfterPass: AfterPass = (pass, kernel) => {
  const diagnostics = new Diagnostics();
  if (verify(kernel, diagnostics)) return;
  bug(`the pass \`${pass}\` breaks the IR: ${diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; ')}`);
};

function checkInside(kernel: Kernel, report: Report): void {
  const cfg = cfgOf(kernel);
  checkUses(kernel, { cfg, dominators: dominatorsOf(cfg), home: definingBlocks(kernel) }, report);
  checkEdges(kernel, report);
  for (const block of kernel.blocks) for (const value of [...block.params, ...block.body]) checkInst(kernel, value, report);
}
