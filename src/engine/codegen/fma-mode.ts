/**
 * Modes of f32 fused multiply-add. `exact`: one rounding, emulated in f64. `relaxed`: the engine's relaxed instruction, used only where a probe
 * shows that it fuses. `fast`: a multiplication and an addition, with two roundings.
 */
export type FmaMode = 'exact' | 'relaxed' | 'fast';
