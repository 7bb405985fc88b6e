/** The worker of a page that runs one program, and is ended with it. */
import { initialValuesOf, loadSource, warpSynchronous } from '../api/load.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { renderAll } from '../cli/terminal/render.ts';
import { openDevice } from '../device/index.ts';
import { runProgram } from '../program/run.ts';
import { pageHost } from './host.ts';
import type { NamedFile, RunOrder, RunReport } from './messages.ts';

const report = (message: RunReport): void => postMessage(message);

globalThis.onmessage = ({ data }: MessageEvent<RunOrder>): void => {
  try {
    run(data);
  } catch (error) {
    report({ kind: 'failed', why: (error as Error).message });
  }
};

function run(order: RunOrder): void {
  const start = performance.now();
  const { host, finish, changed } = pageHost(order, report);
  const device = openDevice('cpu', new Diagnostics(), { threads: order.threads })!;
  const code = runProgram(order.module, {
    device,
    host,
    load: (ptx, diagnostics) => {
      const source = sourceOf(ptx, order.files);
      const own = new Diagnostics(source);
      const module = loadSource(device, source, { compile: { target: 'cpu' }, ...warpSynchronous(ptx) }, own);
      diagnostics.addAll(own.sorted());
      return module;
    },
    initialValues: initialValuesOf,
    report: ({ list }) => void host.writeOutput(2, new TextEncoder().encode(renderAll(list))),
    print: (text) => void host.writeOutput(1, text),
    now: () => performance.now(),
  });
  device.close();
  finish();
  report({ kind: 'ended', code, files: changed(), milliseconds: performance.now() - start });
}

/** The device code of a source, whose diagnostics name lines of the file that the user wrote. */
function sourceOf(ptx: string, files: readonly NamedFile[]): SourceFile {
  const name = /^\s*\.file\s+\d+\s+"\/program\/([^"\n]+\.cu)"/m.exec(ptx)?.[1];
  const file = files.find((each) => each.name === name);
  const origin = file && new SourceFile(file.name, new TextDecoder().decode(file.bytes));
  return new SourceFile(`${name ?? 'program'} (PTX)`, ptx, origin);
}
