/** The specs of the command line on the installed package under Bun. */
import { installedSuite } from '../support/installed-suite.ts';

installedSuite('bun');
