/** The whole compiler, which only `cumetal check --target` loads. */
export { verifies } from '../../compile/index.ts';
