/** NVIDIA's assembler takes what the builder writes, with the versions that it states; one below them, it does not need to. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as build from '../../src/build/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';
import { functions } from './functions.ts';
import { grouped, kernelOf, operations } from './operations.ts';

const test = suite('build/ptxas');

interface Text {
  readonly name: string;
  readonly header: string;
  readonly body: string;
}

/** A text in the three lines of its header and the rest. */
function split(name: string, ptx: string): Text {
  const lines = ptx.split('\n');
  return { name, header: lines.slice(0, 3).join('\n'), body: lines.slice(3).join('\n') };
}

const texts = (): Text[] => [
  ...operations.map((operation, index) => split(operation.name, kernelOf([operation], `operation${index}`).ptx)),
  ...functions().map(({ name, ptx }) => split(name, ptx)),
];

/** The architecture that an assembler of today has for an older one. */
const assembled = (header: string): string => {
  const [, target = ''] = /\.target (\w+)/.exec(header)!;
  return Number(/\d+/.exec(target)![0]) < 75 ? 'sm_75' : target;
};

need(test, ['ptxas'], 'every operation and function, for the least architecture and version that it states', () => {
  const groups = grouped(texts(), ({ header }) => header);
  assert.ok(groups.size >= 6, [...groups.keys()].join());
  const wrong = [...groups].flatMap(([header, group]) => {
    // What is declared outside of functions may be in several of them.
    const parts = group.map(({ body }, i) => body.replace(/\b(dynamic_shared|text_\d+|constant\d+|variable\d+)\b/g, `$1_${i}`));
    const seen = new Set<string>();
    const text = `${header}\n${parts.join('\n').replace(/^\.extern \.func.*;$/gm, (line) => (seen.has(line) ? '' : seen.add(line) && line))}`;
    const lines = text.split('\n');
    return [...ptxasFaults(text, assembled(header))].map(
      ([line, said]) => `${header.replaceAll('\n', ' ')}: ${lines[line - 1]!.trim()}: ${said}`,
    );
  });
  assert.equal(wrong, []);
});

test('every function of the entry is among them', () => {
  const text = ['functions', 'operations'].map((name) => readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8')).join('\n');
  const adding = Object.entries(build).flatMap(([name, value]) => (typeof value === 'function' && /^[a-z]/.test(name) ? [name] : []));
  // These read a kernel that is made.
  const reading = ['occupantsOf', 'optimizedPtx', 'registersOf'];
  const missing = adding.filter((name) => !reading.includes(name) && !new RegExp(`\\b${name}\\b`).test(text));
  assert.equal(missing, []);
  const methods = [build.Value, build.Element, build.Pointer, build.Tile].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype));
  const unused = methods.filter((name) => name !== 'constructor' && !new RegExp(`\\.${name}\\(|'${name}'`).test(text));
  assert.equal(unused, []);
});

test.run();
