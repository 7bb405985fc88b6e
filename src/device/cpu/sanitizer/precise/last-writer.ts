/** Who wrote last in a place that somebody asks about: each write there calls the host, and the last is kept. */
import type { Code } from '../../../../wasm/index.ts';
import type { Dim3, LaunchRequest, SanitizeRequest } from '../../../device.ts';
import type { Site } from '../../observe/sites.ts';
import { stampFields } from './stamp.ts';
import type { SanitizerGlobal, SanitizerState } from './state.ts';

/** Of a watched launch. */
interface Watched {
  readonly compiled: { readonly watched?: { readonly sites: readonly Site[] } | undefined };
  readonly request: LaunchRequest & { readonly sanitize: SanitizeRequest };
}

export interface WriterWatch {
  /** Where writes are looked at, as the instance has it. */
  readonly globals: Partial<Record<SanitizerGlobal, bigint>>;
  /** The running thread writes there, by the instruction of a site. */
  wrote(site: number, word: (name: string) => WebAssembly.Global): void;
  /** Tells who it was. */
  end(): void;
}

/** Nothing is looked at where nobody asks. */
export function watchWriter({ compiled, request }: Watched): WriterWatch {
  const { writer } = request.sanitize;
  const arg = writer && request.args[writer.argument];
  let last: { readonly site: number; readonly thread: number; readonly block: Dim3 } | undefined;
  const isAsked = writer !== undefined && arg?.kind === 'buffer';
  return {
    globals: isAsked
      ? { 'watched.start': arg.buffer.deviceAddress() + BigInt((arg.offset ?? 0) + writer.offset), 'watched.bytes': BigInt(writer.size) }
      : { 'watched.start': 0n, 'watched.bytes': 0n },
    wrote(site, word) {
      const number = (name: string): number => word(name).value as number;
      last = { site, thread: number('thread'), block: [number('ctaid.x'), number('ctaid.y'), number('ctaid.z')] };
    },
    end() {
      if (!isAsked || !last) return;
      const { site, thread, block } = last;
      const [nx, ny] = request.block;
      const number = site & (2 ** stampFields.site.bits - 1);
      writer.tell({
        block,
        thread: [thread % nx, Math.floor(thread / nx) % ny, Math.floor(thread / (nx * ny))],
        line: compiled.watched?.sites[number - 1]?.line?.line,
      });
    },
  };
}

/** Locals of a function that looks at an access. */
interface Access {
  readonly code: Code;
  readonly state: SanitizerState;
  readonly address: number;
  readonly site: number;
}

/** Tells the host of a write of some bytes where one of them is in the place that is asked about. */
export function writeWatched({ code, state, address, site }: Access, size: number): void {
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
