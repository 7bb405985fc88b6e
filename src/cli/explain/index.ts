/** `cumetal explain`: the page of a diagnostic code or of a form of an instruction. */
import { type Code, catalogue, isCode } from '../../base/catalogue/index.ts';
import { closest } from '../../base/closest.ts';
import { type Context, has } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { jsonDocument } from '../terminal/json.ts';

interface Entry {
  readonly severity: string;
  readonly title: string;
  readonly message: string;
  readonly help?: string;
  readonly alias?: string;
  readonly page: string;
}

/** Runs the command. */
export async function explain({ parsed, terminal }: Context): Promise<ExitCode> {
  const isJson = has(parsed, 'json');
  const topic = parsed.positionals[0];
  if (topic === undefined) {
    terminal.out(isJson ? jsonDocument({ codes: Object.entries(catalogue).map(([code, entry]) => ({ code, ...entry })) }) : listOfCodes());
    return exit.ok;
  }
  const code = /^(CM)?\d{4}$/i.test(topic) ? `CM${topic.slice(-4)}` : codeOfAlias(topic);
  if (code !== undefined && isCode(code)) {
    terminal.out(isJson ? jsonDocument({ code, ...catalogue[code] }) : codePage(code, catalogue[code]));
    return exit.ok;
  }
  if (code !== undefined)
    return usageError(`unknown diagnostic \`${code}\`${near(code, Object.keys(catalogue))}`, 'cumetal explain', terminal);
  return explainInstruction(topic, isJson, terminal);
}

/** The code of a diagnostic with an alias, such as `W-GPU-4040`. */
const codeOfAlias = (word: string): string | undefined =>
  Object.entries<Entry>(catalogue).find(([, { alias }]) => alias === word.toUpperCase())?.[0];

const near = (word: string, candidates: string[]): string => {
  const found = closest(word, candidates);
  return found ? `; did you mean \`${found}\`?` : '';
};

const listOfCodes = (): string =>
  Object.entries(catalogue)
    .map(([code, { severity, title }]) => `${code}  ${severity.padEnd(7)}  ${title}\n`)
    .join('');

function codePage(code: Code, { severity, title, message, help, alias, page }: Entry): string {
  const lines = [`${severity}[${code}]: ${title}`, '', `  ${message}`, '', page];
  if (help) lines.push('', `Help: ${help}.`);
  if (alias) lines.push('', `Alias: ${alias}.`);
  return `${lines.join('\n')}\n`;
}

async function explainInstruction(word: string, isJson: boolean, terminal: Context['terminal']): Promise<ExitCode> {
  const { explainForms } = await import('../../ptx/index.ts');
  const forms = explainForms(word);
  if (typeof forms === 'string') return usageError(forms, 'cumetal explain --help', terminal);
  terminal.out(isJson ? jsonDocument({ instruction: word, forms }) : forms.map((form) => form.text).join('\n'));
  return exit.ok;
}
