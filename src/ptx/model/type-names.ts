/** The names of PTX's types. Source: PTX ISA 9.0, 5.2. */
/**
 * The operand types that registers of a fundamental type do not have: a branch target is a `label`, a list of them `targets`, a callee a
 * `function`.
 */
export const ptxTypes = [
  'pred',
  'b8',
  'u8',
  's8',
  'b16',
  'u16',
  's16',
  'f16',
  'bf16',
  'b32',
  'u32',
  's32',
  'f32',
  'f16x2',
  'bf16x2',
  'b64',
  'u64',
  's64',
  'f64',
  'b128',
  'label',
  'targets',
  'function',
] as const;
/** A fundamental type of PTX, without the dot. */
export type PtxType = (typeof ptxTypes)[number];
