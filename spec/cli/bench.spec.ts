/** `cumetal bench` where a launch fails: what was said of it and an exit code, and no rate of what did not run. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { rowsOfBuiltIn } from '../../src/cli/bench/index.ts';
import { commands } from '../../src/cli/commands.ts';
import { exit } from '../../src/cli/terminal/exit.ts';
import { processTerminal } from '../../src/cli/terminal/index.ts';
import type { Device } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('cli/bench');

const called = (name: string) => commands.find((each) => each.name === name)!;

/** The CPU device, whose launches fail from one of them on. */
function failing(from: number): { readonly device: Device; launches(): number } {
  const cpu = openCpuDevice();
  let launches = 0;
  const device: Device = {
    ...cpu,
    load(bytes, diagnostics, options) {
      const module = cpu.load(bytes, diagnostics, options);
      return (
        module && {
          ...module,
          launch(request, to) {
            launches++;
            if (launches < from) return module.launch(request, to);
            to.report('CM6010', { kernel: request.kernel, seconds: 1, block: '0, 0, 0', thread: '0, 0, 0' });
            return undefined;
          },
        }
      );
    },
  };
  return { device, launches: () => launches };
}

// The first kernel is launched three times by `--repeat 2`, and then called 200 times.
for (const [what, from] of [
  ['its first launch', 1],
  ['the call of an empty kernel', 10],
] as const)
  test(`ends at ${what}, if that fails`, async () => {
    const { device, launches } = failing(from);
    const report = { diagnostics: new Diagnostics(), notes: [], printed: [] };
    const parsed = { positionals: [], options: new Map([['repeat', ['2']]]) };
    assert.is(
      await rowsOfBuiltIn(device, { command: called('bench'), parsed, terminal: processTerminal() }, called('run'), report),
      exit.failed,
    );
    assert.is(launches(), from);
    assert.equal(
      report.diagnostics.list.map(({ code }) => code),
      ['CM6010'],
    );
  });

test.run();
