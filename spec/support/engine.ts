/** The CPU device's compiler for specs and scripts: that of `CUMETAL_ENGINE`, else the device's choice. */
import type { EngineOptions } from '../../src/device/device.ts';

const named = process.env.CUMETAL_ENGINE;

export const engine: EngineOptions = named === 'lane' || named === 'simd' ? { engine: named } : {};
