/** What `cumetal check --target` needs beside `index.ts`: the whole compiler, which a check of the PTX alone does without. */
export { verifies } from '../../compile/index.ts';
