/** The words of a text as a shell reads them: between blanks, with quotes and backslashes. */
export function shellWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:\\.|'[^']*'?|"(?:\\.|[^"\\])*"?|[^\s'"\\])+/gs))
    words.push(
      word.replace(
        /\\(.)|'([^']*)'?|"((?:\\.|[^"\\])*)"?/gs,
        (_all, escaped?: string, single?: string, double?: string) => escaped ?? single ?? double!.replace(/\\(["\\$`])/g, '$1'),
      ),
    );
  return words;
}
