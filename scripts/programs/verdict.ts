/** Whether a program says that its results are right. */

const good = /\b(PASS(ED)?|passed|pass|SUCCESS(FUL)?|succe(ss|ssful|ssfully|eded)|correct|verified|OK|valid(ated)?|match(es|ed)?)\b/i;
const bad = /\b(FAIL(S|ED|URE)?|fail(s|ed|ure)?|incorrect|mismatch(es|ed)?|wrong|invalid|not (pass|correct|match)\w*|error)\b/i;
/** Words of failure in lines that say that there was none. */
const none =
  /\b(no|0|zero|without|none)\b[^.,;]*\b(error|mismatch|fail)|\bincorrect \w+\s*[:=]\s*0\b|\b(errors?|mismatch(es)?|failures?|failed)\s*(count|rate|num\w*)?\s*[:=(]*\s*0\b(?!\.\d*[1-9])|error (rate|bound|norm|tolerance|threshold)|\btotal error:\s+\d+\s+rel|(max|rms|mean|relative|absolute|average|l1|l2|norm)\w*[ _-]*(\w+[ _-])?err/i;

/** Errors that are measured: a heading, or a number behind the word. What is too much only the program knows. */
const measured =
  /\berrors? (statistics|analysis)|\berror after iteration \d+|\berror\b[^:=\d]*(\([^)]*\))?[^:=\d]*[:=]\s*[-+]?(\d*\.\d|\d+e[-+]?\d)|\d+\.\d+\s*\(?%\)? of \w+ mismatched/i;
/** Failures that a program provokes. */
const wanted = /\b(as|is|was) expected\b/i;

/** Programs of HeCBench whose sources say a word of success of something else than results: of files, nodes of a tree, options. They print no verdict. */
export const saysOfOthers: ReadonlySet<string> = new Set([
  'b+tree',
  'bitcracker',
  'cfd',
  'dwconv',
  'easyWave',
  'leukocyte',
  'permutate',
  'snicit',
]);

/** Whether the sources print a verdict: a text with a word of success. */
export function checksItself(sources: Iterable<string>): 'PASS' | 'words' | undefined {
  let found: 'words' | undefined;
  for (const text of sources) {
    if (/"[^"\n]*\bPASS(ED)?\b[^"\n]*"/.test(text)) return 'PASS';
    if (/"[^"\n]*\b(passed|pass|success|successful|successfully|correct|verified)\b[^"\n]*"/i.test(text)) found = 'words';
  }
  return found;
}

/** The verdict of a program's output; undefined if it says nothing. */
export function verdictOf(output: string): 'pass' | 'fail' | undefined {
  const lines = output.split('\n');
  const isFailure = (line: string): boolean => bad.test(line) && !none.test(line) && !/\bPASS(ED)?\b/.test(line) && !wanted.test(line);
  const withoutMeasures = (line: string): string => line.replace(measured, '');
  if (lines.map(withoutMeasures).some(isFailure)) return 'fail';
  return lines.some((line) => good.test(line) || (bad.test(line) && wanted.test(line))) ? 'pass' : undefined;
}
