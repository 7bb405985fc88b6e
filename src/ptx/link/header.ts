/** The header of a linked module: the highest version and target of its parts. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Module } from '../syntax/ast.ts';

interface Arch {
  readonly name: string;
  readonly number: number;
  /** Whether it is for GPUs of one kind: `sm_90a`. */
  readonly isSpecific: boolean;
}

function archOf(name: string): Arch | undefined {
  const [, number, suffix] = /^(?:sm|compute)_(\d+)([af]?)$/.exec(name) ?? [];
  return number === undefined ? undefined : { name, number: Number(number), isSpecific: suffix !== '' };
}

/** The directives of the header. Reports CM4078 for modules that cannot be one. */
export function headerOf(modules: readonly Module[], diagnosticsOf: (module: number) => Diagnostics): string {
  const [first] = modules;
  const refuse = (module: number, why: string): void => {
    const span = modules[module]!.headers[0]?.span;
    diagnosticsOf(module).report('CM4078', { other: `\`${first!.file.path}\``, why }, span ? { span } : {});
  };
  const words = (module: Module): string[] => module.targets.map(({ name }) => name).filter((name) => !archOf(name));
  const mode = (module: Module): string => words(module).find((name) => name.startsWith('texmode_')) ?? 'texmode_unified';
  const sizeOf = ({ addressSize = 32 }: Module): number => addressSize;
  let newest: Arch | undefined;
  let version = { major: 1, minor: 0 };
  modules.forEach((module, i) => {
    if (sizeOf(module) !== sizeOf(first!)) refuse(i, `it has addresses of ${sizeOf(module)} bits, and the other of ${sizeOf(first!)}`);
    if (mode(module) !== mode(first!)) refuse(i, `it has \`${mode(module)}\`, and the other \`${mode(first!)}\``);
    const arch = module.targets.map(({ name }) => archOf(name)).find((each) => each !== undefined);
    if (arch && newest && !goTogether(arch, newest)) refuse(i, `it is for \`${arch.name}\`, and another one for \`${newest.name}\``);
    if (arch && (!newest || arch.number > newest.number || (arch.number === newest.number && arch.isSpecific))) newest = arch;
    const { major, minor } = module.version ?? version;
    if (major > version.major || (major === version.major && minor > version.minor)) version = { major, minor };
  });
  const others = [...new Set(modules.flatMap(words))].filter((name) => name !== 'debug');
  const targets = [...(newest ? [newest.name] : []), ...others];
  return [
    `.version ${version.major}.${version.minor}`,
    ...(targets.length > 0 ? [`.target ${targets.join(', ')}`] : []),
    `.address_size ${sizeOf(first!)}`,
  ].join('\n');
}

function goTogether(a: Arch, b: Arch): boolean {
  if (a.isSpecific && b.isSpecific) return a.name === b.name;
  return !(a.isSpecific && b.number > a.number) && !(b.isSpecific && a.number > b.number);
}
