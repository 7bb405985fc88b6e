/** The grammar of PTX, loaded once from the recipe that `npm run generate` makes of `grammar.ohm`. */

import type { Grammar } from 'ohm-js';
import * as ohm from 'ohm-js';
import { recipe } from './grammar.generated.ts';

// Exported by ohm-js 17 for generated code, and missing in its types.
const { makeRecipe } = ohm as unknown as { makeRecipe(recipe: unknown): Grammar };

let loaded: Grammar | undefined;

/** `grammar.ohm`, ready to match. */
export function grammar(): Grammar {
  loaded ??= makeRecipe(JSON.parse(recipe()));
  return loaded;
}

/** What a line can be: the rule it is matched with. */
export type LineRule = 'ModuleLine' | 'BodyLine' | 'SectionLine' | 'Initialiser' | 'Parameter';
