/** The grammar of PTX, loaded once from the form that `npm run generate` derives from `grammar.ohm`. */

import type { Grammar } from 'ohm-js';
import * as ohm from 'ohm-js';
import { recipe } from './grammar.generated.ts';

// ohm-js 17 exports it for generated code, but its types do not have it.
const { makeRecipe } = ohm as unknown as { makeRecipe(recipe: unknown): Grammar };

let loaded: Grammar | undefined;

/** The compiled `grammar.ohm`. */
export function grammar(): Grammar {
  loaded ??= makeRecipe(JSON.parse(recipe()));
  return loaded;
}
