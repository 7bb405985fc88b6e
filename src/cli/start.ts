/** Starts the command line from the sources, or as a single-file program. `start-built.ts` starts the built files of the package. */
import { run } from './program.ts';

// A single-file program with bytecode cannot have a top-level await.
void run();
