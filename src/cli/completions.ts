/** `cumetal completions`: scripts that complete commands and options in a shell, from the list of commands. */
import { type Command, type Context, commonOptions, type Option } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
import { type ExitCode, exit } from './terminal/exit.ts';

type Commands = readonly Command[];

const writers: Readonly<Record<string, (commands: Commands) => string>> = { bash, zsh, fish };

/** Runs the command. */
export async function completions({ parsed, terminal }: Context, commands: Commands): Promise<ExitCode> {
  const shell = parsed.positionals[0]!;
  const write = Object.hasOwn(writers, shell) ? writers[shell] : undefined;
  if (!write)
    return usageError(
      `unknown shell \`${shell}\`: expected one of ${Object.keys(writers).join(', ')}`,
      'cumetal completions --help',
      terminal,
    );
  terminal.out(write(commands));
  return exit.ok;
}

const optionsOf = ({ options }: Command): readonly Option[] => [...options, ...commonOptions];

/** The words that can follow an option: its choices. Undefined for files and free text. */
const choicesOf = (option: Option): readonly string[] | undefined => option.choices;

const spellings = ({ name, short }: Option): string[] => [`--${name}`, ...(short ? [`-${short}`] : [])];

/** Words that a command takes besides files. */
const words: Readonly<Record<string, readonly string[]>> = { cache: ['path', 'list', 'clear'], completions: ['bash', 'zsh', 'fish'] };

/** The first sentence of a text, as one line without quotes and brackets, which shells would read. */
const brief = (text: string): string => (/^[\s\S]*?\.(?= |$)/.exec(text)?.[0] ?? text).replace(/[`'"[\]\\:$]/g, '').replace(/\.$/, '');

function bash(commands: Commands): string {
  const cases = commands.map((command) => {
    const options = optionsOf(command).flatMap(spellings).join(' ');
    const chosen = optionsOf(command).flatMap((option) => {
      const choices = choicesOf(option);
      return choices && !option.isBare
        ? [`        ${spellings(option).join('|')}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$current")); return ;;`]
        : [];
    });
    const own = words[command.name]
      ? `      COMPREPLY=($(compgen -W '${words[command.name]!.join(' ')}' -- "$current"))\n      return`
      : '';
    return [
      `    ${command.name})`,
      ...(chosen.length > 0 ? ['      case $previous in', ...chosen, '      esac'] : []),
      `      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W '${options}' -- "$current")); return; fi`,
      ...(own === '' ? [] : [own]),
      '      ;;',
    ].join('\n');
  });
  return `# bash completion of cumetal. Load it with: source <(cumetal completions bash)
_cumetal() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$current"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -o bashdefault -F _cumetal cumetal
`;
}

function zsh(commands: Commands): string {
  const described = commands.map(({ name, summary }) => `    '${name}:${brief(summary)}'`);
  const cases = commands.map((command) => {
    const specs = optionsOf(command).flatMap((option) =>
      spellings(option).map((spelled) => `      '${option.many ? '*' : ''}${spelled}${zshValue(option)}'`),
    );
    const rest = words[command.name] ? `'1:action:(${words[command.name]!.join(' ')})'` : "'*:file:_files'";
    return `    ${command.name})\n      _arguments \\\n${[...specs, `      ${rest}`].join(' \\\n')}\n      ;;`;
  });
  return `#compdef cumetal
# zsh completion of cumetal. Load it with: source <(cumetal completions zsh), or save it as _cumetal in a folder of $fpath.
_cumetal() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=\${words[2]}
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _cumetal ]; then _cumetal "$@"; else compdef _cumetal cumetal; fi
`;
}

/** What follows an option in the words of \`_arguments\`: its description, and its value. */
function zshValue(option: Option): string {
  const { value, isBare, doc } = option;
  const text = `[${brief(doc)}]`;
  if (!value) return text;
  const choices = choicesOf(option);
  const values = `${value.replace(/[:'[\]]/g, ' ')}:${choices ? `(${choices.join(' ')})` : '_files'}`;
  return isBare ? `=-${text}::${values}` : `${text}:${values}`;
}

function fish(commands: Commands): string {
  const lines = commands.map(({ name, summary }) => `complete -c cumetal -n __fish_use_subcommand -f -a ${name} -d '${brief(summary)}'`);
  for (const command of commands) {
    const when = `-n '__fish_seen_subcommand_from ${command.name}'`;
    for (const option of optionsOf(command)) {
      const { name, short, value, isBare, doc } = option;
      const choices = choicesOf(option);
      const values = !value || isBare ? '' : choices ? ` -x -a '${choices.join(' ')}'` : ' -r';
      lines.push(`complete -c cumetal ${when} -l ${name}${short ? ` -s ${short}` : ''}${values} -d '${brief(doc)}'`);
    }
    if (words[command.name]) lines.push(`complete -c cumetal ${when} -f -a '${words[command.name]!.join(' ')}'`);
  }
  return `# fish completion of cumetal. Load it with: cumetal completions fish | source\n${lines.join('\n')}\n`;
}
