/** What the worker answers: it checks, compiles and launches. */

import { withReadableNames } from '../base/demangle/index.ts';
import type { Diagnostic } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { hoverAt, PtxDocument } from '../editor/index.ts';
import type { Answer, Finding, Order } from './messages.ts';
import { compareWithGpu, type RanKernel, runText } from './run.ts';
import { viewOf } from './views.ts';

/** The name in messages. */
const path = 'kernel.ptx';

/** The answer to an order. */
export async function answerTo(order: Order): Promise<Answer> {
  const { number } = order;
  try {
    if (order.kind === 'hover')
      return { kind: 'hovered', number, markdown: hoverAt(new PtxDocument(path, order.text), order.offset)?.markdown };
    if (order.kind === 'show') return shown(order);
    return ran(order, order.kind === 'run' ? runText(path, order.text) : await compareWithGpu(path, order.text));
  } catch (error) {
    return { kind: 'failed', number, why: (error as Error).message };
  }
}

function shown({ number, text, view: name }: Order & { kind: 'show' }): Answer {
  const start = performance.now();
  const source = new SourceFile(path, text);
  const checked = new PtxDocument(path, text).checkAll();
  const hasErrors = checked.some(({ severity }) => severity === 'error');
  const { view, diagnostics } = hasErrors ? { view: undefined, diagnostics: undefined } : viewOf(name, path, text);
  const seen = new Set(checked.map(({ code, message }) => `${code} ${message}`));
  const more = diagnostics?.list.filter(({ code, message }) => !seen.has(`${code} ${message}`)) ?? [];
  const findings = [...checked, ...more].map((each) => findingOf(each, source));
  return { kind: 'shown', number, findings, view, milliseconds: performance.now() - start };
}

function ran({ number, text }: Order & { kind: 'run' | 'compare' }, { output, diagnostics, profile }: RanKernel): Answer {
  const source = new SourceFile(path, text);
  const findings = diagnostics.map((each) => findingOf(each, source));
  const heat = profile?.lines.flatMap(({ line, executed }) => (line > 0 ? [[line, executed.warps] as const] : [])) ?? [];
  return { kind: 'ran', number, output, findings, heat, isFine: !findings.some(({ severity }) => severity === 'error') };
}

function findingOf({ code, severity, message, labels: [main, ...others], notes, help }: Diagnostic, source: SourceFile): Finding {
  const { line, column } = main ? source.position(main.span.start) : { line: 0, column: 0 };
  const places = others.map(({ span, text }) => `line ${source.position(span.start).line}: ${text}`);
  const parts = [message, main?.text ?? '', ...places, ...notes, help === undefined ? '' : `help: ${help}`].filter((part) => part !== '');
  return { line, column, severity, code, message: withReadableNames(parts.join('\n')) };
}
