/** Diagnostics of binary inputs. */

import { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';

/** Diagnostics about a file without lines: they name the file. */
export const binaryDiagnostics = (path: string): Diagnostics => new Diagnostics(new SourceFile(path, ''));
