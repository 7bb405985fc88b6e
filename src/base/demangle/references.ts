/** References of a mangled name to its earlier parts. Source: Itanium C++ ABI, 5.1.10 and 5.1.5.8. */
import type { Cursor } from './cursor.ts';
import { type Node, text } from './nodes.ts';
import { abbreviations } from './tables.ts';

/** `<substitution>`: an earlier part of the name, or an abbreviation of the standard library other than `St`. */
export function readSubstitution(at: Cursor): Node {
  at.expect('S');
  const letter = at.peek();
  if (/[a-z]/.test(letter)) {
    const name = abbreviations[letter] ?? at.fail();
    at.at++;
    let node: Node = text(name);
    while (at.peek() === 'B') node = at.remember(readTagged(at, node));
    return node;
  }
  return at.substitutions[at.sequence(36)] ?? at.fail();
}

function readTagged(at: Cursor, of: Node): Node {
  at.expect('B');
  return { kind: 'tagged', of, tag: readIdentifier(at) };
}

/** `<template-param>`. */
export function readTemplateParam(at: Cursor): Node {
  at.expect('T');
  return { kind: 'param', index: at.sequence(10) };
}

/** A number of characters and these characters. */
export function readIdentifier(at: Cursor): string {
  const length = at.number() ?? at.fail();
  const word = at.text.slice(at.at, at.at + length);
  if (length === 0 || word.length < length) at.fail();
  at.at += length;
  return word;
}
