/** Loads PTX: the driver compiles it, and its messages are reported at their lines. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile, Span } from '../../base/source.ts';
import type { CudaHandle } from '../../ffi/index.ts';
import type { DeviceModule, DeviceSymbol, PtxModule } from '../device.ts';
import { reportClosed } from '../module-memory.ts';
import { copies } from './buffer.ts';
import type { Context, CudaKernel } from './context.ts';
import { faultText, reportLost } from './faults.ts';
import { canQueue, launchKernel, queueKernel } from './launch.ts';

/** Loads PTX; undefined after reporting CM6041 or CM6043. */
export function loadModule(context: Context, { source, kernels }: PtxModule, diagnostics: Diagnostics): DeviceModule | undefined {
  const { binding } = context;
  if (context.lost !== undefined) {
    reportLost(kernels[0]?.name ?? source.path, context.lost, diagnostics);
    return undefined;
  }
  const { handle, info, errors } = binding.module(source.text);
  if (handle === undefined) {
    const fault = binding.lastFault();
    diagnostics.report('CM6041', { why: faultText(fault) }, { notes: linesOf(errors), ...placeOf(source, errors) });
    return undefined;
  }
  context.modules.add(handle);
  if (info !== '') diagnostics.report('CM6044', { what: linesOf(info)[0]! }, { notes: linesOf(info).slice(1) });
  const made = new Map<string, CudaKernel>();
  for (const reflection of kernels) {
    const found = binding.function(handle, reflection.name);
    const facts = found && binding.functionFacts(found);
    if (!facts) {
      const fault = binding.lastFault();
      unload(context, handle);
      diagnostics.report('CM6043', { what: `kernel \`${reflection.name}\``, call: fault.call, why: faultText(fault) });
      return undefined;
    }
    const args = binding.pack(reflection.params.map(({ kind, size }) => (kind === 'buffer' ? 8 : size)));
    made.set(reflection.name, { reflection, handle: found, facts, args, allowedShared: 0, hasLargeClusters: false });
  }
  let isClosed = false;
  return {
    kernels,
    symbols: namesOf(kernels).flatMap((name) => symbolOf(context, handle, name) ?? []),
    launch(request, to) {
      if (isClosed) return reportClosed(to);
      const kernel = made.get(request.kernel);
      if (kernel) return launchKernel(context, kernel, request, to);
      to.report('CM5001', { name: request.kernel });
      return undefined;
    },
    canQueue(name) {
      const kernel = made.get(name);
      return !isClosed && kernel !== undefined && canQueue(context, kernel);
    },
    queue(request, to) {
      const kernel = made.get(request.kernel);
      if (!isClosed && kernel) return queueKernel(context, kernel, request, to);
      if (isClosed) reportClosed(to);
      else to.report('CM5001', { name: request.kernel });
      return () => undefined;
    },
    blocksPerCore(name, threads, sharedBytes) {
      const handle = made.get(name)?.handle;
      return isClosed || handle === undefined ? undefined : binding.blocksPerCore(handle, threads, sharedBytes);
    },
    close() {
      isClosed = true;
      unload(context, handle);
    },
  };
}

/** Unloads a module, unless closing the device has. Unloading waits for the GPU, possibly forever. */
function unload({ binding, modules, isRunning }: Context, handle: CudaHandle): void {
  if (modules.delete(handle) && !isRunning) binding.unload(handle);
}

/** The variables that the kernels access, each once. */
const namesOf = (kernels: PtxModule['kernels']): string[] => [
  ...new Set(kernels.flatMap(({ memory }) => memory?.symbols.map(({ name }) => name) ?? [])),
];

/** A variable of the module; undefined if the driver has removed it. */
function symbolOf(context: Context, module: Parameters<Context['binding']['symbol']>[0], name: string): DeviceSymbol | undefined {
  const found = context.binding.symbol(module, name);
  return found && { name, size: found.size, ...copies(context, found.address, found.size) };
}

const linesOf = (log: string): string[] => log.split('\n').filter((line) => line.trim() !== '');

/** The first line of the source that the driver's compiler names: `ptxas application ptx input, line 9; error : …`. */
function placeOf(source: SourceFile, log: string): { span?: Span } {
  const line = Number(/\bline (\d+)/.exec(log)?.[1] ?? 0);
  const start = source.lineStarts[line - 1];
  return start === undefined ? {} : { span: { start, end: start + source.line(line).length } };
}
