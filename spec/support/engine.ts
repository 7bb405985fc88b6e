/** Which compiler of the CPU device specs and scripts go through: that of `CUMETAL_ENGINE`, else the one that the device would take. */
import type { CpuOptions } from '../../src/device/cpu/engine.ts';

const named = process.env.CUMETAL_ENGINE;

export const engine: CpuOptions = named === 'lane' || named === 'simd' ? { engine: named } : {};
