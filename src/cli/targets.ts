/** `cumetal targets`: what kernels are compiled to, and what each target can express. */
import { closest } from '../base/closest.ts';
import { type Construct, constructs, type Form, type TargetProfile, targetProfiles } from '../text/index.ts';
import { type Context, has } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
import { columnLines } from './terminal/columns.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { jsonDocument, verbatim } from './terminal/json.ts';
import { sizeText } from './terminal/size-text.ts';

/** Runs the command. */
export async function targets({ parsed, terminal }: Context): Promise<ExitCode> {
  const all = targetProfiles();
  const names = parsed.positionals;
  const unknown = names.find((name) => !all.some((each) => each.name === name));
  if (unknown !== undefined) {
    const known = all.map(({ name }) => name);
    const near = closest(unknown, known);
    const help = near === undefined ? `expected one of ${known.join(', ')}` : `did you mean \`${near}\`?`;
    return usageError(`unknown target \`${unknown}\`: ${help}`, 'cumetal targets', terminal);
  }
  const chosen = names.length === 0 ? all : names.map((name) => all.find((each) => each.name === name)!);
  if (has(parsed, 'json')) terminal.out(jsonDocument({ targets: chosen.map(targetJson) }));
  else terminal.out(names.length === 0 ? listOf(all) : comparison(chosen));
  return exit.ok;
}

const targetJson = ({ name, output, title, option, shared, forms }: TargetProfile): object => ({
  name,
  output,
  title,
  option,
  ...(shared ? { sharedBytes: shared.declared, totalSharedBytes: shared.total } : {}),
  constructs: verbatim(forms),
});

const count = ({ forms }: TargetProfile, wanted: Form): string => String(Object.values(forms).filter(({ form }) => form === wanted).length);

function listOf(all: readonly TargetProfile[]): string {
  const head = ['TARGET', 'OUTPUT', 'SELECTED BY', 'SHARED MEMORY', 'NATIVE', 'EXPANDED', 'REFUSED'];
  const rows = all.map((target) => [
    target.name,
    target.title,
    target.option,
    target.shared ? sizeText(target.shared.total) : 'of the device',
    ...(['native', 'expanded', 'refused'] as const).map((form) => count(target, form)),
  ]);
  return `${linesOf([head, ...rows])}\n\`cumetal targets TARGET…\` shows how each compiles what targets differ in.\n`;
}

const words: Record<Form, string> = { native: 'native', expanded: 'expanded', refused: 'refused' };

function comparison(chosen: readonly TargetProfile[]): string {
  return Object.entries(constructs)
    .map(([construct, title]) => {
      const forms = chosen.map(({ name, forms: own }) => ({ name, ...own[construct as Construct] }));
      return `${title}\n${linesOf(forms.map(({ name, form, how }) => ['', name, words[form], how]))}`;
    })
    .join('\n');
}

const linesOf = (rows: readonly (readonly string[])[]): string =>
  columnLines(rows)
    .map((line) => `${line}\n`)
    .join('');
