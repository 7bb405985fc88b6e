/**
 * Modes of f32 and f64 fused multiply-add. `exact`: one rounding, emulated. `relaxed`: the engine's relaxed instruction, used only where a probe
 * shows that it fuses. `fast`: a multiplication and an addition, with two roundings.
 */
export type FmaMode = 'exact' | 'relaxed' | 'fast';
