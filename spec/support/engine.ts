/** Which compiler of the CPU device specs and scripts go through: that of `CUMETAL_ENGINE`, else the one that the device would take. */
import type { EngineOptions } from '../../src/device/device.ts';

const named = process.env.CUMETAL_ENGINE;

export const engine: EngineOptions = named === 'lane' || named === 'simd' ? { engine: named } : {};
