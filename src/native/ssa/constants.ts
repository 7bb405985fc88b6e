/** Constants of a function: one of each while it is simplified, in the entry; and in the end one in each block that uses it. */
import { mapEndUses } from './params.ts';
import type { Block, Inst, SsaFunction, SsaType, Value } from './types.ts';

export interface Constants {
  number(type: SsaType, bits: bigint): Value;
  vector(type: SsaType, bytes: readonly number[]): Value;
  /** The value of an instruction that is a constant. */
  of(inst: Inst): Value;
  /** Puts the constants in front of the entry. */
  finish(): void;
}

const isConstant = ({ op }: Inst): boolean => op.endsWith('.const');

/** A set of constants. `define` is called for each new one. */
export function newConstants({ types, blocks }: SsaFunction, define: (inst: Inst) => void): Constants {
  const known = new Map<string, Value>();
  const insts: Inst[] = [];
  const place = (key: string, type: SsaType, make: (result: Value) => Inst): Value => {
    const value = known.get(key);
    if (value !== undefined) return value;
    const inst = make(types.push(type) - 1);
    known.set(key, inst.result!);
    insts.push(inst);
    define(inst);
    return inst.result!;
  };
  const number = (type: SsaType, bits: bigint): Value =>
    place(`${type} ${bits}`, type, (result) => ({ op: `${type}.const`, args: [], result, bits }));
  const vector = (type: SsaType, bytes: readonly number[]): Value =>
    place(`${type} ${bytes.join()}`, type, (result) => ({ op: 'v128.const', args: [], result, bytes }));
  return {
    number,
    vector,
    of: ({ result, bits, bytes }) => (bits === undefined ? vector(types[result!]!, bytes!) : number(types[result!]!, bits)),
    finish() {
      blocks[0]!.insts = [...insts, ...blocks[0]!.insts];
    },
  };
}

/**
 * Puts each constant in front of its first use in every block that uses it. An instruction can have a constant that is in its block as an
 * immediate or in memory, while one that is alive for the whole function would occupy a register.
 */
export function spreadConstants(fn: SsaFunction): void {
  const constants = new Map<Value, Inst>();
  for (const { insts } of fn.blocks) for (const inst of insts) if (isConstant(inst)) constants.set(inst.result!, inst);
  if (constants.size === 0) return;
  for (const block of fn.blocks) spreadInBlock(fn, block, constants);
}

function spreadInBlock({ types }: SsaFunction, block: Block, constants: ReadonlyMap<Value, Inst>): void {
  const own = new Map<Value, Value>();
  const insts: Inst[] = [];
  const near = (value: Value): Value => {
    const inst = constants.get(value);
    if (!inst) return value;
    const known = own.get(value);
    if (known !== undefined) return known;
    const result = types.push(types[value]!) - 1;
    insts.push({ ...inst, args: [], result });
    own.set(value, result);
    return result;
  };
  for (const inst of block.insts) {
    if (isConstant(inst)) continue;
    for (let i = 0; i < inst.args.length; i++) inst.args[i] = near(inst.args[i]!);
    insts.push(inst);
  }
  mapEndUses(block.end, near);
  block.insts = insts;
}
