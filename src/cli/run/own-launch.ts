/**
 * The launch lines of a PTX file. The file may come from anyone, so its lines describe a launch and nothing else: they take the options
 * that are marked for them in the table of options, and name files of their own folder.
 */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../base/source.ts';
import {
  type ArgumentSpec,
  folderOf,
  isProblem,
  type LaunchPlan,
  type LaunchWord,
  launchWords,
  type Problem,
  type Reach,
  reached,
} from '../../runtime/index.ts';
import {
  type Command,
  commonOptions,
  launchLineOptions,
  type OptionToken,
  type ParsedArguments,
  type Token,
  tokenProblem,
  tokensOf,
} from '../command/command.ts';
import { type RunRequest, readRequest } from './options.ts';

/** The part of a request that a file can specify. */
export type OwnLaunch = Pick<RunRequest, 'plan' | 'prints' | 'checks'>;

/** The launch of a file's launch lines; undefined if it has none, or after reporting CM5010 or CM5042 to CM5044 at their words. */
export function readOwnLaunch(
  source: SourceFile,
  command: Command,
  reach: Omit<Reach, 'folder'>,
  diagnostics: Diagnostics,
): OwnLaunch | undefined {
  const own = new Diagnostics(source);
  const words = launchWords(source.text, own);
  const launch = words && launchOf({ words, command, own, reach: { ...reach, folder: folderOf(source.path) } });
  diagnostics.addAll(own.list);
  return own.hasErrors ? undefined : launch;
}

interface Lines {
  readonly words: readonly LaunchWord[];
  readonly command: Command;
  readonly reach: Reach;
  readonly own: Diagnostics;
}

function launchOf(lines: Lines): OwnLaunch {
  const { words, command, own } = lines;
  const tokens = tokensOf(
    words.map(({ text }) => text),
    [...command.options, ...commonOptions],
  );
  const launches = tokens.flatMap((token, i) => {
    const { span } = words[token.at]!;
    if (token.rawName !== undefined) return optionOf(token, span, lines) ?? [];
    if (isUnknown(tokens[i - 1])) return [];
    own.report('CM5042', { line: lineOf(span, own), why: `unexpected argument \`${token.value}\`` }, { span });
    return [];
  });
  return launches.reduce(mergeLaunches, { plan: { constants: [] }, prints: [], checks: [] });
}

/** Whether a token is an option that no command has; the word behind it may be its value. */
const isUnknown = (token: Token | undefined): boolean => token?.rawName !== undefined && !token.option;

const lineOf = ({ start }: Span, { file }: Diagnostics): number => file!.position(start).line;

/** One option as a launch of its own; undefined after reporting what is wrong with it. */
function optionOf(token: OptionToken, span: Span, { command, own, reach }: Lines): OwnLaunch | undefined {
  const { option, rawName, value } = token;
  if (option && !option.inLaunchLines) {
    own.report('CM5043', { option: rawName, allowed: launchLineOptions(command.options) }, { span });
    return undefined;
  }
  const reported = new Diagnostics();
  const problem = tokenProblem(token, command) ?? readRequest(oneOption(option!.name, value!), reported);
  for (const diagnostic of reported.list) own.list.push({ ...diagnostic, file: own.file!, labels: [{ span, text: '' }] });
  if (typeof problem !== 'string') return confined(problem, reach, own, span);
  own.report('CM5042', { line: lineOf(span, own), why: problem }, { span });
  return undefined;
}

const oneOption = (name: string, value: string): ParsedArguments => ({ positionals: [], options: new Map([[name, [value]]]) });

/** The launch with its files resolved; undefined after reporting CM5044. */
function confined({ plan, prints, checks }: OwnLaunch, reach: Reach, own: Diagnostics, span: Span): OwnLaunch | undefined {
  const problems: string[] = [];
  const resolve = (name: string): string => {
    const path: string | Problem = reached(name, reach);
    if (!isProblem(path)) return path;
    own.report('CM5044', { name, why: path.problem }, { span });
    problems.push(path.problem);
    return name;
  };
  const args = plan.args?.map((spec): ArgumentSpec => ('path' in spec ? { ...spec, path: resolve(spec.path) } : spec));
  const resolved = checks.map(({ index, expect }) => ({ index, expect: { ...expect, path: resolve(expect.path) } }));
  return problems.length > 0 ? undefined : { plan: { ...plan, ...(args ? { args } : {}) }, prints, checks: resolved };
}

/** Two launches: values of the second win, and lists are joined. */
export function mergeLaunches(first: OwnLaunch, second: OwnLaunch): OwnLaunch {
  const args = [...(first.plan.args ?? []), ...(second.plan.args ?? [])];
  const { sharedBytes: _, sharedParts: __, ...others } = first.plan;
  const plan: LaunchPlan = {
    ...(second.plan.sharedBytes === undefined ? first.plan : others),
    ...second.plan,
    ...(first.plan.args || second.plan.args ? { args } : {}),
  };
  return { plan, prints: [...first.prints, ...second.prints], checks: [...first.checks, ...second.checks] };
}
