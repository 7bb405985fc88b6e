/** Well-formed bitstreams that mean to exhaust their reader: refused, or read, and soon. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { disassemble, type MetadataNode, readModule, writeModule } from '../../src/bitcode/index.ts';
import { type BlockName, blocks, type RecordName } from '../../src/bitcode/records.ts';
import { type StreamWriter, streamWriter } from '../../src/bitcode/write/stream-writer.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { emptyModule } from '../support/modules.ts';

/** A record of these operands, however few they are. */
const raw = <B extends BlockName>(out: StreamWriter, block: B, name: RecordName<B>, operands: readonly (number | bigint)[]): void =>
  out.numberedRecord((blocks[block].records as Readonly<Record<string, { code: number }>>)[name]!.code, operands);

const test = suite('bitcode hostile');

/** A module of version 2 with what `body` writes into it. */
function moduleOf(body: (out: StreamWriter) => void): Uint8Array {
  const out = streamWriter();
  out.block('module', () => {
    out.record('module', 'version', { version: 2 });
    body(out);
  });
  out.block('strtab', () => out.record('strtab', 'blob', { blob: Uint8Array.of(0x67) }));
  return out.finish();
}

const typesOnly = (body: (out: StreamWriter) => void): Uint8Array => moduleOf((out) => void out.block('types', () => body(out)));

/** The outcome of reading, in under a second: what was wrong, or the text. */
const outcome = (bytes: Uint8Array): string =>
  withinCpuSeconds(1, () => {
    const diagnostics = new Diagnostics();
    const module = readModule(bytes, diagnostics);
    return module ? disassemble(module) : diagnostics.list.map((d) => `${d.code} ${d.message}`).join();
  });

test('a struct that holds itself by value', () => {
  const bytes = typesOnly((out) => {
    raw(out, 'types', 'structName', [0x61]);
    raw(out, 'types', 'structNamed', [0, 2]);
    raw(out, 'types', 'array', [2, 0]);
    raw(out, 'types', 'structName', [0x62]);
    raw(out, 'types', 'structNamed', [0, 1]);
  });
  assert.match(outcome(bytes), /^CM4002 .*%a holds itself/);
});

test('a struct that points to itself through one without name', () => {
  const bytes = typesOnly((out) => {
    raw(out, 'types', 'structAnon', [0, 2]);
    raw(out, 'types', 'pointer', [0, 0]);
    raw(out, 'types', 'structName', [0x61]);
    raw(out, 'types', 'structNamed', [0, 1]);
  });
  assert.match(outcome(bytes), /^source_filename/);
});

test('a type whose text doubles with each of 60 levels', () => {
  const bytes = typesOnly((out) => {
    raw(out, 'types', 'integer', [32]);
    for (let i = 0; i < 60; i++) raw(out, 'types', 'structAnon', [0, i, i]);
  });
  assert.match(outcome(bytes), /^CM4002 .*too many parts/);
});

test('the same through structs with names', () => {
  const bytes = typesOnly((out) => {
    raw(out, 'types', 'integer', [32]);
    for (let i = 0; i < 60; i++) {
      raw(out, 'types', 'structName', [0x61, 0x30 + i]);
      raw(out, 'types', 'structNamed', [0, i, i]);
    }
  });
  assert.match(outcome(bytes), /^CM4002 .*too many parts/);
});

test('pointers to pointers, 100000 of them', () => {
  const bytes = typesOnly((out) => {
    raw(out, 'types', 'integer', [32]);
    for (let i = 0; i < 100_000; i++) raw(out, 'types', 'pointer', [i, 0]);
  });
  assert.match(outcome(bytes), /^CM4002 .*nested too deep/);
});

test('structs that each name the next, 100000 of them', () => {
  const bytes = typesOnly((out) => {
    for (let i = 0; i < 100_000; i++) {
      raw(out, 'types', 'structName', [0x61]);
      raw(out, 'types', 'structNamed', [0, i + 1]);
    }
    raw(out, 'types', 'opaque', [0]);
  });
  assert.match(outcome(bytes), /^CM4002 .*nested too deep/);
});

test('records that lack operands', () => {
  const types = (name: 'integer' | 'array' | 'pointer' | 'function'): string => outcome(typesOnly((out) => raw(out, 'types', name, [])));
  for (const name of ['integer', 'array', 'pointer', 'function'] as const)
    assert.match(types(name), /^CM4002 .*operands of record \d+ are missing/, name);
});

test('vectors of nothing, and of too much', () => {
  for (const count of [0, 2 ** 31, 2 ** 40])
    assert.match(
      outcome(
        typesOnly((out) => {
          raw(out, 'types', 'integer', [32]);
          raw(out, 'types', 'vector', [count, 0]);
        }),
      ),
      /^CM4002 .*(vector of|too long)/,
    );
});

/** A global `g` of type i64 whose initializer is constant `init` of those that `constants` writes; their ids start at 1. */
const initialized = (init: number, constants: (out: StreamWriter) => void): Uint8Array =>
  moduleOf((out) => {
    out.block('types', () => {
      raw(out, 'types', 'integer', [64]);
      raw(out, 'types', 'array', [3, 0]);
    });
    raw(out, 'module', 'globalVar', [0, 1, 0, 2, init + 1, 0, 0, 0]);
    out.block('constants', () => constants(out));
  });

test('constants that each hold the next, asked for from the first', () => {
  const bytes = initialized(1, (out) => {
    raw(out, 'constants', 'setType', [0]);
    for (let i = 1; i < 50_000; i++) raw(out, 'constants', 'binop', [0, i + 1, i + 1]);
    raw(out, 'constants', 'integer', [2]);
  });
  assert.match(outcome(bytes), /^CM4002 .*nested too deep/);
});

test('constants that each hold the one before twice', () => {
  const bytes = initialized(100, (out) => {
    raw(out, 'constants', 'setType', [0]);
    raw(out, 'constants', 'integer', [2]);
    for (let i = 1; i < 100; i++) raw(out, 'constants', 'binop', [0, i, i]);
  });
  assert.match(outcome(bytes), /^CM4002 .*too many parts/);
});

test('a constant that holds itself, and aggregates that do not fit their type', () => {
  const itself = initialized(1, (out) => {
    raw(out, 'constants', 'setType', [0]);
    raw(out, 'constants', 'binop', [0, 1, 1]);
  });
  assert.match(outcome(itself), /^CM4002 .*holds itself/);
  const misfit = initialized(2, (out) => {
    raw(out, 'constants', 'setType', [0]);
    raw(out, 'constants', 'integer', [2]);
    raw(out, 'constants', 'setType', [1]);
    raw(out, 'constants', 'aggregate', [1, 1]);
  });
  assert.match(outcome(misfit), /^CM4002 .*2 elements that do not make \[3 x i64\]/);
});

test('a chain of 50000 metadata nodes is read, printed and written', () => {
  const module = emptyModule();
  let node: MetadataNode = { kind: 'node', distinct: false, operands: [] };
  for (let i = 0; i < 50_000; i++) node = { kind: 'node', distinct: false, operands: [node] };
  module.namedMetadata.push({ name: 'chain', nodes: [node] });
  assert.match(outcome(writeModule(module)), /^!49999 = !\{!50000\}$/m);
});

test('attributes of a parameter far behind the last', () => {
  const bytes = moduleOf((out) => {
    out.block('types', () => raw(out, 'types', 'void', []));
    out.block('paramattrGroup', () => raw(out, 'paramattrGroup', 'entry', [1, 2 ** 31, 0, 18]));
    out.block('paramattr', () => {
      for (let i = 0; i < 1000; i++) raw(out, 'paramattr', 'entry', [1]);
    });
  });
  assert.match(outcome(bytes), /^CM4002 .*attributes of parameter/);
});

test.run();
