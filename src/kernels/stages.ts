/** Numbers of the stages in which tiles are loaded ahead: shared memory that is used in turn. */
import { constant, u32, type Value, type Variable } from '../build/index.ts';

/** Moves a number on to the next stage, behind the last one to the first. */
export function advance(stage: Variable<'u32'>, stages: number): void {
  const after: Value<'u32'> = stage.add(1);
  stage.set(after.eq(stages).select(constant(u32, 0), after));
}
