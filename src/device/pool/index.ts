/** Pools of device memory: `places.ts` allocates places in reserved memory, `pool.ts` has the memory itself. */
export { DevicePool, type PoolBlock, type PoolOptions, type PoolStatistics, poison } from './pool.ts';
export { heldBytes, limitBytes, pageBytes } from './size-classes.ts';
