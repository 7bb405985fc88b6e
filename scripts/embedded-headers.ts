/** The texts of the CUDA headers, for bundles: `read-headers.ts` reads a folder, which a bundle does not have. */
import type { BunPlugin } from 'bun';
import { readHeaders } from '../src/toolchain/read-headers.ts';

/** Puts the headers into a bundle. */
export const embeddedHeaders: BunPlugin = {
  name: 'embedded-headers',
  setup: (build) =>
    void build.onLoad({ filter: /\/toolchain\/read-headers\.ts$/ }, () => ({
      contents: `export const readHeaders = () => (${JSON.stringify(readHeaders())});\n`,
      loader: 'js',
    })),
};
