/** `cumetal devices`: the devices of this machine. */
import { targets } from '../air/targets.ts';
import { type DeviceInfo, devices as listDevices } from '../device/index.ts';
import { type Context, has } from './command/command.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { jsonDocument, verbatim } from './terminal/json.ts';
import { sizeText } from './terminal/size-text.ts';

/** Runs the command. */
export async function devices({ parsed, terminal }: Context): Promise<ExitCode> {
  const found = listDevices();
  if (has(parsed, 'json')) terminal.out(jsonDocument({ devices: found.map(deviceJson) }));
  else terminal.out(found.map(deviceText).join('\n'));
  return exit.ok;
}

/** The properties keep the names of `cudaDeviceProp`. */
const deviceJson = ({ properties = {}, ...info }: DeviceInfo): object => ({ ...info, properties: verbatim(properties) });

function deviceText({ kind, ordinal, name, limits, properties = {} }: DeviceInfo): string {
  const own = kind === 'cpu' ? `; ${sizeText(targets.cpu.shared.total)} with \`--target cpu\`` : '';
  const row = (label: string, value: string | number): string => `  ${label.padEnd(27)} ${value}`;
  return [
    `${kind}${ordinal === undefined ? '' : `:${ordinal}`}: ${name}`,
    row('threads in a block', limits.maxThreadsPerThreadgroup),
    row('shared memory', `${sizeText(limits.maxThreadgroupBytes)}${own}`),
    row('largest buffer', sizeText(limits.maxBufferBytes)),
    row('simdgroup', `${limits.simdWidth} lanes`),
    // The name is in the first line.
    ...Object.entries(properties).flatMap(([field, value]) => (field === 'name' ? [] : [row(field, propertyText(value))])),
    '',
  ].join('\n');
}

const propertyText = (value: string | number | readonly number[]): string =>
  typeof value === 'object' ? value.join(' x ') : String(value);
