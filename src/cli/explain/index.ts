/** `cumetal explain`: the page of a diagnostic code, or what a form of an instruction does. */
import { type Code, catalogue, isCode } from '../../base/catalogue/index.ts';
import { closest } from '../../base/closest.ts';
import { type Context, has } from '../command/command.ts';
import { wrongWords } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { jsonText } from '../terminal/json.ts';

interface Entry {
  readonly severity: string;
  readonly title: string;
  readonly message: string;
  readonly help?: string;
  readonly alias?: string;
  readonly page: string;
}

/** Runs the command. */
export async function explain({ words, terminal }: Context): Promise<ExitCode> {
  const isJson = has(words, 'json');
  const word = words.positionals[0];
  if (word === undefined) {
    terminal.out(
      isJson ? `${jsonText({ codes: Object.entries(catalogue).map(([code, entry]) => ({ code, ...entry })) })}\n` : listOfCodes(),
    );
    return exit.ok;
  }
  const code = /^(CM)?\d{4}$/i.test(word) ? `CM${word.slice(-4)}` : codeOfAlias(word);
  if (code !== undefined && isCode(code)) {
    terminal.out(isJson ? `${jsonText({ code, ...catalogue[code] })}\n` : codePage(code, catalogue[code]));
    return exit.ok;
  }
  if (code !== undefined)
    return wrongWords(`there is no diagnostic ${code}${near(code, Object.keys(catalogue))}`, 'cumetal explain', terminal);
  return explainInstruction(word, isJson, terminal);
}

/** The code of a lint that a device's language clause has another name for: `W-GPU-4040`. */
const codeOfAlias = (word: string): string | undefined =>
  Object.entries<Entry>(catalogue).find(([, { alias }]) => alias === word.toUpperCase())?.[0];

const near = (word: string, candidates: string[]): string => {
  const found = closest(word, candidates);
  return found ? `, did you mean \`${found}\`?` : '';
};

const listOfCodes = (): string =>
  Object.entries(catalogue)
    .map(([code, { severity, title }]) => `${code}  ${severity.padEnd(7)}  ${title}\n`)
    .join('');

function codePage(code: Code, { severity, title, message, help, alias, page }: Entry): string {
  const lines = [`${severity}[${code}]: ${title}`, '', `  ${message}`, '', page];
  if (help) lines.push('', `What to do: ${help}.`);
  if (alias) lines.push('', `Also called ${alias}.`);
  return `${lines.join('\n')}\n`;
}

async function explainInstruction(word: string, isJson: boolean, terminal: Context['terminal']): Promise<ExitCode> {
  const { explainForms } = await import('./forms.ts');
  const forms = explainForms(word);
  if (typeof forms === 'string') return wrongWords(forms, 'cumetal explain --help', terminal);
  terminal.out(isJson ? `${jsonText({ instruction: word, forms })}\n` : forms.map((form) => form.text).join('\n'));
  return exit.ok;
}
