/** Templates of directives and sections, and shared parts of statement templates. */
import type { Span } from '../../base/source.ts';
import type { Directive, InlinedAt, Operand, SectionData, Word } from './ast.ts';
import { type Cursor, innerText, integerOf, type Make, numberOf, spanOf, textOf } from './cursor.ts';
import type { Header, SectionStart } from './line.ts';
import { type Actions, itemsOf, literal, make, type Node } from './nodes.ts';
import { buildAll, makeList } from './template-operands.ts';

/** The word of a literal dotted token, without its dot. */
export const dotted = (node: Node): string => literal(node).slice(1);

/** The template of an optional node. */
export const optional = <T>(node: Node): Make<T> | undefined => node.children[0] && make(node.children[0]);

/** The span of a match. */
export const wholeSpan = (node: Node): Make<Span> => {
  const [first, last] = [node.first, node.last];
  return (c) => spanOf(c, first, last);
};

/** The templates of the words of a list. */
export const words = (list: Node): Make<Word>[] =>
  itemsOf(list).map((child) => {
    const token = child.first;
    return (c) => ({ name: textOf(c, token), span: spanOf(c, token, token) });
  });

/** The texts of a list of strings. */
export const strings = (list: Node): Make<string>[] =>
  itemsOf(list).map((child) => {
    const token = child.first;
    return (c) => innerText(c, token);
  });

/** The actions for directives and sections. */
export const directiveActions: Actions = {
  Header_version(_word: Node, number: Node) {
    const [token, span] = [number.first, wholeSpan(this)];
    return (c): Header => ({ kind: 'version', text: textOf(c, token), span: span(c) });
  },

  Header_target(_word: Node, list: Node) {
    const parts = words(list);
    return (c): Header => ({ kind: 'target', targets: buildAll(parts, c) });
  },

  Header_addressSize(_word: Node, size: Node) {
    const [token, span] = [size.first, wholeSpan(this)];
    return (c): Header => ({ kind: 'addressSize', bits: numberOf(c, token), span: span(c) });
  },

  Header_alias(_word: Node, alias: Node, _comma: Node, aliasee: Node, _end: Node) {
    const [a, b, span] = [alias.first, aliasee.first, wholeSpan(this)];
    const word = (c: Cursor, token: number): Word => ({ name: textOf(c, token), span: spanOf(c, token, token) });
    return (c): Directive => ({ kind: 'directive', name: 'alias', alias: word(c, a), aliasee: word(c, b), span: span(c) });
  },

  Directive_file(_word: Node, number: Node, path: Node, stamp: Node) {
    const [index, text, span] = [number.first, path.first, wholeSpan(this)];
    const time = optional<readonly [bigint, bigint]>(stamp);
    return (c): Directive => ({
      kind: 'directive',
      name: 'file',
      index: numberOf(c, index),
      path: innerText(c, text),
      stamp: time?.(c),
      span: span(c),
    });
  },

  FileStamp(_comma: Node, time: Node, _comma2: Node, size: Node) {
    const [a, b] = [time.first, size.first];
    return (c) => [integerOf(c, a), integerOf(c, b)];
  },

  Directive_loc(_word: Node, file: Node, line: Node, column: Node, inline: Node) {
    const [a, b, d] = [file.first, line.first, column.first];
    const span = wholeSpan(this);
    const inlined = optional<InlinedAt>(inline);
    return (c): Directive => ({
      kind: 'directive',
      name: 'loc',
      index: numberOf(c, a),
      line: numberOf(c, b),
      column: numberOf(c, d),
      inlined: inlined?.(c),
      span: span(c),
    });
  },

  LocInline(_comma: Node, _keyword: Node, word: Node, offset: Node, _comma2: Node, _keyword2: Node, file: Node, line: Node, column: Node) {
    const name = word.first;
    const [a, b, d] = [file.first, line.first, column.first];
    const plus = offset.children[0] && offset.children[0].children[1]!.first;
    return (c): InlinedAt => ({
      functionName: textOf(c, name),
      offset: plus === undefined ? 0 : numberOf(c, plus),
      index: numberOf(c, a),
      line: numberOf(c, b),
      column: numberOf(c, d),
    });
  },

  Pragma(_word: Node, list: Node, _end: Node) {
    const [values, span] = [strings(list), wholeSpan(this)];
    return (c): Directive => ({ kind: 'directive', name: 'pragma', values: buildAll(values, c), span: span(c) });
  },

  SectionHead(_word: Node, head: Node, tail: Node, _open: Node) {
    const span = wholeSpan(this);
    const tokens = [head, ...tail.children].map((node) => node.first);
    return (c): SectionStart => ({ kind: 'sectionStart', name: tokens.map((token) => textOf(c, token)).join(''), span: span(c) });
  },

  SectionData(word: Node, list: Node) {
    const [type, values, span] = [dotted(word), makeList<Operand>(list), wholeSpan(this)];
    return (c): SectionData => ({ kind: 'data', type, values: buildAll(values, c), span: span(c) });
  },
};
