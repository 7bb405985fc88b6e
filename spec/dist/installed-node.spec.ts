/** The specs of the command line on the installed package under Node. */
import { installedSuite } from '../support/installed-suite.ts';

// System libraries are reached through Bun.
installedSuite('node', ['cli/cuda']);
