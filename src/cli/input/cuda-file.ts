/** What is common to the compilers of `.cu` files. */
import { readFileSync } from 'node:fs';
import { SourceFile } from '../../base/source.ts';

/** What the command line says of a `.cu` file. */
export interface CudaOptions {
  /** One of `cudaCompilers`; undefined for the first that is there. */
  readonly compiler: string | undefined;
  readonly folders: readonly string[];
  readonly defines: readonly string[];
  readonly standard: string | undefined;
}

/** The PTX of a file, whose findings are at the lines of the file. */
export const ptxSource = (path: string, ptx: string): SourceFile =>
  new SourceFile(`${path} (PTX)`, ptx, new SourceFile(path, readFileSync(path, 'utf8')));
