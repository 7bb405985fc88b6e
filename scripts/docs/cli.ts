/** `docs/cli.md` and the manual page: every command and its options. */
import { version } from '../../src/cli/command/version.ts';
import { cliMarkdown, manualPage } from '../../src/cli/help.ts';

export const cliPage = { path: 'docs/cli.md', text: cliMarkdown };

export const manPage = { path: 'man/cumetal.1', text: () => manualPage(version) };
