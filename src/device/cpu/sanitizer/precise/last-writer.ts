/** The last writer of a place in a buffer: each write there calls the host, which keeps the last one. */
import type { Code } from '../../../../wasm/index.ts';
import type { Dim3, LaunchRequest, SanitizeRequest } from '../../../device.ts';
import type { Site } from '../../observe/sites.ts';
import { stampFields } from './stamp.ts';
import type { SanitizerGlobal, SanitizerState } from './state.ts';

interface QueriedLaunch {
  readonly compiled: { readonly instrumented?: { readonly sites: readonly Site[] } | undefined };
  readonly request: LaunchRequest & { readonly sanitize: SanitizeRequest };
}

export interface LastWriter {
  /** The globals that hold the place. */
  readonly globals: Partial<Record<SanitizerGlobal, bigint>>;
  /** Notes that the running thread writes there, by the instruction of a site. */
  wrote(site: number, word: (name: string) => WebAssembly.Global): void;
  /** Reports the last writer to the request. */
  finish(): void;
}

/** The query of a request; without one, no write is noted. */
export function newWriterQuery({ compiled, request }: QueriedLaunch): LastWriter {
  const { writer } = request.sanitize;
  const arg = writer && request.args[writer.argument];
  let last: { readonly site: number; readonly thread: number; readonly block: Dim3 } | undefined;
  const isWanted = writer !== undefined && arg?.kind === 'buffer';
  return {
    globals: isWanted
      ? { 'watched.start': arg.buffer.deviceAddress() + BigInt((arg.offset ?? 0) + writer.offset), 'watched.bytes': BigInt(writer.size) }
      : { 'watched.start': 0n, 'watched.bytes': 0n },
    wrote(site, word) {
      const number = (name: string): number => word(name).value as number;
      last = { site, thread: number('thread'), block: [number('ctaid.x'), number('ctaid.y'), number('ctaid.z')] };
    },
    finish() {
      if (!isWanted || !last) return;
      const { site, thread, block } = last;
      const [nx, ny] = request.block;
      const number = site & (2 ** stampFields.site.bits - 1);
      writer.take({
        block,
        thread: [thread % nx, Math.floor(thread / nx) % ny, Math.floor(thread / (nx * ny))],
        line: compiled.instrumented?.sites[number - 1]?.line?.line,
      });
    },
  };
}

/** Locals of a function that checks an access. */
interface Access {
  readonly code: Code;
  readonly state: SanitizerState;
  readonly address: number;
  readonly site: number;
}

/** Calls the host for a write of some bytes if one of them is in the place of the query. */
export function writeWriterQuery({ code, state, address, site }: Access, size: number): void {
  const before = BigInt(size - 1);
  code.at('local.get', address);
  code.at('global.get', state.globals['watched.start']);
  code.op('i64.sub');
  code.i64(before);
  code.op('i64.add');
  code.at('global.get', state.globals['watched.bytes']);
  code.i64(before);
  code.op('i64.add');
  code.op('i64.lt_u');
  code.open('if');
  code.at('local.get', site);
  code.at('call', state.functions.wrote);
  code.end();
}
