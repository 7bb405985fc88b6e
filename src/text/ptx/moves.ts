/** Assignments that happen together, one after the other: the values of the parameters of a block. */

/** A register and what it becomes: another register, or a text that names none. */
export interface Move {
  readonly to: string;
  readonly from: string;
}

/**
 * The moves in an order in which each reads what was there before all of them. `spare` gives a register of the kind of another one, which breaks
 * a cycle.
 */
export function inOrder(moves: readonly Move[], spare: (like: string) => string): Move[] {
  const left = moves.filter(({ to, from }) => to !== from);
  const ordered: Move[] = [];
  while (left.length > 0) {
    const at = left.findIndex(({ to }, i) => !left.some(({ from }, j) => j !== i && from === to));
    if (at >= 0) ordered.push(...left.splice(at, 1));
    else {
      const { to } = left[0]!;
      const kept = spare(to);
      ordered.push({ to: kept, from: to });
      for (const [i, move] of left.entries()) if (move.from === to) left[i] = { ...move, from: kept };
    }
  }
  return ordered;
}
